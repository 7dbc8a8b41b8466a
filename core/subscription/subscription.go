// Package subscription is a recurring purchase: its periods, its states and the transitions between them.
//
// Each transition refuses what its state does not allow and otherwise returns the one event that reports it. What is to
// be done without anybody asking is Next: one step and the instant at which it falls due.
package subscription

import (
	"time"

	"sundry/core/fault"
	"sundry/core/metadata"
	"sundry/core/money"
	"sundry/core/period"
	"sundry/core/plan"
)

// Status is the state of a subscription.
type Status string

// The statuses. An incomplete subscription has been ordered and neither paid for nor begun its trial; the last two are
// terminal: a person canceled it, or the system let it expire.
const (
	StatusIncomplete Status = "incomplete"
	StatusTrialing   Status = "trialing"
	StatusActive     Status = "active"
	StatusPastDue    Status = "past_due"
	StatusPaused     Status = "paused"
	StatusCanceled   Status = "canceled"
	StatusExpired    Status = "expired"
)

// Statuses lists every status in the order of a subscription's life.
func Statuses() []Status {
	return []Status{
		StatusIncomplete, StatusTrialing, StatusActive, StatusPastDue, StatusPaused, StatusCanceled, StatusExpired,
	}
}

// Terminal reports whether nothing follows.
func (s Status) Terminal() bool { return s == StatusCanceled || s == StatusExpired }

// State is a subscription's data, as stores and views see it. Times that do not apply are zero.
type State struct {
	ID                 string
	CreatorID          string
	CustomerID         string
	ExternalCustomerID string
	// CheckoutID is the session that it was bought in; empty where another service began it.
	CheckoutID string
	// Offer is the offer under which the current period was sold.
	Offer  plan.Offer
	Status Status
	// PaymentMethodID is the saved card (pm_…) that pays; empty for a price of zero.
	PaymentMethodID string
	// Period n begins at Anchor + n intervals. Changing the interval, and resuming after the paid time is over, set a new
	// anchor; nothing else does.
	Anchor             time.Time
	CurrentPeriodStart time.Time
	CurrentPeriodEnd   time.Time
	TrialEndsAt        time.Time
	StartedAt          time.Time
	CancelAtPeriodEnd  bool
	CanceledAt         time.Time // when a person asked
	CancelReason       CancelReason
	PausedAt           time.Time
	EndedAt            time.Time
	// TrialCard recognizes the card that the trial began with; "" for none. Only who looks for that card again uses it.
	TrialCard string
	// Planned is the offer of the next period, if there is one (NextOffer); nil when it stays the same.
	Planned *plan.Offer
	// Discount is taken off each period while it lasts; nil for none.
	Discount *Discount
	// Credit is the customer's credit from earlier changes. The next charge uses it up first.
	Credit money.Amount
	// PeriodValue is the price of the whole current period after the discount. Proration divides it by days.
	PeriodValue money.Amount
	// Funds hold the rest of each payment that is in PeriodValue and Credit, the oldest first.
	Funds []Fund
	// Disputes are those of its payments that are open. Nothing is charged meanwhile.
	Disputes []OpenDispute
	// Held means that a renewal may have waited for a dispute.
	Held bool
	// Withdrawn means that the money of the current period went back and its access with it.
	Withdrawn bool
	// Dunning is the state of a failed renewal; the zero value while nothing is overdue.
	Dunning Dunning
	// Charge is the charge whose outcome is awaited; nil without one.
	Charge *Charge
	// Counted is the subscription's part of the account's figures. Movements lists its latest changes, and LastMovement is
	// the number of the last one.
	Counted      Counted
	Movements    []Movement
	LastMovement int64
	// Metadata is the integrator's own: first that of the checkout.
	Metadata metadata.Pairs
	Revision int64
}

// Subscription is the aggregate.
type Subscription struct{ s State }

