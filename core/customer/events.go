package customer

import "time"

// Renamed is emitted when the integrator gives a customer an identifier of their own: the name under which the
// customer's access is read changes.
type Renamed struct {
	State
	From, To string
}

// EventName implements event.Event.
func (Renamed) EventName() string { return "customer.renamed" }

// Readdressed is emitted when the email address of a customer who had one is corrected.
type Readdressed struct {
	State
	From, To string
}

// EventName implements event.Event.
func (Readdressed) EventName() string { return "customer.readdressed" }

// LinkAsked is emitted when a customer asks for a new link to their portal.
type LinkAsked struct {
	State
	At time.Time // real time
}

// EventName implements event.Event.
func (LinkAsked) EventName() string { return "customer.portal_link_asked" }
