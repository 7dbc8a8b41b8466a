package usage

import (
	"context"
	"slices"
	"time"

	"sundry/core/access"
	"sundry/core/usage"
	"sundry/ports"
)

// Measured is the use of a meter by a subscription in its current period, as of the last count.
type Measured struct {
	Stream   ports.UsageStream
	Period   usage.Period
	Quantity usage.Quantity
	AsOf     time.Time // account time; zero before the first count
	// Aggregation is the meter's own; the stream may count it as a sum. Only Summary sets it.
	Aggregation usage.Aggregation
}

// Summary lists what a subscription has used in its current periods, by meter. NOT_FOUND.
func (s *Service) Summary(ctx context.Context, creatorID, subscriptionID string) ([]Measured, error) {
	r := s.deps.Store.Read(ctx)
	if _, err := s.subscription(ctx, r, creatorID, subscriptionID); err != nil {
		return nil, err
	}
	streams, err := r.Usage.Streams.ListBySubscription(ctx, creatorID, subscriptionID)
	if err != nil {
		return nil, err
	}
	return summed(ctx, r, creatorID, streams)
}

// SummaryOfCustomer is Summary of every meter that is counted for an external customer, by the meters' event names. It
// is empty for a customer who is not known.
func (s *Service) SummaryOfCustomer(ctx context.Context, creatorID, externalCustomerID string) ([]Measured, error) {
	r := s.deps.Store.Read(ctx)
	streams, err := metersOf(ctx, r, creatorID, externalCustomerID)
	if err != nil {
		return nil, err
	}
	return summed(ctx, r, creatorID, streams)
}

// summed measures streams, with the aggregations of their meters.
func summed(ctx context.Context, r ports.Repos, creatorID string, streams []ports.UsageStream) ([]Measured, error) {
	all, err := measure(ctx, r, creatorID, streams)
	if err != nil {
		return nil, err
	}
	for i := range all {
		meter, err := r.Usage.Catalog.GetMeter(ctx, creatorID, all[i].Stream.MeterID)
		if err != nil {
			return nil, err
		}
		all[i].Aggregation = meter.Aggregation
	}
	return all, nil
}

// MetersOf implements ports.CustomerMeters. What an ended subscription used, which nothing bills, is not among it.
func (s *Service) MetersOf(
	ctx context.Context, r ports.Repos, creatorID, externalCustomerID string,
) ([]access.Meter, error) {
	streams, err := metersOf(ctx, r, creatorID, externalCustomerID)
	if err != nil {
		return nil, err
	}
	all, err := measure(ctx, r, creatorID, streams)
	all = slices.DeleteFunc(all, func(m Measured) bool {
		return m.Stream.PlanID == "" && !m.Stream.Schedule.EndsAt.IsZero()
	})
	meters := make([]access.Meter, len(all))
	for i, m := range all {
		meters[i] = access.Meter{
			Key: m.Stream.EventName, MeterID: m.Stream.MeterID, SubscriptionID: m.Stream.SubscriptionID,
			Used: m.Quantity, Included: m.Stream.Included,
			PeriodStart: m.Period.Start, PeriodEnd: m.Period.End, AsOf: m.AsOf,
		}
	}
	return meters, err
}

func measure(ctx context.Context, r ports.Repos, creatorID string, streams []ports.UsageStream) ([]Measured, error) {
	now, err := r.Clock.Now(ctx, creatorID)
	if err != nil {
		return nil, err
	}
	all := make([]Measured, len(streams))
	for i, stream := range streams {
		p := stream.Schedule.At(now)
		u, err := r.Usage.Rollups.Get(ctx, stream, p.Start)
		if err != nil {
			return nil, err
		}
		all[i] = Measured{Stream: stream, Period: p, Quantity: u.Total.Quantity, AsOf: u.AsOf}
	}
	return all, nil
}
