package locale

import (
	"strings"

	"sundry/core/country"
	"sundry/core/tax"
)

// Percent writes a rate in percent: 8.1, or 8,1.
func (l Locale) Percent(rate tax.BasisPoints) string {
	text := rate.Percent()
	if l.Language == "de" || l.Language == "fr" {
		text = strings.Replace(text, ".", ",", 1)
	}
	return text
}

// TaxLine labels the tax of an amount with its rate and country, such as "Tax included, 19% (Germany)": without them
// where it is of several rates, or where nothing is known of it.
func (l Locale) TaxLine(d tax.Details, included bool) string {
	key := "tax.added"
	if included {
		key = "tax.included"
	}
	var taxed []tax.Share
	for _, share := range d.Shares {
		if share.Tax.Minor != 0 {
			taxed = append(taxed, share)
		}
	}
	if len(taxed) != 1 || taxed[0].Rate == 0 || d.Country == "" {
		return l.Text(key)
	}
	return l.Text(key+".rate", l.Percent(taxed[0].Rate), country.Name(d.Country, l.Language))
}
