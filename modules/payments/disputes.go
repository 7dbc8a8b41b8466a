package payments

import (
	"context"
	"errors"
	"fmt"

	"sundry/core/dispute"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/payment"
	"sundry/core/refund"
	"sundry/ports"
)

// Task kinds of disputes and of the processor's events.
const (
	// TaskProcessorEvent reads again what an event is about; its subject is the event.
	TaskProcessorEvent = "processor.event"
	// TaskDisputeResponse sends a response that was not confirmed; its subject is the dispute.
	TaskDisputeResponse = "dispute.respond"
)

// DisputeDeps are what disputes work with.
type DisputeDeps struct {
	Store     ports.Store
	Clock     ports.Clock
	IDs       ports.IDs
	Bus       ports.Bus
	Processor ports.DisputeProcessor
	Events    ports.EventVerifier
	Book      ports.SaleBook
	Refunds   *Refunds
	// Setups finishes a card setup by what the processor reports of it, and Payouts a payout; PayoutAccounts records the state of
	// a creator's account. They call the network.
	Setups         func(ctx context.Context, setupID string) error
	Payouts        func(ctx context.Context, payoutID string) error
	PayoutAccounts func(ctx context.Context, railID string) error
	// Reconcile names the task that asks what became of a payment, by what the payment is for.
	Reconcile map[payment.Purpose]string
}

// Disputes receives what the processor reports, and responds to disputes. An event is kept once and read again from the
// processor by a task, so neither order nor repetition matters.
type Disputes struct{ DisputeDeps }

// NewDisputes returns the use cases.
func NewDisputes(d DisputeDeps) *Disputes { return &Disputes{d} }

// Receive takes in an event of the processor. UNAUTHENTICATED for a wrong signature.
func (s *Disputes) Receive(ctx context.Context, payload []byte, signature string) error {
	now := s.Clock.Real()
	e, ok, err := s.Events.Verify(payload, signature, now)
	if err != nil || !ok {
		return err
	}
	return s.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		isNew, err := r.Payments.ProcessorEvents.Insert(ctx, e, now)
		if err != nil || !isNew {
			return err
		}
		due, err := r.Clock.Now(ctx, e.CreatorID)
		if err != nil {
			return err
		}
		return r.Tasks.Schedule(ctx, TaskProcessorEvent, e.ID, e.CreatorID, due)
	})
}

// Process reads again what an event is about. Task TaskProcessorEvent.
func (s *Disputes) Process(ctx context.Context, t ports.Task) error {
	e, err := s.Store.Read(ctx).Payments.ProcessorEvents.Get(ctx, t.Subject)
	if err != nil {
		return fmt.Errorf("processor event: %w", err)
	}
	apply := func(context.Context, ports.Repos) error { return nil }
	switch e.Kind {
	case ports.AboutDispute:
		apply, err = s.refreshDispute(ctx, e.ObjectID)
	case ports.AboutRefund:
		apply, err = s.refreshRefund(ctx, e.ObjectID)
	case ports.AboutRefundsOf:
		apply, err = s.refreshRefundsOf(ctx, e.ObjectID)
	case ports.AboutPayment:
		apply = func(ctx context.Context, r ports.Repos) error { return s.reconcile(ctx, r, e.ObjectID) }
	case ports.AboutSetup:
		err = s.Setups(ctx, e.ObjectID)
	case ports.AboutPayout:
		err = s.Payouts(ctx, e.ObjectID)
	case ports.AboutPayoutAccount:
		err = s.PayoutAccounts(ctx, e.ObjectID)
	}
	if err != nil {
		return fmt.Errorf("processor event %s: %w", e.ID, err)
	}
	return s.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		if err := r.Tasks.Done(ctx, t); err != nil {
			return err
		}
		return apply(ctx, r)
	})
}

// refreshDispute asks what a dispute has come to. What holds no money yet is no dispute.
func (s *Disputes) refreshDispute(ctx context.Context, processorID string) (func(context.Context, ports.Repos) error, error) {
	report, err := s.Processor.FindDispute(ctx, processorID)
	if errors.Is(err, ports.ErrNotFound) {
		return func(context.Context, ports.Repos) error { return nil }, nil
	}
	return func(ctx context.Context, r ports.Repos) error {
		_, err := s.apply(ctx, r, report)
		return err
	}, err
}

// refreshRefundsOf asks which refunds of a payment were made at the processor, and makes those of ours due.
func (s *Disputes) refreshRefundsOf(ctx context.Context, paymentID string) (func(context.Context, ports.Repos) error, error) {
	paid, err := s.Store.Read(ctx).Payments.Payments.Get(ctx, paymentID)
	if errors.Is(err, ports.ErrNotFound) {
		return func(context.Context, ports.Repos) error { return nil }, nil
	}
	if err != nil {
		return nil, err
	}
	foreign, err := s.Refunds.foreign(ctx, paid)
	return func(ctx context.Context, r ports.Repos) error {
		for _, report := range foreign {
			if err := s.Refunds.adopt(ctx, r, paid, report); err != nil {
				return err
			}
		}
		return s.refundsOf(ctx, r, paymentID)
	}, err
}

