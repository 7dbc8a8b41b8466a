package access_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sundry/core/access"
	"sundry/core/customer"
	"sundry/core/subscription"
	"sundry/ports"
)

func TestUnknownCustomerHasNothing(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		d := h.snapshot()
		if d.Version != 0 || !strings.Contains(string(d.Body), `"activePlans":[]`) {
			t.Errorf("version %d, body %s", d.Version, d.Body)
		}
		if found, err := h.store.Read(t.Context()).Access.Audit.ListCustomers(t.Context(), access.Document{},
			10); err != nil || len(found) != 0 {
			t.Errorf("reading left %d rows: %v", len(found), err)
		}
	})
}

func TestPurchaseGrantsOnce(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		h.buy(paid("1"))
		first := h.snapshot()
		if first.Version != 1 || !strings.Contains(string(first.Body), `"sourceId":"pay_1"`) {
			t.Fatalf("after the purchase: version %d, body %s", first.Version, first.Body)
		}
		err := h.store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			return h.OnCheckoutPaid(ctx, r, paid("1"))
		})
		if again := h.snapshot(); err == nil || again.Version != 1 || again.ETag != first.ETag {
			t.Errorf("the same payment again made version %d: %v", again.Version, err)
		}
		h.buy(paid("2"))
		if second := h.snapshot(); second.Version != 2 || second.ETag == first.ETag {
			t.Errorf("another payment made version %d", second.Version)
		}
		if all := h.changes(); len(all) != 2 || all[1].PreviousVersion != 1 ||
			all[1].Cause != (access.Cause{Kind: access.PurchasePaid, ID: "pay_2"}) {
			t.Errorf("the changes are %+v", all)
		}
		h.verified()
	})
}

func TestAnUnnamedBuyerHasAccessByCustomerID(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		anonymous, recurring := paid("1"), paid("2")
		anonymous.ExternalCustomerID, anonymous.CustomerID = "", "cus_1"
		recurring.Offer.Interval = "month" // its subscription gives access, not the payment
		h.buy(anonymous)
		h.buy(recurring)
		found, err := h.store.Read(t.Context()).Access.Audit.ListCustomers(t.Context(), access.Document{}, 10)
		if err != nil || len(found) != 1 || found[0].Document.ExternalCustomerID != "cus_1" {
			t.Errorf("%d snapshots: %v", len(found), err)
		}
	})
}

func TestANewNameMovesAccessWithOneVersionOnEach(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		anonymous := paid("1")
		anonymous.ExternalCustomerID, anonymous.CustomerID = "", "cus_1"
		h.buy(anonymous)
		renamed := customer.Renamed{
			State: customer.State{ID: "cus_1", CreatorID: creator, ExternalCustomerID: ada}, From: "cus_1", To: ada,
		}
		h.atomically(func(ctx context.Context, r ports.Repos) error { return h.OnCustomerRenamed(ctx, r, renamed) })
		before, err := h.Snapshot(t.Context(), creator, "cus_1")
		if err != nil || before.Version != 2 || !strings.Contains(string(before.Body), `"activePlans":[]`) {
			t.Errorf("under the former name: version %d, %s, %v", before.Version, before.Body, err)
		}
		if after := h.snapshot(); after.Version != 1 || !strings.Contains(string(after.Body), `"sourceId":"pay_1"`) {
			t.Errorf("under the new name: version %d, %s", after.Version, after.Body)
		}
		h.verified()
	})
}

func TestSubscriptionGivesAccessUntilItEnds(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		offer := paid("1").Offer
		offer.Interval, offer.IntervalCount = "month", 1
		sub := subscription.New(
			subscription.Order{ID: "sub_1", CreatorID: creator, ExternalCustomerID: ada, Offer: offer}, noon,
		)
		created, err := sub.Activate(noon)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // received twice, granted once
			h.atomically(
				func(ctx context.Context, r ports.Repos) error { return h.OnSubscriptionCreated(ctx, r, created) },
			)
		}
		if d := h.snapshot(); d.Version != 1 || !strings.Contains(string(d.Body), `"sourceId":"sub_1"`) {
			t.Fatalf("after the start: version %d, body %s", d.Version, d.Body)
		}
		ended, err := sub.Cancel(subscription.CancelRequested, sub.State().CurrentPeriodEnd)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			h.atomically(
				func(ctx context.Context, r ports.Repos) error { return h.OnSubscriptionCanceled(ctx, r, ended) },
			)
		}
		if d := h.snapshot(); d.Version != 2 || !strings.Contains(string(d.Body),
			`"activePlans":[],"entitlements":[],"credits":[]`) {
			t.Errorf("after the end: version %d, body %s", d.Version, d.Body)
		}
		h.verified()
	})
}

