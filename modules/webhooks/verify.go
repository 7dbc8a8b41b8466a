package webhooks

import (
	"context"
	"fmt"

	"sundry/core/event"
	"sundry/core/webhook"
	"sundry/ports"
)

const (
	// maxViolations bounds how many lines of one kind are listed.
	maxViolations = 100
	// endpointPage is the number of endpoints that one query checks.
	endpointPage = 200

	undelivered ports.Violation = "event %s has no delivery to %s, which was subscribed to it"
)

// Verify checks that no event is missing, that every event has a delivery to each endpoint that was subscribed to it,
// and that every delivery that is to be made is a task. It returns one line per violation.
//
// An endpoint was subscribed when the event is younger than its present filters by some time and they take it. It
// need not be enabled: its deliveries wait. What was sent under earlier filters, or to endpoints that were deleted,
// cannot be derived from the tables and is not checked.
func (s *Service) Verify(ctx context.Context) ([]string, error) {
	audit := s.deps.Store.Read(ctx).Webhooks.Audit
	var lines []string
	for after := ""; len(lines) < maxViolations; {
		endpoints, err := audit.ListEndpoints(ctx, after, endpointPage)
		if err != nil {
			return nil, fmt.Errorf("verify webhooks: %w", err)
		}
		for _, e := range endpoints {
			missing, err := audit.ListUndelivered(ctx, e, subscribedTo(e), maxViolations)
			if err != nil {
				return nil, fmt.Errorf("verify webhooks: %w", err)
			}
			for _, id := range missing {
				lines = append(lines, undelivered.Of(id, e.ID))
			}
			after = e.ID
		}
		if len(endpoints) < endpointPage {
			break
		}
	}
	find := func(ctx context.Context, limit int) ([]string, error) {
		return audit.ListStranded(ctx, TaskDeliver, TaskWake, limit)
	}
	found, err := ports.Checks{
		{Find: find, Message: "delivery %s is pending, but no task will make it"},
		{Find: audit.ListGaps, Message: "the events of %s"},
	}.Run(ctx)
	return append(lines, found...), err
}

// subscribedTo lists the event types that the endpoint's filters select. The test event is not one: it is sent on
// request only.
func subscribedTo(e webhook.EndpointState) []string {
	var types []string
	for _, name := range webhook.EventTypes() {
		if name != string(event.WebhookEndpointTest) && webhook.Wants(e.Events, name) {
			types = append(types, name)
		}
	}
	return types
}
