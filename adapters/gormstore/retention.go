package gormstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/adapters/gormstore/usage"
	"sundry/core/id"
	"sundry/ports"
)

// retentionBatch bounds the rows that one transaction deletes.
const retentionBatch = 2_000

// mailBodyWindow bounds the scan for mails whose bodies may still be there: the deletion runs far more often.
const mailBodyWindow = 60 * 24 * time.Hour

// commitSlack is more than the time from the making of an id to its commit: rows around a time may be committed in
// another order than that of their ids.
const commitSlack = time.Hour

// deletion is one kind of rows: pick selects ids of at most so many, by its arguments and a last one; each statement is
// run with those ids.
type deletion struct {
	op   string
	pick string
	args []any
	each []string
}

func (s *Store) deletions(k ports.Retention) []deletion {
	released := "SELECT s.id FROM sessions s WHERE s.id < ? AND s.status = 'expired' AND s.customer_id = '' " +
		"AND NOT EXISTS (SELECT 1 FROM payments p WHERE p.purpose = 'checkout' AND p.subject_id = s.id) " +
		"AND NOT EXISTS (SELECT 1 FROM reservations r WHERE r.creator_id = s.creator_id AND r.checkout_id = s.id AND " +
		"r.status <> 'released') " +
		"AND NOT EXISTS (SELECT 1 FROM appointments a WHERE a.creator_id = s.creator_id AND a.checkout_id = s.id) " +
		"AND NOT EXISTS (SELECT 1 FROM discount_redemptions d WHERE d.creator_id = s.creator_id AND d.checkout_id = s.id) " +
		"AND NOT EXISTS (SELECT 1 FROM tasks t WHERE t.id = 'checkout.expire:' || s.id) LIMIT ?"
	return []deletion{
		{
			op: "delete deliveries", args: []any{id.First(id.Event, k.Deliveries), k.Deliveries.UnixMilli()},
			pick: "SELECT d.id FROM deliveries d WHERE d.event_id < ? AND (d.status <> 'pending' " +
				"OR NOT EXISTS (SELECT 1 FROM webhook_endpoints w WHERE w.id = d.endpoint_id)) " + // it was deleted
				"AND NOT EXISTS (SELECT 1 FROM delivery_attempts a WHERE a.delivery_id = d.id AND a.at >= ?) LIMIT ?",
			each: []string{"DELETE FROM delivery_attempts WHERE delivery_id IN ?", "DELETE FROM deliveries WHERE id IN ?"},
		},
		{
			op: "delete events", args: []any{id.First(id.Event, k.Events)},
			pick: "SELECT e.id FROM events e WHERE e.id < ? AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.event_id = " +
				"e.id) LIMIT ?",
			each: []string{"DELETE FROM events WHERE id IN ?"},
		},
		{
			op: "delete expired sessions", pick: released, args: []any{id.First(id.CheckoutSession, k.Sessions)},
			each: []string{"DELETE FROM reservations WHERE checkout_id IN ?", "DELETE FROM sessions WHERE id IN ?"},
		},
		{
			op:   "empty mails",
			args: []any{id.First(id.Mail, k.MailBodies.Add(-mailBodyWindow)), id.First(id.Mail, k.MailBodies)},
			pick: "SELECT m.id FROM mails m WHERE m.id >= ? AND m.id < ? AND m.data <> '{}' AND (m.sent_at IS NOT NULL OR " +
				"m.refused_at IS NOT NULL) LIMIT ?",
			each: []string{"UPDATE mails SET data = '{}' WHERE id IN ?"},
		},
		{
			op: "delete API requests", args: []any{id.First(id.Request, k.Requests)},
			pick: "SELECT q.id FROM api_requests q WHERE q.id < ? LIMIT ?",
			each: []string{"DELETE FROM api_requests WHERE id IN ?"},
		},
		{
			op: "delete released images", args: []any{k.Images.UnixMilli()},
			pick: "SELECT i.id FROM images i WHERE i.released_at < ? LIMIT ?",
			each: []string{"DELETE FROM images WHERE id IN ?"},
		},
	}
}

// DeleteOld deletes what nobody needs any more, in short transactions. From then on no event of before k.Deliveries is
// expected to have deliveries, and none of before k.Events to be there.
func (s *Store) DeleteOld(ctx context.Context, k ports.Retention) error {
	for name, kept := range map[string]time.Time{"deliveries_from": k.Deliveries,
		"events_from": k.Events.Add(commitSlack)} {
		_, err := s.rowsChanged(ctx, "note retention", `INSERT INTO deployment (name, value) VALUES (?, ?)
			ON CONFLICT (name) DO UPDATE SET value = excluded.value
			WHERE deployment.value < excluded.value`, name, id.First(id.Event, kept))
		if err != nil {
			return err
		}
	}
	for _, d := range s.deletions(k) {
		for more := true; more; {
			var err error
			if more, err = s.deleteBatch(ctx, d); err != nil {
				return err
			}
		}
	}
	err := usage.DeleteReports(k.Usage, func(step func(*repo.Base) error) error {
		return s.Atomically(ctx, func(ctx context.Context, _ ports.Repos) error {
			return step(s.base(ctx))
		})
	})
	if err != nil {
		return err
	}
	// A creator may be far ahead of real time, never behind it.
	for n := int64(retentionBatch); n == retentionBatch; {
		var err error
		if n, err = s.rowsChanged(ctx, "delete old busy times", `DELETE FROM busy_times WHERE (creator_id, url, starts_at) IN
			(SELECT creator_id, url, starts_at FROM busy_times WHERE ends_at < ?
			LIMIT ?)`, k.Now.Add(-24*time.Hour).UnixMilli(), retentionBatch); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) deleteBatch(ctx context.Context, d deletion) (more bool, err error) {
	err = s.Atomically(ctx, func(ctx context.Context, _ ports.Repos) error {
		b := s.base(ctx)
		ids, err := b.QueryIDs(d.op, d.pick, append(slices.Clip(d.args), retentionBatch)...)
		if err != nil || len(ids) == 0 {
			more = false
			return err
		}
		for _, statement := range d.each {
			if err := b.Exec(d.op, statement, ids); err != nil {
				return err
			}
		}
		more = len(ids) == retentionBatch
		return nil
	})
	return more, err
}

func (s *Store) rowsChanged(ctx context.Context, op, statement string, args ...any) (changed int64, err error) {
	err = s.Atomically(ctx, func(ctx context.Context, _ ports.Repos) error {
		res := s.reader(ctx).Exec(statement, args...)
		changed = res.RowsAffected
		return res.Error
	})
	if err != nil {
		return 0, fmt.Errorf("%s: %w", op, err)
	}
	return changed, nil
}
