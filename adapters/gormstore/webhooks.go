package gormstore

import (
	"context"
	"time"

	"gorm.io/gorm/clause"

	"sundry/core/webhook"
	"sundry/ports"
)

type endpointRow struct {
	ID              string `gorm:"primaryKey"`
	CreatorID       string
	URL             string
	Events          jsonOf[[]string]
	Enabled         bool
	DisabledReason  string
	Secret          []byte
	PreviousSecret  []byte
	PreviousUntil   millis
	Failures        int
	FailingSince    millis
	OpenUntil       millis
	SubscribedSince millis
	CreatedAt       millis `gorm:"autoCreateTime:false"`
	Revision        int64
}

// TableName implements gorm's tabler.
func (endpointRow) TableName() string { return "webhook_endpoints" }

func rowOfEndpoint(s webhook.EndpointState) *endpointRow {
	return &endpointRow{
		ID: s.ID, CreatorID: s.CreatorID, URL: s.URL, Events: jsonOf[[]string]{s.Events}, Enabled: s.Enabled, DisabledReason: s.DisabledReason,
		Secret: s.Secret, PreviousSecret: s.PreviousSecret, PreviousUntil: millis(s.PreviousUntil), Failures: s.Failures,
		FailingSince: millis(s.FailingSince), OpenUntil: millis(s.OpenUntil), SubscribedSince: millis(s.SubscribedSince), CreatedAt: millis(s.CreatedAt), Revision: s.Revision,
	}
}

func (r endpointRow) state() webhook.EndpointState {
	return webhook.EndpointState{
		ID: r.ID, CreatorID: r.CreatorID, URL: r.URL, Events: r.Events.V, Enabled: r.Enabled, DisabledReason: r.DisabledReason,
		Secret: r.Secret, PreviousSecret: r.PreviousSecret, PreviousUntil: time.Time(r.PreviousUntil), Failures: r.Failures,
		FailingSince: time.Time(r.FailingSince), OpenUntil: time.Time(r.OpenUntil), SubscribedSince: time.Time(r.SubscribedSince), CreatedAt: time.Time(r.CreatedAt), Revision: r.Revision,
	}
}

type webhookEndpoints struct{ table }

// Insert implements ports.WebhookEndpoints.
func (t webhookEndpoints) Insert(_ context.Context, s webhook.EndpointState) error {
	return t.insert("insert webhook endpoint "+s.ID, rowOfEndpoint(s))
}

// Find implements ports.WebhookEndpoints.
func (t webhookEndpoints) Find(_ context.Context, creatorID, endpointID string) (webhook.EndpointState, error) {
	row, err := first[endpointRow](t.table, "find webhook endpoint "+endpointID, "creator_id = ? AND id = ?", creatorID, endpointID)
	return row.state(), err
}

// FindStill implements ports.WebhookEndpoints. Many may keep it at once.
func (t webhookEndpoints) FindStill(ctx context.Context, creatorID, endpointID string) (webhook.EndpointState, error) {
	t.db = t.db.Clauses(clause.Locking{Strength: clause.LockingStrengthShare}) // SQLite's single writer is lock enough
	return t.Find(ctx, creatorID, endpointID)
}

// List implements ports.WebhookEndpoints.
func (t webhookEndpoints) List(_ context.Context, creatorID string, page ports.Page) (ports.List[webhook.EndpointState], error) {
	return newest(t.table, "list webhook endpoints of "+creatorID, t.db.Where("creator_id = ?", creatorID), page, endpointRow.state,
		func(r endpointRow) string { return r.ID })
}

// Of implements ports.WebhookEndpoints.
func (t webhookEndpoints) Of(_ context.Context, creatorID string) ([]webhook.EndpointState, error) {
	var rows []endpointRow
	err := t.db.Where("creator_id = ?", creatorID).Order("id").Find(&rows).Error
	states := make([]webhook.EndpointState, len(rows))
	for i, row := range rows {
		states[i] = row.state()
	}
	return states, t.failure("webhook endpoints of "+creatorID, err)
}

// Save implements ports.WebhookEndpoints.
func (t webhookEndpoints) Save(_ context.Context, s webhook.EndpointState) error {
	return t.update("save webhook endpoint "+s.ID, rowOfEndpoint(s), s.ID, s.Revision)
}

// Delete implements ports.WebhookEndpoints.
func (t webhookEndpoints) Delete(_ context.Context, creatorID, endpointID string) error {
	err := t.db.Exec("DELETE FROM webhook_endpoints WHERE creator_id = ? AND id = ?", creatorID, endpointID).Error
	return t.failure("delete webhook endpoint "+endpointID, err)
}

type deliveryRow struct {
	ID            string `gorm:"primaryKey"`
	CreatorID     string
	EventID       string
	EventType     string
	EndpointID    string
	Status        string
	AttemptCount  int
	RoundAttempts int
	NextAttemptAt millis
	CreatedAt     millis `gorm:"autoCreateTime:false"`
	Revision      int64
}

