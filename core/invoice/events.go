package invoice

import (
	"errors"

	"sundry/core/event"
)

// ErrPaidTwice reports that money arrived for an invoice that another charge has paid.
var ErrPaidTwice = errors.New("invoice: another charge has paid it")

// Event is one of the four below. An invoice emits Created, Finalized and then, of each charge, PaidEvent or
// PaymentFailed, in this order.
type Event interface {
	event.Event
	// Invoice is the invoice as it was then.
	Invoice() State
}

// Created is emitted once, when the invoice is made.
type Created struct{ State }

// EventName implements event.Event.
func (Created) EventName() string { return "invoice.created" }

// Invoice implements Event.
func (e Created) Invoice() State { return e.State }

// Finalized is emitted once, when the invoice cannot change any more.
type Finalized struct{ State }

// EventName implements event.Event.
func (Finalized) EventName() string { return "invoice.finalized" }

// Invoice implements Event.
func (e Finalized) Invoice() State { return e.State }

// PaidEvent is emitted once, when the invoice is paid.
type PaidEvent struct{ State }

// EventName implements event.Event.
func (PaidEvent) EventName() string { return "invoice.paid" }

// Invoice implements Event.
func (e PaidEvent) Invoice() State { return e.State }

// PaymentFailed is emitted for every charge that failed.
type PaymentFailed struct{ State }

// EventName implements event.Event.
func (PaymentFailed) EventName() string { return "invoice.payment_failed" }

// Invoice implements Event.
func (e PaymentFailed) Invoice() State { return e.State }
