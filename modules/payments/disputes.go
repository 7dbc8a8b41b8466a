package payments

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sundry/core/dispute"
	"sundry/core/document"
	"sundry/core/id"
	"sundry/core/identity"
	"sundry/core/payment"
	"sundry/core/refund"
	"sundry/ports"
)

// TaskDisputeResponse sends a response that was not confirmed; its subject is the dispute.
const TaskDisputeResponse = "dispute.respond"

// DisputeDeps holds the dependencies of disputes.
type DisputeDeps struct {
	Store     ports.Store
	IDs       ports.IDs
	Bus       ports.Bus
	Providers ports.Providers
	Ledger    ports.SaleLedger
	// Sources add to the evidence, in their order.
	Sources   []ports.EvidenceSource
	Files     ports.DisputeFiles
	Records   ports.DisputeFileRecords
	Documents ports.SaleDocuments
}

// Disputes records the disputes that the processor reports, and responds to them.
type Disputes struct{ deps DisputeDeps }

// NewDisputes returns the use cases.
func NewDisputes(d DisputeDeps) *Disputes { return &Disputes{deps: d} }

// apply applies a report and everything that follows from it. What is known already changes nothing.
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
	if closed {
		lost, err := s.deps.Ledger.CloseDispute(ctx, r, d.State(), report.Amount)
		if err != nil {
			return dispute.State{}, err
		}
		if d.State().Status == dispute.Lost {
			d.Lose(lost)
		}
	}
	if d.State().Undoes() {
		note, err := ports.NextNumber(ctx, r.Invoicing.DocumentNumbers, known.CreatorID, document.CreditNotes)
		if err != nil {
			return dispute.State{}, err
		}
		d.Credit(note)
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
	if err := s.wakeRefund(ctx, r, after.PaymentID, now); err != nil {
		return dispute.State{}, err
	}
	return after, s.deps.Bus.Publish(ctx, r, dispute.Closed{State: after})
}

// wakeRefund makes the automatic refund of a payment due that has waited for its dispute to be decided.
func (s *Disputes) wakeRefund(ctx context.Context, r ports.Repos, paymentID string, now time.Time) error {
	waiting, err := r.Payments.Refunds.Get(ctx, refund.AutomaticID(paymentID))
	if errors.Is(err, ports.ErrNotFound) || err == nil && waiting.Status != refund.Pending {
		return nil
	}
	if err != nil {
		return err
	}
	return r.Tasks.Schedule(ctx, TaskRefund, paymentID, waiting.CreatorID, now)
}

// open records a dispute that was not known and holds its money.
func (s *Disputes) open(ctx context.Context, r ports.Repos, report ports.DisputeReport) (dispute.State, error) {
	disputeID := s.deps.IDs.New(id.Dispute)
	share, err := s.deps.Ledger.OpenDispute(ctx, r, report.PaymentID, disputeID, report.Amount)
	if errors.Is(err, ports.ErrNotFound) {
		err = errors.Join(err, unlessSettled(ctx, r, report.PaymentID))
	}
	if err != nil {
		return dispute.State{}, err
	}
	// There is a sale, so the payment has succeeded. Read earlier it may have had no customer yet.
	paid, err := r.Payments.Payments.Get(ctx, report.PaymentID)
	if err != nil {
		return dispute.State{}, err
	}
	now, err := r.Clock.Now(ctx, paid.CreatorID)
	if err != nil {
		return dispute.State{}, err
	}
	d, opened := dispute.Open(dispute.State{
		ID: disputeID, CreatorID: paid.CreatorID, Return: returnOf(paid, share), ProcessorID: report.ProcessorID,
		Reason: report.Reason, RespondBy: report.RespondBy,
	}, now)
	if err := r.Payments.Disputes.Insert(ctx, d.State()); err != nil {
		return dispute.State{}, err
	}
	return d.State(), s.deps.Bus.Publish(ctx, r, opened)
}

// unlessSettled returns errUnsettled for a payment whose outcome is not recorded yet.
func unlessSettled(ctx context.Context, r ports.Repos, paymentID string) error {
	paid, err := r.Payments.Payments.Get(ctx, paymentID)
	if err == nil && !paid.Status.Final() {
		err = errUnsettled
	}
	return err
}

// SubmitEvidence sends evidence to the bank, with what the program has collected itself: from then on neither changes.
// Faults: VALIDATION_FAILED, NOT_FOUND, STATE_CONFLICT.
func (s *Disputes) SubmitEvidence(
	ctx context.Context, creatorID, disputeID string, e dispute.Evidence,
) (dispute.State, error) {
	if err := e.Validate(); err != nil {
		return dispute.State{}, err
	}
	_, collected, err := s.Evidence(ctx, creatorID, disputeID)
	if err != nil {
		return dispute.State{}, err
	}
	e.Collected = &collected
	return s.respond(ctx, creatorID, disputeID, e, false)
}

// Accept lets the buyer's bank have the money. Faults: NOT_FOUND, STATE_CONFLICT.
func (s *Disputes) Accept(ctx context.Context, creatorID, disputeID string) (dispute.State, error) {
	return s.respond(ctx, creatorID, disputeID, dispute.Evidence{}, true)
}

