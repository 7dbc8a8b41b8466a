package usage_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	sold "sundry/core/plan"
	"sundry/core/usage"
)

var bought = time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC)

// prepaid is a credit of 1000 that cost 900.
func prepaid(of sold.UsageCredit) *usage.Credit {
	of.AmountInCents, of.Currency = 1000, "eur"
	c, _ := usage.NewCredit(usage.CreditState{ID: "ucr_1", PaymentID: "pay_1", Paid: 900}, of, bought)
	return c
}

func TestCreditsAreUsedUpOnce(t *testing.T) {
	t.Parallel()
	c := prepaid(sold.UsageCredit{})
	for _, step := range []struct {
		upTo, used, rest int64
		low, ended       bool
	}{
		{0, 0, 1000, false, false}, {-5, 0, 1000, false, false}, {700, 700, 300, false, false}, {100, 100, 200, true, false},
		{50, 50, 150, false, false}, {400, 150, 0, false, true}, {1, 0, 0, false, false},
	} {
		used, low, ended := c.Use(step.upTo, bought)
		if used != step.used || c.State().Rest() != step.rest || (low != nil) != step.low || (ended != nil) != step.ended {
			t.Errorf("up to %d: used %d, rest %d, low %v, ended %v", step.upTo, used, c.State().Rest(), low, ended)
		}
	}
	if s := c.State(); s.End != usage.CreditUsedUp || !s.EndedAt.Equal(bought) {
		t.Errorf("ended %s at %s", s.End, s.EndedAt)
	}
}

func TestCreditsPayForWhatTheyAreFor(t *testing.T) {
	t.Parallel()
	s := prepaid(sold.UsageCredit{Meter: "api.calls", ExpiresInDays: 30}).State()
	expires := bought.AddDate(0, 0, 30)
	if !s.ExpiresAt.Equal(expires) {
		t.Fatalf("expires %s", s.ExpiresAt)
	}
	disputed := s
	disputed.Disputed = true
	for name, c := range map[string]struct {
		of       usage.CreditState
		currency string
		meter    string
		at       time.Time
		want     bool
	}{
		"its meter":             {s, "eur", "api.calls", bought, true},
		"another meter":         {s, "eur", "storage", bought, false},
		"another currency":      {s, "usd", "api.calls", bought, false},
		"the last instant":      {s, "eur", "api.calls", expires.Add(-time.Millisecond), true},
		"once it has expired":   {s, "eur", "api.calls", expires, false},
		"while it is disputed":  {disputed, "eur", "api.calls", bought, false},
		"every meter where any": {prepaid(sold.UsageCredit{}).State(), "eur", "storage", bought.AddDate(9, 0, 0), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := c.of.Pays("eur", c.meter, c.at) && c.currency == "eur"; got != c.want {
				t.Errorf("pays %v, want %v", got, c.want)
			}
		})
	}
	if s.Pays("usd", "api.calls", bought) {
		t.Error("it pays in another currency")
	}
}

func TestCreditsGoBackWithTheirPurchase(t *testing.T) {
	t.Parallel()
	c := prepaid(sold.UsageCredit{})
	if ended, changed, err := c.Return(450, false, bought); err != nil || !changed || ended != nil ||
		c.State().Returned != 500 {
		t.Fatalf("half: %+v, %v", c.State(), err)
	}
	c.Use(300, bought)
	ended, changed, err := c.Return(450, true, bought)
	if err != nil || !changed || ended == nil || c.State().Returned != 700 || c.State().End != usage.CreditReturned {
		t.Fatalf("the rest: %+v, %v", c.State(), err)
	}
	if _, changed, _ := c.Return(1, true, bought); changed {
		t.Error("what is gone goes back again")
	}
}

