package money

import (
	"strings"

	"sundry/core/fault"
)

// Currency is an ISO 4217 code in lower case, such as eur.
type Currency string

// The circulating currencies of ISO 4217 by the number of decimals of their minor unit. Funds (che, clf, …),
// index units (uyw), metals, accounting units (xdr, xad, …) and test codes are left out: no card pays in them.
var exponents = tabulate(map[int]string{
	0: "bif clp djf gnf isk jpy kmf krw pyg rwf ugx vnd vuv xaf xof xpf",
	2: "aed afn all amd aoa ars aud awg azn bam bbd bdt bmd bnd bob brl bsd btn bwp byn bzd cad cdf chf cny cop " +
		"crc cup cve czk dkk dop dzd egp ern etb eur fjd fkp gbp gel ghs gip gmd gtq gyd hkd hnl htg huf idr ils " +
		"inr irr jmd kes kgs khr kpw kyd kzt lak lbp lkr lrd lsl mad mdl mga mkd mmk mnt mop mru mur mvr mwk mxn " +
		"myr mzn nad ngn nio nok npr nzd pab pen pgk php pkr pln qar ron rsd rub sar sbd scr sdg sek sgd shp sle " +
		"sos srd ssp stn svc syp szl thb tjs tmt top try ttd twd tzs uah usd uyu uzs ved ves wst xcd xcg yer zar " +
		"zmw zwg",
	3: "bhd iqd jod kwd lyd omr tnd",
})

// Symbols that name one currency to any reader; every other currency is shown by its code.
var symbols = map[Currency]string{
	"aud": "A$", "brl": "R$", "cad": "CA$", "eur": "€", "gbp": "£", "hkd": "HK$", "ils": "₪", "inr": "₹",
	"jpy": "¥", "krw": "₩", "mxn": "MX$", "nzd": "NZ$", "php": "₱", "twd": "NT$", "usd": "$", "vnd": "₫",
}

func tabulate(codes map[int]string) map[Currency]int {
	table := map[Currency]int{}
	for exponent, list := range codes {
		for code := range strings.FieldsSeq(list) {
			table[Currency(code)] = exponent
		}
	}
	return table
}

// ParseCurrency accepts a circulating currency's ISO 4217 code in lower case. Its error is a VALIDATION_FAILED
// fault without a field, made for Violations.Merge.
func ParseCurrency(s string) (Currency, error) {
	if _, ok := exponents[Currency(s)]; ok {
		return Currency(s), nil
	}
	message := "Expected an ISO 4217 currency code in lower case, such as eur or usd."
	if lower := strings.ToLower(s); exists(Currency(lower)) {
		message = "Write the currency code in lower case: " + lower + "."
	}
	return "", fault.Invalid(fault.Detail{Code: fault.DetailInvalid, Message: message})
}

// Exponent returns the number of decimals of the minor unit: 0 for jpy, 2 for eur, 3 for kwd. A code that ISO
// has withdrawn since it was stored counts as 2, as all withdrawn since 2018 had.
func (c Currency) Exponent() int {
	if exponent, ok := exponents[c]; ok {
		return exponent
	}
	return 2
}

// Step divides the minor units of every amount that processors move: thousandths are charged and paid out in tens only.
func (c Currency) Step() int64 {
	if c.Exponent() == 3 {
		return 10
	}
	return 1
}

// CheckStep records an amount that processors don't move, by Step. Every amount that somebody types is checked by it.
func (c Currency) CheckStep(f *fault.Violations, field string, minor int64) {
	if minor%c.Step() != 0 {
		f.Addf(field, fault.DetailNotAllowed, "An amount in %s must end in 0: cards can't be charged single thousandths.",
			strings.ToUpper(string(c)))
	}
}

// leastCharges are Stripe's minimum charge amounts (docs.stripe.com/currencies) in minor units. Others' depend on the
// account that the money is settled to.
var leastCharges = map[Currency]int64{
	"aed": 200, "aud": 50, "brl": 50, "cad": 50, "chf": 50, "czk": 1500, "dkk": 250, "eur": 50, "gbp": 30, "hkd": 400,
	"huf": 17_500, "inr": 50, "jpy": 50, "mxn": 1000, "myr": 200, "nok": 300, "nzd": 50, "pln": 200, "ron": 200,
	"sek": 300, "sgd": 50, "thb": 1000, "usd": 50,
}

// LeastCharge returns the least amount that processors charge, in minor units; 0 where it is not known.
func (c Currency) LeastCharge() int64 { return leastCharges[c] }

// CreditUsed returns how much of a credit pays for an amount that is due, in minor units. What it leaves is at least
// the least charge, where as much is due: a few cents would be declined.
func CreditUsed(due, credit, leastCharge int64) int64 {
	if left := due - credit; left > 0 && left < leastCharge && due >= leastCharge {
		return due - leastCharge
	}
	return min(due, credit)
}

// Symbol returns the sign of the currency; its code in capitals, and ok false, where no sign names it to any reader.
func (c Currency) Symbol() (symbol string, ok bool) {
	if symbol, ok = symbols[c]; ok {
		return symbol, true
	}
	return strings.ToUpper(string(c)), false
}

func exists(c Currency) bool {
	_, ok := exponents[c]
	return ok
}
