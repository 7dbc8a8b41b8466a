package usage

import (
	"context"
	"errors"
	"slices"

	"sundry/core/fault"
	"sundry/core/subscription"
	"sundry/core/usage"
	"sundry/ports"
)

// customerMeter is a customer and a meter as a report names them.
type customerMeter struct{ externalCustomerID, eventName string }

// subscriptionOf returns the subscription that a report of a customer is about: the one that is billed for the meter,
// else the one whose plan includes it, else the only one that runs. Where none runs it is the one that ended last of
// those that counted the meter, so that what comes late is billed, or refused as closed. NOT_FOUND, and
// VALIDATION_FAILED where several could be meant.
func (s *Service) subscriptionOf(ctx context.Context, q reporting, report usage.Report) (string, error) {
	key := customerMeter{report.ExternalCustomerID, report.EventName}
	if known, ok := q.subscriptions[key]; ok {
		return known, nil
	}
	r := s.deps.Store.Read(ctx)
	all, err := r.Subscriptions.Subscriptions.ListByBuyer(ctx, q.creatorID, report.ExternalCustomerID, "")
	if err != nil {
		return "", err
	}
	var billed, including, running, ended []subscription.State
	for _, sub := range all {
		stream, err := r.Usage.Streams.Get(ctx, q.creatorID, sub.ID, report.EventName)
		if err != nil && !errors.Is(err, ports.ErrNotFound) {
			return "", err
		}
		switch _, includes := includedBy(sub)[report.EventName]; {
		case sub.Status.Terminal() && err == nil:
			ended = append(ended, sub)
			continue
		case sub.Status.Terminal():
			continue
		case stream.PlanID != "":
			billed = append(billed, sub)
		case includes:
			including = append(including, sub)
		}
		running = append(running, sub)
	}
	if len(running) == 0 && len(ended) > 0 {
		running = []subscription.State{slices.MaxFunc(ended, func(a, b subscription.State) int {
			return a.EndedAt.Compare(b.EndedAt)
		})}
	}
	for _, candidates := range [][]subscription.State{billed, including, running} {
		if len(candidates) == 1 {
			q.subscriptions[key] = candidates[0].ID
			return candidates[0].ID, nil
		}
	}
	if len(running) == 0 {
		return "", fault.NotFound("subscription of this customer")
	}
	return "", fault.Invalid(fault.Detail{
		Field: "externalCustomerId", Code: fault.DetailNotAllowed,
		Message: "The customer has several subscriptions. Name the one that is meant by subscriptionId.",
	})
}