func TestCredit_RefundFailed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before   func(c *usage.Credit)
		refunded int64
		disputed bool
		after    time.Duration
		want     bool
		returned int64
	}{
		"the only refund":           {func(c *usage.Credit) { _, _, _ = c.Return(900, true, bought) }, 0, false, 0, true, 0},
		"one of two halves":         {halves, 450, false, 0, true, 500},
		"one of two after use":      {func(c *usage.Credit) { c.Use(300, bought); halves(c) }, 450, false, 0, true, 500},
		"the second of two":         {halves, 0, false, 0, true, 0},
		"nothing was left of it":    {func(c *usage.Credit) { c.Use(1000, bought); halves(c) }, 450, false, 0, false, 0},
		"a dispute is open":         {func(c *usage.Credit) { halves(c); c.Dispute(true) }, 450, true, 0, true, 500},
		"a dispute is lost":         {halves, 450, true, 0, false, 1000},
		"the moment before the end": {halves, 0, false, 24*time.Hour - 1, true, 0},
		"its time is over":          {halves, 0, false, 24 * time.Hour, false, 1000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			credit := prepaid(sold.UsageCredit{ExpiresInDays: 1})
			c.before(credit)
			before := credit.State()
			changed, err := credit.RefundFailed(c.refunded, c.disputed, bought.Add(c.after))
			after := credit.State()
			if err != nil || changed != c.want || after.Returned != c.returned {
				t.Fatalf("changed %v with %d returned, want %v with %d; %v", changed, after.Returned, c.want, c.returned, err)
			}
			if changed && (after.End != "" || !after.EndedAt.IsZero() || after.Revision != before.Revision+1) {
				t.Errorf("%+v", after)
			}
		})
	}
	left := usage.RestoreCredit(usage.CreditState{Granted: 1000, Currency: "eur"})
	if changed, err := left.RefundFailed(0, false, bought); changed || err != nil {
		t.Errorf("what was not bought changes: %v, %v", changed, err)
	}
}

// halves takes the credit back with two refunds of half its purchase.
func halves(c *usage.Credit) {
	_, _, _ = c.Return(450, false, bought)
	_, _, _ = c.Return(450, true, bought)
}

func TestCreditsExpire(t *testing.T) {
	t.Parallel()
	c := prepaid(sold.UsageCredit{ExpiresInDays: 1})
	c.Use(400, bought)
	if c.Expire(bought) != nil {
		t.Error("it expires early")
	}
	if ended := c.Expire(bought.AddDate(0, 0, 1)); ended == nil || ended.Expired != 600 || ended.End != usage.CreditExpired {
		t.Errorf("%+v", ended)
	}
	if c.Expire(bought.AddDate(0, 0, 2)) != nil || prepaid(sold.UsageCredit{}).Expire(bought.AddDate(9, 0, 0)) != nil {
		t.Error("what is over, or has no end, expires")
	}
}

// The parts of a credit always add up to it, and it ends exactly when nothing is left.
func TestCreditsAddUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := prepaid(sold.UsageCredit{ExpiresInDays: 30})
		now, ends, revision := bought, 0, int64(1)
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 5*24).Draw(t, "hours")) * time.Hour)
			var ended *usage.CreditEnded
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				_, _, ended = c.Use(rapid.Int64Range(0, 500).Draw(t, "due"), now)
			case 1:
				ended, _, _ = c.Return(rapid.Int64Range(1, 300).Draw(t, "back"), rapid.Bool().Draw(t, "last"), now)
			case 2:
				ended = c.Expire(now)
			case 3:
				c.Dispute(rapid.Bool().Draw(t, "open"))
			}
			if ended != nil {
				ends++
			}
			s := c.State()
			if s.Used < 0 || s.Returned < 0 || s.Expired < 0 || s.Rest() < 0 || (s.Rest() == 0) != (s.End != "") ||
				(s.End == "") != s.EndedAt.IsZero() || s.Revision < revision {
				t.Fatalf("%+v", s)
			}
			revision = s.Revision
		}
		if ends > 1 || (ends == 1) != (c.State().End != "") {
			t.Fatalf("it ended %d times", ends)
		}
	})
}

