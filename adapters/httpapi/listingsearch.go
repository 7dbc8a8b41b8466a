package httpapi

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/listing"
	"sundry/core/money"
	"sundry/core/plan"
	"sundry/ports"
)

const maxSearchText = 200

// searchListings is the public list (contract §4). An empty parameter counts as absent.
func (s *Server) searchListings(c *fiber.Ctx) error {
	var f fault.Faults
	search, p := listingSearch(c, &f), page(c, &f)
	if err := f.Err(); err != nil {
		return err
	}
	l, err := s.Catalog.Search(c.UserContext(), search, p)
	if err != nil {
		return err
	}
	return c.JSON(list(l, s.publicListing))
}

// listingSearch reads the filters, adding what is wrong with them to f.
func listingSearch(c *fiber.Ctx, f *fault.Faults) ports.ListingSearch {
	search := ports.ListingSearch{
		Type: listing.Type(c.Query("type")), CreatorID: c.Query("creatorId"), Text: queryText(c, f, "q"), Sort: ports.ListingSort(c.Query("sort")),
		MinPrice: queryAmount(c, f, "minPriceInCents"), MaxPrice: queryAmount(c, f, "maxPriceInCents"),
	}
	f.Check(search.Type == "" || slices.Contains(listing.Types(), search.Type), "type", fault.DetailNotAllowed,
		"Expected DIGITAL, SERVICE, SUBSCRIPTION or APPOINTMENT.")
	f.Check(search.CreatorID == "" || id.Valid(id.Creator, search.CreatorID), "creatorId", fault.DetailInvalid, "Expected the id of a creator, crt_….")
	if raw := c.Query("currency"); raw != "" {
		currency, err := money.ParseCurrency(raw)
		_ = f.Nest("currency").Merge(err) // its only error is a fault of the request
		search.Currency = currency
	}
	f.Check(utf8.RuneCountInString(search.Text) <= maxSearchText, "q", fault.DetailTooLong, "Expected at most 200 characters.")
	f.Check(search.Sort == "" || slices.Contains([]ports.ListingSort{ports.Newest, ports.PriceAsc, ports.PriceDesc}, search.Sort), "sort",
		fault.DetailNotAllowed, "Expected newest, price_asc or price_desc.")
	if search.MinPrice != nil && search.MaxPrice != nil {
		f.Check(*search.MinPrice <= *search.MaxPrice, "maxPriceInCents", fault.DetailOutOfRange, "Expected no less than minPriceInCents.")
	}
	return search
}

// queryText reads an optional text that a database can be asked about.
func queryText(c *fiber.Ctx, f *fault.Faults, name string) string {
	text := c.Query(name)
	f.Check(utf8.ValidString(text) && !strings.ContainsRune(text, 0), name, fault.DetailMalformed, "Expected UTF-8 text without NUL.")
	return text
}

// queryAmount reads an optional amount of minor units.
func queryAmount(c *fiber.Ctx, f *fault.Faults, name string) *int64 {
	raw := c.Query(name)
	if raw == "" {
		return nil
	}
	amount, err := strconv.ParseInt(raw, 10, 64)
	if !f.Check(err == nil && amount >= 0 && amount <= plan.MaxAmount, name, fault.DetailOutOfRange, "Expected a whole number from 0 to 99999999999.") {
		return nil
	}
	return &amount
}
