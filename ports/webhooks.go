package ports

import (
	"context"
	"time"

	"sundry/core/event"
	"sundry/core/webhook"
)

// Events keeps what integrators are told, for good.
type Events interface {
	// Insert writes a new event.
	Insert(ctx context.Context, e event.Record) error
	// Find returns an event of the account. ErrNotFound.
	Find(ctx context.Context, creatorID, eventID string) (event.Record, error)
	// List returns the account's events, newest first.
	List(ctx context.Context, creatorID string, page Page) (List[event.Record], error)
	// Between returns the account's events created in [from, to) behind the given id, oldest first, at most limit.
	Between(ctx context.Context, creatorID string, from, to time.Time, afterID string, limit int) ([]event.Record, error)
}

// WebhookEndpoints keeps where integrators want to hear.
type WebhookEndpoints interface {
	// Insert writes a new endpoint.
	Insert(ctx context.Context, e webhook.EndpointState) error
	// Find returns an endpoint of the account. ErrNotFound.
	Find(ctx context.Context, creatorID, endpointID string) (webhook.EndpointState, error)
	// FindStill is Find, and keeps the endpoint as it is until the transaction ends.
	FindStill(ctx context.Context, creatorID, endpointID string) (webhook.EndpointState, error)
	// List returns the account's endpoints, newest first.
	List(ctx context.Context, creatorID string, page Page) (List[webhook.EndpointState], error)
	// Of returns every endpoint of the account, disabled ones too: their backlog waits.
	Of(ctx context.Context, creatorID string) ([]webhook.EndpointState, error)
	// Save writes a changed endpoint. ErrStale.
	Save(ctx context.Context, e webhook.EndpointState) error
	// Delete forgets an endpoint; its deliveries stay as history.
	Delete(ctx context.Context, creatorID, endpointID string) error
}

// Deliveries keeps what was sent where, with every attempt.
type Deliveries interface {
	// Insert writes a new delivery.
	Insert(ctx context.Context, d webhook.DeliveryState) error
	// Find returns a delivery of the account. ErrNotFound.
	Find(ctx context.Context, creatorID, deliveryID string) (webhook.DeliveryState, error)
	// ByEvent returns the delivery of an event to an endpoint. ErrNotFound.
	ByEvent(ctx context.Context, creatorID, eventID, endpointID string) (webhook.DeliveryState, error)
	// List returns an endpoint's deliveries, newest first.
	List(ctx context.Context, creatorID, endpointID string, page Page) (List[webhook.DeliveryState], error)
	// Waiting returns an endpoint's pending deliveries behind the given id, oldest first, at most limit.
	Waiting(ctx context.Context, creatorID, endpointID, afterID string, limit int) ([]webhook.DeliveryState, error)
	// Save writes a changed delivery. ErrStale.
	Save(ctx context.Context, d webhook.DeliveryState) error
	// AddAttempt logs one try.
	AddAttempt(ctx context.Context, creatorID, deliveryID string, a webhook.Attempt) error
	// Attempts returns the tries of several deliveries, by delivery, in order.
	Attempts(ctx context.Context, creatorID string, deliveryIDs []string) (map[string][]webhook.Attempt, error)
}

// Announcement is the snapshot version that a customer's integrator was last told of.
type Announcement struct {
	Version int64
	At      time.Time // account time
}

// Announcements remembers, per customer, what customer.access_changed said last.
type Announcements interface {
	// Last returns the latest announcement; the zero value before the first.
	Last(ctx context.Context, creatorID, externalCustomerID string) (Announcement, error)
	// Set records a new one.
	Set(ctx context.Context, creatorID, externalCustomerID string, a Announcement) error
}

// DueDelivery is all that an attempt needs.
type DueDelivery struct {
	Delivery webhook.DeliveryState
	Endpoint webhook.EndpointState
	Event    event.Record
}

// Outbox is the hot path of delivering: what most attempts do, in as few messages to the database as can be. Each method
// is a transaction of its own.
type Outbox interface {
	// ReadDue returns a delivery of the account with its endpoint and its event. ErrNotFound when one of them is gone.
	ReadDue(ctx context.Context, creatorID, deliveryID string) (DueDelivery, error)
	// Arrived writes a delivery that has been recorded as delivered, logs the attempt and removes the task that made it.
	// ErrFenced when the task is no longer this run's, or somebody else changed the delivery; then nothing is written.
	Arrived(ctx context.Context, t Task, d webhook.DeliveryState, a webhook.Attempt) error
}

// WebhookAudit is what `sundry verify` reads of events and deliveries, over all accounts.
type WebhookAudit interface {
	// Endpoints returns the endpoints behind the given id, by id, at most limit.
	Endpoints(ctx context.Context, afterID string, limit int) ([]webhook.EndpointState, error)
	// Undelivered returns the events of the given types since the endpoint's subscription that have no delivery to it, at
	// most limit; none when the endpoint has changed since it was read, or the time of its subscription is not known.
	Undelivered(ctx context.Context, e webhook.EndpointState, types []string, limit int) ([]string, error)
	// Stranded returns pending deliveries to enabled endpoints that have no task, at most limit.
	Stranded(ctx context.Context, limit int) ([]string, error)
}

// OutboundRequest is one signed message on its way.
type OutboundRequest struct {
	URL     string
	Headers map[string]string
	Body    []byte
}

// OutboundAnswer is what the receiver said.
type OutboundAnswer struct {
	StatusCode int
	RetryAfter string // the header, unread
	Body       string // at most its first 16 kB
}

// Sender posts to addresses that strangers chose. It follows no redirect, dials no address that is not public, and
// bounds everything it reads. Its errors are short and fit to be shown to the endpoint's owner.
type Sender interface {
	Send(ctx context.Context, r OutboundRequest) (OutboundAnswer, error)
}

// Sealer encrypts secrets that are kept in the database.
type Sealer interface {
	Seal(plain []byte) []byte
	Open(sealed []byte) ([]byte, error)
}