// TableName implements gorm's tabler.
func (deliveryRow) TableName() string { return "deliveries" }

func rowOfDelivery(s webhook.DeliveryState) *deliveryRow {
	return &deliveryRow{
		ID: s.ID, CreatorID: s.CreatorID, EventID: s.EventID, EventType: s.EventType, EndpointID: s.EndpointID, Status: string(s.Status),
		AttemptCount: s.AttemptCount, RoundAttempts: s.RoundAttempts, NextAttemptAt: millis(s.NextAttemptAt), CreatedAt: millis(s.CreatedAt), Revision: s.Revision,
	}
}

func (r deliveryRow) state() webhook.DeliveryState {
	return webhook.DeliveryState{
		ID: r.ID, CreatorID: r.CreatorID, EventID: r.EventID, EventType: r.EventType, EndpointID: r.EndpointID,
		Status: webhook.DeliveryStatus(r.Status), AttemptCount: r.AttemptCount, RoundAttempts: r.RoundAttempts, NextAttemptAt: time.Time(r.NextAttemptAt),
		CreatedAt: time.Time(r.CreatedAt), Revision: r.Revision,
	}
}

type deliveries struct{ table }

// Insert implements ports.Deliveries.
func (t deliveries) Insert(_ context.Context, s webhook.DeliveryState) error {
	return t.put("insert delivery "+s.ID, rowOfDelivery(s), "")
}

// Find implements ports.Deliveries.
func (t deliveries) Find(_ context.Context, creatorID, deliveryID string) (webhook.DeliveryState, error) {
	row, err := first[deliveryRow](t.table, "find delivery "+deliveryID, "creator_id = ? AND id = ?", creatorID, deliveryID)
	return row.state(), err
}

// ByEvent implements ports.Deliveries.
func (t deliveries) ByEvent(_ context.Context, creatorID, eventID, endpointID string) (webhook.DeliveryState, error) {
	row, err := first[deliveryRow](t.table, "find delivery of "+eventID, "creator_id = ? AND event_id = ? AND endpoint_id = ?", creatorID, eventID, endpointID)
	return row.state(), err
}

// List implements ports.Deliveries.
func (t deliveries) List(_ context.Context, creatorID, endpointID string, page ports.Page) (ports.List[webhook.DeliveryState], error) {
	return newest(t.table, "list deliveries of "+endpointID, t.db.Where("creator_id = ? AND endpoint_id = ?", creatorID, endpointID), page,
		deliveryRow.state, func(r deliveryRow) string { return r.ID })
}

// Waiting implements ports.Deliveries.
func (t deliveries) Waiting(_ context.Context, creatorID, endpointID, afterID string, limit int) ([]webhook.DeliveryState, error) {
	var rows []deliveryRow
	err := t.db.Where("creator_id = ? AND endpoint_id = ? AND status = 'pending' AND id > ?", creatorID, endpointID, afterID).
		Order("id").Limit(limit).Find(&rows).Error
	states := make([]webhook.DeliveryState, len(rows))
	for i, row := range rows {
		states[i] = row.state()
	}
	return states, t.failure("waiting deliveries of "+endpointID, err)
}

// Save implements ports.Deliveries.
func (t deliveries) Save(_ context.Context, s webhook.DeliveryState) error {
	return t.update("save delivery "+s.ID, rowOfDelivery(s), s.ID, s.Revision)
}

type attemptRow struct {
	CreatorID    string
	DeliveryID   string
	Number       int
	At           millis
	StatusCode   int
	DurationMs   int64
	Error        string
	ResponseBody string
}

// TableName implements gorm's tabler.
func (attemptRow) TableName() string { return "delivery_attempts" }

// AddAttempt implements ports.Deliveries.
func (t deliveries) AddAttempt(_ context.Context, creatorID, deliveryID string, a webhook.Attempt) error {
	return t.put("log attempt of "+deliveryID, &attemptRow{
		CreatorID: creatorID, DeliveryID: deliveryID, Number: a.Number, At: millis(a.At), StatusCode: a.StatusCode,
		DurationMs: a.Duration.Milliseconds(), Error: a.Error, ResponseBody: a.ResponseBody,
	}, "")
}

// Attempts implements ports.Deliveries.
func (t deliveries) Attempts(_ context.Context, creatorID string, deliveryIDs []string) (map[string][]webhook.Attempt, error) {
	var rows []attemptRow
	err := t.db.Where("creator_id = ? AND delivery_id IN ?", creatorID, deliveryIDs).Order("delivery_id, at, number").Find(&rows).Error
	byDelivery := map[string][]webhook.Attempt{}
	for _, r := range rows {
		byDelivery[r.DeliveryID] = append(byDelivery[r.DeliveryID], webhook.Attempt{
			Number: r.Number, At: time.Time(r.At), StatusCode: r.StatusCode, Duration: time.Duration(r.DurationMs) * time.Millisecond,
			Error: r.Error, ResponseBody: r.ResponseBody,
		})
	}
	return byDelivery, t.failure("attempts of deliveries", err)
}
