package stripefake

import (
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// taxRates are the rates, in percent, of the jurisdictions where the fake account collects tax. In the United States
// the postal code decides, and two jurisdictions tax one line.
var taxRates = map[string][]string{"DE": {"19"}, "JP": {"10"}, "US 94103": {"7.25", "1.375"}}

// createTax is POST /v1/tax/calculations.
func (s *Server) createTax(what string, form url.Values) (int, object) {
	if what != "calculations" {
		return refuse(http.StatusNotFound, "resource_missing")
	}
	country, postal := form.Get("customer_details[address][country]"), form.Get(
		"customer_details[address][postal_code]",
	)
	place, businessID := country, form.Get("customer_details[tax_ids][0][value]")
	if country == "US" {
		place += " " + postal
	}
	switch {
	case country == "US" && postal == "":
		return refuse(http.StatusBadRequest, "customer_tax_location_invalid")
	case strings.HasSuffix(businessID, "000"):
		return refuse(http.StatusBadRequest, "tax_id_invalid")
	}
	var lines []object
	var total, exclusive, inclusive int64
	for i := 0; form.Has(fmt.Sprintf("line_items[%d][amount]", i)); i++ {
		line := func(member string) string { return form.Get(fmt.Sprintf("line_items[%d][%s]", i, member)) }
		amount, err := strconv.ParseInt(line("amount"), 10, 64)
		if err != nil || amount < 0 {
			return refuse(http.StatusBadRequest, "parameter_invalid_integer")
		}
		contained := line("tax_behavior") == "inclusive"
		due, breakdown := taxOf(amount, contained, taxRates[place], businessID != "")
		if total += amount; contained {
			inclusive += due
		} else {
			total, exclusive = total+due, exclusive+due
		}
		lines = append(lines, object{
			"object": "tax.calculation_line_item", "amount": amount, "amount_tax": due, "reference": line("reference"),
			"tax_behavior": line("tax_behavior"), "tax_code": line("tax_code"), "tax_breakdown": breakdown,
		})
	}
	return http.StatusOK, s.add("taxcalc_", object{
		"object": "tax.calculation", "amount_total": total, "tax_amount_exclusive": exclusive,
		"tax_amount_inclusive": inclusive,
		"currency":             form.Get("currency"), "line_items": object{"object": "list", "data": lines},
	})
}

// taxOf is the tax of a line by the rates of its jurisdictions, which tax one base.
func taxOf(amount int64, contained bool, rates []string, business bool) (due int64, breakdown []object) {
	if len(rates) == 0 || business {
		reason := "not_collecting"
		if business {
			reason = "reverse_charge"
		}
		return 0, []object{{"amount": 0, "taxable_amount": 0, "taxability_reason": reason, "tax_rate_details": nil}}
	}
	whole := new(big.Rat)
	for _, percent := range rates {
		rate, _ := new(big.Rat).SetString(percent)
		whole.Add(whole, rate)
	}
	base := big.NewRat(amount, 1)
	if contained {
		base.Quo(base, new(big.Rat).Add(big.NewRat(1, 1), new(big.Rat).Quo(whole, big.NewRat(100, 1))))
	}
	for _, percent := range rates {
		rate, _ := new(big.Rat).SetString(percent)
		one := new(big.Rat).Mul(base, rate.Quo(rate, big.NewRat(100, 1)))
		one.Add(one, big.NewRat(1, 2))
		part := new(big.Int).Quo(one.Num(), one.Denom()).Int64()
		due += part
		breakdown = append(breakdown, object{
			"amount": part, "taxable_amount": amount, "taxability_reason": "standard_rated",
			"tax_rate_details": object{"percentage_decimal": percent, "tax_type": "vat"},
		})
	}
	return due, breakdown
}
