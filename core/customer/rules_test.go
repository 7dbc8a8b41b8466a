package customer

import (
	"strings"
	"testing"
	"time"

	"sundry/core/fault"
	"sundry/core/fault/faulttest"
)

var noon = time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)

func TestAnExternalIDIsPrintableAndNotTooLong(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"u": "", strings.Repeat("é", 255): "", strings.Repeat("é", 256): "id TOO_LONG", "": "id REQUIRED", "a\nb": "id INVALID", "a\x00": "id INVALID",
	} {
		var f fault.Violations
		ValidateExternalID("id", id, &f)
		got := ""
		if err := f.Err(); err != nil {
			got = strings.Join(faulttest.Lines(t, err), " ")
		}
		if got != want {
			t.Errorf("%.10q: %q, want %q", id, got, want)
		}
	}
}

func TestTheDetailsOfABuyerAreBounded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		details Details
		want    string
	}{
		"nothing":                     {Details{}, ""},
		"everything as long as it is": {Details{Name: strings.Repeat("n", 200), Country: "IE", PostalCode: strings.Repeat("p", 20)}, ""},
		"a long name":                 {Details{Name: strings.Repeat("n", 201)}, "name TOO_LONG"},
		"a name of two lines":         {Details{Name: "a\nb"}, "name INVALID"},
		"a long postal code":          {Details{PostalCode: strings.Repeat("p", 21)}, "postalCode TOO_LONG"},
		"a long tax id":               {Details{TaxID: strings.Repeat("1", 31)}, "taxId TOO_LONG"},
		"a tax id that long":          {Details{TaxID: strings.Repeat("1", 30)}, ""},
		"a tax id that is none":       {Details{Country: "IE", TaxID: "IE1"}, "taxId INVALID"},
		"a tax id of elsewhere":       {Details{Country: "US", TaxID: "IE1"}, ""},
		"a country in small letters":  {Details{Country: "ie"}, "country INVALID"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var f fault.Violations
			c.details.Validate(&f)
			got := ""
			if err := f.Err(); err != nil {
				got = strings.Join(faulttest.Lines(t, err), " ")
			}
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestWhatABuyerLeavesOutStays(t *testing.T) {
	t.Parallel()
	earlier := Details{Name: "Ada", Country: "IE", PostalCode: "D02", TaxID: "1"}
	if got := (Details{}).Over(earlier); got != earlier {
		t.Errorf("nothing over %+v is %+v", earlier, got)
	}
	later := Details{Name: "Grace", Country: "FR", PostalCode: "75001", TaxID: "2"}
	if got := later.Over(earlier); got != later {
		t.Errorf("%+v over %+v is %+v", later, earlier, got)
	}
	if got, want := (Details{Country: "FR"}).Over(earlier), (Details{Name: "Ada", Country: "FR", PostalCode: "D02", TaxID: "1"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestAccessIsReadUnderTheIntegratorsName(t *testing.T) {
	t.Parallel()
	if got := AccessKey("ada", "cus_1"); got != "ada" {
		t.Errorf("got %q", got)
	}
	if got := AccessKey("", "cus_1"); got != "cus_1" {
		t.Errorf("got %q", got)
	}
}

func TestACustomerChangesOnlyWhatIsGiven(t *testing.T) {
	t.Parallel()
	if _, err := New("cus_1", "crt_1", Draft{Email: "nobody", DisplayName: strings.Repeat("n", 201), ExternalCustomerID: "a\n"}, noon); len(faulttest.Lines(t, err)) != 3 {
		t.Errorf("refused with %v, want three faults", err)
	}
	c, err := New("cus_1", "crt_1", Draft{Email: "ada@example.com", DisplayName: "Ada"}, noon)
	if err != nil {
		t.Fatal(err)
	}
	want := State{ID: "cus_1", CreatorID: "crt_1", Email: "ada@example.com", DisplayName: "Ada", CreatedAt: noon, UpdatedAt: noon, Revision: 1}
	if c.State() != want {
		t.Errorf("made %+v", c.State())
	}
	later := noon.Add(time.Hour)
	if renamed, changed, err := c.Update(Patch{DisplayName: new("Ada")}, later); renamed != nil || changed || err != nil || c.State() != want {
		t.Errorf("a change of nothing: %v, %v, %v, %+v", renamed, changed, err, c.State())
	}
	if _, changed, err := c.Update(Patch{Email: new("nobody")}, later); fault.CodeOf(err) != fault.ValidationFailed || changed || c.State() != want {
		t.Errorf("a bad address: %v, %v, %+v", changed, err, c.State())
	}
	renamed, changed, err := c.Update(Patch{ExternalCustomerID: new("ada")}, later)
	want.ExternalCustomerID, want.UpdatedAt, want.Revision = "ada", later, 2
	if err != nil || !changed || renamed == nil || c.State() != want {
		t.Errorf("named: %+v, %v, %v, %+v", renamed, changed, err, c.State())
	}
	if renamed, changed, err := c.Update(Patch{DisplayName: new("Ada L.")}, later); err != nil || !changed || renamed != nil {
		t.Errorf("another display name: %+v, %v, %v", renamed, changed, err)
	}
}
