package webhooks

import (
	"context"
	"slices"
	"time"

	"sundry/core/event"
	"sundry/core/fault"
	"sundry/core/webhook"
	"sundry/ports"
)

// Delivered is a delivery with its log.
type Delivered struct {
	webhook.DeliveryState
	Attempts []webhook.Attempt
}

// Deliveries lists the deliveries to an endpoint, newest first, with every attempt; a status narrows the list.
// NOT_FOUND.
func (s *Service) Deliveries(
	ctx context.Context, creatorID, endpointID string, status webhook.DeliveryStatus, page ports.Page,
) (ports.List[Delivered], error) {
	endpoint, err := s.Endpoint(ctx, creatorID, endpointID)
	if err != nil {
		return ports.List[Delivered]{}, err
	}
	r := s.deps.Store.Read(ctx)
	found, err := r.Webhooks.Deliveries.List(ctx, creatorID, endpointID, status, page)
	if err != nil {
		return ports.List[Delivered]{}, err
	}
	ids := make([]string, len(found.Items))
	for i, d := range found.Items {
		ids[i] = d.ID
	}
	attempts, err := r.Webhooks.Deliveries.ListAttempts(ctx, creatorID, ids)
	list := ports.List[Delivered]{Next: found.Next}
	for _, d := range found.Items {
		list.Items = append(list.Items, delivered(endpoint, d, attempts))
	}
	return list, err
}

// delivered shows a delivery with its next attempt when that can be: none before the endpoint is enabled, nor while
// its circuit is open.
func delivered(
	e webhook.EndpointState, d webhook.DeliveryState, attempts map[string][]webhook.Attempt,
) Delivered {
	switch {
	case !e.Enabled:
		d.NextAttemptAt = time.Time{}
	case d.Status == webhook.Pending && d.NextAttemptAt.Before(e.OpenUntil):
		d.NextAttemptAt = e.OpenUntil
	}
	return Delivered{d, attempts[d.ID]}
}

// Delivery shows one delivery of an endpoint with every attempt. NOT_FOUND.
func (s *Service) Delivery(ctx context.Context, creatorID, endpointID, deliveryID string) (Delivered, error) {
	endpoint, err := s.Endpoint(ctx, creatorID, endpointID)
	if err != nil {
		return Delivered{}, err
	}
	r := s.deps.Store.Read(ctx)
	found, err := r.Webhooks.Deliveries.Get(ctx, creatorID, deliveryID)
	if found, err = ports.Visible(found, err, found.EndpointID == endpointID, "delivery"); err != nil {
		return Delivered{}, err
	}
	attempts, err := r.Webhooks.Deliveries.ListAttempts(ctx, creatorID, []string{deliveryID})
	return delivered(endpoint, found, attempts), err
}

// Redeliver makes one delivery due again, whatever its state. NOT_FOUND; STATE_CONFLICT for a disabled endpoint.
func (s *Service) Redeliver(ctx context.Context, creatorID, endpointID, deliveryID string) (Delivered, error) {
	var again webhook.DeliveryState
	err := s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		endpoint, err := s.retryNow(ctx, r, creatorID, endpointID)
		if err != nil {
			return err
		}
		found, err := r.Webhooks.Deliveries.Get(ctx, creatorID, deliveryID)
		if found, err = ports.Visible(found, err, found.EndpointID == endpointID, "delivery"); err != nil {
			return err
		}
		again, err = s.again(ctx, r, endpoint, found)
		return err
	})
	if err != nil {
		return Delivered{}, err
	}
	attempts, err := s.deps.Store.Read(ctx).Webhooks.Deliveries.ListAttempts(ctx, creatorID, []string{deliveryID})
	return Delivered{again, attempts[deliveryID]}, err
}

// retryNow loads an endpoint of the account, and allows the next attempt at it if its circuit is open: a manual
// redelivery means that the endpoint was repaired, or is being tested. NOT_FOUND, STATE_CONFLICT for a disabled one.
func (s *Service) retryNow(
	ctx context.Context, r ports.Repos, creatorID, endpointID string,
) (webhook.EndpointState, error) {
	e, err := r.Webhooks.Endpoints.Get(ctx, creatorID, endpointID)
	if err != nil {
		return e, ports.Missing(err, "webhook endpoint")
	}
	if !e.Enabled {
		return e, fault.New(fault.StateConflict, "The endpoint is disabled. Enable it first.")
	}
	now, err := r.Clock.Now(ctx, creatorID)
	if err != nil {
		return e, err
	}
	endpoint := webhook.RestoreEndpoint(e)
	if !endpoint.Retry(now) {
		return e, nil
	}
	if err := r.Webhooks.Endpoints.Update(ctx, endpoint.State()); err != nil {
		return e, err
	}
	return endpoint.State(), s.hold(ctx, r, e, endpoint.State())
}

