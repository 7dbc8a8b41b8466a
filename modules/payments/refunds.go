package payments

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sundry/core/dispute"
	"sundry/core/document"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/identity"
	"sundry/core/ledger"
	"sundry/core/metadata"
	"sundry/core/payment"
	"sundry/core/refund"
	"sundry/ports"
)

// TaskRefundRequest makes a requested refund, and polls while its outcome is unknown; its subject is the refund.
const TaskRefundRequest = "refund.create"

// firstRefundCheck is the delay after which a refund whose call never returned is reconciled: longer than the call can
// last.
const firstRefundCheck = ports.ProcessorTimeout + 10*time.Second

// RefundDeps holds the dependencies of refunds.
type RefundDeps struct {
	Store     ports.Store
	IDs       ports.IDs
	Bus       ports.Bus
	Providers ports.Providers
	Ledger    ports.SaleLedger
	Checkouts ports.CheckoutPayments
	Customers ports.CustomerReader
	// Links are the addresses of credit notes.
	Links document.Links
}

// Refunds makes the refunds that the account requests. It commits the intent, calls the processor, and commits the
// outcome; TaskRefundRequest finishes what was interrupted.
type Refunds struct{ deps RefundDeps }

// NewRefunds returns the use cases.
func NewRefunds(d RefundDeps) *Refunds { return &Refunds{deps: d} }

// Create refunds a payment of the account. Faults: VALIDATION_FAILED, NOT_FOUND, NOT_REFUNDABLE,
// IDEMPOTENCY_KEY_MISMATCH.
func (s *Refunds) Create(ctx context.Context, creatorID string, req refund.Request) (refund.State, error) {
	if err := req.Validate(); err != nil {
		return refund.State{}, err
	}
	var asked refund.State
	err := s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		var err error
		asked, err = s.reserve(ctx, r, creatorID, req)
		return err
	})
	if err != nil || asked.Status != refund.Pending {
		return asked, err
	}
	// The caller leaving must not leave the money in doubt.
	ctx = context.WithoutCancel(ctx)
	outcome, err := s.call(ctx, asked)
	if err != nil { // unknown or not reached: the task goes on
		return asked, nil //nolint:nilerr // the refund is pending, which is what the caller gets
	}
	err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		asked, err = s.settle(ctx, r, asked.ID, outcome)
		return err
	})
	return asked, err
}

// Request is Create that returns before the processor was asked, which the task does: for many refunds at once. Again
// with the same key it returns what was requested. Faults: see Create.
func (s *Refunds) Request(ctx context.Context, creatorID string, req refund.Request) (asked refund.State, err error) {
	if err := req.Validate(); err != nil {
		return refund.State{}, err
	}
	err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		if asked, err = s.reserve(ctx, r, creatorID, req); err != nil || asked.Status != refund.Pending {
			return err
		}
		return ports.ScheduleIn(ctx, r, 0, TaskRefundRequest, asked.ID, creatorID)
	})
	return asked, err
}

// Requested returns the refund that was requested under an idempotency key within a day. NOT_FOUND.
func (s *Refunds) Requested(ctx context.Context, creatorID, key string) (refund.State, error) {
	r := s.deps.Store.Read(ctx)
	now, err := r.Clock.Now(ctx, creatorID)
	if err != nil {
		return refund.State{}, err
	}
	asked, err := r.Payments.Refunds.GetByRequest(ctx, creatorID, key, now.Add(-ports.IdempotencyLifetime))
	return asked, ports.Missing(err, "refund")
}

// reserve is the intent.
func (s *Refunds) reserve(
	ctx context.Context, r ports.Repos, creatorID string, req refund.Request,
) (refund.State, error) {
	now, err := r.Clock.Now(ctx, creatorID)
	if err != nil {
		return refund.State{}, err
	}
	if req.Key != "" {
		earlier, err := r.Payments.Refunds.GetByRequest(ctx, creatorID, req.Key, now.Add(-ports.IdempotencyLifetime))
		switch { // a request that died before its response
		case errors.Is(err, ports.ErrNotFound):
		case err == nil && !req.Repeats(earlier):
			return refund.State{}, fault.New(
				fault.IdempotencyKeyMismatch, "The idempotency key was used before for another refund.",
			)
		default:
			return s.linked(earlier), err
		}
	}
	paid, err := s.payment(ctx, r, creatorID, req)
	if err != nil {
		return refund.State{}, err
	}
	asked, err := s.intend(ctx, r, paid, req, now)
	if err != nil {
		return refund.State{}, err
	}
	return asked, r.Tasks.Schedule(ctx, TaskRefundRequest, asked.ID, creatorID, now.Add(firstRefundCheck))
}

