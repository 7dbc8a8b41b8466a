package webhooks

import (
	"context"

	"sundry/adapters/gormstore/repo"
	"sundry/core/webhook"
)

type audit struct{ repo.Base }

// ListEndpoints implements ports.WebhookAudit.
func (t audit) ListEndpoints(_ context.Context, afterID string, limit int) ([]webhook.EndpointState, error) {
	return repo.ListBy(t.Base, "list endpoints to verify", t.DB.Where("id > ?", afterID).Order("id").Limit(limit), endpointRow.toState)
}

// ListUndelivered implements ports.WebhookAudit. One statement sees one state of the database: an event in it had seen the
// endpoint at this revision or an earlier one.
func (t audit) ListUndelivered(_ context.Context, e webhook.EndpointState, types []string, limit int) ([]string, error) {
	if e.SubscribedSince.IsZero() || len(types) == 0 {
		return nil, nil
	}
	return t.QueryIDs("list events without a delivery to "+e.ID,
		"SELECT e.id FROM webhook_endpoints w JOIN events e ON e.creator_id = w.creator_id AND e.created_at >= ? AND e.type IN ? "+
			"WHERE w.id = ? AND w.revision = ? AND e.id >= COALESCE((SELECT value FROM deployment WHERE name = 'deliveries_from'), '') AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.event_id = e.id AND d.endpoint_id = w.id) "+
			"ORDER BY e.id LIMIT ?",
		repo.UnixMillis(e.SubscribedSince), types, e.ID, e.Revision, limit)
}

// ListStranded implements ports.WebhookAudit.
func (t audit) ListStranded(_ context.Context, taskKind string, limit int) ([]string, error) {
	return t.QueryIDs("list deliveries without a task",
		"SELECT d.id FROM deliveries d JOIN webhook_endpoints w ON w.id = d.endpoint_id AND w.enabled "+
			"WHERE d.status = 'pending' AND NOT EXISTS (SELECT 1 FROM tasks WHERE tasks.id = ? || d.endpoint_id || '/' || d.id) "+
			"ORDER BY d.id LIMIT ?", taskKind+":", limit)
}
