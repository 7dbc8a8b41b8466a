package gormstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"sundry/core/webhook"
	"sundry/ports"
)

var _ ports.Outbox = (*Store)(nil)

// readDue is a delivery with its endpoint and its event; both engines prepare it once per connection.
const readDue = `
SELECT d.event_id, d.event_type, d.endpoint_id, d.status, d.attempt_count, d.round_attempts, d.next_attempt_at, d.created_at, d.revision,
    w.url, w.events, w.enabled, w.disabled_reason, w.secret, w.previous_secret, w.previous_until, w.failures, w.failing_since, w.open_until,
    w.subscribed_since, w.created_at, w.revision,
    e.type, e.livemode, e.data, e.created_at
FROM deliveries d JOIN webhook_endpoints w ON w.id = d.endpoint_id AND w.creator_id = d.creator_id JOIN events e ON e.id = d.event_id
WHERE d.id = $1 AND d.creator_id = $2`

// ReadDue implements ports.Outbox.
func (s *Store) ReadDue(ctx context.Context, creatorID, deliveryID string) (ports.DueDelivery, error) {
	d, w, e := deliveryRow{ID: deliveryID, CreatorID: creatorID}, endpointRow{CreatorID: creatorID}, eventRow{CreatorID: creatorID}
	err := s.point(ctx, readDue, deliveryID, creatorID).Scan(
		&d.EventID, &d.EventType, &d.EndpointID, &d.Status, &d.AttemptCount, &d.RoundAttempts, &d.NextAttemptAt, &d.CreatedAt, &d.Revision,
		&w.URL, &w.Events, &w.Enabled, &w.DisabledReason, &w.Secret, &w.PreviousSecret, &w.PreviousUntil, &w.Failures, &w.FailingSince, &w.OpenUntil,
		&w.SubscribedSince, &w.CreatedAt, &w.Revision,
		&e.Type, &e.Livemode, &e.Data, &e.CreatedAt)
	switch {
	case errors.Is(err, pgx.ErrNoRows), errors.Is(err, sql.ErrNoRows):
		return ports.DueDelivery{}, fmt.Errorf("read delivery %s: %w", deliveryID, ports.ErrNotFound)
	case err != nil:
		return ports.DueDelivery{}, fmt.Errorf("read delivery %s: %w", deliveryID, err)
	}
	w.ID, e.ID = d.EndpointID, d.EventID
	return ports.DueDelivery{Delivery: d.state(), Endpoint: w.state(), Event: e.record()}, nil
}

// Arrived implements ports.Outbox.
func (s *Store) Arrived(ctx context.Context, t ports.Task, d webhook.DeliveryState, a webhook.Attempt) error {
	if s.pool == nil {
		return s.arrivedByParts(ctx, t, d, a)
	}
	one := &arrival{t, d, a, make(chan error, 1)}
	s.arrivals.add(one, func(all []*arrival) { s.conclude(context.WithoutCancel(ctx), all) })
	return <-one.done
}

// arrivedByParts is Arrived on SQLite, where messages cost nothing and WITH cannot write.
func (s *Store) arrivedByParts(ctx context.Context, t ports.Task, d webhook.DeliveryState, a webhook.Attempt) error {
	return s.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		err := r.Deliveries.Save(ctx, d)
		if errors.Is(err, ports.ErrStale) {
			return fmt.Errorf("conclude delivery %s: %w", d.ID, ports.ErrFenced)
		}
		if err == nil {
			err = r.Deliveries.AddAttempt(ctx, d.CreatorID, d.ID, a)
		}
		if err == nil {
			err = r.Tasks.Done(ctx, t)
		}
		return err
	})
}