// refundsOf makes the task of each refund of a payment due whose outcome is open.
func (s *Disputes) refundsOf(ctx context.Context, r ports.Repos, paymentID string) error {
	paid, err := r.Payments.Payments.Get(ctx, paymentID)
	if errors.Is(err, ports.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	now, err := r.Clock.Now(ctx, paid.CreatorID)
	if err != nil {
		return err
	}
	list, err := r.Payments.Refunds.List(ctx, paid.CreatorID, paid.ID, ports.Page{Limit: maxLive})
	if err != nil {
		return err
	}
	for _, f := range list.Items {
		if f.Status != refund.Pending {
			continue
		}
		if err := r.Tasks.Schedule(ctx, TaskRefundRequest, f.ID, f.CreatorID, now); err != nil {
			return err
		}
	}
	return nil
}

// refreshRefund asks what a refund has come to.
func (s *Disputes) refreshRefund(ctx context.Context, refundID string) (func(context.Context, ports.Repos) error, error) {
	repository := s.Store.Read(ctx).Payments.Refunds
	get := repository.Get
	if !id.Valid(id.Refund, refundID) {
		get = repository.GetByProcessorID
	}
	known, err := get(ctx, refundID)
	if errors.Is(err, ports.ErrNotFound) { // of a payment that went back by itself, or made at the processor and not recorded yet
		return func(context.Context, ports.Repos) error { return nil }, nil
	}
	if err != nil {
		return nil, err
	}
	outcome, err := s.Refunds.call(ctx, known)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, r ports.Repos) error {
		_, err := s.Refunds.settle(ctx, r, known.ID, outcome)
		return err
	}, nil
}

// reconcile makes the task due that asks what became of a payment.
func (s *Disputes) reconcile(ctx context.Context, r ports.Repos, paymentID string) error {
	attempt, err := r.Payments.Payments.Get(ctx, paymentID)
	if errors.Is(err, ports.ErrNotFound) || (err == nil && attempt.Status.Final()) {
		return nil
	}
	if err != nil {
		return err
	}
	now, err := r.Clock.Now(ctx, attempt.CreatorID)
	if err != nil {
		return err
	}
	return r.Tasks.Schedule(ctx, s.Reconcile[attempt.Purpose], attempt.ID, attempt.CreatorID, now)
}

// apply takes in a report, with everything that follows from it. What is known already changes nothing.
func (s *Disputes) apply(ctx context.Context, r ports.Repos, report ports.DisputeReport) (dispute.State, error) {
	known, err := r.Payments.Disputes.GetByProcessorID(ctx, report.ProcessorID)
	if errors.Is(err, ports.ErrNotFound) {
		known, err = s.open(ctx, r, report)
	}
	if err != nil {
		return dispute.State{}, err
	}
	now, err := r.Clock.Now(ctx, known.CreatorID)
	if err != nil {
		return dispute.State{}, err
	}
	d := dispute.Restore(known)
	changed, closed, err := d.Apply(report.Status, now)
	if err != nil || !changed {
		return known, err
	}
	after := d.State()
	if err := r.Payments.Disputes.Update(ctx, after); err != nil {
		return dispute.State{}, err
	}
	if err := r.Tasks.Cancel(ctx, TaskDisputeResponse, after.ID); err != nil {
		return dispute.State{}, err
	}
	if !closed {
		return after, nil
	}
	if err := s.Book.CloseDispute(ctx, r, after); err != nil {
		return dispute.State{}, err
	}
	return after, s.Bus.Publish(ctx, r, dispute.Closed{State: after})
}

// open records a dispute that was not known and holds its money.
func (s *Disputes) open(ctx context.Context, r ports.Repos, report ports.DisputeReport) (dispute.State, error) {
	paid, err := r.Payments.Payments.Get(ctx, report.PaymentID)
	if err != nil {
		return dispute.State{}, err
	}
	now, err := r.Clock.Now(ctx, paid.CreatorID)
	if err != nil {
		return dispute.State{}, err
	}
	disputeID := s.IDs.New(id.Dispute)
	share, err := s.Book.OpenDispute(ctx, r, paid.ID, disputeID, report.Amount)
	if err != nil {
		return dispute.State{}, err
	}
	d, opened := dispute.Open(dispute.State{
		ID: disputeID, CreatorID: paid.CreatorID, PaymentID: paid.ID, CheckoutID: paid.CheckoutID(), CustomerID: paid.CustomerID,
		SubscriptionID: subscriptionOf(paid), ProcessorID: report.ProcessorID, Share: share, Reason: report.Reason,
		RespondBy: report.RespondBy,
	}, now)
	if err := r.Payments.Disputes.Insert(ctx, d.State()); err != nil {
		return dispute.State{}, err
	}
	return d.State(), s.Bus.Publish(ctx, r, opened)
}

