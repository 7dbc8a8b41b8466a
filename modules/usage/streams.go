package usage

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"time"

	"sundry/core/customer"
	"sundry/core/subscription"
	"sundry/core/usage"
	"sundry/ports"
)

// streamKey identifies the stream that a report names.
type streamKey struct{ creatorID, subscriptionID, eventName string }

// maxRemembered bounds each cache; past it all is read again.
const maxRemembered = 50_000

// cache remembers what is read for each report. It may be stale: the intake rejects a report whose placement has
// changed since.
type cache[K comparable, V any] struct {
	mu    sync.RWMutex
	known map[K]V
}

func (c *cache[K, V]) get(k K) (V, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	v, ok := c.known[k]
	return v, ok
}

func (c *cache[K, V]) put(k K, v V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) >= maxRemembered {
		c.known = map[K]V{}
	}
	c.known[k] = v
}

func (c *cache[K, V]) drop(k K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.known, k)
}

// newStream counts by the subscription's own periods, until a billing plan specifies otherwise.
func (s *Service) newStream(sub subscription.State, meter usage.Meter) ports.UsageStream {
	stream := ports.UsageStream{
		ID:        int64(binary.BigEndian.Uint64(s.deps.IDs.Random(8)) >> 1), //nolint:gosec // 63 bits fit
		CreatorID: sub.CreatorID, CustomerID: sub.CustomerID, ExternalCustomerID: sub.ExternalCustomerID,
		SubscriptionID: sub.ID,
		MeterID:        meter.ID, EventName: meter.EventName, Aggregation: meter.Aggregation.Counted(), Version: 1,
		Schedule: ownSchedule(sub),
	}
	stream.Included = includedBy(sub)[meter.EventName]
	return stream
}

// ownSchedule has the subscription's own periods.
func ownSchedule(sub subscription.State) usage.Schedule {
	return usage.Schedule{
		Anchor: sub.Anchor, Interval: sub.Offer.Interval, Count: max(sub.Offer.IntervalCount, 1),
		StartsAt: sub.StartedAt, EndsAt: sub.EndedAt,
	}
}

// includedBy returns the quantities that the subscription's plan includes, by event name.
func includedBy(sub subscription.State) map[string]int64 {
	included := map[string]int64{}
	for _, m := range sub.Offer.Terms.Meters {
		included[m.EventName] = m.Included
	}
	return included
}

// OnSubscriptionRenewed includes what the plan of the new period does: a change may have waited for it. That period may
// be the first of another anchor.
func (s *Service) OnSubscriptionRenewed(ctx context.Context, r ports.Repos, e subscription.Renewed) error {
	var err error
	switch {
	case e.Anchored:
		err = s.follow(ctx, r, e.State)
	case len(e.Offer.Terms.Meters) > 0:
		err = s.publishCounted(ctx, r, e.CreatorID, customer.AccessKey(e.ExternalCustomerID, e.CustomerID))
	}
	if err != nil {
		return err
	}
	return r.Usage.Streams.SetIncluded(ctx, e.State, includedBy(e.State), e.CurrentPeriodStart)
}

// OnSubscriptionUpdated includes what another plan does, in the running period already, which may be a new one.
func (s *Service) OnSubscriptionUpdated(ctx context.Context, r ports.Repos, e subscription.Updated) error {
	now, err := r.Clock.Now(ctx, e.CreatorID)
	if err != nil {
		return err
	}
	if err := s.follow(ctx, r, e.State); err != nil {
		return err
	}
	return r.Usage.Streams.SetIncluded(ctx, e.State, includedBy(e.State), now)
}

// follow has use counted by the subscription's periods where those are others now. A billing plan keeps its own, unless
// they began with a trial that ended early.
func (s *Service) follow(ctx context.Context, r ports.Repos, sub subscription.State) error {
	streams, err := r.Usage.Streams.ListBySubscription(ctx, sub.CreatorID, sub.ID)
	if err != nil || len(streams) == 0 {
		return err
	}
	for _, stream := range streams {
		switch own := ownSchedule(sub); {
		case stream.PlanID != "" && sub.CurrentPeriodStart.Equal(sub.TrialEndsAt):
			err = s.endTrial(ctx, r, sub, stream)
		case stream.PlanID == "" && !stream.Schedule.Equal(own):
			err = s.reschedule(ctx, r, stream, own, sub.CurrentPeriodStart)
		}
		if err != nil {
			return err
		}
	}
	return s.publishCountsChanged(ctx, r, streams[0]) // what is included may be another quantity
}

