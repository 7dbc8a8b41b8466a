// Package customer describes buyers: a person of the integrator's, or one known to the checkout only.
package customer

import (
	"strings"
	"time"

	"sundry/core/country"
	"sundry/core/email"
	"sundry/core/fault"
	"sundry/core/metadata"
	"sundry/core/tax"
	"sundry/core/text"
)

// State is a customer's data. An e-mail address is never unique; the integrator's own identifier is, per account.
type State struct {
	ID                 string
	CreatorID          string
	ExternalCustomerID string // empty for a buyer without one
	Email              string
	DisplayName        string
	// Details are the latest that the customer, or the integrator, gave: they decide how later charges are taxed.
	Details Details
	// Metadata is the integrator's own.
	Metadata  metadata.Pairs
	CreatedAt time.Time
	// ErasedAt is zero unless who they are was erased. Who buys again under the same name is known again.
	ErasedAt  time.Time
	UpdatedAt time.Time
	Revision  int64
}

// AccessKey returns the name under which a customer's access is read: the integrator's own, or the service's (cus_…)
// for a buyer without one.
func AccessKey(externalID, customerID string) string {
	if externalID != "" {
		return externalID
	}
	return customerID
}

// RefuseAsName refuses the customer's id as the external id of somebody else: their access has that name, or had it
// before they got one of their own. VALIDATION_FAILED.
func (s State) RefuseAsName() error {
	var f fault.Violations
	if s.ExternalCustomerID == "" {
		f.Addf("externalCustomerId", fault.DetailNotAllowed, "This is the service's id of a customer. Give them an "+
			"identifier of your own first: PATCH /v1/customers/%s with externalCustomerId.", s.ID)
	} else {
		f.Addf("externalCustomerId", fault.DetailNotAllowed, "This is the service's id of a customer. Your own identifier "+
			"of them is %s.", s.ExternalCustomerID)
	}
	return f.Err()
}

// Address is a billing address. The zero value is none.
type Address struct {
	Line1      string `json:"line1,omitempty"`
	Line2      string `json:"line2,omitempty"`
	City       string `json:"city,omitempty"`
	State      string `json:"state,omitempty"`
	PostalCode string `json:"postalCode,omitempty"`
	Country    string `json:"country,omitempty"` // ISO 3166-1 alpha-2, upper case
}

// validate checks every member. Only the country of an address is required.
func (a Address) validate(f *fault.Violations) {
	for _, line := range []struct{ name, value string }{
		{"line1", a.Line1}, {"line2", a.Line2}, {"city", a.City}, {"state", a.State},
	} {
		text.CheckLine(f, line.name, line.value, MaxName)
	}
	text.CheckLine(f, "postalCode", a.PostalCode, maxPostalCode)
	f.Check(country.Valid(a.Country), "country", fault.DetailInvalid, countryHint)
}

const countryHint = "Give a two-letter ISO 3166-1 code in capitals, such as IE."

// Details are the facts that a buyer gives about themselves. All of them are optional. A checkout asks for no more of
// the address than its country and postal code.
type Details struct {
	Name string `json:"name,omitempty"`
	Address
	TaxID string `json:"taxId,omitempty"`
	// Locale is the buyer's language, a tag of core/locale taken from their browser; "" when they never used a page.
	Locale string `json:"locale,omitempty"`
}

// Limits of what is stored, in characters.
const (
	maxExternalID = 255
	// MaxName bounds the name of a buyer, wherever it is given.
	MaxName       = 200
	maxPostalCode = 20
	maxTaxID      = 30
)

// ValidateExternalID checks the integrator's own customer identifier: 1 to 255 printable characters.
func ValidateExternalID(field, s string, f *fault.Violations) {
	f.Check(s != "", field, fault.DetailRequired, "Give your own identifier of the customer.")
	text.CheckLine(f, field, s, maxExternalID)
}

// ValidateEmail holds an address to the one rule of core/email. It is kept as it was typed, so no space may surround
// it.
func ValidateEmail(field, s string, f *fault.Violations) {
	_, ok := email.Parse(s)
	f.Check(ok && strings.TrimSpace(s) == s, field, fault.DetailInvalid, "Give an email address such as "+
		"ada@example.com, at most 254 characters.")
}

// Validate checks every member; field is the path of the object.
func (d Details) Validate(f *fault.Violations) {
	text.CheckLine(f, "name", d.Name, MaxName)
	text.CheckLine(f, "postalCode", d.PostalCode, maxPostalCode)
	d.validateTaxID(f)
	if d.Country != "" {
		f.Check(country.Valid(d.Country), "country", fault.DetailInvalid, countryHint)
	}
}

// validateTaxID checks the form of a tax ID, which is a VAT ID in the countries of the European Union.
func (d Details) validateTaxID(f *fault.Violations) {
	text.CheckLine(f, "taxId", d.TaxID, maxTaxID)
	if d.TaxID != "" && d.TaxID != None && tax.SupportsVATID(d.Country) {
		_ = f.Nest("taxId").Merge(tax.CheckVATID(d.Country, d.TaxID)) // it returns only faults of the id
	}
}

// readerOver is a locale in the place of an earlier one, whose clock stays where the new one names none.
func readerOver(locale, earlier string) string {
	if locale == "" || strings.HasPrefix(earlier, locale+"-u-hc-") {
		return earlier
	}
	return locale
}

// Over is d with what it leaves out taken from earlier; of an address in another country nothing is.
//
// None takes a name, a postal code or a VAT id away that was given before.
func (d Details) Over(earlier Details) Details {
	pick := func(a, b string) string {
		switch a {
		case None:
			return ""
		case "":
			return b
		}
		return a
	}
	address := d.Address
	address.PostalCode = pick(d.PostalCode, "")
	if d.Country == "" || d.Country == earlier.Country {
		address = Address{
			Line1: pick(d.Line1, earlier.Line1), Line2: pick(d.Line2, earlier.Line2), City: pick(d.City, earlier.City),
			State: pick(d.State, earlier.State), PostalCode: pick(d.PostalCode, earlier.PostalCode),
			Country: pick(d.Country, earlier.Country),
		}
	}
	return Details{
		Name: pick(d.Name, earlier.Name), Address: address, TaxID: pick(d.TaxID, earlier.TaxID),
		Locale: readerOver(d.Locale, earlier.Locale),
	}
}

// None in the place of a name, a postal code or a VAT id means that the buyer gives none after all.
const None = "-"
