package subscriptions

import (
	"context"

	"sundry/ports"
)

// Verify checks what must always hold of subscriptions, and returns one line per violation.
func (s *Service) Verify(ctx context.Context) ([]string, error) {
	audit := s.deps.Store.Read(ctx).Subscriptions.Audit
	return ports.Checks{
		{Find: audit.Stalled, Message: "subscription %s runs, but nothing will ever renew or end it"},
		{
			Find:    audit.LostCharges,
			Message: "payment %s was taken for a subscription that did not take it over, and does not go back",
		},
		{
			Find:    audit.Misstated,
			Message: "subscription %s: its period, price, credit or status does not follow from its payments and events",
		},
		{Find: audit.WithoutGrant, Message: "subscription %s is charged, but gives its customer no access"},
	}.Run(ctx)
}
