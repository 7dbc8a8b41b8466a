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
