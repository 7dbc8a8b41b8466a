package imports_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/core/customer"
	"sundry/core/imports"
	"sundry/core/listing"
	"sundry/core/money"
	"sundry/core/period"
	"sundry/core/plan"
)

func eur(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "eur"} }

func price(id string, active bool, interval period.Interval, amounts ...money.Amount) imports.Price {
	p := imports.Price{ID: id, Active: active, Interval: interval, Amounts: amounts}
	if interval != "" {
		p.IntervalCount = 1
	}
	return p
}

// shape describes plans as "key: amount interval, …".
func shape(plans []plan.Draft) (all []string) {
	for _, p := range plans {
		var prices []string
		for _, one := range p.Prices {
			interval := "once"
			if one.Interval != nil {
				interval = *one.Interval
			}
			prices = append(prices, money.Amount{Minor: *one.AmountInCents, Currency: money.Currency(one.Currency)}.Typed()+
				" "+one.Currency+" "+interval)
		}
		all = append(all, p.Key[:min(len(p.Key), 8)]+": "+strings.Join(prices, ", "))
	}
	return all
}

func TestPricesBecomePlans(t *testing.T) {
	t.Parallel()
	tiered := price("price_t", true, "month", eur(5))
	tiered.Obstacle = "tiers"
	for name, c := range map[string]struct {
		prices []imports.Price
		want   []string
	}{
		"one interval each": {
			[]imports.Price{price("price_m", true, "month", eur(1000)), price("price_y", true, "year", eur(9000))},
			[]string{"standard: 10.00 eur month, 90.00 eur year"},
		},
		"another of the same interval": {
			[]imports.Price{price("price_m", true, "month", eur(1000)), price("price_n", true, "month", eur(2000))},
			[]string{"standard: 10.00 eur month", "price-n-: 20.00 eur month"},
		},
		"another currency": {
			[]imports.Price{
				price("price_m", true, "month", eur(1000)),
				price("price_u", true, "month", money.Amount{Minor: 1100, Currency: "usd"}),
			},
			[]string{"standard: 10.00 eur month, 11.00 usd month"},
		},
		"old prices": {
			[]imports.Price{price("price_o", false, "month", eur(800)), price("price_m", true, "month", eur(1000))},
			[]string{"standard: 10.00 eur month"},
		},
		"only old prices": {[]imports.Price{price("price_o", false, "month", eur(800))}, []string{"standard: 8.00 eur month"}},
		"once beside month": {
			[]imports.Price{price("price_b", true, "", eur(500)), price("price_m", true, "month", eur(1000)), tiered},
			[]string{"standard: 10.00 eur month", "price-b-: 5.00 eur once"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := imports.Product{ID: "prod_1", Name: "App", Prices: c.prices}
			if got := shape(p.Plans()); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			for _, draft := range p.Plans() {
				if err := draft.Check(); err != nil {
					t.Errorf("%s: %v", draft.Key, err)
				}
			}
		})
	}
}

func TestKeysOfProducts(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, id := range []string{"prod_NffrFeUfNV2Hib", "prod_nffrfeufnv2hib", "gold-plan", "Gold-Plan", "a", "_", strings.Repeat("x", 300)} {
		key := imports.Product{ID: id}.Key()
		if !listing.ValidSlug(key) || len(key) > 100 || seen[key] != "" {
			t.Errorf("%s: %q, also of %q", id, key, seen[key])
		}
		seen[key] = id
	}
	if seen["gold-plan"] != "gold-plan" {
		t.Errorf("a slug is changed: %v", seen)
	}
}

func TestCustomersKeepWhatIsValid(t *testing.T) {
	t.Parallel()
	full := imports.Customer{
		ID: "cus_1", Email: " ada@example.com ", Name: "Ada", TaxID: "DE136695976",
		Address:  customer.Address{Country: "DE", PostalCode: "10115"},
		Metadata: map[string]string{"user": "42"},
	}
	for name, c := range map[string]struct {
		change     func(*imports.Customer)
		externalID string
		id         string
		dropped    []string
	}{
		"all of it":               {func(*imports.Customer) {}, "", "cus_1", nil},
		"the integrator's own id": {func(*imports.Customer) {}, "user", "42", nil},
		"without that id":         {func(*imports.Customer) {}, "other", "cus_1", nil},
		"a wrong tax ID":          {func(c *imports.Customer) { c.TaxID = "DE1" }, "", "cus_1", []string{"tax ID"}},
		"no country": {
			func(c *imports.Customer) { c.Address.Country = "" }, "", "cus_1", []string{"billing address"},
		},
		"a long value": {
			func(c *imports.Customer) { c.Metadata = map[string]string{"a": strings.Repeat("x", 501)} }, "", "cus_1",
			[]string{"metadata"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from := full
			c.change(&from)
			draft, dropped := from.Draft(c.externalID)
			if draft.Check() != nil || draft.ExternalCustomerID != c.id || !slices.Equal(dropped, c.dropped) ||
				draft.Email != "ada@example.com" {
				t.Errorf("%+v without %v: %v", draft, dropped, draft.Check())
			}
		})
	}
	if draft, _ := (imports.Customer{ID: "cus_1"}).Draft(""); draft.Check() == nil {
		t.Error("a customer without an address is taken")
	}
}

func TestPeriodsGoOnWhereTheyEnd(t *testing.T) {
	t.Parallel()
	month := plan.Price{Interval: period.Month, IntervalCount: 1, Amount: eur(1000)}
	at := func(s string) time.Time {
		t.Helper()
		parsed, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return parsed
	}
	now, anchor := at("2026-02-10T00:00:00Z"), at("2025-10-31T09:00:00Z")
	s := imports.Subscription{Anchor: anchor, PeriodEnd: at("2026-02-28T09:00:00Z")}
	if got := s.TakeOver(month, now); !got.Anchor.Equal(anchor) || !got.PaidUntil.Equal(s.PeriodEnd) {
		t.Errorf("the anchor's period: %+v", got)
	}
	s.PeriodEnd = at("2026-02-20T00:00:00Z")
	if got := s.TakeOver(month, now); !got.Anchor.IsZero() || !got.PaidUntil.Equal(s.PeriodEnd) {
		t.Errorf("another period: %+v", got)
	}
	s.TrialEndsAt = s.PeriodEnd
	if got := s.TakeOver(month, now); !got.PaidUntil.IsZero() || !got.TrialEndsAt.Equal(s.PeriodEnd) {
		t.Errorf("a trial: %+v", got)
	}
}
