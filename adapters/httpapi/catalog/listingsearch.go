package catalog

import (
	"strconv"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/listingtype"
	"sundry/core/money"
	"sundry/core/plan"
	"sundry/ports"
)

const maxSearchText = 200

// searchListings serves the public list. An empty parameter counts as absent.
func (h handlers) searchListings(c *fiber.Ctx) error {
	var f fault.Violations
	search := listingSearch(c, &f)
	p := httpapi.ReadSortedPage(c, &f, id.Listing, string(search.Sort))
	if err := f.Err(); err != nil {
		return err
	}
	l, err := h.Catalog.Search(c.UserContext(), search, p)
	if err != nil {
		return err
	}
	return c.JSON(httpapi.NewListView(httpapi.SortedList(l, string(search.Sort)), h.newPublicListingView))
}

// listingSearch reads the filters and adds their faults to f.
func listingSearch(c *fiber.Ctx, f *fault.Violations) ports.ListingSearch {
	search := ports.ListingSearch{
		CreatorID: c.Query("creatorId"), Text: httpapi.QueryText(c, f, "q"),
		Sort:     ports.ListingSort(c.Query("sort")),
		MinPrice: queryAmount(c, f, "minPriceInCents"), MaxPrice: queryAmount(c, f, "maxPriceInCents"),
	}
	search.Type = httpapi.QueryOneOf(c, f, "type", listingtype.All()...)
	f.Check(
		search.CreatorID == "" || id.Valid(id.Creator, search.CreatorID), "creatorId", fault.DetailInvalid,
		"Expected the id of a creator, crt_….",
	)
	if raw := c.Query("currency"); raw != "" {
		currency, err := money.ParseCurrency(raw)
		_ = f.Nest("currency").Merge(err) // its only error is a fault of the request
		search.Currency = currency
	}
	f.Check(
		utf8.RuneCountInString(search.Text) <= maxSearchText, "q", fault.DetailTooLong,
		"Expected at most 200 characters.",
	)
	switch search.Sort {
	case "":
	case ports.Newest:
		search.Sort = "" // the same list, whose cursors are the same
	default:
		f.OneOf("sort", string(search.Sort), string(ports.Newest), string(ports.PriceAsc), string(ports.PriceDesc))
	}
	if search.MinPrice != nil && search.MaxPrice != nil {
		f.Check(
			*search.MinPrice <= *search.MaxPrice, "maxPriceInCents", fault.DetailOutOfRange,
			"Expected no less than minPriceInCents.",
		)
	}
	return search
}

// queryAmount reads an optional amount of minor units.
func queryAmount(c *fiber.Ctx, f *fault.Violations, name string) *int64 {
	raw := c.Query(name)
	if raw == "" {
		return nil
	}
	amount, err := strconv.ParseInt(raw, 10, 64)
	if !f.Check(err == nil && amount >= 0 && amount <= plan.MaxAmount, name, fault.DetailOutOfRange,
		"Expected a whole number from 0 to 99999999999.") {
		return nil
	}
	return &amount
}
