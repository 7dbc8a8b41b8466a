package portal

import (
	"errors"
	"strings"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/layout"
	"sundry/core/country"
	"sundry/core/customer"
	"sundry/core/fault"
	"sundry/core/locale"
	"sundry/modules/customers"
)

// place holds the values of a form about a customer's address.
type place struct {
	customer.Address
	TaxID    string
	Required bool // the form is about nothing else
	// Faulty is the field that was refused; "" for none.
	Faulty string
}

// faultyField returns the field of the form that a refusal is about: taxId, or country of billingAddress.country.
func faultyField(refusal *fault.Error) string {
	if len(refusal.Details) == 0 {
		return ""
	}
	return strings.TrimPrefix(refusal.Details[0].Field, "billingAddress.")
}

func placeOf(d customer.Details) place { return place{Address: d.Address, TaxID: d.TaxID} }

// addressLines writes a customer's billing details for their reader; nil when nothing is known.
func addressLines(d customer.Details, reader locale.Locale) []string {
	var lines []string
	for _, line := range []string{
		d.Line1, d.Line2, strings.TrimSpace(d.PostalCode + " " + d.City), d.State, country.Name(d.Country, reader.Language),
		d.TaxID,
	} {
		if line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

func (r *Routes) askAddress(c *fiber.Ctx, v customers.Visit) error {
	p := r.newPage(c, v)
	p.Place = placeOf(v.Customer.Details)
	p.Place.Required = true
	return r.send(c, "portal_address.html", "portal.address", p)
}

// saveAddress takes billing details. A refused form is shown again with what is wrong.
func (r *Routes) saveAddress(c *fiber.Ctx, v customers.Visit) error {
	address, taxID := customer.Address{
		Line1: c.FormValue("line1"), Line2: c.FormValue("line2"), City: c.FormValue("city"), State: c.FormValue("state"),
		PostalCode: c.FormValue("postalCode"), Country: c.FormValue("country"),
	}, c.FormValue("taxId")
	err := r.setPlace(c, v.Customer, address, taxID)
	var refusal *fault.Error
	if errors.As(err, &refusal) && refusal.Code == fault.ValidationFailed {
		p := r.newPage(c, v)
		p.Place, p.Problem = place{
			Address: address, TaxID: taxID, Required: true, Faulty: faultyField(refusal),
		}, refusal.First()
		if reader := layout.Reader(c); reader.Language != locale.Default.Language { // the exact words are English
			p.Problem = reader.Text("portal.problem.address")
		}
		return r.send(c, "portal_address.html", "portal.address", p)
	}
	if err != nil {
		return err
	}
	return done(c, "address")
}

// placeWithCard takes the billing details of a form that saves a card; the other lines of an address in the same
// country stay. A form without a country changes nothing.
func (r *Routes) placeWithCard(c *fiber.Ctx, creatorID, customerID string) error {
	known, err := r.Customers.Get(c.UserContext(), creatorID, customerID)
	if err != nil || c.FormValue("country") == "" {
		return err
	}
	given := givenPlace(c)
	over := customer.Details{Address: given}.Over(known.Details)
	over.PostalCode = given.PostalCode
	return r.setPlace(c, known, over.Address, c.FormValue("taxId"))
}

// givenPlace reads what a form that saves a card asks of an address.
func givenPlace(c *fiber.Ctx) customer.Address {
	return customer.Address{PostalCode: c.FormValue("postalCode"), Country: c.FormValue("country")}
}

func (r *Routes) setPlace(c *fiber.Ctx, of customer.State, address customer.Address, taxID string) error {
	_, err := r.Customers.Update(
		c.UserContext(), of.CreatorID, of.ID, customer.Patch{BillingAddress: &address, TaxID: &taxID},
	)
	return err
}
