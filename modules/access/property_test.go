package access_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sundry/adapters/system"
	core "sundry/core/access"
	"sundry/core/fault"
	"sundry/core/subscription"
	"sundry/modules/access"
	"sundry/ports"
	"sundry/tests/fakes"
	"sundry/tests/testdb"
)

// TestMain lowers rapid's default number of cases, because each makes some sixty commits. -rapid.checks overrides it.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "12"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// TestEveryInterleavingKeepsTheInvariants does random things in random order to one customer, doubled events included.
// After each, the snapshot is the fold of the grants, the versions have no gap, and a version rises exactly when
// something was published.
func TestEveryInterleavingKeepsTheInvariants(t *testing.T) {
	t.Parallel()
	store, ctx := testdb.SQLite.Open(t), t.Context()
	var customers atomic.Int64
	rapid.Check(t, func(t *rapid.T) {
		s := &story{
			t: t, ctx: ctx, clock: &clock{Clock: testdb.NewClock(noon)}, bus: &fakes.Bus{},
			customer: fmt.Sprint("customer-", customers.Add(1)),
		}
		s.store = testdb.WithClock(store, s.clock)
		s.Service = access.New(access.Deps{
			Store: s.store, Reader: store, Clock: s.clock, Sleeper: s.clock, IDs: system.NewIDs(), Bus: s.bus,
			Terms: catalog{},
		})
		t.Repeat(map[string]func(*rapid.T){
			"buy":       func(*rapid.T) { s.buy() },
			"subscribe": func(*rapid.T) { s.subscribe() },
			"end":       func(*rapid.T) { s.end() },
			"give":      func(*rapid.T) { s.give() },
			"revoke":    func(*rapid.T) { s.revoke() },
			"use":       func(*rapid.T) { s.use() },
			"time goes": func(*rapid.T) {
				s.clock.Advance(time.Duration(rapid.IntRange(1, 90).Draw(t,
					"minutes")) * time.Minute)
			},
			"expire": func(*rapid.T) { s.expire() },
			"read":   func(*rapid.T) { s.read() },
			"":       func(*rapid.T) { s.check() },
		})
	})
}

// story runs random operations on the access of one customer.
type story struct {
	*access.Service
	t        *rapid.T
	ctx      context.Context //nolint:containedctx // one story, one context
	clock    *clock
	bus      *fakes.Bus
	store    ports.Store
	customer string
	subs     []*subscription.Subscription
	given    []string
	bought   int
	consumed int64
}

func (s *story) must(err error) {
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *story) pick(what string, n int) int { return rapid.IntRange(0, n-1).Draw(s.t, what) }

func (s *story) receive(work func(ctx context.Context, r ports.Repos) error) {
	for range 1 + s.pick("repeats", 2) {
		s.must(s.store.Atomically(s.ctx, work))
	}
}

func (s *story) buy() {
	s.bought++
	e := paid(fmt.Sprint(s.customer, "-", s.bought))
	e.ExternalCustomerID, e.At = s.customer, s.clock.Real()
	s.must(s.store.Atomically(s.ctx, func(ctx context.Context, r ports.Repos) error {
		return s.OnCheckoutPaid(ctx, r, e)
	}))
}

func (s *story) subscribe() {
	offer := paid("").Offer
	offer.Interval, offer.IntervalCount = "month", 1
	offer.Terms.Credits[0].Renews = true
	sub := subscription.New(subscription.Order{
		ID: fmt.Sprint("sub_", s.customer, "-", len(s.subs)), CreatorID: creator, ExternalCustomerID: s.customer,
		Offer: offer,
	}, s.clock.Real())
	created, err := sub.Activate(s.clock.Real())
	s.must(err)
	s.subs = append(s.subs, sub)
	s.receive(func(ctx context.Context, r ports.Repos) error { return s.OnSubscriptionCreated(ctx, r, created) })
}

