package webhooks

import (
	"context"
	"fmt"

	"sundry/core/event"
	"sundry/core/webhook"
	"sundry/ports"
)

// Subscriptions lists what the module subscribes to: every domain event of the catalogue.
func (s *Service) Subscriptions() []ports.Subscription {
	var all []ports.Subscription
	for _, e := range webhook.DomainEvents() {
		all = append(all, ports.Subscription{Event: e, Receive: s.Publish})
	}
	return all
}

// Publish publishes the webhook event that the catalogue has for a domain event. A domain event without one is an
// error.
func (s *Service) Publish(ctx context.Context, r ports.Repos, e event.Event) error {
	kind, data, ok := webhook.DataOf(e, s.cfg.Live)
	if !ok {
		return fmt.Errorf("the catalogue of webhook events has none of %s", e.EventName())
	}
	return s.publish(ctx, r, data.CreatorID, kind, data.View)
}

// Events lists what the account's integrators were notified of, newest first unless the search specifies otherwise.
func (s *Service) Events(
	ctx context.Context, creatorID string, search ports.EventSearch, page ports.Page,
) (ports.List[event.Record], error) {
	found, err := s.deps.Store.Read(ctx).Webhooks.Events.List(ctx, creatorID, search, page)
	for i, record := range found.Items {
		found.Items[i] = webhook.WithLinks(record, s.cfg.Invoices)
	}
	return found, err
}

// Event shows one of the account's events. NOT_FOUND.
func (s *Service) Event(ctx context.Context, creatorID, eventID string) (event.Record, error) {
	found, err := s.deps.Store.Read(ctx).Webhooks.Events.Get(ctx, creatorID, eventID)
	return webhook.WithLinks(found, s.cfg.Invoices), ports.Missing(err, "event")
}