// intend records a refund of a payment and sets its money aside. An erasure of the customer waits for it, or is over.
func (s *Refunds) intend(
	ctx context.Context, r ports.Repos, paid payment.State, req refund.Request, now time.Time,
) (refund.State, error) {
	if paid.CustomerID != "" { // a second payment of a session has none
		if _, err := s.deps.Customers.CustomerForShare(ctx, r, paid.CustomerID); err != nil {
			return refund.State{}, err
		}
	}
	reserve := s.deps.Ledger.ReserveRefund
	if req.ProcessorID != "" {
		reserve = s.deps.Ledger.RecordRefund
	}
	share, err := reserve(ctx, r, paid.ID, req.Minor)
	if err != nil {
		return refund.State{}, err
	}
	asked := refund.NewPending(refund.State{
		ID: s.deps.IDs.New(id.Refund), CreatorID: paid.CreatorID, Return: returnOf(paid, share), Reason: req.Reason,
		KeepAccess: req.KeepAccess, Subscription: req.Subscription, RequestKey: req.Key, ProcessorID: req.ProcessorID,
		Metadata: metadata.Pairs{}.Merge(req.Metadata),
	}, now).State()
	if err := r.Payments.Refunds.Insert(ctx, asked); err != nil {
		return asked, err
	}
	return asked, ports.PublishAudited(ctx, r, s.deps.Bus, identity.Audited{
		CreatorID: paid.CreatorID, Kind: identity.RefundCreated, ObjectID: asked.ID,
		Note: share.Amount.Coded(),
	})
}

// returnOf names a payment of which a share goes back.
func returnOf(p payment.State, share ledger.Share) ledger.Return {
	r := ledger.Return{PaymentID: p.ID, CheckoutID: p.CheckoutID(), CustomerID: p.CustomerID, Share: share}
	if p.Purpose == payment.ForSubscription {
		r.SubscriptionID = p.SubjectID
	}
	return r
}

// payment returns the payment to refund. NOT_FOUND for another account's, NOT_REFUNDABLE for one that took no money, or
// whose money goes back by itself, VALIDATION_FAILED for an amount that processors don't move.
func (s *Refunds) payment(
	ctx context.Context, r ports.Repos, creatorID string, req refund.Request,
) (payment.State, error) {
	paymentID := req.PaymentID
	if paymentID == "" {
		var err error
		if paymentID, err = s.deps.Checkouts.PaymentOf(ctx, r, creatorID, req.CheckoutID); err != nil {
			return payment.State{}, err
		}
		if paymentID == "" {
			return payment.State{}, fault.New(fault.NotRefundable, "The checkout session is not paid.")
		}
	}
	paid, err := r.Payments.Payments.Get(ctx, paymentID)
	switch paid, err = ports.Visible(paid, err, paid.CreatorID == creatorID, "payment"); {
	case err != nil:
		return payment.State{}, err
	case paid.Status != payment.Succeeded:
		return payment.State{}, fault.New(
			fault.NotRefundable, "The payment did not succeed, so nothing can be refunded.",
		)
	}
	if err := refund.CheckAmount(paid.Amount, req.Minor); err != nil {
		return payment.State{}, err
	}
	automatic, err := r.Payments.Refunds.Get(ctx, refund.AutomaticID(paid.ID))
	if err == nil && automatic.Status != refund.Failed {
		return payment.State{}, fault.New(fault.NotRefundable, "The payment goes back already, by an automatic refund.")
	}
	if err != nil && !errors.Is(err, ports.ErrNotFound) {
		return payment.State{}, err
	}
	return paid, nil
}

func (s *Refunds) call(ctx context.Context, f refund.State) (refund.Outcome, error) {
	paid, err := s.deps.Store.Read(ctx).Payments.Payments.Get(ctx, f.PaymentID)
	if err != nil {
		return refund.Outcome{}, err
	}
	if f.ProcessorID != "" { // made there: it is asked about, and never asked for again
		return s.find(ctx, paid, f.ProcessorID)
	}
	return requestRefund(ctx, s.deps.Providers, paid.Provider, ports.RefundRequest{
		RefundID: f.ID, PaymentID: f.PaymentID, ProcessorID: paid.ProcessorID, CreatorID: f.CreatorID,
		Amount: f.Share.Amount,
	})
}

