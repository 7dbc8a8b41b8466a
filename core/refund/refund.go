// Package refund is money of a payment on its way back to the buyer.
package refund

import (
	"fmt"
	"time"

	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/ledger"
	"sundry/core/metadata"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/text"
)

// Status is the state of a refund.
type Status string

// The statuses. A refund that succeeded can still fail: the buyer's bank may send the money back.
const (
	Pending   Status = "pending"
	Succeeded Status = "succeeded"
	Failed    Status = "failed"
)

// End specifies what a refund does to the subscription of its payment.
type End string

// The ends. By default a subscription is canceled now by a refund that takes its access away, and goes on otherwise.
const (
	EndByDefault      End = ""
	CancelNow         End = "cancel_now"
	CancelAtPeriodEnd End = "cancel_at_period_end"
	KeepSubscription  End = "keep"
)

// The reasons of refunds that nobody asked this service for. A caller's reason may be any text.
const (
	// PaidTwice is money for what another payment had paid.
	PaidTwice = "paid_twice"
	// SlotUnavailable is money for times that were sold to somebody else meanwhile.
	SlotUnavailable = "slot_unavailable"
	// DiscountUsedUp is money for a price whose discount others used up meanwhile.
	DiscountUsedUp = "discount_used_up"
	// AlreadySubscribed is money for a second subscription where a customer may have one.
	AlreadySubscribed = "already_subscribed"
	// NoLongerDue is money for a subscription's period that was not to be paid any more, such as after a cancellation.
	NoLongerDue = "no_longer_due"
	// NotDelivered is money for what could not be given, by versions that did not record why.
	NotDelivered = "not_delivered"
	// AppointmentCanceled is the money of an appointment that was canceled.
	AppointmentCanceled = "appointment_canceled"
	// AtProcessor is money that somebody sent back at the processor, such as in its dashboard.
	AtProcessor = "refunded_at_processor"
)

// KnownReasons returns the reasons that say nothing of a person: those above, and the usual ones of callers.
func KnownReasons() []string {
	return []string{
		PaidTwice, SlotUnavailable, DiscountUsedUp, AlreadySubscribed, NoLongerDue, NotDelivered, AppointmentCanceled,
		AtProcessor, "requested_by_customer", "duplicate", "fraudulent",
	}
}

// maxReason bounds the length of a reason, in characters.
const maxReason = 500

// Request is an account's request for a refund. Exactly one of PaymentID and CheckoutID names the payment.
type Request struct {
	PaymentID  string
	CheckoutID string
	// Minor is nil to refund all that is left.
	Minor  *int64
	Reason string
	// KeepAccess leaves the buyer what a full refund would take away.
	KeepAccess bool
	// Subscription ends the subscription of the payment, or not. It says nothing about other payments.
	Subscription End
	// Key is the caller's idempotency key, "" for none: what was asked for under it within a day is not asked again.
	Key string
	// Metadata is the caller's own.
	Metadata map[string]string
	// ProcessorID is the processor's own id of a refund that it made without us, "" for any other.
	ProcessorID string
}

// Repeats reports whether the request asks for what a refund was made for.
func (r Request) Repeats(s State) bool {
	return (r.PaymentID == "" || r.PaymentID == s.PaymentID) && (r.CheckoutID == "" || r.CheckoutID == s.CheckoutID) &&
		(r.Minor == nil || *r.Minor == s.Share.Amount.Minor) && r.Reason == s.Reason && r.KeepAccess == s.KeepAccess &&
		r.Subscription == s.Subscription
}

// Validate reports every fault of the request.
func (r Request) Validate() error {
	var f fault.Violations
	switch {
	case r.PaymentID == "" && r.CheckoutID == "":
		f.Add("paymentId", fault.DetailRequired, "Name the payment: either paymentId or checkoutId.")
	case r.PaymentID != "" && r.CheckoutID != "":
		f.Add("checkoutId", fault.DetailNotAllowed, "Send either paymentId or checkoutId, not both.")
	}
	if r.Minor != nil {
		f.Check(*r.Minor > 0, "amountInCents", fault.DetailOutOfRange, "The amount must be at least 1. Leave it out to "+
			"refund all that is left.")
	}
	if f.Check(r.Reason != "", "reason", fault.DetailRequired, "Give a reason, such as requested_by_customer.") {
		text.CheckLines(&f, "reason", r.Reason, maxReason)
	}
	if r.Subscription != EndByDefault {
		f.OneOf("subscription", string(r.Subscription), string(CancelNow), string(CancelAtPeriodEnd),
			string(KeepSubscription))
	}
	f.Check(!r.KeepAccess || r.Subscription != CancelNow, "subscription", fault.DetailNotAllowed,
		"A subscription that is canceled now gives no access. With keepAccess, send cancel_at_period_end or keep.")
	metadata.Check(r.Metadata, f.Nest("metadata"))
	return f.Err()
}

