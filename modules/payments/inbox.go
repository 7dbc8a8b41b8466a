package payments

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/refund"
	"sundry/ports"
)

// TaskProcessorEvent reads again what an event of the processor is about; its subject is the event.
const TaskProcessorEvent = "processor.event"

// InboxDeps holds the dependencies of the inbox.
type InboxDeps struct {
	Store     ports.Store
	Clock     ports.Clock
	Providers ports.Providers
	Refunds   *Refunds
	Disputes  *Disputes
	// Setup finishes a card setup by what the processor reports of it, and Payout a payout; PayoutAccount records the
	// state of a creator's account. They call the network.
	Setup, Payout, PayoutAccount func(ctx context.Context, objectID string) error
}

// Inbox receives what the processor reports. An event is kept once, and a task reads its object again from the
// processor, so neither order nor repetition matters.
type Inbox struct {
	deps InboxDeps
	// refreshers read an object again, by the kind of event that is about it.
	refreshers map[ports.ProcessorEventKind]refresher
}

// refresher reads an object from the processor, outside of any transaction, and returns the write that applies it.
type refresher func(ctx context.Context, e ports.ProcessorEvent) (write, error)

// write applies an event, in the transaction that ends its task.
type write func(ctx context.Context, r ports.Repos) error

func writeNothing(context.Context, ports.Repos) error { return nil }

// NewInbox returns the use cases.
func NewInbox(d InboxDeps) *Inbox {
	s := &Inbox{deps: d}
	// refresh writes in a transaction of its own
	itself := func(refresh func(ctx context.Context, objectID string) error) refresher {
		return func(ctx context.Context, e ports.ProcessorEvent) (write, error) {
			return writeNothing, refresh(ctx, e.ObjectID)
		}
	}
	s.refreshers = map[ports.ProcessorEventKind]refresher{
		ports.AboutPayment:        s.refreshPayment,
		ports.AboutRefund:         s.refreshRefund,
		ports.AboutPaymentRefunds: s.refreshPaymentRefunds,
		ports.AboutDispute:        s.refreshDispute,
		ports.AboutSetup:          itself(d.Setup),
		ports.AboutPayout:         itself(d.Payout),
		ports.AboutPayoutAccount:  itself(d.PayoutAccount),
	}
	return s
}

// Receive keeps an event that a provider sent with a request, of which header returns the headers. UNAUTHENTICATED for
// a wrong signature, or that of no provider.
func (s *Inbox) Receive(ctx context.Context, payload []byte, header func(name string) string) error {
	now := s.deps.Clock.Real()
	e, ok, err := s.verify(payload, header, now)
	if err != nil || !ok {
		return err
	}
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		isNew, err := r.Payments.ProcessorEvents.Insert(ctx, e, now)
		if err != nil || !isNew {
			return err
		}
		return ports.ScheduleIn(ctx, r, 0, TaskProcessorEvent, e.ID, e.CreatorID)
	})
}

// verify has the providers whose signature a request carries verify it; one of them is to know it.
func (s *Inbox) verify(
	payload []byte, header func(name string) string, now time.Time,
) (e ports.ProcessorEvent, ok bool, err error) {
	err = fault.New(fault.Unauthenticated, "The event carries no signature.")
	for _, provider := range s.deps.Providers {
		if provider.Events == nil || header(provider.SignatureHeader) == "" {
			continue
		}
		if e, ok, err = provider.Events.Verify(payload, header(provider.SignatureHeader), now); err == nil {
			e.Provider, e.ID = provider.Name, provider.Name+"/"+e.ID
			return e, ok, nil
		}
	}
	return ports.ProcessorEvent{}, false, err
}

// errUnsettled reports that an event is about a payment whose outcome is not recorded yet.
var errUnsettled = errors.New("the payment is not settled yet")

// Process reads again what an event is about. One that comes before its payment is settled is processed again later.
// Task TaskProcessorEvent.
func (s *Inbox) Process(ctx context.Context, t ports.Task) error {
	e, err := s.deps.Store.Read(ctx).Payments.ProcessorEvents.Get(ctx, t.Subject)
	if err != nil {
		return fmt.Errorf("processor event: %w", err)
	}
	refresh, ok := s.refreshers[e.Kind]
	if !ok {
		return fmt.Errorf("processor event %s is about %q, which nothing reads again", e.ID, e.Kind)
	}
	change, err := refresh(ctx, e)
	if err != nil {
		return fmt.Errorf("processor event %s: %w", e.ID, err)
	}
	err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		if err := r.Tasks.Done(ctx, t); err != nil {
			return err
		}
		return change(ctx, r)
	})
	if !errors.Is(err, errUnsettled) {
		return err
	}
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		return ports.PostponeBy(ctx, r, t, firstRecheck)
	})
}