// SubmitEvidence sends evidence to the bank. Faults: VALIDATION_FAILED, NOT_FOUND, STATE_CONFLICT.
func (s *Disputes) SubmitEvidence(ctx context.Context, creatorID, disputeID string, e dispute.Evidence) (dispute.State, error) {
	if err := e.Validate(); err != nil {
		return dispute.State{}, err
	}
	return s.respond(ctx, creatorID, disputeID, e, false)
}

// Accept lets the buyer's bank have the money. Faults: NOT_FOUND, STATE_CONFLICT.
func (s *Disputes) Accept(ctx context.Context, creatorID, disputeID string) (dispute.State, error) {
	return s.respond(ctx, creatorID, disputeID, dispute.Evidence{}, true)
}

// respond commits the response, sends it, and commits what the processor responded. TaskDisputeResponse finishes what was
// interrupted.
func (s *Disputes) respond(ctx context.Context, creatorID, disputeID string, e dispute.Evidence, accept bool) (dispute.State, error) {
	var asked dispute.State
	err := s.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		loaded, err := owned(ctx, r, creatorID, disputeID)
		if err != nil {
			return err
		}
		now, err := r.Clock.Now(ctx, creatorID)
		if err != nil {
			return err
		}
		d := dispute.Restore(loaded)
		if err := d.Respond(e, accept); err != nil {
			return err
		}
		asked = d.State()
		if err := r.Payments.Disputes.Update(ctx, asked); err != nil {
			return err
		}
		return r.Tasks.Schedule(ctx, TaskDisputeResponse, asked.ID, creatorID, now.Add(firstRefundCheck))
	})
	if err != nil {
		return dispute.State{}, err
	}
	ctx = context.WithoutCancel(ctx)
	report, err := s.send(ctx, asked)
	if err != nil { // unknown or not reached: the task goes on
		return asked, nil //nolint:nilerr // the dispute still needs a response, which is what the caller gets
	}
	err = s.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		asked, err = s.apply(ctx, r, report)
		return err
	})
	return asked, err
}

func (s *Disputes) send(ctx context.Context, d dispute.State) (ports.DisputeReport, error) {
	ctx, cancel := context.WithTimeout(ctx, chargeTimeout)
	defer cancel()
	if d.Response == dispute.AcceptanceSent {
		return s.Processor.AcceptDispute(ctx, d.ProcessorID)
	}
	return s.Processor.SubmitEvidence(ctx, d.ProcessorID, d.Evidence)
}

// FinishResponse sends a response that was not confirmed. Task TaskDisputeResponse.
func (s *Disputes) FinishResponse(ctx context.Context, t ports.Task) error {
	d, err := s.Store.Read(ctx).Payments.Disputes.Get(ctx, t.Subject)
	if errors.Is(err, ports.ErrNotFound) || (err == nil && d.Response == dispute.NoResponse) {
		return s.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error { return r.Tasks.Done(ctx, t) })
	}
	if err != nil {
		return fmt.Errorf("respond: %w", err)
	}
	report, err := s.send(ctx, d)
	if err != nil {
		return fmt.Errorf("respond to %s: %w", d.ID, err)
	}
	return s.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		if err := r.Tasks.Done(ctx, t); err != nil {
			return err
		}
		_, err := s.apply(ctx, r, report)
		return err
	})
}

// Get returns a dispute of the account. NOT_FOUND for any other.
func (s *Disputes) Get(ctx context.Context, creatorID, disputeID string) (dispute.State, error) {
	return owned(ctx, s.Store.Read(ctx), creatorID, disputeID)
}

func owned(ctx context.Context, r ports.Repos, creatorID, disputeID string) (dispute.State, error) {
	d, err := r.Payments.Disputes.Get(ctx, disputeID)
	if errors.Is(err, ports.ErrNotFound) || (err == nil && d.CreatorID != creatorID) {
		return dispute.State{}, fault.NotFound("dispute")
	}
	return d, err
}

// List lists the account's disputes, newest first; paymentID "" = of every payment.
func (s *Disputes) List(ctx context.Context, creatorID, paymentID string, page ports.Page) (ports.List[dispute.State], error) {
	list, err := s.Store.Read(ctx).Payments.Disputes.List(ctx, creatorID, paymentID, page)
	if err != nil {
		return ports.List[dispute.State]{}, fmt.Errorf("list disputes: %w", err)
	}
	return list, nil
}