func (s *story) end() {
	if len(s.subs) == 0 {
		return
	}
	sub := subscription.Restore(s.subs[s.pick("subscription", len(s.subs))].State())
	ended, err := sub.Cancel(subscription.CancelRequested, s.clock.Real())
	s.must(err)
	s.receive(func(ctx context.Context, r ports.Repos) error { return s.OnSubscriptionCanceled(ctx, r, ended) })
}

func (s *story) give() {
	request := images(int64(1+s.pick("credits", 20)), time.Time{})
	if rapid.Bool().Draw(s.t, "a plan") {
		request = manualPro
	}
	if rapid.Bool().Draw(s.t, "for a time") {
		request.ExpiresAt = s.clock.Real().Add(time.Duration(1+s.pick("minutes", 120)) * time.Minute)
	}
	g, err := s.GrantManually(s.ctx, creator, s.customer, request)
	s.must(err)
	s.given = append(s.given, g.State().ID)
}

func (s *story) revoke() {
	if len(s.given) == 0 {
		return
	}
	_, err := s.RevokeManually(s.ctx, creator, s.customer, s.given[s.pick("grant", len(s.given))])
	if err != nil && !fault.Is(err, fault.StateConflict) {
		s.t.Fatal(err)
	}
}

func (s *story) use() {
	u := use(fmt.Sprint("job-", s.pick("job", 30)), int64(1+s.pick("amount", 8)))
	_, before := s.store.Read(s.ctx).Access.CreditUses.Get(s.ctx, creator, s.customer, u.IdempotencyKey)
	_, err := s.ConsumeCredits(s.ctx, creator, s.customer, u)
	switch {
	case err == nil && before != nil:
		s.consumed += u.Amount
	case err != nil && !fault.Is(err, fault.InsufficientBalance) && !fault.Is(err, fault.IdempotencyKeyMismatch):
		s.t.Fatal(err)
	}
}

func (s *story) expire() {
	for _, grantID := range s.given {
		task := ports.Task{
			ID: access.TaskExpire + ":" + grantID, Kind: access.TaskExpire, Subject: grantID, CreatorID: creator,
			Token: 1,
		}
		if err := s.Expire(s.ctx, task); err != nil && !isFenced(err) { // the token is only right the first time
			s.t.Fatal(err)
		}
	}
}

func (s *story) read() {
	d, err := s.Snapshot(s.ctx, creator, s.customer)
	s.must(err)
	if !d.NextEnd.IsZero() && !s.clock.Real().Before(d.NextEnd) {
		s.t.Fatalf("at %v a reader sees what ended at %v: %s", s.clock.Real(), d.NextEnd, d.Body)
	}
}

func (s *story) check() {
	r := s.store.Read(s.ctx)
	running, err := r.Access.Grants.ListActive(s.ctx, creator, s.customer)
	s.must(err)
	ended, err := r.Access.Grants.ListEnded(s.ctx, creator, s.customer, 1000)
	s.must(err)
	var used int64
	for _, g := range append(running, ended...) {
		for _, l := range g.State().Credits {
			if l.Used > l.Granted || l.Used < 0 {
				s.t.Fatalf("block %+v", l)
			}
			if l.Key == "images" {
				used += l.Used
			}
		}
	}
	if used != s.consumed {
		s.t.Fatalf("%d images are used up, %d were consumed", used, s.consumed)
	}
	d, err := s.store.(ports.AccessReader).ReadAccess(s.ctx, creator, s.customer)
	if err != nil {
		d = core.Empty(creator, s.customer, false)
	}
	if !d.Matches(core.Fold(running), false) {
		s.t.Fatalf("version %d is not the fold of the grants: %s", d.Version, d.Body)
	}
	history, err := r.Access.Snapshots.ListHistory(s.ctx, creator, s.customer, 1000)
	s.must(err)
	if int64(len(history)) != d.Version {
		s.t.Fatalf("version %d, %d in history", d.Version, len(history))
	}
}
