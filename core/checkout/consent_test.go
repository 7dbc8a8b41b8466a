package checkout_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/core/checkout"
	"sundry/core/fault"
	"sundry/core/fault/faulttest"
	"sundry/core/listingtype"
	"sundry/core/locale"
	"sundry/core/money"
)

var (
	consentDay = time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)
	bothTexts  = checkout.Terms{
		Merchant: "Sundry Ltd", URL: "https://sundry.example/terms", Shop: "Ada", RefundPolicy: "Within 30 days.",
	}
)

// buying is an open session of a type at a price, with a buyer in a country who names no VAT id.
func buying(t *testing.T, of listingtype.Type, price int64, country string) *checkout.Session {
	t.Helper()
	state := session(checkout.StatusProcessing, "").State()
	state.Offer.ListingType, state.Buyer.Country = of, country
	state.Total = money.Amount{Minor: price, Currency: "eur"}
	return checkout.Restore(state)
}

func TestConsent_AskedWhereTheLawGivesTheRight(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		of      listingtype.Type
		price   int64
		country string
		asked   string // words of the box
	}{
		"a download in the Union":      {listingtype.Digital, 900, "DE", "lose my 14-day right of withdrawal"},
		"a download in Norway":         {listingtype.Digital, 900, "NO", "lose my 14-day right of withdrawal"},
		"a subscription in the Union":  {listingtype.Subscription, 900, "DE", ""},
		"a download in the UK":         {listingtype.Digital, 900, "GB", "lose my 14-day right of withdrawal"},
		"a download in Switzerland":    {listingtype.Digital, 900, "CH", ""},
		"a download of no known place": {listingtype.Digital, 900, "", ""},
		"work that is done later":      {listingtype.Service, 900, "DE", ""},
		"an appointment":               {listingtype.Appointment, 900, "DE", ""},
		"a free download":              {listingtype.Digital, 0, "DE", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := buying(t, c.of, c.price, c.country)
			a := s.State().Agreement(bothTexts, locale.Default)
			given := checkout.Acceptance{Shown: a.Key(), From: checkout.ConsentOrigin{Network: "192.0.2.7/32"}}
			err := s.Accept(a, given, consentDay)
			if c.asked != "" {
				unseen := s.Accept(a, checkout.Acceptance{ImmediateSupply: true}, consentDay)
				for name, err := range map[string]error{"without the box": err, "without its words": unseen} {
					if lines := faulttest.Lines(t, err); !slices.Equal(lines, []string{"immediateSupply REQUIRED"}) {
						t.Errorf("%s: %v", name, lines)
					}
				}
				given.ImmediateSupply = true
				err = s.Accept(a, given, consentDay)
			}
			kept := s.State().Consent
			if err != nil || kept == nil {
				t.Fatalf("consent %+v, %v", kept, err)
			}
			if !strings.Contains(kept.ImmediateSupply, c.asked) || (kept.ImmediateSupply == "") != (c.asked == "") {
				t.Errorf("box %q, want %q", kept.ImmediateSupply, c.asked)
			}
			want := checkout.Consent{
				AcceptedAt: consentDay, Locale: "en-US", TermsURL: bothTexts.URL, From: given.From,
				Statement:    "By ordering, you agree to the terms of Sundry Ltd and the refund policy of Ada.",
				RefundPolicy: checkout.PolicyHash("Within 30 days."), ImmediateSupply: kept.ImmediateSupply,
			}
			if *kept != want {
				t.Errorf("consent %+v, want %+v", *kept, want)
			}
		})
	}
}

func TestConsent_OfTheBoxAlone(t *testing.T) {
	t.Parallel()
	s := buying(t, listingtype.Digital, 900, "DE")
	a := s.State().Agreement(checkout.Terms{}, locale.Default)
	err := s.Accept(a, checkout.Acceptance{Shown: a.Key(), ImmediateSupply: true}, consentDay)
	if kept := s.State().Consent; err != nil || kept == nil || kept.Statement != "" ||
		kept.ImmediateSupply != a.ImmediateSupply() || kept.RefundPolicy != "" {
		t.Errorf("consent %+v, %v", kept, err)
	}
}

