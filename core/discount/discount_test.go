package discount

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sundry/core/fault"
	"sundry/core/locale"
	"sundry/core/money"
)

var noon = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

func percent(n int) Draft { return Draft{Code: "SPRING-26", PercentOff: &n} }

func amount(n int64, currency string) Draft {
	return Draft{Code: "SPRING-26", AmountOffInCents: &n, Currency: currency}
}

func made(t *testing.T, draft Draft) *Discount {
	t.Helper()
	d, err := New("dsc_1", "crt_1", draft, noon)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func detailsOf(err error) []fault.Detail {
	var e *fault.Error
	if !errors.As(err, &e) {
		return nil
	}
	return e.Details
}

// faultsOf lists the members at fault, sorted.
func faultsOf(err error) string {
	var members []string
	for _, d := range detailsOf(err) {
		members = append(members, d.Field)
	}
	slices.Sort(members)
	return strings.Join(members, " ")
}

func TestADraftIsCheckedWhole(t *testing.T) {
	t.Parallel()
	with := func(d Draft, change func(*Draft)) Draft { change(&d); return d }
	for name, c := range map[string]struct {
		draft Draft
		want  string
	}{
		"one percent":                  {percent(1), ""},
		"everything off":               {percent(100), ""},
		"more than everything":         {percent(101), "percentOff"},
		"nothing off":                  {percent(0), "percentOff"},
		"an amount":                    {amount(1, "eur"), ""},
		"the largest amount":           {amount(100_000_000, "jpy"), ""},
		"too large an amount":          {amount(100_000_001, "eur"), "amountOffInCents"},
		"an amount of nothing":         {amount(0, "eur"), "amountOffInCents"},
		"an amount without a currency": {amount(5, ""), "currency"},
		"an amount in no money":        {amount(5, "xxx"), "currency"},
		"an amount in thousandths":     {amount(1505, "kwd"), "amountOffInCents"},
		"an amount in tens of them":    {amount(1510, "kwd"), ""},
		"neither":                      {Draft{Code: "A"}, "percentOff"},
		"both": {with(percent(5), func(d *Draft) {
			d.AmountOffInCents = new(int64(5))
			d.Currency = "eur"
		}), "amountOffInCents"},
		"a percentage with a currency": {with(percent(5), func(d *Draft) { d.Currency = "eur" }), "currency"},
		"no code":                      {with(percent(5), func(d *Draft) { d.Code = "" }), "code"},
		"every character of a code":    {with(percent(5), func(d *Draft) { d.Code = "azAZ09-_" }), ""},
		"the longest code":             {with(percent(5), func(d *Draft) { d.Code = strings.Repeat("x", 50) }), ""},
		"too long a code":              {with(percent(5), func(d *Draft) { d.Code = strings.Repeat("x", 51) }), "code"},
		"a code with a blank":          {with(percent(5), func(d *Draft) { d.Code = "A B" }), "code"},
		"a code with a slash":          {with(percent(5), func(d *Draft) { d.Code = "A/B" }), "code"},
		"a code with a colon":          {with(percent(5), func(d *Draft) { d.Code = "A:B" }), "code"},
		"a code in other letters":      {with(percent(5), func(d *Draft) { d.Code = "Ä" }), "code"},
		"a code with a brace":          {with(percent(5), func(d *Draft) { d.Code = "{" }), "code"},
		"a code with a bracket":        {with(percent(5), func(d *Draft) { d.Code = "[" }), "code"},
		"a code with an at sign":       {with(percent(5), func(d *Draft) { d.Code = "@" }), "code"},
		"a code with an accent":        {with(percent(5), func(d *Draft) { d.Code = "`" }), "code"},
		"forever":                      {with(percent(5), func(d *Draft) { d.Duration = "forever" }), ""},
		"once, named":                  {with(percent(5), func(d *Draft) { d.Duration = "once" }), ""},
		"an unknown duration":          {with(percent(5), func(d *Draft) { d.Duration = "twice" }), "duration"},
		"repeating for a month": {with(percent(5), func(d *Draft) {
			d.Duration = "repeating"
			d.DurationInMonths = new(1)
		}), ""},
		"repeating for ten years": {with(percent(5), func(d *Draft) {
			d.Duration = "repeating"
			d.DurationInMonths = new(120)
		}), ""},
		"repeating for longer": {with(percent(5), func(d *Draft) {
			d.Duration = "repeating"
			d.DurationInMonths = new(121)
		}), "durationInMonths"},
		"repeating for no month": {with(percent(5), func(d *Draft) {
			d.Duration = "repeating"
			d.DurationInMonths = new(0)
		}), "durationInMonths"},
		"repeating for what": {with(percent(5), func(d *Draft) { d.Duration = "repeating" }), "durationInMonths"},
		"months without repeating": {with(percent(5), func(d *Draft) {
			d.Duration = "once"
			d.DurationInMonths = new(3)
		}), "durationInMonths"},
		"one redemption":       {with(percent(5), func(d *Draft) { d.MaxRedemptions = new(1) }), ""},
		"the most redemptions": {with(percent(5), func(d *Draft) { d.MaxRedemptions = new(1_000_000_000) }), ""},
		"too many redemptions": {with(percent(5), func(d *Draft) {
			d.MaxRedemptions = new(1_000_000_001)
		}), "maxRedemptions"},
		"no redemption":          {with(percent(5), func(d *Draft) { d.MaxRedemptions = new(0) }), "maxRedemptions"},
		"it expires in a moment": {with(percent(5), func(d *Draft) { d.ExpiresAt = noon.Add(1) }), ""},
		"it expires now":         {with(percent(5), func(d *Draft) { d.ExpiresAt = noon }), "expiresAt"},
		"a hundred listings":     {with(percent(5), func(d *Draft) { d.ListingIDs = listings(100) }), ""},
		"too many listings":      {with(percent(5), func(d *Draft) { d.ListingIDs = listings(101) }), "listingIds"},
		"a listing twice": {with(percent(5), func(d *Draft) {
			d.ListingIDs = []string{"lst_1", "lst_2", "lst_1"}
		}), "listingIds[2]"},
		"everything at once": {Draft{Duration: "twice", MaxRedemptions: new(0), ExpiresAt: noon}, "code duration expiresAt " +
			"maxRedemptions percentOff"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := New("dsc_1", "crt_1", c.draft, noon)
			if got := faultsOf(err); got != c.want || (err == nil) != (c.want == "") || (d == nil) != (c.want != "") {
				t.Errorf("got %v at %q, want faults at %q", err, got, c.want)
			}
		})
	}
}

