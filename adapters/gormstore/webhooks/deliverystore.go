package webhooks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"sundry/adapters/gormstore/repo"
	"sundry/core/webhook"
	"sundry/ports"
)

// DeliveryStore implements ports.DeliveryStore.
type DeliveryStore struct {
	engine repo.Engine
	store  ports.Store
	// delivered gathers what has arrived; nil on SQLite.
	delivered *repo.Batcher[deliveredAttempt]
	// due gathers what is to be read; nil on SQLite.
	due *repo.Batcher[*dueRead]
}

var _ ports.DeliveryStore = (*DeliveryStore)(nil)

// NewDeliveryStore returns the hot path of delivering beside a store of the same engine.
func NewDeliveryStore(engine repo.Engine, store ports.Store) *DeliveryStore {
	s := &DeliveryStore{engine: engine, store: store}
	if engine.Pool != nil {
		s.delivered = repo.NewTaskBatcher(
			engine, recordSQL, func(d deliveredAttempt) ports.Task { return d.task }, deliveredColumns,
		)
		s.due = repo.NewBatcher(repo.BatchConfig[*dueRead]{
			MaxBatch: repo.MaxTaskBatch, Timeout: repo.TaskBatchTimeout, Capacity: repo.MaxTasksWaiting, Write: s.readBatch,
		})
	}
	return s
}

// dueRead is a delivery to be read with its endpoint and its event.
type dueRead struct {
	creatorID, deliveryID string
	found                 ports.DueDelivery
}

// dueSQL is such a delivery; both engines prepare it once per connection.
const dueSQL = `
SELECT d.id, d.creator_id, d.event_id, d.event_type, d.endpoint_id, d.status, d.attempt_count, d.round_attempts,
    d.next_attempt_at, d.created_at, d.revision,
    w.url, w.events, w.enabled, w.disabled_reason, w.max_in_flight, w.max_per_second, w.secret,
    w.previous_secret, w.previous_until, w.failures, w.failing_since, w.open_until,
    w.subscribed_since, w.created_at, w.revision,
    e.type, e.livemode, e.data, e.created_at, COALESCE((SELECT c.offset_ms FROM clock_offsets c
        WHERE c.creator_id = d.creator_id), 0)
            FROM deliveries d JOIN webhook_endpoints w ON w.id = d.endpoint_id AND w.creator_id = d.creator_id
                JOIN events e ON e.id = d.event_id
WHERE d.id = `

// GetDue implements ports.DeliveryStore.
func (s *DeliveryStore) GetDue(ctx context.Context, creatorID, deliveryID string) (ports.DueDelivery, error) {
	read := &dueRead{creatorID: creatorID, deliveryID: deliveryID}
	if s.due != nil {
		err := s.due.Do(ctx, read)
		return read.found, err
	}
	found, err := scanDue(s.engine.Point(ctx, dueSQL+"$1 AND d.creator_id = $2", deliveryID, creatorID))
	return found, s.engine.Failure("get due delivery "+deliveryID, err)
}

// readBatch reads the deliveries of many workers at once. ErrNotFound for each that is not there.
func (s *DeliveryStore) readBatch(ctx context.Context, all []*dueRead) []error {
	ids := make([]string, len(all))
	for i, one := range all {
		ids[i] = one.deliveryID
	}
	rows, err := s.engine.Pool.Query(ctx, dueSQL+"ANY($1::text[])", ids)
	found := map[string]ports.DueDelivery{}
	if err == nil {
		var list []ports.DueDelivery
		list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (ports.DueDelivery, error) { return scanDue(row) })
		for _, due := range list {
			found[due.Delivery.ID] = due
		}
	}
	results := make([]error, len(all))
	for i, one := range all {
		due, known := found[one.deliveryID]
		if err == nil && (!known || due.Delivery.CreatorID != one.creatorID) {
			results[i] = fmt.Errorf("get due delivery %s: %w", one.deliveryID, ports.ErrNotFound)
			continue
		}
		one.found, results[i] = due, s.engine.Failure("get due delivery "+one.deliveryID, err)
	}
	return results
}

// scanDue reads a row of dueSQL.
func scanDue(row repo.Scanner) (ports.DueDelivery, error) {
	var d deliveryRow
	var w endpointRow
	var e eventRow
	var offset int64
	err := row.Scan(
		&d.ID, &d.CreatorID, &d.EventID, &d.EventType, &d.EndpointID, &d.Status, &d.AttemptCount, &d.RoundAttempts,
		&d.NextAttemptAt, &d.CreatedAt, &d.Revision,
		&w.URL, &w.Events, &w.Enabled, &w.DisabledReason, &w.MaxInFlight, &w.MaxPerSecond, &w.Secret, &w.PreviousSecret,
		&w.PreviousUntil, &w.Failures, &w.FailingSince, &w.OpenUntil,
		&w.SubscribedSince, &w.CreatedAt, &w.Revision,
		&e.Type, &e.Livemode, &e.Data, &e.CreatedAt, &offset)
	if err != nil {
		return ports.DueDelivery{}, err
	}
	w.ID, e.ID, w.CreatorID, e.CreatorID = d.EndpointID, d.EventID, d.CreatorID, d.CreatorID
	return ports.DueDelivery{Delivery: d.toState(), Endpoint: w.toState(), Event: e.toRecord(),
		ClockOffset: time.Duration(offset) * time.Millisecond}, nil
}

// RecordDelivered implements ports.DeliveryStore.
func (s *DeliveryStore) RecordDelivered(ctx context.Context, t ports.Task, d webhook.DeliveryState,
	a webhook.Attempt) error {
	if s.delivered == nil {
		return s.recordAlone(ctx, t, d, a)
	}
	return s.delivered.Do(ctx, deliveredAttempt{t, d, a})
}

// recordAlone is RecordDelivered on SQLite, where round trips cost nothing and WITH cannot write.
func (s *DeliveryStore) recordAlone(ctx context.Context, t ports.Task, d webhook.DeliveryState,
	a webhook.Attempt) error {
	return s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		err := r.Webhooks.Deliveries.Update(ctx, d)
		if errors.Is(err, ports.ErrStale) {
			return fmt.Errorf("record delivery %s: %w", d.ID, ports.ErrFenced)
		}
		if err == nil {
			err = r.Webhooks.Deliveries.InsertAttempt(ctx, d.CreatorID, d.ID, a)
		}
		if err == nil {
			err = r.Tasks.Done(ctx, t)
		}
		return err
	})
}
