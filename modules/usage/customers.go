package usage

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"sundry/core/customer"
	"sundry/core/fault"
	"sundry/core/id"
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

// OnCustomerRenamed stores the integrator's own identifier, and moves the meters to it.
func (s *Service) OnCustomerRenamed(ctx context.Context, r ports.Repos, e customer.Renamed) error {
	if err := r.Usage.Credits.Rename(ctx, e.CreatorID, e.ID, e.ExternalCustomerID); err != nil {
		return err
	}
	subscriptions, err := r.Subscriptions.Subscriptions.ListByCustomer(ctx, e.ID)
	if err != nil {
		return err
	}
	counted := false
	for _, sub := range subscriptions {
		// Locked, so that all is found that is made of it with the name of before.
		if _, err := r.Subscriptions.Subscriptions.GetForUpdate(ctx, sub.ID); err != nil {
			return err
		}
		streams, err := r.Usage.Streams.ListBySubscription(ctx, e.CreatorID, sub.ID)
		if err != nil {
			return err
		}
		counted = counted || len(streams) > 0
		for _, stream := range streams {
			if err := renameStream(ctx, r, stream, e.ExternalCustomerID); err != nil {
				return err
			}
		}
	}
	if !counted {
		return nil
	}
	return errors.Join(s.publishCounted(ctx, r, e.CreatorID, e.From), s.publishCounted(ctx, r, e.CreatorID, e.To))
}

// renameStream stores another external id with a stream and its billing plan.
func renameStream(ctx context.Context, r ports.Repos, stream ports.UsageStream, externalCustomerID string) error {
	if stream.ExternalCustomerID != externalCustomerID {
		stream.ExternalCustomerID = externalCustomerID
		stream.Version++
		if err := r.Usage.Streams.Update(ctx, stream); err != nil {
			return err
		}
	}
	if stream.PlanID == "" {
		return nil
	}
	state, err := r.Usage.Plans.Get(ctx, stream.CreatorID, stream.PlanID)
	if err != nil {
		return err
	}
	plan := usage.RestoreBillingPlan(state)
	if !plan.Rename(externalCustomerID) {
		return nil
	}
	return r.Usage.Plans.Update(ctx, plan.State())
}

// metersOf returns the streams that a customer's access shows, by event name. accessKey is their external id, or their
// own where the integrator gave them none.
func metersOf(ctx context.Context, r ports.Repos, creatorID, accessKey string) ([]ports.UsageStream, error) {
	all, err := r.Usage.Streams.ListByCustomer(ctx, creatorID, accessKey)
	if err != nil || !id.Valid(id.Customer, accessKey) {
		return all, err
	}
	subscriptions, err := r.Subscriptions.Subscriptions.ListByCustomer(ctx, accessKey)
	if err != nil {
		return nil, err
	}
	for _, sub := range subscriptions {
		streams, err := r.Usage.Streams.ListBySubscription(ctx, creatorID, sub.ID)
		if err != nil {
			return nil, err
		}
		for _, stream := range streams {
			if stream.ExternalCustomerID == "" && !stream.Closed {
				all = append(all, stream)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b ports.UsageStream) int {
		return cmp.Or(cmp.Compare(a.EventName, b.EventName), cmp.Compare(a.SubscriptionID, b.SubscriptionID))
	})
	return all, nil
}