func TestAccountsAndCustomersAreApart(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		h.buy(paid("1"))
		for _, other := range [][2]string{{"crt_2", ada}, {creator, "ada"}, {creator, "ADA/1|é"}} {
			if d, err := h.Snapshot(t.Context(), other[0], other[1]); err != nil || d.Version != 0 {
				t.Errorf("%v sees version %d: %v", other, d.Version, err)
			}
		}
	})
}

func TestParallelPurchasesNumberTheirVersionsWithoutGap(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		const n = 24
		var all sync.WaitGroup
		var refused atomic.Int32
		for i := range n {
			all.Go(func() {
				err := h.store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
					return h.OnCheckoutPaid(ctx, r, paid(fmt.Sprint(i/2))) // each payment twice
				})
				if err != nil {
					refused.Add(1)
				}
			})
		}
		all.Wait()
		if refused.Load() != n/2 {
			t.Errorf("%d of %d second grants of a payment were refused", refused.Load(), n/2)
		}
		history, err := h.store.Read(t.Context()).Access.Snapshots.ListHistory(t.Context(), creator, ada, 100)
		if err != nil || len(history) != n/2 {
			t.Fatalf("%d versions: %v", len(history), err)
		}
		for i, change := range history {
			if want := int64(n/2 - i); change.Version != want {
				t.Errorf("version %d where %d belongs", change.Version, want)
			}
		}
		h.verified()
	})
}

func TestAccessVersionSeesItsOwnTransaction(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		h.atomically(func(ctx context.Context, r ports.Repos) error {
			if v, err := h.AccessVersion(ctx, r, creator, ada); v != 0 || err != nil {
				t.Errorf("before: version %d, %v", v, err)
			}
			if err := h.OnCheckoutPaid(ctx, r, paid("1")); err != nil {
				return err
			}
			if v, err := h.AccessVersion(ctx, r, creator, ada); v != 1 || err != nil {
				t.Errorf("after: version %d, %v", v, err)
			}
			v, err := h.AccessVersion(ctx, r, creator, "")
			if v != 0 {
				t.Errorf("nobody has version %d", v)
			}
			return err
		})
	})
}

// countingReader counts how often a document is read.
type countingReader struct {
	ports.AccessReader
	reads int
}

func (r *countingReader) ReadAccess(ctx context.Context, creatorID, externalCustomerID string) (access.Document, error) {
	r.reads++
	return r.AccessReader.ReadAccess(ctx, creatorID, externalCustomerID)
}

func TestWaitingReadsTheDocumentOnlyWhenItChanges(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		h.give(images(10, noon.Add(10*time.Second)))
		start := h.clock.Real()
		d, err := h.Wait(t.Context(), creator, ada, 1, 20*time.Second)
		if waited := h.clock.Real().Sub(start); err != nil || d.Version != 2 || waited < 10*time.Second ||
			waited > 11*time.Second {
			t.Errorf("version %d after %v, %v; want the second when the grant ends, though no task ran", d.Version, waited, err)
		}
		if h.reader.reads != 2 {
			t.Errorf("the document was read %d times, want at the start and at the end", h.reader.reads)
		}
	})
}

func TestWaiting(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		start := h.clock.Real()
		bought := false
		h.clock.asleep = func(now time.Time) {
			if !bought && now.Sub(start) > 3*time.Second {
				bought = true
				h.buy(paid("1"))
			}
		}
		d, err := h.Wait(t.Context(), creator, ada, 0, 20*time.Second)
		if waited := h.clock.Real().Sub(start); err != nil || d.Version != 1 || waited > 4*time.Second {
			t.Errorf("version %d after %v: %v", d.Version, waited, err)
		}
		start = h.clock.Real()
		d, err = h.Wait(t.Context(), creator, ada, 0, 20*time.Second)
		if waited := h.clock.Real().Sub(start); err != nil || d.Version != 1 || waited != 0 {
			t.Errorf("a version already known took %v to return", waited)
		}
		d, err = h.Wait(t.Context(), creator, ada, 1, time.Hour)
		if waited := h.clock.Real().Sub(start); err != nil || d.Version != 1 || waited != 25*time.Second {
			t.Errorf(
				"waited %v for version %d: %v, want the longest wait and the snapshot as it is", waited, d.Version, err,
			)
		}
		gone, leave := context.WithCancel(t.Context())
		leave()
		start = h.clock.Real()
		d, err = h.Wait(gone, creator, ada, 1, 20*time.Second)
		if waited := h.clock.Real().Sub(start); err != nil || d.Version != 1 || waited != 0 {
			t.Errorf("waited %v for a client that left: version %d, %v", waited, d.Version, err)
		}
	})
}
