package appointment

// AllCanceled reports that no appointment of a session is left.
type AllCanceled struct {
	CreatorID  string
	CheckoutID string
}

// EventName implements event.Event.
func (AllCanceled) EventName() string { return "appointment.all_canceled" }

// NoneLeft reports whether all of a session's appointments are canceled.
func NoneLeft(session []State) bool {
	for _, a := range session {
		if a.Status != StatusCanceled {
			return false
		}
	}
	return len(session) > 0
}
