package subscription

import "time"

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

// Resume takes back a scheduled cancellation, or ends a pause while paid time is left. A pause that outlasted it is
// ended by paying the ResumeBill.
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
	s.CancelAtPeriodEnd, s.CanceledAt, s.CancelReason = false, time.Time{}, NotCanceled
	return sub.updated(before), nil
}