// endTrial ends what a billing plan does not charge with the subscription's trial.
func (s *Service) endTrial(
	ctx context.Context, r ports.Repos, sub subscription.State, stream ports.UsageStream,
) error {
	state, err := r.Usage.Plans.Get(ctx, stream.CreatorID, stream.PlanID)
	if err != nil {
		return err
	}
	p := usage.RestoreBillingPlan(state)
	if !p.EndTrial(sub.TrialEndsAt) {
		return nil
	}
	state = p.State()
	if err := s.reschedule(ctx, r, stream, state.Schedule, state.Current.Start); err != nil {
		return err
	}
	if err := r.Usage.Plans.Update(ctx, state); err != nil {
		return err
	}
	return r.Tasks.Schedule(ctx, TaskClose, state.ID, state.CreatorID, state.NextInvoiceAt())
}

// reschedule counts what was used from a time on by other periods.
func (s *Service) reschedule(
	ctx context.Context, r ports.Repos, stream ports.UsageStream, schedule usage.Schedule, from time.Time,
) error {
	if err := r.Usage.Streams.LockIntake(ctx); err != nil {
		return err
	}
	if err := r.Usage.Rollups.Lock(ctx); err != nil {
		return err
	}
	stream.Schedule = schedule
	stream.Version++
	if err := r.Usage.Streams.Update(ctx, stream); err != nil {
		return err
	}
	return r.Usage.Streams.Recount(ctx, stream, from)
}

// pricedStream is a stream with its meter and the price of its billing plan; one without tiers while nothing bills it.
type pricedStream struct {
	ports.UsageStream
	meter usage.Meter
	price usage.Price
}

// stream finds where reports are counted, and makes the place for the first one. NOT_FOUND for the subscription or the
// meter.
func (s *Service) stream(ctx context.Context, k streamKey) (pricedStream, error) {
	if known, ok := s.streams.get(k); ok {
		return known, nil
	}
	r := s.deps.Store.Read(ctx)
	found, err := r.Usage.Streams.Get(ctx, k.creatorID, k.subscriptionID, k.eventName)
	if errors.Is(err, ports.ErrNotFound) {
		found, err = s.openStream(ctx, k)
	}
	if errors.Is(err, ports.ErrDuplicate) { // another process has made it meanwhile
		found, err = r.Usage.Streams.Get(ctx, k.creatorID, k.subscriptionID, k.eventName)
	}
	if err != nil {
		return pricedStream{}, err
	}
	priced := pricedStream{UsageStream: found}
	if priced.meter, err = r.Usage.Catalog.GetMeter(ctx, k.creatorID, found.MeterID); err != nil {
		return priced, err
	}
	if priced.price, err = priceOf(ctx, r, found); err == nil {
		s.streams.put(k, priced)
	}
	return priced, err
}

// priceOf returns the price by which a stream is billed.
func priceOf(ctx context.Context, r ports.Repos, s ports.UsageStream) (usage.Price, error) {
	if s.PlanID == "" {
		return usage.Price{}, nil
	}
	p, err := r.Usage.Plans.Get(ctx, s.CreatorID, s.PlanID)
	if err != nil {
		return usage.Price{}, err
	}
	return r.Usage.Catalog.GetPrice(ctx, s.CreatorID, p.PriceID)
}

func (s *Service) openStream(ctx context.Context, k streamKey) (stream ports.UsageStream, err error) {
	err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		sub, err := subscriptionBy(ctx, r.Subscriptions.Subscriptions.GetForUpdate, k.creatorID, k.subscriptionID)
		if err != nil {
			return err
		}
		meter, err := r.Usage.Catalog.GetMeterByEvent(ctx, k.creatorID, k.eventName)
		if err != nil {
			return ports.Missing(err, "meter")
		}
		stream = s.newStream(sub, meter)
		return r.Usage.Streams.Insert(ctx, stream)
	})
	return stream, err
}

// clockOffset returns how far the account's clock runs ahead of real time. It returns a remembered offset unless read
// is true.
func (s *Service) clockOffset(
	ctx context.Context, creatorID string, read bool,
) (offset time.Duration, remembered bool, err error) {
	if offset, remembered = s.offsets.get(creatorID); remembered && !read {
		return offset, true, nil
	}
	if offset, err = s.deps.Store.Read(ctx).Sandbox.ClockOffsets.Get(ctx, creatorID); err == nil {
		s.offsets.put(creatorID, offset)
	}
	return offset, false, err
}