func listings(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprint("lst_", i)
	}
	return all
}

func TestADiscountIsWhatItsDraftSays(t *testing.T) {
	t.Parallel()
	draft := amount(500, "eur")
	draft.Code, draft.Duration, draft.DurationInMonths, draft.MaxRedemptions = "Spring", "repeating", new(3), new(7)
	draft.ExpiresAt, draft.ListingIDs = noon.Add(time.Hour), []string{"lst_1"}
	want := State{
		ID: "dsc_1", CreatorID: "crt_1", Code: "Spring", Key: "SPRING", AmountOff: money.Amount{Minor: 500, Currency: "eur"},
		Duration: Repeating, DurationInMonths: 3, MaxRedemptions: 7, ExpiresAt: noon.Add(time.Hour),
		ListingIDs: []string{"lst_1"},
		CreatedAt:  noon, Revision: 1,
	}
	if got := made(t, draft).State(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	terms := Terms{DiscountID: "dsc_1", Code: "Spring", AmountOff: want.AmountOff, Duration: Repeating,
		DurationInMonths: 3}
	if got := Restore(want).State().Terms(); got != terms {
		t.Errorf("terms %+v, want %+v", got, terms)
	}
	if got := made(t, percent(20)).State(); got.PercentOff != 20 || got.AmountOff != (money.Amount{}) ||
		got.Duration != Once || got.Terms().PercentOff != 20 {
		t.Errorf("got %+v", got)
	}
	if Key(" spring-26 ") != "SPRING-26" {
		t.Error("codes differ by case or blanks")
	}
}

func TestACodeIsRefusedForWhatItIsNotGoodFor(t *testing.T) {
	t.Parallel()
	sale := Sale{ListingID: "lst_1", Subtotal: money.Amount{Minor: 1000, Currency: "eur"}}
	for name, c := range map[string]struct {
		change func(s *State)
		at     time.Time
		want   string // a part of the refusal; "" = none
	}{
		"any sale":               {func(*State) {}, noon, ""},
		"deleted":                {func(s *State) { s.DeletedAt = noon }, noon, "no such"},
		"just before it expires": {func(s *State) { s.ExpiresAt = noon }, noon.Add(-1), ""},
		"when it expires":        {func(s *State) { s.ExpiresAt = noon }, noon, "expired"},
		"for this listing":       {func(s *State) { s.ListingIDs = []string{"lst_0", "lst_1"} }, noon, ""},
		"for another listing":    {func(s *State) { s.ListingIDs = []string{"lst_2"} }, noon, "not for what"},
		"an amount in another money": {func(s *State) {
			s.PercentOff, s.AmountOff = 0, money.Amount{Minor: 1, Currency: "usd"}
		}, noon, "another currency"},
		"an amount in this money": {func(s *State) {
			s.PercentOff, s.AmountOff = 0, money.Amount{Minor: 1, Currency: "eur"}
		}, noon, ""},
		"once more":            {func(s *State) { s.MaxRedemptions, s.Redeemed = 2, 1 }, noon, ""},
		"used up":              {func(s *State) { s.MaxRedemptions, s.Redeemed = 2, 2 }, noon, "as often"},
		"the only use is left": {func(s *State) { s.MaxRedemptions, s.Redeemed = 1, 0 }, noon, ""},
		"the only use is gone": {func(s *State) { s.MaxRedemptions, s.Redeemed = 1, 1 }, noon, "as often"},
		"without a maximum":    {func(s *State) { s.Redeemed = 1_000_000 }, noon, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := made(t, percent(10)).State()
			c.change(&s)
			err := Restore(s).CanRedeem(sale, c.at)
			switch {
			case c.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case c.want != "" && (fault.CodeOf(err) != fault.ValidationFailed ||
				!strings.Contains(detailsOf(err)[0].Message, c.want)):
				t.Errorf("%v, want a refusal with %q", err, c.want)
			}
		})
	}
	if err := ErrUnknownCode(); fault.CodeOf(err) != fault.ValidationFailed {
		t.Errorf("an unknown code: %v", err)
	}
}

