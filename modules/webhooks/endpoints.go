package webhooks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"sundry/core/event"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/identity"
	"sundry/core/quota"
	"sundry/core/webhook"
	"sundry/ports"
)

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
	return found, ports.Missing(err, "webhook endpoint")
}

// Secret returns the endpoint's signing secret as shown to its owner. NOT_FOUND.
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

// change loads an endpoint of the account, lets alter change it and saves it. Wake makes the backlog of one that was
// enabled due after it was saved: a delivery written to one that is disabled locks it meanwhile (schedule), so the
// backlog is complete by then.
func (s *Service) change(
	ctx context.Context, creatorID, endpointID string, alter func(e *webhook.Endpoint, now time.Time),
) (webhook.EndpointState, error) {
	var changed webhook.EndpointState
	err := s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		found, err := r.Webhooks.Endpoints.Get(ctx, creatorID, endpointID)
		if err != nil {
			return ports.Missing(err, "webhook endpoint")
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
		return r.Tasks.Schedule(ctx, TaskWake, endpointID+"/", creatorID, now)
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

// backlogPage bounds the deliveries that one transaction makes due.
const backlogPage = 500

// Wake makes the first deliveries due of those that wait for an endpoint, and schedules itself for the others: a long
// backlog is not to hold the writers of other accounts up. Task TaskWake.
func (s *Service) Wake(ctx context.Context, t ports.Task) error {
	endpointID, after, _ := strings.Cut(t.Subject, "/")
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		endpoint, err := r.Webhooks.Endpoints.GetForShare(ctx, t.CreatorID, endpointID)
		if errors.Is(err, ports.ErrNotFound) || err == nil && !endpoint.Enabled {
			return r.Tasks.Done(ctx, t)
		}
		if err != nil {
			return err
		}
		now, err := r.Clock.Now(ctx, t.CreatorID)
		if err != nil {
			return err
		}
		waiting, err := r.Webhooks.Deliveries.ListPending(ctx, t.CreatorID, endpointID, after, backlogPage)
		if err != nil {
			return err
		}
		for _, d := range waiting {
			// Moved, not ensured: a retry may still stand hours away from before the endpoint was disabled.
			if err := r.Tasks.Schedule(ctx, TaskDeliver, subjectOf(d), t.CreatorID, now); err != nil {
				return err
			}
		}
		if len(waiting) == backlogPage {
			rest := subjectOf(waiting[backlogPage-1])
			if err := r.Tasks.Schedule(ctx, TaskWake, rest, t.CreatorID, now); err != nil {
				return err
			}
		}
		return r.Tasks.Done(ctx, t)
	})
}

// DeleteEndpoint forgets an endpoint. What waits for it is not sent any more.
func (s *Service) DeleteEndpoint(ctx context.Context, creatorID, endpointID string) (webhook.EndpointState, error) {
	var deleted webhook.EndpointState
	err := s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		var err error
		if deleted, err = r.Webhooks.Endpoints.Get(ctx, creatorID, endpointID); err != nil {
			return ports.Missing(err, "webhook endpoint")
		}
		// first, because it waits for what pauses or limits the endpoint's tasks meanwhile
		if err := r.Webhooks.Endpoints.Delete(ctx, creatorID, endpointID); err != nil {
			return err
		}
		if err := r.Tasks.ResumeKey(ctx, endpointID); err != nil { // its tasks shall run, to end
			return err
		}
		if err := r.Tasks.LimitKey(ctx, endpointID, ports.KeyLimit{}); err != nil {
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
		endpoint, err := s.retryNow(ctx, r, creatorID, endpointID)
		if err != nil {
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
