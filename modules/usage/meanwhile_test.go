package usage_test

import (
	"context"
	"testing"
	"time"

	"sundry/core/customer"
	"sundry/core/fault"
	"sundry/core/plan"
	"sundry/core/subscription"
	core "sundry/core/usage"
	"sundry/ports"
)

// beside runs a request while a transaction that changes the subscription is about to commit, or to do what follows,
// and returns its error.
func (f *fixture) beside(
	change func(ctx context.Context, r ports.Repos) error, request func() error,
	follows ...func(ctx context.Context, r ports.Repos) error,
) (err error) {
	f.t.Helper()
	requested := make(chan error, 1)
	f.atomically(func(ctx context.Context, r ports.Repos) error {
		if err := change(ctx, r); err != nil {
			return err
		}
		go func() { requested <- request() }()
		select {
		case err := <-requested: // it did not wait
			requested <- err
		case <-time.After(300 * time.Millisecond): // long enough for it to read the subscription, if nothing keeps it
		}
		for _, next := range follows {
			if err := next(ctx, r); err != nil {
				return err
			}
		}
		return nil
	})
	return <-requested
}

// endSubscription cancels the subscription, as its own module does.
func (f *fixture) endSubscription(ctx context.Context, r ports.Repos) error {
	state, err := r.Subscriptions.Subscriptions.GetForUpdate(ctx, "sub_1")
	if err != nil {
		return err
	}
	sub := subscription.Restore(state)
	canceled, err := sub.Cancel(subscription.CancelRequested, f.clock.Real())
	if err != nil {
		return err
	}
	if err := r.Subscriptions.Subscriptions.Update(ctx, sub.State()); err != nil {
		return err
	}
	return f.OnSubscriptionCanceled(ctx, r, canceled)
}

// changePlan changes the plan of the subscription to one that includes 5 seats, as its own module does.
func (f *fixture) changePlan(ctx context.Context, r ports.Repos) error {
	state, err := r.Subscriptions.Subscriptions.GetForUpdate(ctx, "sub_1")
	if err != nil {
		return err
	}
	state.Offer.Terms.Meters = []plan.Meter{{EventName: "seats", Included: 5}}
	state.Revision++
	if err := r.Subscriptions.Subscriptions.Update(ctx, state); err != nil {
		return err
	}
	if err := f.OnSubscriptionUpdated(ctx, r, subscription.Updated{State: state}); err != nil {
		return err
	}
	_, err = r.Usage.Streams.ListBySubscription(ctx, creator, "sub_1") // what was written is sent before a read
	return err
}

// seats makes a meter that nothing has counted yet.
func (f *fixture) seats() (meterID string) {
	f.t.Helper()
	meter, err := f.CreateMeter(f.t.Context(), creator, core.MeterDraft{
		Name: "Seats", EventName: "seats", Aggregation: string(core.Sum),
	})
	f.must(err)
	return meter.ID
}

func TestASubscriptionThatEndsMeanwhileIsNotBilled(t *testing.T) {
	t.Parallel()
	forEachEngine(t, core.Sum, func(t *testing.T, f *fixture) {
		f.offer.MeterID = f.seats()
		err := f.beside(f.endSubscription, func() error {
			_, err := f.CreateBillingPlan(t.Context(), creator, f.offer)
			return err
		})
		if !fault.Is(err, fault.StateConflict) {
			t.Errorf("a plan of a subscription that has ended: %v", err)
		}
	})
}

func TestASubscriptionThatEndsMeanwhileTakesNoReport(t *testing.T) {
	t.Parallel()
	forEachEngine(t, core.Sum, func(t *testing.T, f *fixture) {
		f.seats()
		report := draft("a", "1", f.clock.Real().Add(time.Minute))
		report.Meter = "seats"
		err := f.beside(f.endSubscription, func() error {
			results, err := f.Report(t.Context(), creator, []core.ReportDraft{report})
			if err == nil {
				err = results[0].Err
			}
			return err
		})
		if !fault.Is(err, fault.PeriodClosed) {
			t.Errorf("a report of use after the end: %v", err)
		}
	})
}

func TestThePlanThatBeginsMeanwhileIncludesItsUse(t *testing.T) {
	t.Parallel()
	forEachEngine(t, core.Sum, func(t *testing.T, f *fixture) {
		f.seats()
		report := draft("a", "7", time.Time{})
		report.Meter = "seats"
		f.must(f.beside(f.changePlan, func() error {
			results, err := f.Report(t.Context(), creator, []core.ReportDraft{report})
			if err == nil {
				err = results[0].Err
			}
			return err
		}))
		stream, err := f.store.Read(t.Context()).Usage.Streams.Get(t.Context(), creator, "sub_1", "seats")
		if f.must(err); stream.Included != 5 {
			t.Errorf("%d are included, want 5", stream.Included)
		}
	})
}

// TestTheNameThatIsGivenMeanwhileIsThatOfTheUse: the subscription is renamed after its use.
func TestTheNameThatIsGivenMeanwhileIsThatOfTheUse(t *testing.T) {
	t.Parallel()
	forEachEngine(t, core.Sum, func(t *testing.T, f *fixture) {
		f.seats()
		report := draft("a", "7", time.Time{})
		report.Meter = "seats"
		renamed := customer.Renamed{
			State: customer.State{ID: "cus_1", CreatorID: creator, ExternalCustomerID: "eve"}, From: "ada", To: "eve",
		}
		f.must(f.beside(func(ctx context.Context, r ports.Repos) error {
			return f.OnCustomerRenamed(ctx, r, renamed)
		}, func() error {
			results, err := f.Report(t.Context(), creator, []core.ReportDraft{report})
			if err == nil {
				err = results[0].Err
			}
			return err
		}, func(ctx context.Context, r ports.Repos) error {
			state, err := r.Subscriptions.Subscriptions.Get(ctx, "sub_1")
			if err != nil {
				return err
			}
			state.ExternalCustomerID = "eve"
			state.Revision++
			return r.Subscriptions.Subscriptions.Update(ctx, state)
		}))
		stream, err := f.store.Read(t.Context()).Usage.Streams.Get(t.Context(), creator, "sub_1", "seats")
		if f.must(err); stream.ExternalCustomerID != "eve" {
			t.Errorf("the use is that of %q, want eve", stream.ExternalCustomerID)
		}
	})
}
