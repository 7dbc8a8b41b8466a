// Package webhooks notifies integrators of what happened: events written in the transaction of their cause, endpoints
// that subscribe to them, and the delivery of each event to each endpoint until it has arrived.
package webhooks

import (
	"context"
	"errors"
	"fmt"

	"sundry/core/apiformat"
	"sundry/core/event"
	"sundry/core/id"
	"sundry/core/invoice"
	"sundry/core/webhook"
	"sundry/ports"
)

const (
	// TaskDeliver is the kind of the task that makes one attempt; its subject is the delivery.
	TaskDeliver = "webhook.deliver"
	// TaskWake is the kind of the task that makes a page of an endpoint's backlog due; its subject is the endpoint with
	// the delivery before that page.
	TaskWake = "webhook.wake"
)

// Config holds the settings that differ between deployments.
type Config struct {
	Live bool
	// Receivers specifies where they may be beside the public internet.
	Receivers webhook.Policy
	// Invoices derives the addresses of invoices, which events are stored without.
	Invoices invoice.Pages
}

// Deps holds the dependencies of the module.
type Deps struct {
	Store      ports.Store
	Deliveries ports.DeliveryStore
	Clock      ports.Clock
	IDs        ports.IDs
	Bus        ports.Bus
	Sender     ports.Sender
	Encrypter  ports.Encrypter
	Standing   ports.AccountStanding
}

// Service holds the use cases.
type Service struct {
	cfg  Config
	deps Deps
}

// New returns the module.
func New(cfg Config, d Deps) *Service { return &Service{cfg: cfg, deps: d} }

// publish writes an event and a delivery for every endpoint that wants it, in the caller's transaction. An endpoint
// that is disabled gets its delivery too: it waits there until the endpoint is enabled.
func (s *Service) publish(ctx context.Context, r ports.Repos, creatorID string, kind event.Type, data any) error {
	record, err := s.insertEvent(ctx, r, creatorID, kind, data)
	if err != nil {
		return err
	}
	return s.deliverToSubscribers(ctx, r, record)
}

// deliverToSubscribers makes an event due at every endpoint that subscribes to it.
func (s *Service) deliverToSubscribers(ctx context.Context, r ports.Repos, record event.Record) error {
	endpoints, err := r.Webhooks.Endpoints.ListAll(ctx, record.CreatorID)
	if err != nil {
		return err
	}
	for _, endpoint := range endpoints {
		if !webhook.Wants(endpoint.Events, string(record.Type)) {
			continue
		}
		if err := s.deliverTo(ctx, r, endpoint, record); err != nil {
			return err
		}
	}
	return nil
}

// insertEvent writes the event itself.
func (s *Service) insertEvent(
	ctx context.Context, r ports.Repos, creatorID string, kind event.Type, data any,
) (event.Record, error) {
	raw, err := apiformat.JSON(data)
	if err != nil {
		return event.Record{}, fmt.Errorf("data of %s: %w", kind, err)
	}
	now, err := r.Clock.Now(ctx, creatorID)
	if err != nil {
		return event.Record{}, err
	}
	record := event.Record{
		ID: s.deps.IDs.New(id.Event), CreatorID: creatorID, Type: kind, CreatedAt: now, Livemode: s.cfg.Live, Data: raw,
	}
	return record, r.Webhooks.Events.Insert(ctx, record)
}

// deliverTo makes the event due at one endpoint.
func (s *Service) deliverTo(ctx context.Context, r ports.Repos, endpoint webhook.EndpointState, e event.Record) error {
	now, err := r.Clock.Now(ctx, e.CreatorID)
	if err != nil {
		return err
	}
	delivery := webhook.NewDelivery(webhook.DeliveryState{
		ID: s.deps.IDs.New(id.Delivery), CreatorID: e.CreatorID, EventID: e.ID, EventType: string(e.Type),
		EndpointID: endpoint.ID,
	}, now).State()
	if err := r.Webhooks.Deliveries.Insert(ctx, delivery); err != nil {
		return err
	}
	return s.schedule(ctx, r, endpoint, delivery)
}

// schedule makes the delivery's task due, unless its endpoint is disabled. One that is off is locked until the
// delivery is written, or enabling it meanwhile would not find the delivery in the backlog.
func (s *Service) schedule(
	ctx context.Context, r ports.Repos, endpoint webhook.EndpointState, d webhook.DeliveryState,
) error {
	if !endpoint.Enabled {
		still, err := r.Webhooks.Endpoints.GetForShare(ctx, endpoint.CreatorID, endpoint.ID)
		if errors.Is(err, ports.ErrNotFound) {
			return nil // deleted
		}
		if err != nil || !still.Enabled {
			return err
		}
	}
	return r.Tasks.Schedule(ctx, TaskDeliver, subjectOf(d), d.CreatorID, d.NextAttemptAt)
}
