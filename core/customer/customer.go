// Package customer is who buys: a person of the integrator's, or one whom only the checkout knows.
package customer

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"sundry/core/fault"
)

// State is a customer's data. An e-mail address is never unique; the integrator's own identifier is, per account.
type State struct {
	ID                 string
	CreatorID          string
	ExternalCustomerID string // empty for a buyer whom the integrator did not name
	Email              string
	DisplayName        string
	CreatedAt          time.Time
}

// Details are what a buyer says of themselves at checkout. All of it is optional.
type Details struct {
	Name       string `json:"name,omitempty"`
	Country    string `json:"country,omitempty"` // ISO 3166-1 alpha-2, upper case
	PostalCode string `json:"postalCode,omitempty"`
	TaxID      string `json:"taxId,omitempty"`
}

// Limits of what is stored, in characters.
const (
	maxExternalID = 255
	maxEmail      = 254
	maxName       = 200
	maxPostalCode = 20
	maxTaxID      = 30
)

// ValidateExternalID checks the integrator's own customer identifier: 1 to 255 printable characters.
func ValidateExternalID(field, s string, f *fault.Faults) {
	f.Check(s != "", field, fault.DetailRequired, "Give your own identifier of the customer.")
	checkText(field, s, maxExternalID, f)
}

// ValidateEmail checks the shape local@domain; whether mail arrives there only mail can tell.
func ValidateEmail(field, s string, f *fault.Faults) {
	local, domain, ok := strings.Cut(s, "@")
	plain := !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r == unicode.ReplacementChar || strings.ContainsRune(`"(),:;<>[\]`, r) || unicode.IsControl(r)
	})
	dotted := strings.Contains(domain, ".") && !strings.HasPrefix(domain, ".") && !strings.HasSuffix(domain, ".") && !strings.Contains(domain, "..") && !strings.Contains(domain, "@")
	f.Check(ok && local != "" && plain && dotted && len(s) <= maxEmail, field, fault.DetailInvalid,
		"Give an e-mail address such as ada@example.com, at most 254 characters.")
}

// Validate checks every member; field is the path of the object.
func (d Details) Validate(f *fault.Faults) {
	checkText("name", d.Name, maxName, f)
	checkText("postalCode", d.PostalCode, maxPostalCode, f)
	checkText("taxId", d.TaxID, maxTaxID, f)
	if d.Country != "" {
		f.Check(isCountry(d.Country), "country", fault.DetailInvalid, "Give a two-letter ISO 3166-1 code in capitals, such as IE.")
	}
}

// Over is d where it says something and earlier where it does not.
func (d Details) Over(earlier Details) Details {
	pick := func(a, b string) string {
		if a != "" {
			return a
		}
		return b
	}
	return Details{
		Name: pick(d.Name, earlier.Name), Country: pick(d.Country, earlier.Country),
		PostalCode: pick(d.PostalCode, earlier.PostalCode), TaxID: pick(d.TaxID, earlier.TaxID),
	}
}

func checkText(field, s string, limit int, f *fault.Faults) {
	f.Check(utf8.RuneCountInString(s) <= limit, field, fault.DetailTooLong, "The text is too long.")
	f.Check(!strings.ContainsFunc(s, unicode.IsControl), field, fault.DetailInvalid, "Control characters are not allowed.")
}

func isCountry(s string) bool {
	return len(s) == 2 && strings.Contains(countries, " "+s+" ")
}

// countries is ISO 3166-1 alpha-2.
const countries = " AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ " +
	"CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE " +
	"GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP " +
	"KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF " +
	"NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN " +
	"SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA " +
	"ZM ZW "
