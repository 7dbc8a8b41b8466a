package webhooks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"sundry/core/event"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/identity"
	"sundry/core/quota"
	"sundry/core/webhook"
	"sundry/ports"
)

func errNoEndpoint() error { return fault.NotFound("webhook endpoint") }

func missing(err error, refusal error) error {
	if errors.Is(err, ports.ErrNotFound) {
		return refusal
	}
	return err
}

// CheckEndpoint lists everything that is wrong with an edit, or with a new endpoint.
func (s *Service) CheckEndpoint(edit webhook.EndpointEdit, isNew bool) error {
	var f fault.Violations
	edit.Check(isNew, s.cfg.Receivers, &f)
	return f.Err()
}

// CreateEndpoint registers an endpoint and returns its signing secret as shown to its owner.
func (s *Service) CreateEndpoint(
	ctx context.Context, creatorID string, edit webhook.EndpointEdit,
) (webhook.EndpointState, string, error) {
	if err := s.CheckEndpoint(edit, true); err != nil {
		return webhook.EndpointState{}, "", err
	}
	secret := s.deps.IDs.Random(webhook.SecretBytes)
	var created webhook.EndpointState
	err := s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		now, err := r.Clock.Now(ctx, creatorID)
		if err != nil {
			return err
		}
		if err := s.admitEndpoint(ctx, r, creatorID); err != nil {
			return err
		}
		created = webhook.NewEndpoint(s.deps.IDs.New(id.WebhookEndpoint), creatorID, edit, s.deps.Encrypter.Encrypt(secret),
			now).State()
		if err := r.Webhooks.Endpoints.Insert(ctx, created); err != nil {
			return err
		}
		if err := limitDeliveries(
			ctx, r, webhook.EndpointState{MaxInFlight: webhook.DefaultInFlight}, created,
		); err != nil {
			return err
		}
		return s.audit(ctx, r, identity.WebhookEndpointCreated, created)
	})
	return created, webhook.FormatSecret(secret), err
}

// audit records what was done to an endpoint, with its URL.
func (s *Service) audit(
	ctx context.Context, r ports.Repos, kind identity.AccountEventKind, e webhook.EndpointState,
) error {
	return ports.PublishAudited(ctx, r, s.deps.Bus, identity.Audited{
		CreatorID: e.CreatorID, Kind: kind, ObjectID: e.ID, Note: e.URL,
	})
}

// admitEndpoint refuses one endpoint more than an account may have: each multiplies every event. LIMIT_REACHED.
func (s *Service) admitEndpoint(ctx context.Context, r ports.Repos, creatorID string) error {
	return s.deps.Standing.CheckLimit(ctx, r, creatorID, quota.WebhookEndpoints, func() (int64, error) {
		all, err := r.Webhooks.Endpoints.ListAll(ctx, creatorID)
		return int64(len(all)) + 1, err
	})
}

// limitDeliveries gives the tasks of an endpoint the limits that its owner set.
func limitDeliveries(ctx context.Context, r ports.Repos, before, after webhook.EndpointState) error {
	if before.MaxInFlight == after.MaxInFlight && before.MaxPerSecond == after.MaxPerSecond {
		return nil
	}
	return r.Tasks.LimitKey(ctx, after.ID, ports.KeyLimit{MaxRunning: after.MaxInFlight, PerSecond: after.MaxPerSecond})
}

// Endpoints lists the account's endpoints, newest first.
func (s *Service) Endpoints(
	ctx context.Context, creatorID string, page ports.Page,
) (ports.List[webhook.EndpointState], error) {
	return s.deps.Store.Read(ctx).Webhooks.Endpoints.List(ctx, creatorID, page)
}

// Endpoint shows one of the account's endpoints. NOT_FOUND.
func (s *Service) Endpoint(ctx context.Context, creatorID, endpointID string) (webhook.EndpointState, error) {
	found, err := s.deps.Store.Read(ctx).Webhooks.Endpoints.Get(ctx, creatorID, endpointID)
	return found, missing(err, errNoEndpoint())
}

// Secret is the endpoint's signing secret as shown to its owner. NOT_FOUND.
func (s *Service) Secret(ctx context.Context, creatorID, endpointID string) (string, error) {
	found, err := s.Endpoint(ctx, creatorID, endpointID)
	if err != nil {
		return "", err
	}
	plain, err := s.deps.Encrypter.Decrypt(found.Secret)
	if err != nil {
		return "", fmt.Errorf("open the secret of %s: %w", endpointID, err)
	}
	return webhook.FormatSecret(plain), nil
}

