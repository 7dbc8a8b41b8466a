package usage

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"time"

	"sundry/core/subscription"
	"sundry/core/usage"
	"sundry/ports"
)

// streamKey is what a report names.
type streamKey struct{ creatorID, subscriptionID, eventName string }

// streamCache remembers streams. It may be out of date: the intake writes nothing that was placed by an old version.
type streamCache struct {
	mu    sync.RWMutex
	known map[streamKey]ports.UsageStream
}

// maxStreams bounds the cache; past it all are read again.
const maxStreams = 50_000

func (c *streamCache) get(k streamKey) (ports.UsageStream, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	s, ok := c.known[k]
	return s, ok
}

func (c *streamCache) put(k streamKey, s ports.UsageStream) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) >= maxStreams {
		c.known = map[streamKey]ports.UsageStream{}
	}
	c.known[k] = s
}

func (c *streamCache) drop(k streamKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.known, k)
}

// newStream counts by the subscription's own periods, until a billing plan specifies otherwise.
func (s *Service) newStream(sub subscription.State, meter usage.Meter) ports.UsageStream {
	stream := ports.UsageStream{
		ID:        int64(binary.BigEndian.Uint64(s.ids.Random(8)) >> 1), //nolint:gosec // 63 bits fit
		CreatorID: sub.CreatorID, CustomerID: sub.CustomerID, ExternalCustomerID: sub.ExternalCustomerID, SubscriptionID: sub.ID,
		MeterID: meter.ID, EventName: meter.EventName, Aggregation: meter.Aggregation, Version: 1,
		Schedule: usage.Schedule{
			Anchor: sub.Anchor, Interval: sub.Offer.Interval, Count: max(sub.Offer.IntervalCount, 1), StartsAt: sub.StartedAt, EndsAt: sub.EndedAt,
		},
	}
	for _, m := range sub.Offer.Terms.Meters {
		if m.EventName == meter.EventName {
			stream.Included = m.Included
		}
	}
	return stream
}

// stream finds where reports are counted, and makes the place for the first one. NOT_FOUND for the subscription or the
// meter.
func (s *Service) stream(ctx context.Context, k streamKey) (ports.UsageStream, error) {
	if known, ok := s.streams.get(k); ok {
		return known, nil
	}
	found, err := s.store.Read(ctx).Usage.Streams.Get(ctx, k.creatorID, k.subscriptionID, k.eventName)
	for range 2 { // another process may make it at the same time
		if !errors.Is(err, ports.ErrNotFound) && !errors.Is(err, ports.ErrDuplicate) {
			break
		}
		if errors.Is(err, ports.ErrDuplicate) {
			found, err = s.store.Read(ctx).Usage.Streams.Get(ctx, k.creatorID, k.subscriptionID, k.eventName)
			continue
		}
		found, err = s.openStream(ctx, k)
	}
	if err == nil {
		s.streams.put(k, found)
	}
	return found, err
}

func (s *Service) openStream(ctx context.Context, k streamKey) (stream ports.UsageStream, err error) {
	err = s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		sub, err := s.subscription(ctx, r, k.creatorID, k.subscriptionID)
		if err != nil {
			return err
		}
		meter, err := r.Usage.Catalog.GetMeterByEvent(ctx, k.creatorID, k.eventName)
		if err != nil {
			return missing(err, "meter")
		}
		stream = s.newStream(sub, meter)
		return r.Usage.Streams.Insert(ctx, stream)
	})
	return stream, err
}

// accountTimes reads account clocks once for all who ask at the same time: a report takes the time that was read after it
// came, never an earlier one.
type accountTimes struct {
	clock ports.Clock
	mu    sync.Mutex
	asked map[string]*timeReads
}

// timeReads are the reads of one account's clock: the one under way, and the next for anyone who came since.
type timeReads struct{ running, next *timeRead }

type timeRead struct {
	done chan struct{}
	now  time.Time
	err  error
}

// now is the account's time.
func (a *accountTimes) now(ctx context.Context, creatorID string) (time.Time, error) {
	a.mu.Lock()
	if a.asked == nil {
		a.asked = map[string]*timeReads{}
	}
	reads, ok := a.asked[creatorID]
	if !ok {
		reads = &timeReads{running: &timeRead{done: make(chan struct{})}}
		a.asked[creatorID] = reads
		mine := reads.running
		a.mu.Unlock()
		a.run(context.WithoutCancel(ctx), creatorID, mine)
		return mine.now, mine.err
	}
	if reads.next == nil {
		reads.next = &timeRead{done: make(chan struct{})}
	}
	mine := reads.next
	a.mu.Unlock()
	<-mine.done
	return mine.now, mine.err
}

// run makes one read, and leaves those who came meanwhile to another one.
func (a *accountTimes) run(ctx context.Context, creatorID string, read *timeRead) {
	read.now, read.err = a.clock.Now(ctx, creatorID)
	close(read.done)
	a.mu.Lock()
	defer a.mu.Unlock()
	reads := a.asked[creatorID]
	if reads.next == nil {
		delete(a.asked, creatorID)
		return
	}
	reads.running, reads.next = reads.next, nil
	go a.run(ctx, creatorID, reads.running)
}
