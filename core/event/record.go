package event

import (
	"encoding/json"
	"time"

	"sundry/core/apiformat"
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

// Customer is whom the event is about, as far as its data contains it; both may be empty.
func (r Record) Customer() (customerID, externalCustomerID string) {
	var data struct {
		CustomerID         string `json:"customerId"`
		ExternalCustomerID string `json:"externalCustomerId"`
	}
	if err := json.Unmarshal(r.Data, &data); err != nil {
		return "", ""
	}
	return data.CustomerID, data.ExternalCustomerID
}

// Type is the name integrators subscribe to, such as "payment.completed".
type Type string

// The types that exist so far.
const (
	CustomerAccessChanged       Type = "customer.access_changed"
	PaymentCompleted            Type = "payment.completed"
	SubscriptionCreated         Type = "subscription.created"
	SubscriptionRenewed         Type = "subscription.renewed"
	SubscriptionCancelScheduled Type = "subscription.cancel_scheduled"
	SubscriptionCanceled        Type = "subscription.canceled"
	SubscriptionUpdated         Type = "subscription.updated"
	SubscriptionExpired         Type = "subscription.expired"
	SubscriptionDunning         Type = "subscription.dunning"
	RefundCreated               Type = "refund.created"
	DisputeOpened               Type = "dispute.opened"
	DisputeClosed               Type = "dispute.closed"
	PayoutPaid                  Type = "payout.paid"
	AppointmentBooked           Type = "appointment.booked"
	AppointmentRescheduled      Type = "appointment.rescheduled"
	AppointmentCanceled         Type = "appointment.canceled"
	InvoiceCreated              Type = "invoice.created"
	InvoiceFinalized            Type = "invoice.finalized"
	InvoicePaid                 Type = "invoice.paid"
	InvoicePaymentFailed        Type = "invoice.payment_failed"
	UsageThresholdReached       Type = "usage.threshold_reached"
	WebhookEndpointDisabled     Type = "webhook_endpoint.disabled"
	WebhookEndpointTest         Type = "webhook_endpoint.test"
)

// ContractTypes are all event types of the contract: an endpoint may subscribe to those of later modules already.
var ContractTypes = []string{
	string(CustomerAccessChanged), string(PaymentCompleted), string(WebhookEndpointDisabled), string(WebhookEndpointTest),
	"subscription.created", "subscription.renewed", "subscription.cancel_scheduled", "subscription.canceled",
	"subscription.updated", "subscription.expired", "subscription.dunning",
	string(InvoiceCreated), string(InvoiceFinalized), string(InvoicePaid), string(InvoicePaymentFailed), string(UsageThresholdReached),
	string(RefundCreated), string(DisputeOpened), string(DisputeClosed), string(PayoutPaid),
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
		ID: r.ID, Type: r.Type, CreatedAt: apiformat.Instant(r.CreatedAt), Livemode: r.Livemode,
		APIVersion: "v1", Data: r.Data,
	}
}
