package access_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"sundry/adapters/gormstore"
	"sundry/adapters/system"
	core "sundry/core/access"
	"sundry/core/checkout"
	"sundry/core/fault"
	"sundry/core/money"
	"sundry/core/plan"
	"sundry/modules/access"
	"sundry/ports"
	"sundry/tests/fakes"
	"sundry/tests/testdb"
)

const (
	creator = "crt_1"
	ada     = "ada/1|é"
)

var noon = time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)

// clock is moved manually; sleeping moves it.
type clock struct {
	*testdb.Clock
	// asleep is called with the time after each sleep.
	asleep func(now time.Time)
}

func (c *clock) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.Advance(d)
	if c.asleep != nil {
		c.asleep(c.Real())
	}
	return nil
}

// catalog knows one plan: studio's pro, with what paid gives.
type catalog struct{}

func (catalog) TermsOf(_ context.Context, _ ports.Repos, creatorID, listingKey, planKey string) (plan.Offer, error) {
	offer := paid("").Offer
	if creatorID != creator || listingKey != offer.ListingKey || planKey != offer.PlanKey {
		return plan.Offer{}, fault.NotFound("plan in this listing")
	}
	return offer, nil
}

// fixture is the module over a database of its own.
type fixture struct {
	*access.Service
	t      *testing.T
	store  *testdb.ClockedStore
	reader *countingReader
	clock  *clock
	bus    *fakes.Bus
}

func forEachEngine(t *testing.T, test func(t *testing.T, h *fixture)) {
	t.Helper()
	testdb.EachStore(t, func(t *testing.T, store *gormstore.Store) {
		h := &fixture{t: t, reader: &countingReader{AccessReader: store}, clock: &clock{Clock: testdb.NewClock(noon)},
			bus: &fakes.Bus{}}
		h.store = testdb.WithClock(store, h.clock)
		h.Service = access.New(access.Deps{
			Store: h.store, Reader: h.reader, Clock: h.clock, Sleeper: h.clock, IDs: system.NewIDs(), Bus: h.bus,
			Terms: catalog{}, Customers: fakes.Customer{},
		})
		test(t, h)
	})
}

// atomically runs work in one transaction, which must succeed.
func (h *fixture) atomically(work func(ctx context.Context, r ports.Repos) error) {
	h.t.Helper()
	if err := h.store.Atomically(h.t.Context(), work); err != nil {
		h.t.Fatal(err)
	}
}

// changes returns the changes of the customer's access so far, oldest first.
func (h *fixture) changes() []core.Changed {
	h.t.Helper()
	all, err := h.store.Read(h.t.Context()).Access.Snapshots.ListHistoryAfter(h.t.Context(), creator, ada, 0)
	if err != nil {
		h.t.Fatal(err)
	}
	return all
}

func (h *fixture) snapshot() core.Document {
	h.t.Helper()
	d, err := h.Snapshot(h.t.Context(), creator, ada)
	if err != nil {
		h.t.Fatal(err)
	}
	return d
}

func (h *fixture) buy(e checkout.Paid) {
	h.t.Helper()
	h.atomically(func(ctx context.Context, r ports.Repos) error { return h.OnCheckoutPaid(ctx, r, e) })
}

func paid(n string) checkout.Paid {
	return checkout.Paid{
		CheckoutID: "cs_" + n, PaymentID: "pay_" + n, CreatorID: creator, ExternalCustomerID: ada, At: noon,
		Offer: plan.Offer{
			CreatorID: creator, ListingID: "lst_1", ListingKey: "studio", ListingType: "DIGITAL", PlanKey: "pro",
			Price: money.Amount{Minor: 900, Currency: "eur"},
			Terms: plan.Terms{
				Entitlements: []plan.Entitlement{{Key: "export", Type: plan.Boolean, Bool: true}},
				Credits:      []plan.Credit{{Key: "renders", Unit: "render", Amount: 40}},
			},
		},
	}
}

func isFenced(err error) bool { return errors.Is(err, ports.ErrFenced) }