// requestRefund asks a provider for a refund or, if it was asked before, for the outcome.
func requestRefund(
	ctx context.Context, providers ports.Providers, name string, request ports.RefundRequest,
) (refund.Outcome, error) {
	provider, err := providers.Get(name)
	if err != nil {
		return refund.Outcome{}, err
	}
	return within(ctx, ports.ProcessorTimeout, func(ctx context.Context) (refund.Outcome, error) {
		return provider.Processor.Refund(ctx, request)
	})
}

// settle applies what the processor reports and everything that follows from it. What is known already changes nothing.
func (s *Refunds) settle(ctx context.Context, r ports.Repos, refundID string, o refund.Outcome) (refund.State, error) {
	loaded, err := r.Payments.Refunds.GetForUpdate(ctx, refundID)
	if err != nil {
		return refund.State{}, err
	}
	now, err := r.Clock.Now(ctx, loaded.CreatorID)
	if err != nil {
		return refund.State{}, err
	}
	f := refund.Restore(loaded)
	switch {
	case loaded.Automatic && loaded.Status == refund.Pending: // its own task settles it
		err = r.Tasks.Schedule(ctx, TaskRefund, loaded.PaymentID, loaded.CreatorID, now)
	case o.Status == refund.Succeeded && loaded.Status != refund.Succeeded && !loaded.Automatic:
		err = s.succeed(ctx, r, f, now)
	case o.Status == refund.Failed && loaded.Status != refund.Failed:
		err = s.fail(ctx, r, f, o.Reason, now)
	}
	return s.linked(f.State()), err
}

// linked fills in where the credit note of a refund is shown.
func (s *Refunds) linked(f refund.State) refund.State { return linked(s.deps.Links, f) }

func linked(links document.Links, f refund.State) refund.State {
	if f.CreditNoteNumber != "" {
		f.CreditNoteURL = links.URL(document.CreditNote, f.ID)
	}
	return f
}

// succeed books a completed refund and issues its credit note.
func (s *Refunds) succeed(ctx context.Context, r ports.Repos, f *refund.Refund, now time.Time) error {
	before := f.State()
	full, err := s.deps.Ledger.CompleteRefund(ctx, r, before)
	if err != nil {
		return err
	}
	note, err := ports.NextNumber(ctx, r.Invoicing.DocumentNumbers, before.CreatorID, document.CreditNotes)
	if err != nil {
		return err
	}
	made, _, err := f.Succeed(note, full, now)
	if err != nil {
		return err
	}
	paid, err := r.Payments.Payments.Get(ctx, before.PaymentID)
	if err != nil {
		return err
	}
	made.PaidFrom, made.Item, made.State = paid.Sale.PeriodStart, paid.Sale.Item(), s.linked(made.State)
	err = s.changePayment(
		ctx, r, before.PaymentID, func(p *payment.Payment) error { return p.Refund(before.Share.Amount) },
	)
	if err != nil {
		return err
	}
	if err := s.keepSettled(ctx, r, f.State()); err != nil {
		return err
	}
	return s.deps.Bus.Publish(ctx, r, made)
}

// fail releases a refund that the processor refused, or reverses one that the buyer's bank returned.
func (s *Refunds) fail(ctx context.Context, r ports.Repos, f *refund.Refund, reason string, now time.Time) error {
	before := f.State()
	f.Fail(reason, now)
	if err := s.keepSettled(ctx, r, f.State()); err != nil {
		return err
	}
	wasFull, err := s.takeBack(ctx, r, before)
	if err != nil {
		return err
	}
	paid, err := r.Payments.Payments.Get(ctx, before.PaymentID)
	if err != nil {
		return err
	}
	disputes, err := r.Payments.Disputes.List(ctx, paid.CreatorID, paid.ID, ports.Page{Limit: 1})
	if err != nil {
		return err
	}
	return s.deps.Bus.Publish(ctx, r, refund.Failure{
		State: f.State(), Item: paid.Sale.Item(), CameBack: before.Status == refund.Succeeded, WasFull: wasFull,
		Refunded: paid.Refunded,
		Disputed: len(disputes.Items) > 0 && disputes.Items[0].Status != dispute.Won,
	})
}