func TestACreditThatHasEndedPaysForNothing(t *testing.T) {
	t.Parallel()
	c := prepaid(sold.UsageCredit{ExpiresInDays: 1})
	if ended := c.Expire(bought.AddDate(0, 0, 1)); ended == nil || c.State().Pays("eur", "storage", bought) {
		t.Errorf("%+v", c.State())
	}
	if low := c.State(); low.Revision != 2 {
		t.Errorf("revision %d after one change, want 2", low.Revision)
	}
	if used, _, ended := c.Use(5, bought); used != 0 || ended != nil {
		t.Errorf("%d are used, ended %v", used, ended)
	}
}

// The last of a credit is no low one: it has ended.
func TestACreditIsLowAtAFifthAndNotAtItsEnd(t *testing.T) {
	t.Parallel()
	for upTo, want := range map[int64]bool{799: false, 800: true, 999: true, 1000: false} {
		_, low, ended := prepaid(sold.UsageCredit{}).Use(upTo, bought)
		if (low != nil) != want || (ended != nil) != (upTo == 1000) {
			t.Errorf("after %d of 1000: low %v, ended %v; want that it is low: %t", upTo, low, ended, want)
		}
	}
	used := prepaid(sold.UsageCredit{ExpiresInDays: 1})
	used.Use(1000, bought)
	if before := used.State(); used.Expire(bought.AddDate(0, 0, 1)) != nil || used.State() != before {
		t.Errorf("what is used up expires: %+v", used.State())
	}
}

func TestACreditChangesOnceWithEachRevision(t *testing.T) {
	t.Parallel()
	c := prepaid(sold.UsageCredit{})
	for i, change := range []func() bool{
		func() bool { used, _, _ := c.Use(100, bought); return used == 100 },
		func() bool { _, changed, err := c.Return(90, false, bought); return changed && err == nil },
		func() bool { return c.Dispute(true) },
		func() bool { return c.Dispute(false) },
	} {
		if before := c.State().Revision; !change() || c.State().Revision != before+1 {
			t.Errorf("change %d: %+v", i, c.State())
		}
	}
	c.Dispute(true)
	unchanged := c.State()
	if c.Dispute(true) || c.State() != unchanged || !unchanged.Disputed {
		t.Errorf("a dispute that is open opens again: %+v", c.State())
	}
	if used, _, _ := c.Use(0, bought); used != 0 || c.State() != unchanged {
		t.Errorf("nothing is used: %+v", c.State())
	}
}

func TestACreditGoesBackByItsPrice(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		paid, minor int64
		last        bool
		returned    int64
	}{
		"a third":                {900, 300, false, 333},
		"the last part":          {900, 300, true, 1000},
		"a part of nothing paid": {0, 300, false, 1000},
		"a cent":                 {1, 1, false, 1000},
		"nothing":                {900, 0, false, 0},
		"the least":              {1000, 1, false, 1},
	} {
		credit, _ := usage.NewCredit(usage.CreditState{Paid: c.paid}, sold.UsageCredit{AmountInCents: 1000, Currency: "eur"},
			bought)
		_, changed, err := credit.Return(c.minor, c.last, bought)
		if s := credit.State(); err != nil || s.Returned != c.returned || changed != (c.returned > 0) {
			t.Errorf("%s: %d of 1000, changed %t, %v; want %d", name, s.Returned, changed, err, c.returned)
		}
	}
	thousandths, _ := usage.NewCredit(usage.CreditState{Paid: 900}, sold.UsageCredit{AmountInCents: 1000, Currency: "kwd"},
		bought)
	if _, _, err := thousandths.Return(300, false, bought); err != nil || thousandths.State().Returned != 330 {
		t.Errorf("a third of 1000 thousandths is %d, want 330 (%v)", thousandths.State().Returned, err)
	}
	if _, changed, err := prepaid(sold.UsageCredit{}).Return(math.MaxInt64, false, bought); changed || err == nil {
		t.Error("a share that cannot be calculated is no error")
	}
}