// change loads an endpoint of the account, lets alter change it and saves it. An endpoint that was enabled has its
// backlog made due after it was saved: a delivery written to one that is disabled locks it meanwhile (schedule), so
// the backlog is complete by then.
func (s *Service) change(
	ctx context.Context, creatorID, endpointID string, alter func(e *webhook.Endpoint, now time.Time),
) (webhook.EndpointState, error) {
	var changed webhook.EndpointState
	err := s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		found, err := r.Webhooks.Endpoints.Get(ctx, creatorID, endpointID)
		if err != nil {
			return missing(err, errNoEndpoint())
		}
		now, err := r.Clock.Now(ctx, creatorID)
		if err != nil {
			return err
		}
		endpoint := webhook.RestoreEndpoint(found)
		alter(endpoint, now)
		changed = endpoint.State()
		if err := r.Webhooks.Endpoints.Update(ctx, changed); err != nil {
			return err
		}
		if err := s.audit(ctx, r, identity.WebhookEndpointChanged, changed); err != nil {
			return err
		}
		if err := limitDeliveries(ctx, r, found, changed); err != nil {
			return err
		}
		if err := s.hold(ctx, r, found, changed); err != nil || found.Enabled || !changed.Enabled {
			return err
		}
		return s.wakeBacklog(ctx, r, changed, now)
	})
	return changed, err
}

// EditEndpoint changes an endpoint. Enabling one makes its backlog due.
func (s *Service) EditEndpoint(
	ctx context.Context, creatorID, endpointID string, edit webhook.EndpointEdit,
) (webhook.EndpointState, error) {
	if err := s.CheckEndpoint(edit, false); err != nil {
		return webhook.EndpointState{}, err
	}
	return s.change(ctx, creatorID, endpointID, func(e *webhook.Endpoint, now time.Time) { e.Edit(edit, now) })
}

// backlogPage is the number of waiting deliveries that one query makes due.
const backlogPage = 500

func (s *Service) wakeBacklog(ctx context.Context, r ports.Repos, e webhook.EndpointState, now time.Time) error {
	for after := ""; ; {
		waiting, err := r.Webhooks.Deliveries.ListPending(ctx, e.CreatorID, e.ID, after, backlogPage)
		if err != nil {
			return err
		}
		for _, d := range waiting {
			// Moved, not ensured: a retry may still stand hours away from before the endpoint was disabled.
			if err := r.Tasks.Schedule(ctx, TaskDeliver, subjectOf(d), d.CreatorID, now); err != nil {
				return err
			}
			after = d.ID
		}
		if len(waiting) < backlogPage {
			return nil
		}
	}
}

// DeleteEndpoint forgets an endpoint. What waits for it is not sent any more.
func (s *Service) DeleteEndpoint(ctx context.Context, creatorID, endpointID string) (webhook.EndpointState, error) {
	var deleted webhook.EndpointState
	err := s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		var err error
		if deleted, err = r.Webhooks.Endpoints.Get(ctx, creatorID, endpointID); err != nil {
			return missing(err, errNoEndpoint())
		}
		if err := r.Tasks.ResumeKey(ctx, endpointID); err != nil { // its tasks shall run, to end
			return err
		}
		if err := r.Tasks.LimitKey(ctx, endpointID, ports.KeyLimit{}); err != nil {
			return err
		}
		if err := r.Webhooks.Endpoints.Delete(ctx, creatorID, endpointID); err != nil {
			return err
		}
		return s.audit(ctx, r, identity.WebhookEndpointDeleted, deleted)
	})
	return deleted, err
}

// RotateSecret creates a new signing secret and returns it. The previous one signs for another 24 hours.
func (s *Service) RotateSecret(
	ctx context.Context, creatorID, endpointID string,
) (webhook.EndpointState, string, error) {
	secret := s.deps.IDs.Random(webhook.SecretBytes)
	encrypted := s.deps.Encrypter.Encrypt(secret)
	changed, err := s.change(
		ctx, creatorID, endpointID, func(e *webhook.Endpoint, now time.Time) { e.Rotate(encrypted, now) },
	)
	return changed, webhook.FormatSecret(secret), err
}

