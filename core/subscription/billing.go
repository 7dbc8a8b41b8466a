package subscription

import (
	"fmt"
	"slices"
	"time"

	"sundry/core/locale"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/period"
	"sundry/core/plan"
)

// ChargeKind is the purpose of a charge.
type ChargeKind string

// The kinds. Only a renewal that fails is dunned: the others are asked for by somebody who sees the result at once.
const (
	Renewal    ChargeKind = "renewal"
	PlanChange ChargeKind = "plan_change"
	Resumption ChargeKind = "resumption"
	Conversion ChargeKind = "conversion" // of a trial, by a change to a plan without one
)

// Bill contains the amounts of a charge and the changes that its payment makes to the subscription. All amounts are
// before tax.
type Bill struct {
	Kind        ChargeKind     `json:"kind"`
	Offer       plan.Offer     `json:"offer"`
	Anchor      time.Time      `json:"anchor"`
	PeriodStart time.Time      `json:"periodStart"`
	PeriodEnd   time.Time      `json:"periodEnd"`
	Lines       []payment.Line `json:"lines"`
	Subtotal    money.Amount   `json:"subtotal"`
	Discount    money.Amount   `json:"discount"`
	// CreditUsed is taken off what is due, CreditAfter what the customer has left then.
	CreditUsed  money.Amount `json:"creditUsed"`
	CreditAfter money.Amount `json:"creditAfter"`
	// PeriodValue is the price of the whole period after the discount.
	PeriodValue money.Amount `json:"periodValue"`
	// Replaced is the value that the current period had when a change of plan was priced: refunds may move it until the
	// change is paid. Zero for other bills, and for those of versions that did not record it.
	Replaced money.Amount `json:"replaced,omitzero"`
}

// Due returns the amount to charge before tax: never negative.
func (b Bill) Due() money.Amount {
	return money.Amount{Minor: b.Subtotal.Minor - b.Discount.Minor - b.CreditUsed.Minor, Currency: b.Subtotal.Currency}
}

// Breakdown returns the lines that sum to what is due: those of the bill, then the discount and the credit taken off,
// which are described to the reader.
func (b Bill) Breakdown(reader locale.Locale) []payment.Line {
	lines := slices.Clone(b.Lines)
	for _, off := range []payment.Line{
		{Description: reader.Text("line.discount"), Amount: b.Discount},
		{Description: reader.Text("document.credit"), Amount: b.CreditUsed},
	} {
		if off.Amount.Minor > 0 {
			off.Amount.Minor = -off.Amount.Minor
			lines = append(lines, off)
		}
	}
	return lines
}

// underWay is the message that refuses changes and bills while a charge is awaited.
const underWay = "A payment for this subscription is under way. Try again in a moment."

// contested is the message that refuses bills while a payment is in dispute.
const contested = "A payment of this subscription is in dispute. Nothing is charged until the bank has decided."

// Charge is a charge whose outcome is awaited.
type Charge struct {
	PaymentID string `json:"paymentId"`
	Bill      Bill   `json:"bill"`
}

// Step is the next thing that the service does to a subscription without a request.
type Step string

// The steps.
const (
	NoStep     Step = ""
	StepRenew  Step = "renew"  // bill the next period
	StepEnd    Step = "end"    // end it as a person wished
	StepExpire Step = "expire" // end it because it could not be charged
)

// Next returns the step that falls due first, and when. There is none while a charge is under way, nor without time
// running; a renewal waits while a payment is in dispute.
func (s State) Next() (Step, time.Time) {
	switch {
	case s.Charge != nil, s.Status.Terminal(), s.Status == StatusIncomplete:
		return NoStep, time.Time{}
	case s.CancelAtPeriodEnd:
		return StepEnd, s.CurrentPeriodEnd
	case s.Status == StatusPaused:
		return NoStep, time.Time{}
	case s.Status == StatusPastDue && s.Dunning.NextAttemptAt.IsZero():
		return StepExpire, s.Dunning.GraceEndsAt
	case len(s.Disputes) > 0:
		return NoStep, time.Time{}
	case s.Status == StatusPastDue:
		return StepRenew, s.Dunning.NextAttemptAt
	}
	return StepRenew, s.CurrentPeriodEnd
}