func (s *Service) again(
	ctx context.Context, r ports.Repos, e webhook.EndpointState, d webhook.DeliveryState,
) (webhook.DeliveryState, error) {
	now, err := r.Clock.Now(ctx, d.CreatorID)
	if err != nil {
		return d, err
	}
	delivery := webhook.RestoreDelivery(d)
	delivery.Requeue(now)
	if err := r.Webhooks.Deliveries.Update(ctx, delivery.State()); err != nil {
		return d, err
	}
	return delivery.State(), s.schedule(ctx, r, e, delivery.State())
}

// ReplayRange specifies the events to send again: those of [From, To) behind After, which an earlier call returned.
// Zero To is now, or what it was for that call.
type ReplayRange struct {
	From, To time.Time
	After    ports.Cursor
}

// replayTime bounds the work of one call of Replay, so that its caller gets a response.
const replayTime = 40 * time.Second

// Replay sends every matching event of the range again, delivered or not, under its own id. It returns how many, and
// where another call goes on if there were more than one call has time for. NOT_FOUND; STATE_CONFLICT for a disabled
// endpoint.
func (s *Service) Replay(
	ctx context.Context, creatorID, endpointID string, events ReplayRange,
) (replayed int, next ports.Cursor, err error) {
	began := s.deps.Clock.Real()
	now, err := s.deps.Clock.Now(ctx, creatorID)
	if err != nil {
		return 0, next, err
	}
	switch {
	case !events.To.IsZero():
	case events.After.ID != "":
		events.To = time.UnixMilli(events.After.Value)
	default:
		events.To = now.Add(time.Millisecond)
	}
	var f fault.Violations
	f.Check(!events.From.IsZero(), "from", fault.DetailRequired, "Specify from when events are to be sent again.")
	f.Check(
		events.From.IsZero() || events.From.Before(events.To), "to", fault.DetailOutOfRange,
		"The range must end after it begins.",
	)
	if err := f.Err(); err != nil {
		return 0, next, err
	}
	for {
		n, last, err := s.replayPage(ctx, creatorID, endpointID, events)
		replayed += n
		if err != nil || last == "" {
			return replayed, next, err
		}
		events.After = ports.Cursor{Value: events.To.UnixMilli(), ID: last}
		if s.deps.Clock.Real().Sub(began) >= replayTime {
			return replayed, events.After, nil
		}
	}
}

// replayPage makes one page of events due again in one transaction; last is "" when there are no more.
func (s *Service) replayPage(
	ctx context.Context, creatorID, endpointID string, events ReplayRange,
) (replayed int, last string, err error) {
	err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		replayed, last = 0, ""
		// of two replays at once both would make the delivery of an event that has none
		if err := r.Webhooks.Endpoints.LockReplay(ctx, endpointID); err != nil {
			return err
		}
		endpoint, err := s.retryNow(ctx, r, creatorID, endpointID)
		if err != nil {
			return err
		}
		records, err := r.Webhooks.Events.ListBetween(ctx, creatorID, events.From, events.To, events.After.ID, backlogPage)
		if err != nil {
			return err
		}
		if len(records) == backlogPage {
			last = records[len(records)-1].ID
		}
		subscribed := subscribedTo(endpoint)
		records = slices.DeleteFunc(
			records, func(record event.Record) bool { return !slices.Contains(subscribed, string(record.Type)) },
		)
		replayed = len(records)
		return s.replay(ctx, r, endpoint, records)
	})
	return replayed, last, err
}

// replay makes events due again at an endpoint.
func (s *Service) replay(ctx context.Context, r ports.Repos, e webhook.EndpointState, records []event.Record) error {
	ids := make([]string, len(records))
	for i, record := range records {
		ids[i] = record.ID
	}
	made, err := r.Webhooks.Deliveries.ListByEvents(ctx, e.CreatorID, e.ID, ids)
	if err != nil {
		return err
	}
	for _, record := range records {
		if found, known := made[record.ID]; known {
			_, err = s.again(ctx, r, e, found)
		} else { // the endpoint is younger than the event
			err = s.deliverTo(ctx, r, e, record)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
