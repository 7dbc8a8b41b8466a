package webhooks

import (
	"context"
	"strings"

	"sundry/adapters/gormstore/repo"
	"sundry/core/id"
	"sundry/core/webhook"
)

type audit struct{ *repo.Base }

// ListEndpoints implements ports.WebhookAudit.
func (t audit) ListEndpoints(_ context.Context, afterID string, limit int) ([]webhook.EndpointState, error) {
	return repo.ListBy(t.Base, "list endpoints to verify", t.DB.Where("id > ?", afterID).Order("id").Limit(limit),
		endpointRow.toState)
}

// ListUndelivered implements ports.WebhookAudit. One statement sees one state of the database: an event in it had seen
// the endpoint at this revision or an earlier one.
func (t audit) ListUndelivered(_ context.Context, e webhook.EndpointState, types []string,
	limit int) ([]string, error) {
	if e.SubscribedSince.IsZero() || len(types) == 0 {
		return nil, nil
	}
	return t.QueryIDs("list events without a delivery to "+e.ID,
		"SELECT e.id FROM webhook_endpoints w JOIN events e ON e.creator_id = w.creator_id AND e.created_at >= ? AND "+
			"e.type IN ? "+
			"WHERE "+t.Made("e.id", id.Event)+" AND "+
			"w.id = ? AND w.revision = ? AND e.id >= COALESCE((SELECT value FROM deployment WHERE name = "+
			"'deliveries_from'), '') AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.event_id = e.id AND d.endpoint_id "+
			"= w.id) "+
			"ORDER BY e.id LIMIT ?",
		repo.UnixMillis(e.SubscribedSince), types, e.ID, e.Revision, limit)
}

// ListGaps implements ports.WebhookAudit. The positions of an account rise by one with each event, so a missing one was
// deleted. What retention deletes, oldest first, is before events_from.
func (t audit) ListGaps(_ context.Context, limit int) ([]string, error) {
	const kept = " >= COALESCE((SELECT value FROM deployment WHERE name = 'events_from'), '')"
	// an id as old as the account's
	const madeWith = "'" + string(id.Event) + "_' || SUBSTR(creator_id, LENGTH('" + string(id.Creator) + "_') + 1)"
	const gap = `creator_id || ' are not complete: ' || CASE WHEN position = previous + 2
			THEN 'position ' || (previous + 1) || ' is missing'
			ELSE 'positions ' || (previous + 1) || ' to ' || (position - 1) || ' are missing' END`
	return t.QueryWhole("audit events", `SELECT `+gap+` FROM (
			SELECT creator_id, position, COALESCE(LAG(position) OVER account, 0) AS previous, COALESCE(LAG(id) OVER account,
			`+madeWith+`) AS previous_id
			FROM events WINDOW account AS (PARTITION BY creator_id ORDER BY position, id)
			UNION ALL
			SELECT p.creator_id, p.last + 1, COALESCE(e.last, 0),
			COALESCE(e.id, `+strings.ReplaceAll(madeWith, "creator_id", "p.creator_id")+`)
			FROM event_positions p LEFT JOIN (SELECT creator_id, MAX(position) AS last, MAX(id) AS id FROM events
			GROUP BY creator_id) e
				ON e.creator_id = p.creator_id
		) AS steps WHERE position > previous + 1 AND previous_id`+kept+" ORDER BY creator_id, position LIMIT ?", limit)
}

// ListStranded implements ports.WebhookAudit.
func (t audit) ListStranded(_ context.Context, makes, wakes string, limit int) ([]string, error) {
	return t.QueryIDs("list deliveries without a task", `
WITH awake AS MATERIALIZED (
    SELECT w.id FROM webhook_endpoints w
    WHERE w.enabled AND NOT EXISTS (SELECT 1 FROM tasks k
        WHERE k.creator_id = w.creator_id AND k.kind = ? AND k.subject LIKE w.id || '/%')
)
SELECT d.id FROM deliveries d JOIN awake ON awake.id = d.endpoint_id
WHERE d.status = 'pending' AND NOT EXISTS (
    SELECT 1 FROM tasks WHERE tasks.id = ? || d.endpoint_id || '/' || d.id)
ORDER BY d.id LIMIT ?`, wakes, makes+":", limit)
}
