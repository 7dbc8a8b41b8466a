package ports

import (
	"context"
	"time"

	"sundry/core/event"
	"sundry/core/webhook"
)

// WebhookRepos are the repositories of webhooks.
type WebhookRepos struct {
	Events     Events
	Endpoints  WebhookEndpoints
	Deliveries Deliveries
	Audit      WebhookAudit
}

// Events keeps the events that integrators are notified of. They are deleted by Retention only.
type Events interface {
	// Insert writes a new event right before the transaction commits: the transaction itself does not find it.
	Insert(ctx context.Context, e event.Record) error
	// Get returns an event of the account. ErrNotFound.
	Get(ctx context.Context, creatorID, eventID string) (event.Record, error)
	// List returns those of the account's events that a search is for, in the order of their commits: anyone who reads on
	// from a position misses none that commits later. It sees no event of a transaction that is still open.
	List(ctx context.Context, creatorID string, search EventSearch, page Page) (List[event.Record], error)
	// ListBetween returns the account's events created in [from, to) behind the given id, oldest first, at most limit.
	ListBetween(ctx context.Context, creatorID string, from, to time.Time, afterID string,
		limit int) ([]event.Record, error)
}

// EventSearch narrows a list of events; zero members narrow nothing.
type EventSearch struct {
	Types []event.Type
	// CustomerID and ExternalCustomerID each select the events whose data has it, and those whose data has only the
	// other one, of the same customer.
	CustomerID, ExternalCustomerID string
	Created                        Created
	// OldestFirst turns the order around. The list then has Last.
	OldestFirst bool
}

// WebhookEndpoints keeps where integrators receive events.
type WebhookEndpoints interface {
	// Insert writes a new endpoint.
	Insert(ctx context.Context, e webhook.EndpointState) error
	// Get returns an endpoint of the account. ErrNotFound.
	Get(ctx context.Context, creatorID, endpointID string) (webhook.EndpointState, error)
	// GetForShare is Find, and keeps the endpoint as it is until the transaction ends.
	GetForShare(ctx context.Context, creatorID, endpointID string) (webhook.EndpointState, error)
	// List returns the account's endpoints, newest first.
	List(ctx context.Context, creatorID string, page Page) (List[webhook.EndpointState], error)
	// ListAll returns every endpoint of the account, disabled ones too: their backlog waits.
	ListAll(ctx context.Context, creatorID string) ([]webhook.EndpointState, error)
	// Update writes a changed endpoint. ErrStale.
	Update(ctx context.Context, e webhook.EndpointState) error
	// LockReplay waits until no other transaction replays events to an endpoint, and keeps others out until this one ends.
	LockReplay(ctx context.Context, endpointID string) error
	// Delete forgets an endpoint; its deliveries stay as history.
	Delete(ctx context.Context, creatorID, endpointID string) error
}

// Deliveries keeps what was sent where, with every attempt.
type Deliveries interface {
	// Insert writes a new delivery.
	Insert(ctx context.Context, d webhook.DeliveryState) error
	// Get returns a delivery of the account. ErrNotFound.
	Get(ctx context.Context, creatorID, deliveryID string) (webhook.DeliveryState, error)
	// GetByEvent returns the delivery of an event to an endpoint. ErrNotFound.
	GetByEvent(ctx context.Context, creatorID, eventID, endpointID string) (webhook.DeliveryState, error)
	// ListByEvents returns the deliveries of events to an endpoint, those that there are, by event.
	ListByEvents(ctx context.Context, creatorID, endpointID string,
		eventIDs []string) (map[string]webhook.DeliveryState, error)
	// List returns an endpoint's deliveries of a status ("" = any), newest first.
	List(ctx context.Context, creatorID, endpointID string, status webhook.DeliveryStatus,
		page Page) (List[webhook.DeliveryState], error)
	// ListPending returns an endpoint's pending deliveries behind the given id, oldest first, at most limit.
	ListPending(ctx context.Context, creatorID, endpointID, afterID string, limit int) ([]webhook.DeliveryState, error)
	// Update writes a changed delivery. ErrStale.
	Update(ctx context.Context, d webhook.DeliveryState) error
	// InsertAttempt logs one try.
	InsertAttempt(ctx context.Context, creatorID, deliveryID string, a webhook.Attempt) error
	// ListAttempts returns the tries of several deliveries, by delivery, in order.
	ListAttempts(ctx context.Context, creatorID string, deliveryIDs []string) (map[string][]webhook.Attempt, error)
}

// DueDelivery is all that an attempt needs.
type DueDelivery struct {
	Delivery webhook.DeliveryState
	Endpoint webhook.EndpointState
	Event    event.Record
	// ClockOffset is the lead of the account's clock over real time.
	ClockOffset time.Duration
}

// DeliveryStore is the hot path of delivering: what most attempts do, in as few messages to the database as can be.
// Each method is a transaction of its own.
type DeliveryStore interface {
	// GetDue returns a delivery of the account with its endpoint and its event. ErrNotFound when one of them is gone.
	GetDue(ctx context.Context, creatorID, deliveryID string) (DueDelivery, error)
	// RecordDelivered writes a delivery that has been recorded as delivered, logs the attempt and removes the task that
	// made it. ErrFenced when the task is no longer this run's, or somebody else changed the delivery; then nothing is
	// written.
	RecordDelivered(ctx context.Context, t Task, d webhook.DeliveryState, a webhook.Attempt) error
}

// WebhookAudit reads events and deliveries for `sundry verify`, over all accounts.
type WebhookAudit interface {
	// ListEndpoints returns the endpoints behind the given id, by id, at most limit.
	ListEndpoints(ctx context.Context, afterID string, limit int) ([]webhook.EndpointState, error)
	// ListUndelivered returns the events of the given types since the endpoint's subscription that have no delivery to it,
	// at most limit; none when the endpoint has changed since it was read, or the time of its subscription is not known.
	ListUndelivered(ctx context.Context, e webhook.EndpointState, types []string, limit int) ([]string, error)
	// ListGaps returns the accounts whose events are not complete, as a sentence that names the positions of those that
	// are missing: none may be behind those that retention has deleted.
	ListGaps(ctx context.Context, limit int) ([]string, error)
	// ListStranded returns pending deliveries to enabled endpoints that no task of a kind will make, at most limit. The
	// backlog of an endpoint with a task of the second kind is about to get its tasks.
	ListStranded(ctx context.Context, makes, wakes string, limit int) ([]string, error)
}
