package subscription

import (
	"fmt"
	"time"

	"sundry/core/payment"
)

const day = 24 * time.Hour

// Grace is the time after the first failure for which the customer keeps access.
const Grace = 7 * day

// retries lists the delays of the retries of a renewal after its first failure.
var retries = []time.Duration{2 * day, 7 * day, 14 * day, 21 * day}

// Dunning is the state of a failed renewal.
type Dunning struct {
	FirstFailedAt time.Time `json:"firstFailedAt,omitzero"`
	// Attempts counts the failed charges of this renewal.
	Attempts int `json:"attempts,omitempty"`
	// NextAttemptAt is the time of the next automatic retry; zero when there is none.
	NextAttemptAt time.Time           `json:"nextAttemptAt,omitzero"`
	GraceEndsAt   time.Time           `json:"graceEndsAt,omitzero"`
	DeclineCode   payment.DeclineCode `json:"declineCode,omitempty"`
}

// failed returns the dunning state after an attempt made at that time was declined.
func (d Dunning) failed(code payment.DeclineCode, at time.Time) Dunning {
	if d.FirstFailedAt.IsZero() {
		d.FirstFailedAt, d.GraceEndsAt = at, at.Add(Grace)
	}
	d.Attempts++
	d.DeclineCode, d.NextAttemptAt = code, time.Time{}
	if code.Final() {
		return d
	}
	// An attempt that a new card brought on uses up none of the days: the next of them is still to come.
	for _, after := range retries {
		if next := d.FirstFailedAt.Add(after); next.After(at) {
			d.NextAttemptAt = next
			break
		}
	}
	return d
}

// Declined applies the decline of the awaited charge, at the time of its attempt. A renewal makes the subscription past
// due, or leaves it so, and is reported by ChargeFailed. A change of plan or a resumption is dropped without a visible
// change, and the event is nil.
func (sub *Subscription) Declined(paymentID string, why payment.DeclineReason, at time.Time) (Transition, error) {
	kind, err := sub.clearCharge(paymentID)
	if err != nil {
		return nil, err
	}
	if kind != Renewal {
		sub.s.Revision++
		return nil, nil
	}
	sub.s.Status, sub.s.Dunning = StatusPastDue, sub.s.Dunning.failed(why.Code, at)
	return ChargeFailed{State: sub.changed(), At: at}, nil
}

// ChargeNotSent clears the awaited charge that never reached the processor.
func (sub *Subscription) ChargeNotSent(paymentID string) error {
	_, err := sub.clearCharge(paymentID)
	if err == nil {
		sub.s.Revision++
	}
	return err
}

func (sub *Subscription) clearCharge(paymentID string) (ChargeKind, error) {
	if !sub.s.IsAwaiting(paymentID) {
		return "", fmt.Errorf("subscription %s does not await payment %s", sub.s.ID, paymentID)
	}
	kind := sub.s.Charge.Bill.Kind
	sub.s.Charge = nil
	return kind, nil
}

// Expire ends a subscription that could not be charged: once no attempt is left and the grace is over.
func (sub *Subscription) Expire(now time.Time) (Expired, error) {
	step, due := sub.s.Next()
	if step != StepExpire || now.Before(due) {
		return Expired{}, sub.refuse("The subscription is not due to expire.")
	}
	sub.s.Status, sub.s.EndedAt, sub.s.Planned = StatusExpired, now, nil
	return Expired{sub.changed()}, nil
}

// UseCard makes another saved card pay from now on. changed is false when it does already. The caller bills a past due
// subscription at once.
func (sub *Subscription) UseCard(paymentMethodID string) (e Updated, changed bool, err error) {
	if err := sub.requireRunning(); err != nil {
		return Updated{}, false, err
	}
	if sub.s.PaymentMethodID == paymentMethodID {
		return Updated{}, false, nil
	}
	before := sub.s
	sub.s.PaymentMethodID = paymentMethodID
	return sub.updated(before), true, nil
}

// RetryAfterDispute makes an overdue subscription, which a dispute keeps from being charged, due at a time: it is
// charged as soon as the dispute is decided. changed is false for any other.
func (sub *Subscription) RetryAfterDispute(at time.Time) (e Updated, changed bool) {
	if sub.s.Status != StatusPastDue || len(sub.s.Disputes) == 0 || sub.s.Charge != nil {
		return Updated{}, false
	}
	before := sub.s
	sub.s.Dunning.NextAttemptAt = at
	return sub.updated(before), true
}
