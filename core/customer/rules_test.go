package customer

import (
	"strings"
	"testing"
	"time"

	"sundry/core/fault"
	"sundry/core/fault/faulttest"
	"sundry/core/secret"
)

var noon = time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)

func TestAnExternalIDIsPrintableAndNotTooLong(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"u": "", strings.Repeat("é", 255): "", strings.Repeat("é", 256): "id TOO_LONG", "": "id REQUIRED",
		"a\nb": "id INVALID", "a\x00": "id INVALID",
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
		"nothing": {Details{}, ""},
		"everything as long as it is": {Details{Name: strings.Repeat("n", 200),
			Address: Address{Country: "IE", PostalCode: strings.Repeat("p", 20)}}, ""},
		"a long name":         {Details{Name: strings.Repeat("n", 201)}, "name TOO_LONG"},
		"a name of two lines": {Details{Name: "a\nb"}, "name INVALID"},
		"a long postal code": {Details{Address: Address{PostalCode: strings.Repeat("p", 21)}},
			"postalCode TOO_LONG"},
		"a long tax id":              {Details{TaxID: strings.Repeat("1", 31)}, "taxId TOO_LONG"},
		"a tax id that long":         {Details{TaxID: strings.Repeat("1", 30)}, ""},
		"a tax id that is none":      {Details{Address: Address{Country: "IE"}, TaxID: "IE1"}, "taxId INVALID"},
		"no tax id after all":        {Details{Address: Address{Country: "IE"}, TaxID: None}, ""},
		"a tax id of elsewhere":      {Details{Address: Address{Country: "US"}, TaxID: "IE1"}, ""},
		"a country in small letters": {Details{Address: Address{Country: "ie"}}, "country INVALID"},
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
	earlier := Details{Name: "Ada", Address: Address{Country: "IE", PostalCode: "D02"}, TaxID: "1"}
	if got := (Details{}).Over(earlier); got != earlier {
		t.Errorf("nothing over %+v is %+v", earlier, got)
	}
	later := Details{Name: "Grace", Address: Address{Country: "FR", PostalCode: "75001"}, TaxID: "2"}
	if got := later.Over(earlier); got != later {
		t.Errorf("%+v over %+v is %+v", later, earlier, got)
	}
	if got, want := (Details{Address: Address{Country: "FR"}}).Over(earlier),
		(Details{Name: "Ada", Address: Address{Country: "FR"}, TaxID: "1"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	earlier.Line1, earlier.City = "1 Quay Street", "Dublin"
	moved := Details{Address: Address{Country: "IE", PostalCode: "D04"}}
	if got := moved.Over(earlier); got.Line1 != "1 Quay Street" || got.City != "Dublin" || got.PostalCode != "D04" {
		t.Errorf("in the same country: %+v", got)
	}
	for _, country := range []string{"", "FR"} {
		none := Details{Name: None, Address: Address{Country: country, PostalCode: None}, TaxID: None}.Over(earlier)
		if none.Name != "" || none.PostalCode != "" || none.TaxID != "" {
			t.Errorf("what is given no more, in the country %q, is %+v", country, none)
		}
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
	if _, err := New("cus_1", "crt_1", Draft{Email: "nobody", DisplayName: strings.Repeat("n", 201),
		ExternalCustomerID: "a\n"}, noon); len(faulttest.Lines(t, err)) != 3 {
		t.Errorf("refused with %v, want three faults", err)
	}
	c, err := New("cus_1", "crt_1", Draft{Email: "ada@example.com", DisplayName: "Ada"}, noon)
	if err != nil {
		t.Fatal(err)
	}
	want := State{ID: "cus_1", CreatorID: "crt_1", Email: "ada@example.com", DisplayName: "Ada", CreatedAt: noon,
		UpdatedAt: noon, Revision: 1}
	if c.State() != want {
		t.Errorf("made %+v", c.State())
	}
	later := noon.Add(time.Hour)
	if renamed, changed, err := c.Update(Patch{DisplayName: new("Ada")}, later); renamed != nil || changed || err != nil ||
		c.State() != want {
		t.Errorf("a change of nothing: %v, %v, %v, %+v", renamed, changed, err, c.State())
	}
	if _, changed, err := c.Update(Patch{Email: new("nobody")}, later); fault.CodeOf(err) != fault.ValidationFailed ||
		changed || c.State() != want {
		t.Errorf("a bad address: %v, %v, %+v", changed, err, c.State())
	}
	renamed, changed, err := c.Update(Patch{ExternalCustomerID: new("ada")}, later)
	want.ExternalCustomerID, want.UpdatedAt, want.Revision = "ada", later, 2
	if err != nil || !changed || renamed == nil || c.State() != want {
		t.Errorf("named: %+v, %v, %v, %+v", renamed, changed, err, c.State())
	}
	if renamed, changed, err := c.Update(Patch{DisplayName: new("Ada L.")}, later); err != nil || !changed ||
		renamed != nil {
		t.Errorf("another display name: %+v, %v, %v", renamed, changed, err)
	}
}

func TestAPatchListsEveryFault(t *testing.T) {
	t.Parallel()
	err := Patch{Email: new("nobody"), DisplayName: new("a\nb"), ExternalCustomerID: new("")}.Check()
	if got, want := strings.Join(faulttest.Lines(t, err), ", "), "email INVALID, displayName INVALID, "+
		"externalCustomerId REQUIRED"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if err := (Patch{}).Check(); err != nil {
		t.Errorf("an empty patch: %v", err)
	}
}

func TestACheckoutAddsWhatWasNotKnown(t *testing.T) {
	t.Parallel()
	later := noon.Add(time.Hour)
	details := Details{Name: "Grace", Address: Address{Country: "FR"}, Locale: "fr"}
	known := State{ID: "cus_1", Email: "ada@example.com", DisplayName: "Ada", Details: details, UpdatedAt: noon,
		Revision: 3}
	for name, c := range map[string]struct {
		from    State
		want    State
		changed bool
	}{
		"everything of a new customer": {State{ID: "cus_1", UpdatedAt: noon, Revision: 1},
			State{ID: "cus_1", Email: "grace@example.com", DisplayName: "Grace", Details: details, UpdatedAt: later,
				Revision: 2}, true},
		"the address and name of a known one stay": {State{ID: "cus_1", Email: "ada@example.com", DisplayName: "Ada",
			UpdatedAt: noon, Revision: 2},
			State{ID: "cus_1", Email: "ada@example.com", DisplayName: "Ada", Details: details, UpdatedAt: later, Revision: 3},
			true},
		"nothing new": {known, known, false},
	} {
		customer := Restore(c.from)
		if changed := customer.Bought("grace@example.com", details, later); changed != c.changed ||
			customer.State() != c.want {
			t.Errorf("%s: %v, %+v, want %+v", name, changed, customer.State(), c.want)
		}
	}
}

func TestAClockStaysWhereTheNewLocaleNamesNone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ locale, earlier, want string }{
		{"", "en-IE", "en-IE"},
		{"fr", "en-IE", "fr"},
		{"en-IE", "en-IE-u-hc-h12", "en-IE-u-hc-h12"},
		{"en", "en-IE-u-hc-h12", "en"},
		{"en-IE-u-hc-h23", "en-IE-u-hc-h12", "en-IE-u-hc-h23"},
	} {
		if got := (Details{Locale: c.locale}).Over(Details{Locale: c.earlier}).Locale; got != c.want {
			t.Errorf("%q over %q is %q, want %q", c.locale, c.earlier, got, c.want)
		}
	}
}

func TestEventsAreNamed(t *testing.T) {
	t.Parallel()
	if got := (Renamed{}).EventName() + " " + (LinkAsked{}).EventName(); got != "customer.renamed "+
		"customer.portal_link_asked" {
		t.Error(got)
	}
}

func TestLinksToThePortalLast(t *testing.T) {
	t.Parallel()
	if PortalSession != 86400*time.Second || PortalMail != 2592000*time.Second {
		t.Errorf("%s and %s", PortalSession, PortalMail)
	}
}

func TestASignedLinkThatCannotBeReadDoesNotOpen(t *testing.T) {
	t.Parallel()
	key := PortalKeys(secret.Fixed(make([]byte, 32)))
	for _, id := range []string{"cus_1", "cus_12", "cus_123"} { // of every length that ends a group of three bytes
		token, err := key.Sign(PortalLink{CustomerID: id})
		if err != nil {
			t.Fatal(err)
		}
		payload, _, _ := strings.Cut(token, ".")
		for _, broken := range []string{payload + "!", payload[:4]} {
			if _, ok := key.Open(broken + "." + portalProof(make([]byte, 32), broken)); ok {
				t.Errorf("%q opens", broken)
			}
		}
	}
}
