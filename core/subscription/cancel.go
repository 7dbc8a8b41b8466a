package subscription

import "time"

// CancelReason names why a subscription was canceled.
type CancelReason string

// The reasons. There is none while it is neither canceled nor to be.
const (
	NotCanceled       CancelReason = ""
	CancelRequested   CancelReason = "requested"
	CancelRefunded    CancelReason = "refunded"     // with a refund of one of its payments
	CancelDisputeLost CancelReason = "dispute_lost" // a dispute of one of its payments was lost
)

// Cancel ends the subscription now. A charge under way is not awaited any more: its money goes back if it arrives.
func (sub *Subscription) Cancel(why CancelReason, now time.Time) (Canceled, error) {
	if err := sub.requireRunning(); err != nil {
		return Canceled{}, err
	}
	sub.s.CancelReason = why
	return sub.cancel(now), nil
}

func (sub *Subscription) cancel(now time.Time) Canceled {
	s := &sub.s
	if s.CanceledAt.IsZero() {
		s.CanceledAt = now
	}
	s.Status, s.EndedAt, s.CancelAtPeriodEnd, s.Planned, s.Charge = StatusCanceled, now, false, nil, nil
	s.Dunning.NextAttemptAt = time.Time{}
	return Canceled{sub.changed()}
}

// IsPaidTimeOver reports whether nothing is left of the time that was paid for, as it is for a past due subscription,
// may be for a paused one, and is while a renewal is being charged.
func (s State) IsPaidTimeOver(now time.Time) bool {
	return s.Status == StatusPastDue || s.Status == StatusPaused && !now.Before(s.CurrentPeriodEnd) ||
		s.Charge != nil && s.Charge.Bill.Kind == Renewal
}

// CancelAtPeriodEnd lets the subscription run until the time that is paid for is over. Where it is over already, it
// ends now: nobody who has canceled is charged for another period. A planned change stays, for Resume. The event is nil
// when it was scheduled before.
func (sub *Subscription) CancelAtPeriodEnd(why CancelReason, now time.Time) (Transition, error) {
	if err := sub.requireRunning(); err != nil {
		return nil, err
	}
	switch s := sub.s; {
	case s.IsPaidTimeOver(now):
		return sub.Cancel(why, now)
	case s.CancelAtPeriodEnd:
		return nil, nil
	}
	sub.s.CancelAtPeriodEnd, sub.s.CanceledAt, sub.s.CancelReason = true, now, why
	return CancelScheduled{sub.changed()}, nil
}

// End is the end of a subscription that was canceled for the end of its period.
func (sub *Subscription) End(now time.Time) (Canceled, error) {
	step, due := sub.s.Next()
	if step != StepEnd || now.Before(due) {
		return Canceled{}, sub.refuse("The subscription is not due to end.")
	}
	return sub.cancel(now), nil
}
