package gormstore

import (
	"context"

	"sundry/core/webhook"
)

type webhookAudit struct{ table }

// Endpoints implements ports.WebhookAudit.
func (t webhookAudit) Endpoints(_ context.Context, afterID string, limit int) ([]webhook.EndpointState, error) {
	var rows []endpointRow
	err := t.db.Where("id > ?", afterID).Order("id").Limit(limit).Find(&rows).Error
	states := make([]webhook.EndpointState, len(rows))
	for i, row := range rows {
		states[i] = row.state()
	}
	return states, t.failure("endpoints to verify", err)
}

// Undelivered implements ports.WebhookAudit. One statement sees one state of the database: an event in it had seen the
// endpoint at this revision or an earlier one.
func (t webhookAudit) Undelivered(_ context.Context, e webhook.EndpointState, types []string, limit int) ([]string, error) {
	if e.SubscribedSince.IsZero() || len(types) == 0 {
		return nil, nil
	}
	var ids []string
	err := t.db.Raw(
		"SELECT e.id FROM webhook_endpoints w JOIN events e ON e.creator_id = w.creator_id AND e.created_at >= ? AND e.type IN ? "+
			"WHERE w.id = ? AND w.revision = ? AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.event_id = e.id AND d.endpoint_id = w.id) "+
			"ORDER BY e.id LIMIT ?",
		millis(e.SubscribedSince), types, e.ID, e.Revision, limit).Scan(&ids).Error
	return ids, t.failure("events without a delivery to "+e.ID, err)
}

// Stranded implements ports.WebhookAudit.
func (t webhookAudit) Stranded(_ context.Context, limit int) ([]string, error) {
	var ids []string
	err := t.db.Raw(
		"SELECT d.id FROM deliveries d JOIN webhook_endpoints w ON w.id = d.endpoint_id AND w.enabled "+
			"WHERE d.status = 'pending' AND NOT EXISTS (SELECT 1 FROM tasks WHERE tasks.id = 'webhook.deliver:' || d.endpoint_id || '/' || d.id) "+
			"ORDER BY d.id LIMIT ?", limit).Scan(&ids).Error
	return ids, t.failure("deliveries without a task", err)
}