// Test sends a test event to one endpoint, whatever it subscribes to.
func (s *Service) Test(ctx context.Context, creatorID, endpointID string) (webhook.DeliveryState, error) {
	var delivery webhook.DeliveryState
	err := s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		endpoint, err := r.Webhooks.Endpoints.Get(ctx, creatorID, endpointID)
		if err != nil {
			return missing(err, errNoEndpoint())
		}
		if !endpoint.Enabled {
			return fault.New(fault.StateConflict, "The endpoint is disabled. Enable it first.")
		}
		if endpoint, err = s.retryNow(ctx, r, endpoint); err != nil {
			return err
		}
		record, err := s.insertEvent(
			ctx, r, creatorID, event.WebhookEndpointTest, map[string]any{"endpointId": endpointID},
		)
		if err != nil {
			return err
		}
		if err := s.deliverTo(ctx, r, endpoint, record); err != nil {
			return err
		}
		delivery, err = r.Webhooks.Deliveries.GetByEvent(ctx, creatorID, record.ID, endpointID)
		return err
	})
	return delivery, err
}

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
		if !endpoint.Enabled {
			d.NextAttemptAt = time.Time{} // none is due before it is enabled
		}
		list.Items = append(list.Items, Delivered{d, attempts[d.ID]})
	}
	return list, err
}

// Delivery shows one delivery of an endpoint with every attempt. NOT_FOUND.
func (s *Service) Delivery(ctx context.Context, creatorID, endpointID, deliveryID string) (Delivered, error) {
	r := s.deps.Store.Read(ctx)
	found, err := r.Webhooks.Deliveries.Get(ctx, creatorID, deliveryID)
	if err == nil && found.EndpointID != endpointID {
		err = ports.ErrNotFound
	}
	if err != nil {
		return Delivered{}, missing(err, fault.NotFound("delivery"))
	}
	attempts, err := r.Webhooks.Deliveries.ListAttempts(ctx, creatorID, []string{deliveryID})
	return Delivered{found, attempts[deliveryID]}, err
}

// Redeliver makes one delivery due again, whatever its state. NOT_FOUND; STATE_CONFLICT for a disabled endpoint.
func (s *Service) Redeliver(ctx context.Context, creatorID, endpointID, deliveryID string) (Delivered, error) {
	var again webhook.DeliveryState
	err := s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		endpoint, err := r.Webhooks.Endpoints.Get(ctx, creatorID, endpointID)
		if err != nil {
			return missing(err, errNoEndpoint())
		}
		if !endpoint.Enabled {
			return fault.New(fault.StateConflict, "The endpoint is disabled. Enable it first.")
		}
		found, err := r.Webhooks.Deliveries.Get(ctx, creatorID, deliveryID)
		if err == nil && found.EndpointID != endpointID {
			err = ports.ErrNotFound
		}
		if err != nil {
			return missing(err, fault.NotFound("delivery"))
		}
		if endpoint, err = s.retryNow(ctx, r, endpoint); err != nil {
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

// retryNow allows the next attempt at an endpoint whose circuit is open: a manual redelivery means that the endpoint
// was repaired, or is being tested.
func (s *Service) retryNow(ctx context.Context, r ports.Repos, e webhook.EndpointState) (webhook.EndpointState, error) {
	now, err := r.Clock.Now(ctx, e.CreatorID)
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

// Replay sends every matching event of [from, to) again, delivered or not, under its own id. It returns how many. Zero
// to is now. NOT_FOUND; STATE_CONFLICT for a disabled endpoint.
func (s *Service) Replay(ctx context.Context, creatorID, endpointID string, from, to time.Time) (int, error) {
	now, err := s.deps.Clock.Now(ctx, creatorID)
	if err != nil {
		return 0, err
	}
	if to.IsZero() {
		to = now.Add(time.Millisecond)
	}
	var f fault.Violations
	f.Check(!from.IsZero(), "from", fault.DetailRequired, "Specify from when events are to be sent again.")
	f.Check(from.IsZero() || from.Before(to), "to", fault.DetailOutOfRange, "The range must end after it begins.")
	if err := f.Err(); err != nil {
		return 0, err
	}
	replayed := 0
	for after := ""; ; {
		n, last, err := s.replayPage(ctx, creatorID, endpointID, from, to, after)
		replayed += n
		if err != nil || last == "" {
			return replayed, err
		}
		after = last
	}
}

// replayPage makes one page of events due again in one transaction; last is "" when there are no more.
func (s *Service) replayPage(
	ctx context.Context, creatorID, endpointID string, from, to time.Time, after string,
) (replayed int, last string, err error) {
	err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		replayed, last = 0, ""
		endpoint, err := r.Webhooks.Endpoints.Get(ctx, creatorID, endpointID)
		if err != nil {
			return missing(err, errNoEndpoint())
		}
		if !endpoint.Enabled {
			return fault.New(fault.StateConflict, "The endpoint is disabled. Enable it first.")
		}
		records, err := r.Webhooks.Events.ListBetween(ctx, creatorID, from, to, after, backlogPage)
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
		if endpoint, err = s.retryNow(ctx, r, endpoint); err != nil {
			return err
		}
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
	return webhook.WithLinks(found, s.cfg.Invoices), missing(err, fault.NotFound("event"))
}