// takeBack undoes the money of a refund that failed. wasFull reports whether nothing of the payment was left before.
func (s *Refunds) takeBack(ctx context.Context, r ports.Repos, before refund.State) (wasFull bool, err error) {
	if before.Status != refund.Succeeded {
		return false, s.deps.Ledger.AbandonRefund(ctx, r, before)
	}
	if wasFull, err = s.deps.Ledger.ReverseRefund(ctx, r, before); err != nil {
		return false, err
	}
	return wasFull, s.changePayment(
		ctx, r, before.PaymentID, func(p *payment.Payment) error { return p.ReverseRefund(before.Share.Amount) },
	)
}

// keepSettled stores a refund whose outcome is known and ends its task.
func (s *Refunds) keepSettled(ctx context.Context, r ports.Repos, f refund.State) error {
	if err := r.Payments.Refunds.Update(ctx, f); err != nil {
		return err
	}
	return r.Tasks.Cancel(ctx, TaskRefundRequest, f.ID)
}

func (s *Refunds) changePayment(
	ctx context.Context, r ports.Repos, paymentID string, move func(*payment.Payment) error,
) error {
	loaded, err := r.Payments.Payments.Get(ctx, paymentID)
	if err != nil {
		return err
	}
	p := payment.Restore(loaded)
	if err := move(p); err != nil {
		return err
	}
	return r.Payments.Payments.Update(ctx, p.State())
}

// Finish completes a refund whose outcome is unknown. Task TaskRefundRequest.
func (s *Refunds) Finish(ctx context.Context, t ports.Task) error {
	loaded, err := s.deps.Store.Read(ctx).Payments.Refunds.Get(ctx, t.Subject)
	if errors.Is(err, ports.ErrNotFound) || (err == nil && loaded.Status != refund.Pending) {
		return ports.EndTask(ctx, s.deps.Store, t)
	}
	if err != nil {
		return fmt.Errorf("refund: %w", err)
	}
	outcome, err := s.call(ctx, loaded)
	if err != nil {
		return fmt.Errorf("refund %s: %w", loaded.ID, err)
	}
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		if outcome.Status != refund.Pending {
			if err := r.Tasks.Done(ctx, t); err != nil {
				return err
			}
			_, err := s.settle(ctx, r, loaded.ID, outcome)
			return err
		}
		return ports.Recheck(ctx, r, t, loaded.CreatedAt, firstRecheck)
	})
}

// Get returns a refund of the account. NOT_FOUND for any other.
func (s *Refunds) Get(ctx context.Context, creatorID, refundID string) (refund.State, error) {
	return s.owned(ctx, s.deps.Store.Read(ctx), creatorID, refundID)
}

func (s *Refunds) owned(ctx context.Context, r ports.Repos, creatorID, refundID string) (refund.State, error) {
	f, err := r.Payments.Refunds.Get(ctx, refundID)
	f, err = ports.Visible(f, err, f.CreatorID == creatorID, "refund")
	return s.linked(f), err
}

// ListOf returns the account's refunds of some payments, newest first, at most limit.
func (s *Refunds) ListOf(
	ctx context.Context, creatorID string, paymentIDs []string, limit int,
) ([]refund.State, error) {
	return s.deps.Store.Read(ctx).Payments.Refunds.ListOf(ctx, creatorID, paymentIDs, limit)
}

// SetMetadata changes the account's own pairs of a refund. NOT_FOUND, VALIDATION_FAILED.
func (s *Refunds) SetMetadata(
	ctx context.Context, creatorID, refundID string, change metadata.Change,
) (after refund.State, err error) {
	err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		state, err := s.owned(ctx, r, creatorID, refundID)
		if err != nil {
			return err
		}
		f := refund.Restore(state)
		changed, err := f.SetMetadata(change)
		if after = f.State(); err != nil || !changed {
			return err
		}
		return r.Payments.Refunds.Update(ctx, after)
	})
	return after, err
}

// List lists the account's refunds, newest first; paymentID "" = of every payment.
func (s *Refunds) List(
	ctx context.Context, creatorID, paymentID string, page ports.Page,
) (ports.List[refund.State], error) {
	list, err := s.deps.Store.Read(ctx).Payments.Refunds.List(ctx, creatorID, paymentID, page)
	for i, f := range list.Items {
		list.Items[i] = s.linked(f)
	}
	return list, err
}
