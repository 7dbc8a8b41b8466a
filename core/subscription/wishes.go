package subscription

import "time"

// Cancel ends the subscription now. A charge under way is not awaited any more: its money goes back if it arrives.
func (sub *Subscription) Cancel(now time.Time) (Canceled, error) {
	if sub.s.Status.Terminal() || sub.s.Status == StatusIncomplete {
		return Canceled{}, sub.refuse("The subscription has not begun.")
	}
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

// CancelAtPeriodEnd lets the subscription run until the time that is paid for is over. Where it is over already, which a
// past due one and a paused one may be, it ends now. The event is nil when it was scheduled before.
func (sub *Subscription) CancelAtPeriodEnd(now time.Time) (Transition, error) {
	switch s := sub.s; {
	case s.Status.Terminal(), s.Status == StatusIncomplete:
		return nil, sub.refuse("The subscription has not begun.")
	case s.Status == StatusPastDue, s.Status == StatusPaused && !now.Before(s.CurrentPeriodEnd):
		return sub.cancel(now), nil
	case s.CancelAtPeriodEnd:
		return nil, nil
	}
	sub.s.CancelAtPeriodEnd, sub.s.CanceledAt, sub.s.Planned = true, now, nil
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

// Pause stops access and billing until it is resumed. The paid period runs on meanwhile.
func (sub *Subscription) Pause(now time.Time) (Updated, error) {
	switch s := sub.s; {
	case s.Status == StatusPaused:
		return Updated{}, sub.refuse("The subscription is paused already.")
	case s.Status != StatusActive && s.Status != StatusTrialing:
		return Updated{}, sub.refuse("Only an active or trialing subscription can be paused.")
	case s.CancelAtPeriodEnd:
		return Updated{}, sub.refuse("The subscription is to be canceled. Resume it first.")
	case s.Charge != nil:
		return Updated{}, sub.refuse(underWay)
	}
	before := sub.s
	sub.s.Status, sub.s.PausedAt = StatusPaused, now
	return sub.updated(before), nil
}

// Resume takes back a scheduled cancellation, or ends a pause while paid time is left. A pause that outlasted it is ended
// by paying the ResumeBill.
func (sub *Subscription) Resume(now time.Time) (Updated, error) {
	s := &sub.s
	switch {
	case s.Status == StatusPaused && now.Before(s.CurrentPeriodEnd), s.CancelAtPeriodEnd && s.Status != StatusPaused:
	case s.Status == StatusPaused && s.Charge != nil:
		return Updated{}, sub.refuse(underWay)
	case s.Status == StatusPaused:
		return Updated{}, sub.refuse("The time that was paid for is over: resuming costs another period.")
	default:
		return Updated{}, sub.refuse("The subscription is neither paused nor to be canceled.")
	}
	before := *s
	if s.Status == StatusPaused {
		s.Status, s.PausedAt = StatusActive, time.Time{}
		if now.Before(s.TrialEndsAt) {
			s.Status = StatusTrialing
		}
	}
	s.CancelAtPeriodEnd, s.CanceledAt = false, time.Time{}
	return sub.updated(before), nil
}

// Rename takes over the integrator's own identifier of the customer. changed is false when it is known already.
func (sub *Subscription) Rename(externalCustomerID string) (e Updated, changed bool) {
	if sub.s.ExternalCustomerID == externalCustomerID {
		return Updated{}, false
	}
	before := sub.s
	sub.s.ExternalCustomerID = externalCustomerID
	return sub.updated(before), true
}