// refreshPayment makes the task of an unsettled attempt due, which asks the processor.
func (s *Inbox) refreshPayment(_ context.Context, e ports.ProcessorEvent) (write, error) {
	return func(ctx context.Context, r ports.Repos) error {
		attempt, err := r.Payments.Payments.Get(ctx, e.ObjectID)
		if errors.Is(err, ports.ErrNotFound) || (err == nil && attempt.Status.Final()) {
			return nil
		}
		if err != nil {
			return err
		}
		return ports.ScheduleIn(ctx, r, 0, TaskCharge, attempt.ID, attempt.CreatorID)
	}, nil
}

// refreshRefund reads the outcome of a refund.
func (s *Inbox) refreshRefund(ctx context.Context, e ports.ProcessorEvent) (write, error) {
	repository := s.deps.Store.Read(ctx).Payments.Refunds
	get := repository.Get
	if !id.Valid(id.Refund, e.ObjectID) {
		get = repository.GetByProcessorID
	}
	known, err := get(ctx, e.ObjectID)
	// of a payment that the processor reversed, or made there and not recorded yet
	if errors.Is(err, ports.ErrNotFound) {
		return writeNothing, nil
	}
	if err != nil {
		return nil, err
	}
	outcome, err := s.deps.Refunds.call(ctx, known)
	return func(ctx context.Context, r ports.Repos) error {
		_, err := s.deps.Refunds.settle(ctx, r, known.ID, outcome)
		return err
	}, err
}

// refreshPaymentRefunds asks which refunds of a payment were made at the processor, and makes those of ours due. Before
// the payment is settled, its id there may not be known.
func (s *Inbox) refreshPaymentRefunds(ctx context.Context, e ports.ProcessorEvent) (write, error) {
	paid, err := s.deps.Store.Read(ctx).Payments.Payments.Get(ctx, e.ObjectID)
	switch {
	case errors.Is(err, ports.ErrNotFound):
		return writeNothing, nil
	case err != nil:
		return nil, err
	case !paid.Status.Final():
		return func(context.Context, ports.Repos) error { return errUnsettled }, nil
	}
	foreign, err := s.deps.Refunds.foreign(ctx, paid)
	return func(ctx context.Context, r ports.Repos) error {
		for _, report := range foreign {
			if err := s.deps.Refunds.adopt(ctx, r, paid.ID, report); err != nil {
				return err
			}
		}
		return s.scheduleRefunds(ctx, r, paid.CreatorID, paid.ID)
	}, err
}

// scheduleRefunds makes the tasks of a payment's open refunds due.
func (s *Inbox) scheduleRefunds(ctx context.Context, r ports.Repos, creatorID, paymentID string) error {
	now, err := r.Clock.Now(ctx, creatorID)
	if err != nil {
		return err
	}
	list, err := r.Payments.Refunds.List(ctx, creatorID, paymentID, ports.Page{Limit: maxLive})
	if err != nil {
		return err
	}
	for _, f := range list.Items {
		if f.Status != refund.Pending || f.Automatic {
			continue
		}
		if err := r.Tasks.Schedule(ctx, TaskRefundRequest, f.ID, f.CreatorID, now); err != nil {
			return err
		}
	}
	return nil
}

// refreshDispute reads a dispute's status. An inquiry that holds no money is not a dispute.
func (s *Inbox) refreshDispute(ctx context.Context, e ports.ProcessorEvent) (write, error) {
	provider, err := s.deps.Providers.Get(e.Provider)
	if err != nil {
		return nil, err
	}
	report, err := within(ctx, ports.ProcessorTimeout, func(ctx context.Context) (ports.DisputeReport, error) {
		return provider.DisputeProcessor.FindDispute(ctx, e.ObjectID)
	})
	if errors.Is(err, ports.ErrNotFound) {
		return writeNothing, nil
	}
	return func(ctx context.Context, r ports.Repos) error {
		_, err := s.deps.Disputes.apply(ctx, r, report)
		return err
	}, err
}
