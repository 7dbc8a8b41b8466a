// Package notify tells integrators what happened: events written in the transaction of their cause, endpoints that
// want to hear of them, and the delivery of each event to each endpoint until it has arrived. It also writes to people:
// buyers and creators get their mail from here.
package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"sundry/core/event"
	"sundry/core/id"
	"sundry/core/webhook"
	"sundry/ports"
)

// Task kinds of this module.
const (
	// TaskAnnounce tells of a customer's changed access; its subject is the account and the customer.
	TaskAnnounce = "access.announce"
	// TaskDeliver makes one attempt; its subject is the delivery.
	TaskDeliver = "webhook.deliver"
)

// Config is what differs between deployments.
type Config struct {
	Livemode bool
	// AllowPrivate admits plain http and loopback receivers; sandbox only.
	AllowPrivate bool
}

// Service holds the use cases.
type Service struct {
	cfg     Config
	store   ports.Store
	outbox  ports.Outbox
	clock   ports.Clock
	ids     ports.IDs
	history ports.AccessHistory
	sender  ports.Sender
	sealer  ports.Sealer
	post    Post
}

// New returns the module.
func New(cfg Config, store ports.Store, outbox ports.Outbox, clock ports.Clock, ids ports.IDs, history ports.AccessHistory, sender ports.Sender, sealer ports.Sealer, post Post) *Service {
	return &Service{cfg, store, outbox, clock, ids, history, sender, sealer, post}
}

// emit writes an event and a delivery for every endpoint that wants it, in the caller's transaction. An endpoint that is
// disabled gets its delivery too: it waits there until the endpoint is enabled.
func (s *Service) emit(ctx context.Context, r ports.Repos, creatorID string, kind event.Type, data any) error {
	record, err := s.record(ctx, r, creatorID, kind, data)
	if err != nil {
		return err
	}
	return s.tell(ctx, r, record)
}

// tell makes an event due at every endpoint that wants it.
func (s *Service) tell(ctx context.Context, r ports.Repos, record event.Record) error {
	endpoints, err := r.WebhookEndpoints.Of(ctx, record.CreatorID)
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

// record writes the event itself.
func (s *Service) record(ctx context.Context, r ports.Repos, creatorID string, kind event.Type, data any) (event.Record, error) {
	raw, err := json.Marshal(data)
	if err != nil {
		return event.Record{}, fmt.Errorf("data of %s: %w", kind, err)
	}
	now, err := s.clock.Now(ctx, creatorID)
	if err != nil {
		return event.Record{}, err
	}
	record := event.Record{ID: s.ids.New(id.Event), CreatorID: creatorID, Type: kind, CreatedAt: now, Livemode: s.cfg.Livemode, Data: raw}
	return record, r.Events.Insert(ctx, record)
}

// deliverTo makes the event due at one endpoint.
func (s *Service) deliverTo(ctx context.Context, r ports.Repos, endpoint webhook.EndpointState, e event.Record) error {
	now, err := s.clock.Now(ctx, e.CreatorID)
	if err != nil {
		return err
	}
	delivery := webhook.NewDelivery(webhook.DeliveryState{
		ID: s.ids.New(id.Delivery), CreatorID: e.CreatorID, EventID: e.ID, EventType: string(e.Type), EndpointID: endpoint.ID,
	}, now).State()
	if err := r.Deliveries.Insert(ctx, delivery); err != nil {
		return err
	}
	return s.schedule(ctx, r, endpoint, delivery)
}

// schedule makes the delivery's task due, unless its endpoint is switched off. One that is off is kept still until the
// delivery is written, or whoever switches it on meanwhile would not find the delivery in the backlog.
func (s *Service) schedule(ctx context.Context, r ports.Repos, endpoint webhook.EndpointState, d webhook.DeliveryState) error {
	if !endpoint.Enabled {
		still, err := r.WebhookEndpoints.FindStill(ctx, endpoint.CreatorID, endpoint.ID)
		if errors.Is(err, ports.ErrNotFound) {
			return nil // deleted
		}
		if err != nil || !still.Enabled {
			return err
		}
	}
	return r.Tasks.Schedule(ctx, TaskDeliver, subjectOf(d), d.CreatorID, d.NextAttemptAt)
}
