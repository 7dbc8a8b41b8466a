package subscription

import (
	"slices"
	"time"

	"sundry/core/money"
)

// ValueOf returns the part of its period's value that a bill's charge pays for. A change of plan within a period pays
// for the remaining days, so that it adds more to the value of the whole period than its price.
func (s State) ValueOf(b Bill) (money.Amount, error) {
	if b.Kind != PlanChange || !b.PeriodStart.Equal(s.CurrentPeriodStart) || b.Subtotal.Minor == 0 {
		return b.Due(), nil
	}
	gained, err := b.PeriodValue.Sub(s.replaced(b))
	if err != nil {
		return money.Amount{}, err
	}
	return gained.RatioHalfUp(b.Due().Minor, b.Subtotal.Minor)
}

// Returned takes what went back of a payment off the value of the current period that it paid for, and then off the
// credit that came from it, so that neither a change of plan nor a renewal uses it a second time. The event is nil when
// nobody can see a change.
func (sub *Subscription) Returned(p Payment, value money.Amount) (event Transition, changed bool) {
	before := sub.s
	if before.Status.Terminal() || value.Minor <= 0 {
		return nil, false
	}
	funds := before.known()
	i := before.fundOf(funds, p)
	if i < 0 {
		return nil, false
	}
	taken := min(value.Minor, funds[i].Value)
	funds[i].Value -= taken
	funds[i].Credit = max(funds[i].Credit-(value.Minor-taken), 0)
	sub.s.fund(funds)
	if sub.s.Credit == before.Credit {
		sub.s.Revision++
		return nil, true
	}
	return sub.updated(before), true
}

// Payment is one payment of a subscription and the start of the period that it bought.
type Payment struct {
	ID       string
	PaidFrom time.Time
}

// fundOf returns the index of a payment's fund, -1 when nothing is left of it. A fund without a payment belongs to the
// payment of the current period.
func (s State) fundOf(funds []Fund, p Payment) int {
	if i := slices.IndexFunc(funds, func(f Fund) bool { return f.PaymentID == p.ID }); i >= 0 {
		return i
	}
	return slices.IndexFunc(funds, func(f Fund) bool {
		return f.PaymentID == "" && s.CurrentPeriodStart.Equal(p.PaidFrom)
	})
}

// paysForNow reports whether the current period was bought with a payment.
func (s State) paysForNow(p Payment) bool {
	funds := s.known()
	i := s.fundOf(funds, p)
	return s.CurrentPeriodStart.Equal(p.PaidFrom) || i >= 0 && funds[i].Value > 0
}

// paidLater reports whether a later payment pays for the current period, such as for a change of plan in it. The plan
// that runs was bought with the latest.
func (s State) paidLater(p Payment) bool {
	return slices.ContainsFunc(s.known(), func(f Fund) bool { return f.Value > 0 && f.PaymentID > p.ID })
}

// Withdraw takes away the access of the current period when a payment that was refunded in full has bought it, unless a
// later payment for it stays. The next period that is paid for gives it again. changed is false when it bought another
// period.
func (sub *Subscription) Withdraw(p Payment) (changed bool) {
	if sub.s.Status.Terminal() || sub.s.Withdrawn || !sub.s.paysForNow(p) || sub.s.paidLater(p) {
		return false
	}
	sub.s.Withdrawn = true
	sub.s.Revision++
	return true
}

// RefundFailed takes Returned back, and Withdraw for a refund in full, because the money did not reach the customer
// after all. What exceeds the price of a cheaper plan that runs by now is credit for the rest of the period, by days.
// The event is nil when nobody can see a change. changed is false once another period runs: what was bought is over,
// and credit stays as it was used.
func (sub *Subscription) RefundFailed(
	p Payment, value money.Amount, full bool, now time.Time,
) (event Transition, changed bool) {
	before, s := sub.s, &sub.s
	if s.Status.Terminal() || !s.CurrentPeriodStart.Equal(p.PaidFrom) {
		return nil, false
	}
	funds := s.known()
	i := s.fundOf(funds, p)
	if i < 0 {
		i, funds = len(funds), append(funds, Fund{PaymentID: p.ID, Paid: value.Minor})
	}
	worth := max(min(value.Minor, s.Offer.Price.Minor-s.PeriodValue.Minor), 0)
	value.Minor -= worth
	left, days := DaysLeft(s.CurrentPeriodStart, s.CurrentPeriodEnd, now)
	credit, _ := value.RatioPayable(left, days) // a part of it is in range
	funds[i].Value += worth
	funds[i].Credit += min(credit.Minor, funds[i].room())
	s.fund(funds)
	s.Withdrawn = s.Withdrawn && !full
	if s.Credit == before.Credit {
		s.Revision++
		return nil, true
	}
	return sub.updated(before), true
}

// OpenDispute is a dispute of a payment that is not decided.
type OpenDispute struct {
	ID        string    `json:"id"`
	PaymentID string    `json:"paymentId"`
	PaidFrom  time.Time `json:"paidFrom"`
}

// Dispute holds all charges until a dispute of one of the payments is decided. Access is suspended while the current
// period was bought with that payment. changed is false when the subscription is over or knows the dispute.
func (sub *Subscription) Dispute(id string, p Payment) (changed bool) {
	if sub.s.Status.Terminal() || sub.dispute(id) >= 0 {
		return false
	}
	sub.s.Disputes = append(slices.Clone(sub.s.Disputes), OpenDispute{id, p.ID, p.PaidFrom})
	sub.s.Held = true
	sub.s.Revision++
	return true
}

// DisputeClosed forgets a dispute that was decided. changed is false when it was not known.
func (sub *Subscription) DisputeClosed(id string) (changed bool) {
	i := sub.dispute(id)
	if i < 0 {
		return false
	}
	sub.s.Disputes = slices.Delete(slices.Clone(sub.s.Disputes), i, i+1)
	sub.s.Revision++
	return true
}

func (sub *Subscription) dispute(id string) int {
	return slices.IndexFunc(sub.s.Disputes, func(d OpenDispute) bool { return d.ID == id })
}

// Suspended reports whether a payment that has bought the current period is in dispute.
func (s State) Suspended() bool {
	return slices.ContainsFunc(s.Disputes, func(d OpenDispute) bool {
		return s.paysForNow(Payment{d.PaymentID, d.PaidFrom})
	})
}

// MoneyMoved is emitted, beside the events of the API, when a refund or a dispute of a payment changes what the
// customer may use.
type MoneyMoved struct {
	State
	Why MoneyMove
	ID  string // of the refund or the dispute
}

// EventName implements event.Event.
func (MoneyMoved) EventName() string { return "subscription.money_moved" }

// MoneyMove names what happened to a payment.
type MoneyMove string

// The moves.
const (
	PaymentRefunded MoneyMove = "refunded"
	RefundFailed    MoneyMove = "refund_failed" // after the money had gone back
	DisputeOpened   MoneyMove = "dispute_opened"
	DisputeWon      MoneyMove = "dispute_won"
)