// NextBill returns the bill of the next period. at is the time of billing: a renewal that failed, or waited for a
// dispute, and is paid when even the next period is over buys the period that is running, not one that has passed
// without access.
func (sub *Subscription) NextBill(at time.Time) (Bill, error) {
	s := sub.s
	switch s.Status {
	case StatusTrialing, StatusActive, StatusPastDue:
	case StatusIncomplete, StatusPaused, StatusCanceled, StatusExpired:
		return Bill{}, sub.refuse("Only a running subscription is renewed.")
	}
	switch {
	case s.Charge != nil:
		return Bill{}, sub.refuse(underWay)
	case len(s.Disputes) > 0:
		return Bill{}, sub.refuse(contested)
	case s.CancelAtPeriodEnd:
		return Bill{}, sub.refuse("The subscription is to be canceled.")
	case at.Before(s.CurrentPeriodEnd):
		return Bill{}, sub.refuse("The current period of the subscription is not over yet.")
	}
	b := Bill{Kind: Renewal, Offer: s.Offer, Anchor: s.Anchor}
	if s.Planned != nil {
		b.Offer = *s.Planned
		if !sameInterval(s.Offer, b.Offer) {
			b.Anchor = s.CurrentPeriodEnd
		}
	}
	within := s.CurrentPeriodEnd
	if s.Status == StatusPastDue || s.Held {
		within = at
	}
	_, b.PeriodStart, b.PeriodEnd = period.Containing(b.Anchor, b.Offer.Interval, b.Offer.IntervalCount, within)
	return s.priced(b)
}

// ResumeBill returns the bill for resuming a paused subscription whose paid time is over: a period that begins now.
func (sub *Subscription) ResumeBill(now time.Time) (Bill, error) {
	s := sub.s
	switch {
	case s.Status != StatusPaused, now.Before(s.CurrentPeriodEnd):
		return Bill{}, sub.refuse("Nothing is due to resume this subscription.")
	case s.Charge != nil:
		return Bill{}, sub.refuse(underWay)
	case s.CancelAtPeriodEnd:
		return Bill{}, sub.refuse("The subscription was canceled and its paid time is over.")
	}
	b := Bill{Kind: Resumption, Offer: s.Offer, Anchor: now, PeriodStart: now}
	if s.Planned != nil {
		b.Offer = *s.Planned
	}
	b.PeriodEnd = period.Nth(now, b.Offer.Interval, b.Offer.IntervalCount, 1)
	return s.priced(b)
}

// priced fills in what a whole period costs: its price, less the discount, less what there is to the customer's credit.
func (s State) priced(b Bill) (Bill, error) {
	var err error
	if b.Discount, err = s.discountFrom(b.PeriodStart).off(b.Offer.Price, b.PeriodStart); err != nil {
		return Bill{}, err
	}
	b.Subtotal = b.Offer.Price
	b.PeriodValue = less(b.Subtotal, b.Discount)
	b.Lines = []payment.Line{{Description: b.Offer.Name(), Amount: b.Subtotal}}
	return s.credited(b), nil
}

// credited takes the customer's credit off what is due. What is not used of it stays credit.
func (s State) credited(b Bill) Bill {
	b.CreditUsed = less(b.Subtotal, b.Discount)
	b.CreditUsed.Minor = money.CreditUsed(b.CreditUsed.Minor, s.Credit.Minor, b.CreditUsed.Currency.LeastCharge())
	b.CreditAfter = less(s.Credit, b.CreditUsed)
	return b
}

// less takes off what is never more than the amount, and of its currency.
func less(a, off money.Amount) money.Amount {
	return money.Amount{Minor: a.Minor - off.Minor, Currency: a.Currency}
}