// The hash is stored and compared with that of the policies that a creator has had.
func TestPolicyHash_IsSHA256(t *testing.T) {
	t.Parallel()
	for policy, want := range map[string]string{
		"": "", "Within 30 days.": "ba143a31109664ae8832f54964d3c54fa395ca33384d5f04b745e891f1893c2c",
	} {
		if got := checkout.PolicyHash(policy); got != want {
			t.Errorf("%q: %s, want %s", policy, got, want)
		}
	}
}

// Only consumers have a right of withdrawal.
func TestConsent_BusinessesAreNotAsked(t *testing.T) {
	t.Parallel()
	state := buying(t, listingtype.Digital, 900, "DE").State()
	state.Buyer.TaxID = "DE136695976"
	s := checkout.Restore(state)
	a := state.Agreement(bothTexts, locale.Default)
	err := s.Accept(a, checkout.Acceptance{Shown: a.Key()}, consentDay)
	if kept := s.State().Consent; err != nil || kept == nil || kept.ImmediateSupply != "" {
		t.Errorf("consent %+v, %v", kept, err)
	}
}

func TestConsent_IsToTheTextsThatWereShown(t *testing.T) {
	t.Parallel()
	s := buying(t, listingtype.Digital, 900, "US")
	shown := s.State().Agreement(bothTexts, locale.ParseTag("de-AT"))
	changed := bothTexts
	changed.RefundPolicy = "Within 7 days."
	given := checkout.Acceptance{Shown: shown.Key()}
	now := s.State().Agreement(changed, given.Reader())
	if err := s.Accept(now, given, consentDay); !fault.Is(err, fault.StateConflict) {
		t.Errorf("other texts than those shown: %v", err)
	}
	if err := s.Accept(s.State().Agreement(bothTexts, given.Reader()), given, consentDay); err != nil ||
		!strings.HasPrefix(s.State().Consent.Statement, "Mit deiner Bestellung akzeptierst du die AGB von Sundry Ltd") {
		t.Errorf("%+v, %v", s.State().Consent, err)
	}
	if err := s.Accept(now, checkout.Acceptance{}, consentDay); err != nil || s.State().Consent != nil {
		t.Errorf("a payment without a page agreed to %+v, %v", s.State().Consent, err)
	}
	none := s.State().Agreement(checkout.Terms{Merchant: "Sundry Ltd", Shop: "Ada"}, locale.Default)
	if none.Statement() != nil {
		t.Errorf("without texts it says %v", none.Statement())
	}
	if err := s.Accept(none, checkout.Acceptance{Shown: none.Key()}, consentDay); err != nil || s.State().Consent != nil {
		t.Errorf("nothing was agreed to, and it is %+v, %v", s.State().Consent, err)
	}
}

func TestConsent_StatementLinksItsTexts(t *testing.T) {
	t.Parallel()
	s := buying(t, listingtype.Service, 900, "DE").State()
	for name, c := range map[string]struct {
		terms checkout.Terms
		want  []checkout.Phrase
	}{
		"both": {bothTexts, []checkout.Phrase{
			{Text: "By ordering, you agree to "}, {Text: "the terms of Sundry Ltd", URL: bothTexts.URL}, {Text: " and "},
			{Text: "the refund policy of Ada", URL: "#refund-policy"}, {Text: "."},
		}},
		"the policy alone": {checkout.Terms{Shop: "Ada", RefundPolicy: "None."}, []checkout.Phrase{
			{Text: "By ordering, you agree to "}, {Text: "the refund policy of Ada", URL: "#refund-policy"}, {Text: "."},
		}},
	} {
		if got := s.Agreement(c.terms, locale.Default).Statement(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	countries := checkout.WithdrawalCountries()
	if len(countries) != 27+4 || !slices.IsSorted(countries) || slices.Contains(countries, "CH") {
		t.Errorf("%v", countries)
	}
}