func TestUsesAreCountedUpToTheMaximum(t *testing.T) {
	t.Parallel()
	draft := percent(10)
	draft.MaxRedemptions = new(2)
	d := made(t, draft)
	for range 2 {
		if err := d.Redeem(); err != nil {
			t.Fatal(err)
		}
	}
	before := d.State()
	if before.Redeemed != 2 || before.Revision != 3 {
		t.Errorf("used %d times, revision %d", before.Redeemed, before.Revision)
	}
	if err := d.Redeem(); fault.CodeOf(err) != fault.LimitReached {
		t.Errorf("a third use: %v", err)
	}
	if !reflect.DeepEqual(d.State(), before) {
		t.Errorf("the refusal changed %+v into %+v", before, d.State())
	}
	d.Release()
	if s := d.State(); s.Redeemed != 1 || s.Revision != 4 {
		t.Errorf("after a release used %d times, revision %d", s.Redeemed, s.Revision)
	}
	if err := d.Redeem(); err != nil {
		t.Error(err)
	}
	unused := made(t, percent(10))
	unused.Release()
	if s := unused.State(); s.Redeemed != 0 {
		t.Errorf("used %d times", s.Redeemed)
	}
}

func TestADiscountIsDeletedOnce(t *testing.T) {
	t.Parallel()
	d := made(t, percent(10))
	if !d.Delete(noon.Add(time.Hour)) {
		t.Error("it was not deleted")
	}
	before := d.State()
	if !before.DeletedAt.Equal(noon.Add(time.Hour)) || before.Revision != 2 {
		t.Errorf("deleted %+v", before)
	}
	if d.Delete(noon.Add(2*time.Hour)) || !reflect.DeepEqual(d.State(), before) {
		t.Errorf("deleted again: %+v", d.State())
	}
}

