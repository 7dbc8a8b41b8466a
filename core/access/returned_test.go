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
	refund := func(g *access.Grant) bool { return g.EndRefunded(at) }
	suspend := func(g *access.Grant) bool { return g.Suspend(at) }
	resume := func(g *access.Grant) bool { return g.Resume(at) }
	failed := func(g *access.Grant) bool { return g.ResumeRefunded(false, at) }
	canceled := func(g *access.Grant) bool { return g.EndWithAppointments(at) == nil }
	erased := func(g *access.Grant) bool { return g.EndErased(at) }
	failedInDispute := func(g *access.Grant) bool { return g.ResumeRefunded(true, at) }
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
		"refund came back":                  {access.Refunded, time.Time{}, failed, access.NotEnded, true},
		"refund came back after its time":   {access.Refunded, at, failed, access.Refunded, false},
		"refund of one in dispute":          {access.Disputed, time.Time{}, failed, access.Disputed, false},
		"refund came back in a dispute":     {access.Refunded, time.Time{}, failedInDispute, access.Disputed, true},
		"canceled after its refund":         {access.Refunded, time.Time{}, canceled, access.SourceEnded, true},
		"its buyer erased in a dispute":     {access.Disputed, time.Time{}, erased, access.Revoked, true},
		"refund of one taken manually":      {access.Revoked, time.Time{}, failedInDispute, access.Revoked, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := access.State{ID: "grt_1", Source: access.Purchase, SourceID: "pay_1", ExpiresAt: c.expires,
				EndReason: c.from, Revision: 1}
			if c.from != access.NotEnded {
				before.EndedAt = at.Add(-time.Hour)
			}
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

// The grant of a subscription counts as its money is: suspended while the payment of its period is in dispute, gone
// when that payment was refunded, and back with a period that another payment bought.
func TestAGrantFollowsTheMoneyOfItsPeriod(t *testing.T) {
	t.Parallel()
	started := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	second, now := started.AddDate(0, 1, 0), started.AddDate(0, 1, 3)
	open := func(paymentID string, from time.Time) []subscription.OpenDispute {
		return []subscription.OpenDispute{{ID: "dsp_1", PaymentID: paymentID, PaidFrom: from}}
	}
	for name, c := range map[string]struct {
		status    subscription.Status
		disputes  []subscription.OpenDispute
		withdrawn bool
		to        access.EndReason
	}{
		"nothing happened":                {subscription.StatusActive, nil, false, access.NotEnded},
		"its payment in dispute":          {subscription.StatusActive, open("pay_2", second), false, access.Disputed},
		"its credit's payment in dispute": {subscription.StatusActive, open("pay_1", started), false, access.Disputed},
		"an earlier payment in dispute":   {subscription.StatusActive, open("pay_0", started), false, access.NotEnded},
		"refunded":                        {subscription.StatusActive, nil, true, access.Refunded},
		"refunded while paused":           {subscription.StatusPaused, nil, true, access.Refunded},
		"paused":                          {subscription.StatusPaused, nil, false, access.SourceEnded},
		"disputed while paused":           {subscription.StatusPaused, open("pay_2", second), false, access.Disputed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sub := subscription.State{
				ID: "sub_1", Status: subscription.StatusActive, StartedAt: started, CurrentPeriodStart: second,
				CurrentPeriodEnd: second.AddDate(0, 1, 0),
				Funds:            []subscription.Fund{{PaymentID: "pay_1", Value: 300}, {PaymentID: "pay_2", Value: 700}},
			}
			g := access.NewForSubscription("grt_1", sub, second)
			sub.Status, sub.Disputes, sub.Withdrawn = c.status, c.disputes, c.withdrawn
			g.Follow(sub, now)
			if got := g.State(); got.EndReason != c.to || got.EndedAt.IsZero() != (c.to == access.NotEnded) {
				t.Fatalf("%+v, want %q", got, c.to)
			}
			sub.Status, sub.Withdrawn = subscription.StatusActive, false
			sub.CurrentPeriodStart, sub.CurrentPeriodEnd = sub.CurrentPeriodEnd, sub.CurrentPeriodEnd.AddDate(0, 1, 0)
			sub.Funds = []subscription.Fund{{PaymentID: "pay_3", Value: 1000}}
			if g.Renew(sub, now.AddDate(0, 1, 0)); !g.Active() || !g.State().EndedAt.IsZero() {
				t.Errorf("another payment's period does not count: %+v", g.State())
			}
		})
	}
}

func TestAGrantThatEndedNamesWhatBecameOfItsMoney(t *testing.T) {
	t.Parallel()
	started := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	sub := subscription.State{
		ID: "sub_1", Status: subscription.StatusActive, StartedAt: started, CurrentPeriodStart: started,
		CurrentPeriodEnd: started.AddDate(0, 1, 0), Funds: []subscription.Fund{{PaymentID: "pay_1", Value: 1000}},
	}
	g := access.NewForSubscription("grt_1", sub, started)
	sub.Status = subscription.StatusPaused
	dispute := []subscription.OpenDispute{{ID: "dsp_1", PaymentID: "pay_1", PaidFrom: started}}
	for i, step := range []struct {
		disputes  []subscription.OpenDispute
		withdrawn bool
		want      access.EndReason
	}{
		{nil, false, access.SourceEnded}, {dispute, false, access.Disputed}, {dispute, true, access.Refunded},
		{nil, false, access.Refunded},
	} {
		sub.Disputes, sub.Withdrawn = step.disputes, step.withdrawn
		g.Follow(sub, started.Add(time.Duration(i+1)*time.Hour))
		if got := g.State(); got.EndReason != step.want || !got.EndedAt.Equal(started.Add(time.Hour)) {
			t.Errorf("step %d: ended %s at %v, want %s at the first", i, got.EndReason, got.EndedAt, step.want)
		}
	}
}

func TestNothingIsGivenBeyondAPeriodInDispute(t *testing.T) {
	t.Parallel()
	started := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	sub := subscription.State{
		ID: "sub_1", Status: subscription.StatusActive, StartedAt: started, CurrentPeriodStart: started.AddDate(0, 1, 0),
		CurrentPeriodEnd: started.AddDate(0, 2, 0), Funds: []subscription.Fund{{PaymentID: "pay_2", Value: 1000}},
	}
	g := access.NewForSubscription("grt_1", sub, started)
	sub.Disputes = []subscription.OpenDispute{{ID: "dsp_1", PaymentID: "pay_1", PaidFrom: started}}
	g.Follow(sub, sub.CurrentPeriodStart)
	if !g.Active() || !g.State().ExpiresAt.Equal(sub.CurrentPeriodEnd) {
		t.Fatalf("%+v", g.State())
	}
	overdue, grace := sub, sub.CurrentPeriodEnd.Add(subscription.Grace)
	overdue.Dunning.GraceEndsAt = grace
	if late := access.NewForSubscription("grt_2", overdue, started); !late.State().ExpiresAt.Equal(grace) {
		t.Errorf("in the grace it expires %v, want %v", late.State().ExpiresAt, grace)
	}
	if err := g.Expire(sub.CurrentPeriodEnd); err != nil {
		t.Fatal(err)
	}
	if g.Follow(sub, sub.CurrentPeriodEnd.Add(time.Hour)); g.Active() {
		t.Error("a renewal that waits gives access")
	}
	sub.Disputes = nil
	if g.Follow(sub, sub.CurrentPeriodEnd.Add(time.Hour)); !g.Active() || !g.State().ExpiresAt.IsZero() {
		t.Errorf("after the dispute: %+v", g.State())
	}
}