// Order contains the facts that a subscription is made from.
type Order struct {
	ID, CreatorID, CustomerID, ExternalCustomerID, CheckoutID, PaymentMethodID string
	// PaymentID is the payment of the checkout; empty when nothing was due.
	PaymentID string
	Offer     plan.Offer
	Discount  *Discount
	// TrialCard recognizes the card that its trial begins with; "" for none.
	TrialCard string
	Metadata  metadata.Pairs
}

// New returns a subscription that was ordered and has not begun.
func New(o Order, now time.Time) *Subscription {
	none := money.Amount{Currency: o.Offer.Price.Currency}
	return &Subscription{State{
		ID: o.ID, CreatorID: o.CreatorID, CustomerID: o.CustomerID, ExternalCustomerID: o.ExternalCustomerID,
		CheckoutID: o.CheckoutID, PaymentMethodID: o.PaymentMethodID, Offer: o.Offer, Discount: o.Discount,
		TrialCard: o.TrialCard,
		Status:    StatusIncomplete, StartedAt: now, Credit: none, PeriodValue: none, Funds: []Fund{{PaymentID: o.PaymentID}},
		Metadata: o.Metadata, Revision: 1,
	}}
}

// Activate begins it: with its trial when the offer has one, else with the period that the checkout has paid for. A
// trial's end is the anchor of the paid periods.
func (sub *Subscription) Activate(now time.Time) (Created, error) {
	if sub.s.Status != StatusIncomplete {
		return Created{}, sub.refuse("The subscription has begun already.")
	}
	s := &sub.s
	s.StartedAt, s.CurrentPeriodStart = now, now
	if s.Offer.TrialDays > 0 {
		s.Status, s.TrialEndsAt = StatusTrialing, now.AddDate(0, 0, s.Offer.TrialDays)
		s.Anchor, s.CurrentPeriodEnd, s.Funds = s.TrialEndsAt, s.TrialEndsAt, nil
	} else {
		value, err := s.net(s.Offer, now)
		if err != nil {
			return Created{}, err
		}
		s.Status, s.Anchor = StatusActive, now
		s.fund([]Fund{{PaymentID: s.Funds[0].PaymentID, Value: value.Minor, Paid: value.Minor}})
		s.CurrentPeriodEnd = period.Nth(now, s.Offer.Interval, s.Offer.IntervalCount, 1)
		s.Discount = s.Discount.used(now)
	}
	return Created{sub.changed()}, nil
}

// Restore rebuilds a subscription from its stored state.
func Restore(s State) *Subscription { return &Subscription{s} }

// State returns a copy of the data.
func (sub *Subscription) State() State { return sub.s }

// GivesAccess reports whether the customer may use what was sold: while it is trialing or paid for, and for the grace
// when a renewal failed. A renewal that waits for a dispute gives no access.
func (s State) GivesAccess(now time.Time) bool {
	switch s.Status {
	case StatusTrialing, StatusActive:
		return len(s.Disputes) == 0 || now.Before(s.CurrentPeriodEnd)
	case StatusPastDue:
		return now.Before(s.Dunning.GraceEndsAt)
	case StatusIncomplete, StatusPaused, StatusCanceled, StatusExpired:
	}
	return false
}

// changed raises the revision and returns the state for the event.
func (sub *Subscription) changed() State {
	sub.s.Revision++
	return sub.s
}

// refuse is a STATE_CONFLICT; an ended subscription is refused with that reason whatever was asked.
func (sub *Subscription) refuse(message string) error {
	if sub.s.Status.Terminal() {
		message = "The subscription has already ended."
	}
	return fault.New(fault.StateConflict, message)
}

// requireRunning refuses what needs a subscription that has begun and not ended.
func (sub *Subscription) requireRunning() error {
	if sub.s.Status.Terminal() || sub.s.Status == StatusIncomplete {
		return sub.refuse("The subscription has not begun.")
	}
	return nil
}
