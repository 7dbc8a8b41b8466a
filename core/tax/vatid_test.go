package tax_test

import (
	"strings"
	"testing"

	"sundry/core/fault"
	"sundry/core/tax"
)

// valid are published ids: of the authorities' own documentation and of large companies.
var valid = map[string][]string{
	"AT": {"ATU13585627", "U13585627"},
	"BE": {"BE0428759497", "BE 0403.019.261"},
	"BG": {"BG175074752", "BG7523169263"},
	"CH": {"CHE-107.787.577 MWST", "CHE100155212"},
	"CY": {"CY10259033P"},
	"CZ": {"CZ25123891", "CZ7103192745"},
	"DE": {"DE136695976", "DE 136 695 976"},
	"DK": {"DK13585628"},
	"EE": {"EE100931558"},
	"ES": {"ESB58378431", "ESA08015497", "ES54362315K", "ESX2482300W", "ESM1234567L"},
	"FI": {"FI20774740"},
	"FR": {"FR40303265045", "FR23334175221", "FRK7399859412"},
	"GB": {"GB980780684"},
	"GR": {"EL094259216"},
	"HR": {"HR33392005961"},
	"HU": {"HU12892312"},
	"IE": {"IE6433435F", "IE6433435OA", "IE8D79739I", "IE6388047V"},
	"IT": {"IT00743110157"},
	"LT": {"LT119511515", "LT100001919017"},
	"LU": {"LU15027442"},
	"LV": {"LV40003521600", "LV16117519997"},
	"MT": {"MT11679112"},
	"NL": {"NL004495445B01", "NL002455799B11"},
	"NO": {"NO995525828MVA", "988077917"},
	"PL": {"PL8567346215"},
	"PT": {"PT501964843"},
	"RO": {"RO18547290"},
	"SE": {"SE556188840401"},
	"SI": {"SI50223054"},
	"SK": {"SK2022749619"},
}

func TestCheckVATIDTakesPublishedIDs(t *testing.T) {
	t.Parallel()
	for country, ids := range valid {
		for _, id := range ids {
			if err := tax.CheckVATID(country, id); err != nil {
				t.Errorf("%s %s: %v", country, id, err)
			}
		}
	}
}

// noChecksum are people's numbers, of which only the shape is known.
var noChecksum = map[string]bool{"BG7523169263": true, "CZ7103192745": true, "LV16117519997": true}

func TestCheckVATIDFindsEveryMistypedDigit(t *testing.T) {
	t.Parallel()
	for country, ids := range valid {
		for _, id := range ids {
			if noChecksum[id] {
				continue
			}
			refused, tried := 0, 0
			for i, c := range id {
				if c < '0' || c > '9' {
					continue
				}
				for d := '0'; d <= '9'; d++ {
					if d == c {
						continue
					}
					tried++
					if tax.CheckVATID(country, id[:i]+string(d)+id[i+1:]) != nil {
						refused++
					}
				}
			}
			if refused*10 < tried*8 {
				t.Errorf("%s: %d of %d typing errors were found", id, refused, tried)
			}
		}
	}
}

func TestCheckVATIDRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ country, id string }{
		"a wrong check digit":              {"DE", "DE136695977"},
		"another country's id":             {"DE", "ATU13585627"},
		"too few digits":                   {"DE", "DE13669597"},
		"letters for digits":               {"IT", "IT0074311015A"},
		"nothing":                          {"DE", ""},
		"only the prefix":                  {"DE", "DE"},
		"a country without a known format": {"US", "US123456789"},
		"digits of another script":         {"DE", "DE١٣٦٦٩٥٩٧٦"},
		"the Greek country code":           {"GR", "GR094259216"},
		"a Swedish id that ends in no 01":  {"SE", "SE556188840402"},
		"a Spanish letter of no kind":      {"ES", "ESI12345678"},
		"a text that goes on for long":     {"DE", strings.Repeat("DE136695976", 100)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := tax.CheckVATID(c.country, c.id)
			if !fault.Is(err, fault.ValidationFailed) {
				t.Errorf("CheckVATID(%s, %s) = %v", c.country, c.id, err)
			}
		})
	}
}

func FuzzCheckVATID(f *testing.F) {
	for country, ids := range valid {
		for _, id := range ids {
			f.Add(country, id)
		}
	}
	f.Fuzz(func(t *testing.T, country, id string) {
		if err := tax.CheckVATID(country, id); err == nil && !tax.SupportsVATID(country) {
			t.Errorf("%s of %s was taken", id, country)
		}
	})
}
