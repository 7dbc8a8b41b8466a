package event

import (
	"encoding/json"
	"time"

	"sundry/core/wire"
)

// Record is an event as integrators see it: written once, in the transaction of its cause, and never changed.
type Record struct {
	ID        string // evt_…
	CreatorID string
	Type      Type
	CreatedAt time.Time // account time
	Livemode  bool
	Data      json.RawMessage
}

// Type is the name integrators subscribe to, such as "payment.completed".
type Type string

// The types that exist so far.
const (
	CustomerAccessChanged   Type = "customer.access_changed"
	PaymentCompleted        Type = "payment.completed"
	SubscriptionCreated     Type = "subscription.created"
	SubscriptionExpired     Type = "subscription.expired"
	AppointmentBooked       Type = "appointment.booked"
	AppointmentRescheduled  Type = "appointment.rescheduled"
	AppointmentCanceled     Type = "appointment.canceled"
	WebhookEndpointDisabled Type = "webhook_endpoint.disabled"
	WebhookEndpointTest     Type = "webhook_endpoint.test"
)

// ContractTypes are all event types of the contract: an endpoint may subscribe to those of later modules already.
var ContractTypes = []string{
	string(CustomerAccessChanged), string(PaymentCompleted), string(WebhookEndpointDisabled), string(WebhookEndpointTest),
	"subscription.created", "subscription.renewed", "subscription.cancel_scheduled", "subscription.canceled",
	"subscription.updated", "subscription.expired", "subscription.dunning",
	"invoice.created", "invoice.finalized", "invoice.paid", "invoice.payment_failed",
	"refund.created", "dispute.opened", "dispute.closed", "payout.paid",
	string(AppointmentBooked), string(AppointmentRescheduled), string(AppointmentCanceled),
}

// Envelope is what is sent and listed.
type Envelope struct {
	ID         string          `json:"id"`
	Type       Type            `json:"type"`
	CreatedAt  string          `json:"createdAt"`
	Livemode   bool            `json:"livemode"`
	APIVersion string          `json:"apiVersion"`
	Data       json.RawMessage `json:"data"`
}

// Envelope wraps the record (contract §12).
func (r Record) Envelope() Envelope {
	return Envelope{
		ID: r.ID, Type: r.Type, CreatedAt: wire.Instant(r.CreatedAt), Livemode: r.Livemode,
		APIVersion: "v1", Data: r.Data,
	}
}
