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

// Customer returns the ids of the customer that the event is about, as far as its data contains them; both may be
// empty.
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

// The types that code names. All of them are rows of the catalogue in core/webhook.
const (
	CustomerAccessChanged   Type = "customer.access_changed"
	PaymentCompleted        Type = "payment.completed"
	WebhookEndpointDisabled Type = "webhook_endpoint.disabled"
	WebhookEndpointTest     Type = "webhook_endpoint.test"
)

// Envelope is the JSON object in which an event is sent and listed.
type Envelope struct {
	ID         string          `json:"id"`
	Type       Type            `json:"type"`
	CreatedAt  string          `json:"createdAt"`
	Livemode   bool            `json:"livemode"`
	APIVersion string          `json:"apiVersion"`
	Data       json.RawMessage `json:"data"`
}

// Envelope wraps the record as docs/api.md describes it.
func (r Record) Envelope() Envelope {
	return Envelope{
		ID: r.ID, Type: r.Type, CreatedAt: apiformat.Instant(r.CreatedAt), Livemode: r.Livemode,
		APIVersion: "v1", Data: r.Data,
	}
}
