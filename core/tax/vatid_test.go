package tax_test

import (
	"slices"
	"strings"
	"testing"

	"sundry/core/fault"
	"sundry/core/tax"
)

// valid are published ids: of the authorities' own documentation and of large companies.
var valid = map[string][]string{
	"AT": {"ATU13585627", "U13585627"},
	"BE": {"BE0428759497", "BE 0403.019.261"},
	"BG": {"BG175074752"},
	"CH": {"CHE-107.787.577 MWST", "CHE100155212"},
	"CY": {"CY10259033P"},
	"CZ": {"CZ25123891"},
	"DE": {"DE136695976", "DE 136 695 976"},
	"DK": {"DK13585628"},
	"EE": {"EE100931558"},
	"ES": {"ESB58378431", "ESA08015497", "ES54362315K", "ESX2482300W", "ESM1234567L"},
	"FI": {"FI20774740"},
	"FR": {"FR40303265045", "FR23334175221", "FRK7399859412", "FR4Z123456782", "FR53000004605"},
	"GB": {"GB980780684"},
	"GR": {"EL094259216"},
	"HR": {"HR33392005961"},
	"HU": {"HU12892312"},
	"IE": {"IE6433435F", "IE6433435OA", "IE8D79739I", "IE6388047V"},
	"IT": {"IT00743110157"},
	"LT": {"LT119511515", "LT100001919017"},
	"LU": {"LU15027442"},
	"LV": {"LV40003521600"},
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

// calculated are made-up ids that an independent implementation (python-stdnum) accepts: every weight of a checksum
// meets a digit other than zero, and every exception of it is met.
var calculated = map[string][]string{
	"BG": {"BG833952652", "BG643392239", "BG293526786", "BG194943539", "BG374450820"},
	"CH": {"CHE911877242", "CHE847348153"},
	"CY": {"CY99610290S", "CY40595271M", "CY24061186Q", "CY81153625W"},
	"CZ": {"CZ39817113", "CZ42288631"},
	"DK": {"DK84914444", "DK47549914"},
	"EE": {"EE107663654", "EE107261551"},
	"ES": {"ES95604100T", "ESK9677943A", "ESL5492209Q", "ESS1928125B", "ESY2557385Y", "ESZ1773039C"},
	"FI": {"FI17226241", "FI78832755"},
	"FR": {"FR84856475298", "FR5J303265045", "FRA9303265045"},
	"GB": {"GB725595116", "GB848911393", "GB236738974", "GB842433777"},
	"GR": {"EL194614420", "EL377636468", "EL253972386"},
	"HU": {"HU39572653"},
	"IE": {"IE7+37385A", "IE2*96974D", "IE7013413J", "IE5989891D", "IE6907934JB", "IE1227118LI", "IE1220308PW",
		"IE2X06174P"},
	"LT": {"LT681654316", "LT628214911", "LT223382010", "LT759555710", "LT815147182319", "LT973245592219",
		"LT405066136310", "LT713755255710"},
	"LV": {"LV49681834323", "LV92228426242"},
	"MT": {"MT56319851", "MT98142841"},
	"NL": {"NL989999348B93", "NL676141286B89", "NL291984623B95", "NL594942136B98"},
	"NO": {"NO672261678"},
	"PL": {"PL4111111354"},
	"PT": {"PT396126960", "PT495221180", "PT544148142"},
	"RO": {"RO9859118658", "RO3864587853", "RO464583735", "RO632449"},
	"SI": {"SI78164940", "SI32112688"},
}

// noChecksum are people's numbers, of which only the shape is known.
var noChecksum = map[string][]string{
	"BG": {"BG7523169263"},
	"CZ": {"CZ7103192745", "CZ640903926"},
	"LV": {"LV16117519997", "LV32123456789"},
}

func TestCheckVATIDTakesRightIDs(t *testing.T) {
	t.Parallel()
	for _, all := range []map[string][]string{valid, calculated, noChecksum} {
		for country, ids := range all {
			for _, id := range ids {
				if err := tax.CheckVATID(country, id); err != nil {
					t.Errorf("%s %s: %v", country, id, err)
				}
			}
		}
	}
}

func TestCheckVATIDFindsEveryMistypedDigit(t *testing.T) {
	t.Parallel()
	for country := range valid {
		for _, id := range slices.Concat(valid[country], calculated[country]) {
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
		"a Spanish letter of no kind":      {"ES", "ESI12345674"},
		"a French key of another company":  {"FR", "FR85856475298"},
		"a French key with other letters":  {"FR", "FRK8399859412"},
		"a French key with a wrong letter": {"FR", "FR4Y123456782"},
		"a French company's check digit":   {"FR", "FR43303265046"},
		"a check digit behind three zeros": {"FR", "FR44500012345"},
		"a Slovenian body without a check": {"SI", "SI69628921"},
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

func TestARegisterIsAskedByPrefixAndNumber(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ country, id, prefix, number string }{
		{"DE", "de 136-695.976", "DE", "136695976"},
		{"DE", "136695976", "DE", "136695976"},
		{"GR", "EL094259216", "EL", "094259216"},
		{"CH", "CHE-107.787.577", "CHE", "107787577"},
		{"US", "US12", "US", "12"},
	} {
		if prefix, number := tax.SplitVATID(c.country, c.id); prefix != c.prefix || number != c.number {
			t.Errorf("%s of %s is %q and %q", c.id, c.country, prefix, number)
		}
	}
}

func TestVATCheckCoversAllSpellingsOfItsID(t *testing.T) {
	t.Parallel()
	check := tax.VATCheck{ID: "EL094259216", Registered: true}
	for name, c := range map[string]struct {
		check       tax.VATCheck
		country, id string
		covered     bool
	}{
		"the same":           {check, "GR", "EL094259216", true},
		"written otherwise":  {check, "GR", "094 259 216", true},
		"another number":     {check, "GR", "EL094259217", false},
		"another country":    {check, "DE", "094259216", false},
		"no check":           {tax.VATCheck{}, "GR", "EL094259216", false},
		"no check and no id": {tax.VATCheck{}, "", "", false},
	} {
		if got := c.check.Covers(c.country, c.id); got != c.covered {
			t.Errorf("%s: %v", name, got)
		}
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