// StartCharge remembers the charge that was started for a bill, so that at most one is under way. It changes nothing
// that anybody can see, so no event reports it.
func (sub *Subscription) StartCharge(paymentID string, b Bill) error {
	switch s := sub.s; {
	case s.Charge != nil:
		return sub.refuse(underWay)
	case len(s.Disputes) > 0:
		return sub.refuse(contested)
	case s.Status.Terminal():
		return sub.refuse("")
	}
	sub.s.Charge = &Charge{paymentID, b}
	sub.s.Revision++
	return nil
}

// IsAwaiting reports whether the outcome of a payment is awaited. Money that arrives although it is not goes back.
func (s State) IsAwaiting(paymentID string) bool {
	return s.Charge != nil && s.Charge.PaymentID == paymentID
}

// Paid takes over what the awaited charge has paid for. A change of plan is Updated, everything else Renewed.
func (sub *Subscription) Paid(paymentID string) (Transition, error) {
	if !sub.s.IsAwaiting(paymentID) {
		return nil, fmt.Errorf("subscription %s does not await payment %s", sub.s.ID, paymentID)
	}
	return sub.apply(sub.s.Charge.Bill, paymentID)
}

// Apply takes over what a bill contains when nothing was due.
func (sub *Subscription) Apply(b Bill) (Transition, error) { return sub.apply(b, "") }

func (sub *Subscription) apply(b Bill, paymentID string) (Transition, error) {
	if err := sub.requireRunning(); err != nil {
		return nil, err
	}
	before := sub.s
	s := &sub.s
	s.fund(s.funded(b, paymentID))
	if b.Kind != PlanChange || b.Due().Minor+b.CreditUsed.Minor > 0 {
		s.Withdrawn = false
	}
	s.Offer, s.Anchor, s.CurrentPeriodStart, s.CurrentPeriodEnd = b.Offer, b.Anchor, b.PeriodStart, b.PeriodEnd
	s.Planned, s.Charge = nil, nil
	if b.Kind == PlanChange {
		if before.Status == StatusActive && !sameInterval(before.Offer, b.Offer) { // a period begins
			s.Discount = s.Discount.used(b.PeriodStart)
		}
		return sub.updated(before), nil
	}
	s.Status, s.Dunning, s.PausedAt, s.Held = StatusActive, Dunning{}, time.Time{}, false
	if b.Kind == Conversion {
		s.TrialEndsAt = b.PeriodStart
	}
	s.Discount = before.discountFrom(b.PeriodStart).used(b.PeriodStart)
	return Renewed{State: sub.changed(), Anchored: !b.Anchor.Equal(before.Anchor)}, nil
}

// ChargePaid is emitted beside Renewed or Updated when a charge has paid for it.
type ChargePaid struct {
	Subscription State
	Payment      payment.State
}

// EventName implements event.Event.
func (ChargePaid) EventName() string { return "subscription.charge_paid" }

// RenewalDue is emitted seven days before a trial ends or a year is renewed, so that the customer is notified in time.
type RenewalDue struct {
	State
	// Amount is the next charge, due at CurrentPeriodEnd, with its tax as of now.
	Amount money.Amount
}

// EventName implements event.Event.
func (RenewalDue) EventName() string { return "subscription.renewal_due" }

// noticePeriod is the lead of the notice before a charge that the customer may have forgotten.
const noticePeriod = 7 * day

// NoticeAt returns the time at which the customer is notified of the next charge: before the end of a trial and before
// each renewal of a year (Interval.PerYear) or more. Zero when there is no notice.
func (s State) NoticeAt() time.Time {
	step, due := s.Next()
	yearly := int64(s.Offer.IntervalCount) >= s.Offer.Interval.PerYear()
	if step != StepRenew || s.Status != StatusTrialing && (s.Status != StatusActive || !yearly) {
		return time.Time{}
	}
	if at := due.Add(-noticePeriod); at.After(s.CurrentPeriodStart) {
		return at
	}
	return s.CurrentPeriodStart
}

// Transition is one of the events of this package.
type Transition interface{ EventName() string }

func sameInterval(a, b plan.Offer) bool {
	return a.Interval == b.Interval && a.IntervalCount == b.IntervalCount
}