// CheckAmount refuses an amount to refund that processors don't move, of a payment that they did. VALIDATION_FAILED.
func CheckAmount(paid money.Amount, minor *int64) error {
	var f fault.Violations
	if minor != nil && paid.Minor%paid.Currency.Step() == 0 {
		paid.Currency.CheckStep(&f, "amountInCents", *minor)
	}
	return f.Err()
}

// State is a refund's data, as stores and views see it.
type State struct {
	ID        string // ref_…
	CreatorID string
	ledger.Return
	Reason       string
	KeepAccess   bool
	Subscription End
	Status       Status
	// FailureReason is the processor's word, with Failed.
	FailureReason string
	// CreditNoteNumber is given when the refund succeeds.
	CreditNoteNumber string
	// CreditNoteURL shows the credit note. It follows from the id and is not stored.
	CreditNoteURL string
	// RequestKey is the idempotency key that it was asked for under.
	RequestKey string
	// ProcessorID is the processor's own id of a refund that was made there without us, "" for any other.
	ProcessorID string
	// Automatic is true for a refund that the service makes by itself of all of a payment, whose sale it undoes.
	Automatic bool
	// Full is true for the refund after which nothing of the payment is left.
	Full bool
	// Metadata is the account's own.
	Metadata  metadata.Pairs
	CreatedAt time.Time
	SettledAt time.Time // zero while pending
	Revision  int64
}

// Outcome is the state of a refund as the processor reports it now.
type Outcome struct {
	Status Status
	Reason string // with Failed
	// Refused is true, with Failed, when the processor made no refund: a later request may succeed.
	Refused bool
}

// Created is emitted once, when the money went back.
type Created struct {
	State
	// PaidFrom is the start of the subscription period that the payment bought; zero for any other payment.
	PaidFrom time.Time
	// Item names what the payment was for, as the receipt does.
	Item payment.Line
}

// EventName implements event.Event.
func (Created) EventName() string { return "refund.created" }

// Failure is emitted once, when a refund did not reach the buyer.
type Failure struct {
	State
	// Item names what the payment was for, as the receipt does.
	Item payment.Line
	// CameBack is true when the money had gone back before: the buyer's bank returned it.
	CameBack bool
	// WasFull is true when nothing of the payment was left until this money came back.
	WasFull bool
	// Refunded is the amount of the payment that other refunds have returned.
	Refunded money.Amount
	// Disputed is true when the payment is in a dispute, or was in one that is lost.
	Disputed bool
}

// EventName implements event.Event.
func (Failure) EventName() string { return "refund.failed" }

// Returned is emitted once, when the money of an automatic refund went back. What was paid for was never given.
type Returned struct{ State }

// EventName implements event.Event.
func (Returned) EventName() string { return "refund.returned" }

// AutomaticID returns the id of the automatic refund of a payment: there is one at most.
func AutomaticID(paymentID string) string { return string(id.Refund) + "_" + id.Body(paymentID) }

// Refund is the aggregate.
type Refund struct{ s State }

// NewPending records that a refund is about to be asked of the processor.
func NewPending(s State, now time.Time) *Refund {
	s.Status, s.CreatedAt, s.SettledAt, s.Revision = Pending, now, time.Time{}, 1
	return &Refund{s}
}

// Restore rebuilds a refund from its stored state.
func Restore(s State) *Refund { return &Refund{s} }

// State returns a copy of the data.
func (r *Refund) State() State { return r.s }

// SetMetadata changes the account's own pairs. changed is false when they stay as they are. VALIDATION_FAILED.
func (r *Refund) SetMetadata(c metadata.Change) (changed bool, err error) {
	after, err := c.Apply(r.s.Metadata)
	if err != nil || after == r.s.Metadata {
		return false, err
	}
	r.s.Metadata = after
	r.s.Revision++
	return true, nil
}

// Succeed records that the money went back. changed is false when that is known already; a refund that failed cannot
// succeed.
func (r *Refund) Succeed(creditNote string, full bool, now time.Time) (e Created, changed bool, err error) {
	switch r.s.Status {
	case Succeeded:
		return Created{}, false, nil
	case Failed:
		return Created{}, false, fmt.Errorf("refund %s failed and cannot succeed", r.s.ID)
	case Pending:
	}
	r.s.Status, r.s.CreditNoteNumber, r.s.Full, r.s.SettledAt = Succeeded, creditNote, full, now
	r.s.Revision++
	return Created{State: r.s}, true, nil
}

// Fail records that the money did not reach the buyer. changed is false when that is known already.
func (r *Refund) Fail(reason string, now time.Time) (changed bool) {
	if r.s.Status == Failed {
		return false
	}
	r.s.Status, r.s.FailureReason, r.s.SettledAt = Failed, reason, now
	r.s.Revision++
	return true
}
