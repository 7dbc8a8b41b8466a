package access_test

import (
	"reflect"
	"testing"
	"time"

	"sundry/core/access"
	"sundry/core/subscription"
)

func TestAGrantFollowsWhetherItsMoneyWentBack(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	refund := func(g *access.Grant) bool { return g.EndRefunded(time.Time{}, at) }
	suspend := func(g *access.Grant) bool { return g.Suspend(at) }
	resume := func(g *access.Grant) bool { return g.Resume(at) }
	for name, c := range map[string]struct {
		from    access.EndReason
		expires time.Time
		do      func(*access.Grant) bool
		to      access.EndReason
		changed bool
	}{
		"refunded":                          {access.NotEnded, time.Time{}, refund, access.Refunded, true},
		"refunded again":                    {access.Refunded, time.Time{}, refund, access.Refunded, false},
		"refunded after it expired":         {access.Expired, time.Time{}, refund, access.Expired, false},
		"disputed":                          {access.NotEnded, time.Time{}, suspend, access.Disputed, true},
		"disputed after a refund":           {access.Refunded, time.Time{}, suspend, access.Refunded, false},
		"dispute won":                       {access.Disputed, time.Time{}, resume, access.NotEnded, true},
		"dispute won before it expires":     {access.Disputed, at.Add(1), resume, access.NotEnded, true},
		"dispute won after its time":        {access.Disputed, at, resume, access.Disputed, false},
		"dispute won of one that counts":    {access.NotEnded, time.Time{}, resume, access.NotEnded, false},
		"dispute won of one taken manually": {access.Revoked, time.Time{}, resume, access.Revoked, false},
		"dispute won after it was refunded": {access.Refunded, time.Time{}, resume, access.Refunded, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := access.State{ID: "grt_1", Source: access.Purchase, SourceID: "pay_1", ExpiresAt: c.expires,
				EndReason: c.from, Revision: 1}
			g := access.Restore(before)
			changed := c.do(g)
			after := g.State()
			if changed != c.changed || after.EndReason != c.to || (!changed && !reflect.DeepEqual(after, before)) {
				t.Errorf("changed %v: %+v", changed, after)
			}
			if changed && (after.Revision != 2 || after.EndedAt.IsZero() != (c.to == access.NotEnded)) {
				t.Errorf("%+v", after)
			}
		})
	}
}

func TestARefundTakesThePeriodThatItsPaymentBought(t *testing.T) {
	t.Parallel()
	started := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	second := started.AddDate(0, 1, 0)
	in := func(start time.Time, status subscription.Status) subscription.State {
		return subscription.State{
			ID: "sub_1", Status: status, StartedAt: started, CurrentPeriodStart: start, CurrentPeriodEnd: start.AddDate(0, 1, 0),
		}
	}
	for name, c := range map[string]struct {
		period   time.Time // the period that runs
		paidFrom time.Time // what the refunded payment bought
		paused   bool
		to       access.EndReason
	}{
		"the first, by its checkout":     {started, time.Time{}, false, access.Refunded},
		"the one that runs":              {second, second, false, access.Refunded},
		"the one that runs while paused": {second, second, true, access.Refunded},
		"one that is over":               {second, started, false, access.NotEnded},
		"the first when it is over":      {second, time.Time{}, false, access.NotEnded},
		"one that is over while paused":  {second, started, true, access.SourceEnded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sub := in(c.period, subscription.StatusActive)
			g := access.NewForSubscription("grt_1", sub, c.period)
			if c.paused {
				sub.Status = subscription.StatusPaused
				g.Follow(sub, c.period.Add(time.Hour))
			}
			before := g.State()
			changed := g.EndRefunded(c.paidFrom, c.period.Add(2*time.Hour))
			if got := g.State(); got.EndReason != c.to || changed != (c.to == access.Refunded) ||
				(got.Revision > before.Revision) != changed {
				t.Fatalf("changed %v: %+v", changed, got)
			}
			if !changed {
				return
			}
			if at := c.period.Add(2 * time.Hour); !c.paused && !g.State().EndedAt.Equal(at) {
				t.Errorf("ended at %v, want %v", g.State().EndedAt, at)
			}
			g.Follow(in(c.period, subscription.StatusActive), c.period.Add(3*time.Hour))
			if g.Active() {
				t.Error("the refunded period counts again")
			}
			next := c.period.AddDate(0, 1, 0)
			if g.Follow(in(next, subscription.StatusPaused), next); g.Active() {
				t.Error("a pause gives access")
			}
			if g.Follow(in(next.AddDate(0, 1, 0), subscription.StatusActive), next); !g.Active() {
				t.Error("the next period that is paid for does not count")
			}
		})
	}
}