// respond commits the response, sends it, and commits the processor's answer. TaskDisputeResponse finishes what was
// interrupted.
func (s *Disputes) respond(
	ctx context.Context, creatorID, disputeID string, e dispute.Evidence, accept bool,
) (dispute.State, error) {
	note := "evidence"
	if accept {
		note = "accepted"
	}
	asked, err := s.change(ctx, creatorID, disputeID, identity.DisputeResponded, note, func(
		ctx context.Context, r ports.Repos, d *dispute.Dispute,
	) error {
		if err := d.Respond(e, accept); err != nil {
			return err
		}
		return ports.ScheduleIn(ctx, r, firstRefundCheck, TaskDisputeResponse, disputeID, creatorID)
	})
	if err != nil {
		return dispute.State{}, err
	}
	ctx = context.WithoutCancel(ctx)
	report, err := s.send(ctx, asked)
	if err != nil { // unknown or not reached: the task goes on
		return asked, nil //nolint:nilerr // the dispute still needs a response, which is what the caller gets
	}
	err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		asked, err = s.apply(ctx, r, report)
		return err
	})
	return asked, err
}

// change makes a transition of one of the account's disputes, and records it in the access log with a note.
func (s *Disputes) change(
	ctx context.Context, creatorID, disputeID string, kind identity.AccountEventKind, note string,
	transition func(ctx context.Context, r ports.Repos, d *dispute.Dispute) error,
) (state dispute.State, err error) {
	err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		loaded, err := owned(ctx, r, creatorID, disputeID)
		if err != nil {
			return err
		}
		d := dispute.Restore(loaded)
		if err := transition(ctx, r, d); err != nil {
			return err
		}
		state = d.State()
		if err := r.Payments.Disputes.Update(ctx, state); err != nil {
			return err
		}
		return ports.PublishAudited(ctx, r, s.deps.Bus, identity.Audited{
			CreatorID: creatorID, Kind: kind, ObjectID: disputeID, Note: disputeID + ", " + note,
		})
	})
	return state, err
}

// send sends the response that was committed. Everything in it was fixed then, so a response that is sent again is the
// same one.
func (s *Disputes) send(ctx context.Context, d dispute.State) (ports.DisputeReport, error) {
	paid, provider, err := s.paidAt(ctx, d)
	if err != nil {
		return ports.DisputeReport{}, err
	}
	if d.Response == dispute.AcceptanceSent {
		return within(ctx, ports.ProcessorTimeout, func(ctx context.Context) (ports.DisputeReport, error) {
			return provider.DisputeProcessor.AcceptDispute(ctx, d.ProcessorID)
		})
	}
	evidence, err := s.load(ctx, d, paid)
	if err != nil {
		return ports.DisputeReport{}, err
	}
	return within(ctx, ports.ProcessorTimeout, func(ctx context.Context) (ports.DisputeReport, error) {
		return provider.DisputeProcessor.SubmitEvidence(ctx, d.ProcessorID, evidence)
	})
}

// paidAt returns the payment of a dispute and the provider that took it.
func (s *Disputes) paidAt(ctx context.Context, d dispute.State) (payment.State, ports.Provider, error) {
	paid, err := s.deps.Store.Read(ctx).Payments.Payments.Get(ctx, d.PaymentID)
	if err != nil {
		return paid, ports.Provider{}, err
	}
	provider, err := s.deps.Providers.Get(paid.Provider)
	return paid, provider, err
}

// FinishResponse sends a response that was not confirmed. Task TaskDisputeResponse.
func (s *Disputes) FinishResponse(ctx context.Context, t ports.Task) error {
	d, err := s.deps.Store.Read(ctx).Payments.Disputes.Get(ctx, t.Subject)
	if errors.Is(err, ports.ErrNotFound) || (err == nil && d.Response == dispute.NoResponse) {
		return ports.EndTask(ctx, s.deps.Store, t)
	}
	if err != nil {
		return fmt.Errorf("respond: %w", err)
	}
	report, err := s.send(ctx, d)
	if err != nil {
		return fmt.Errorf("respond to %s: %w", d.ID, err)
	}
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		if err := r.Tasks.Done(ctx, t); err != nil {
			return err
		}
		_, err := s.apply(ctx, r, report)
		return err
	})
}

// Get returns a dispute of the account. NOT_FOUND for any other.
func (s *Disputes) Get(ctx context.Context, creatorID, disputeID string) (dispute.State, error) {
	return owned(ctx, s.deps.Store.Read(ctx), creatorID, disputeID)
}

func owned(ctx context.Context, r ports.Repos, creatorID, disputeID string) (dispute.State, error) {
	d, err := r.Payments.Disputes.Get(ctx, disputeID)
	return ports.Visible(d, err, d.CreatorID == creatorID, "dispute")
}

// List lists the account's disputes, newest first; paymentID "" = of every payment.
func (s *Disputes) List(
	ctx context.Context, creatorID, paymentID string, page ports.Page,
) (ports.List[dispute.State], error) {
	return s.deps.Store.Read(ctx).Payments.Disputes.List(ctx, creatorID, paymentID, page)
}