func TestWhatIsTakenOff(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		terms    Terms
		subtotal int64
		want     int64
	}{
		"a fifth":                  {Terms{PercentOff: 20}, 1000, 200},
		"the half is rounded up":   {Terms{PercentOff: 50}, 1, 1},
		"below the half goes down": {Terms{PercentOff: 49}, 1, 0},
		"everything":               {Terms{PercentOff: 100}, 999, 999},
		"an amount":                {Terms{AmountOff: money.Amount{Minor: 300, Currency: "eur"}}, 1000, 300},
		"at most the subtotal":     {Terms{AmountOff: money.Amount{Minor: 300, Currency: "eur"}}, 200, 200},
		"nothing off nothing":      {Terms{AmountOff: money.Amount{Minor: 300, Currency: "eur"}}, 0, 0},
		"nothing off less":         {Terms{AmountOff: money.Amount{Minor: 300, Currency: "eur"}}, -5, 0},
		"nothing in another money": {Terms{AmountOff: money.Amount{Minor: 300, Currency: "usd"}}, 1000, 0},
		"one percent":              {Terms{PercentOff: 1, AmountOff: money.Amount{Minor: 300, Currency: "eur"}}, 1000, 10},
		"a percentage has no amount": {Terms{PercentOff: 10, AmountOff: money.Amount{Minor: 300, Currency: "eur"}}, 1000,
			100},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := c.terms.Off(money.Amount{Minor: c.subtotal, Currency: "eur"})
			if want := (money.Amount{Minor: c.want, Currency: "eur"}); err != nil || got != want {
				t.Errorf("%v, %v; want %v", got, err, want)
			}
		})
	}
}

func TestAPercentageOfThousandthsLeavesWhatCanBeCharged(t *testing.T) {
	t.Parallel()
	off, err := Terms{PercentOff: 15}.Off(money.Amount{Minor: 10_010, Currency: "kwd"})
	if want := (money.Amount{Minor: 1500, Currency: "kwd"}); err != nil || off != want {
		t.Errorf("%v, %v; want %v", off, err, want)
	}
}

func TestNote_NamesThePaymentsThatAreReduced(t *testing.T) {
	t.Parallel()
	for want, terms := range map[string]Terms{
		"Off the first payment": {Duration: Once}, "Off every payment": {Duration: Forever},
		"Off every payment of the first month":    {Duration: Repeating, DurationInMonths: 1},
		"Off every payment of the first 2 months": {Duration: Repeating, DurationInMonths: 2},
	} {
		if got := terms.Note(locale.Default); got != want {
			t.Errorf("%s for %d months: %q, want %q", terms.Duration, terms.DurationInMonths, got, want)
		}
	}
}

func TestADiscountNeverTakesMoreThanThePrice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		subtotal := money.Amount{Minor: rapid.Int64Range(0, 1<<50).Draw(t, "subtotal"), Currency: "eur"}
		terms := Terms{PercentOff: rapid.IntRange(0, 100).Draw(t, "percent"),
			AmountOff: money.Amount{Minor: rapid.Int64Range(1, 1<<50).Draw(t, "amount"), Currency: "eur"}}
		off, err := terms.Off(subtotal)
		if err != nil || off.Minor < 0 || off.Minor > subtotal.Minor || off.Currency != "eur" {
			t.Fatalf("%+v takes %v off %v, %v", terms, off, subtotal, err)
		}
	})
}
