package webhooks

import (
	"context"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/webhook"
	"sundry/ports"
)

type deliveryRow struct {
	repo.Revised
	CreatorID     string
	EventID       string
	EventType     string
	EndpointID    string
	Status        string
	AttemptCount  int
	RoundAttempts int
	NextAttemptAt repo.UnixMillis
	CreatedAt     repo.UnixMillis `gorm:"autoCreateTime:false"`
}

// TableName implements gorm's tabler.
func (deliveryRow) TableName() string { return "deliveries" }

func newDeliveryRow(s webhook.DeliveryState) deliveryRow {
	return deliveryRow{
		Revised:   repo.Revised{ID: s.ID, Revision: s.Revision},
		CreatorID: s.CreatorID, EventID: s.EventID, EventType: s.EventType, EndpointID: s.EndpointID,
		Status:       string(s.Status),
		AttemptCount: s.AttemptCount, RoundAttempts: s.RoundAttempts, NextAttemptAt: repo.UnixMillis(s.NextAttemptAt),
		CreatedAt: repo.UnixMillis(s.CreatedAt),
	}
}

func (r deliveryRow) toState() webhook.DeliveryState {
	return webhook.DeliveryState{
		ID: r.ID, CreatorID: r.CreatorID, EventID: r.EventID, EventType: r.EventType, EndpointID: r.EndpointID,
		Status: webhook.DeliveryStatus(r.Status), AttemptCount: r.AttemptCount, RoundAttempts: r.RoundAttempts,
		NextAttemptAt: time.Time(r.NextAttemptAt),
		CreatedAt:     time.Time(r.CreatedAt), Revision: r.Revision,
	}
}

var deliveryMapping = repo.Mapping[deliveryRow, webhook.DeliveryState]{
	Name: "delivery", NewRow: newDeliveryRow, ToState: deliveryRow.toState,
}

type deliveries struct {
	repo.Table[deliveryRow, webhook.DeliveryState]
}

// GetByEvent implements ports.Deliveries.
func (t deliveries) GetByEvent(_ context.Context, creatorID, eventID,
	endpointID string) (webhook.DeliveryState, error) {
	return t.GetBy("get delivery of "+eventID, "creator_id = ? AND event_id = ? AND endpoint_id = ?", creatorID, eventID,
		endpointID)
}

// ListByEvents implements ports.Deliveries.
func (t deliveries) ListByEvents(_ context.Context, creatorID, endpointID string,
	eventIDs []string) (map[string]webhook.DeliveryState, error) {
	byEvent := make(map[string]webhook.DeliveryState, len(eventIDs))
	if len(eventIDs) == 0 {
		return byEvent, nil
	}
	found, err := t.ListBy("list deliveries to "+endpointID,
		t.DB.Where("creator_id = ? AND endpoint_id = ? AND event_id IN ?", creatorID, endpointID, eventIDs))
	for _, d := range found {
		byEvent[d.EventID] = d
	}
	return byEvent, err
}

// List implements ports.Deliveries.
func (t deliveries) List(
	_ context.Context, creatorID, endpointID string, status webhook.DeliveryStatus, page ports.Page,
) (ports.List[webhook.DeliveryState], error) {
	query := repo.Equal(t.DB.Where("creator_id = ? AND endpoint_id = ?", creatorID, endpointID),
		map[string]string{"status": string(status)})
	return t.Page("list deliveries of "+endpointID, query, page)
}

// ListPending implements ports.Deliveries.
func (t deliveries) ListPending(_ context.Context, creatorID, endpointID, afterID string,
	limit int) ([]webhook.DeliveryState, error) {
	query := t.DB.Where("creator_id = ? AND endpoint_id = ? AND status = 'pending' AND id > ?", creatorID, endpointID,
		afterID)
	return t.ListBy("list pending deliveries of "+endpointID, query.Order("id").Limit(limit))
}

type attemptRow struct {
	CreatorID    string
	DeliveryID   string
	Number       int
	At           repo.UnixMillis
	StatusCode   int
	DurationMs   int64
	Error        string
	ResponseBody string
}

// TableName implements gorm's tabler.
func (attemptRow) TableName() string { return "delivery_attempts" }

// InsertAttempt implements ports.Deliveries.
func (t deliveries) InsertAttempt(_ context.Context, creatorID, deliveryID string, a webhook.Attempt) error {
	return t.InsertRowDeferred("insert attempt of "+deliveryID, &attemptRow{
		CreatorID: creatorID, DeliveryID: deliveryID, Number: a.Number, At: repo.UnixMillis(a.At), StatusCode: a.StatusCode,
		DurationMs: a.Duration.Milliseconds(), Error: a.Error, ResponseBody: a.ResponseBody,
	}, "")
}

// ListAttempts implements ports.Deliveries.
func (t deliveries) ListAttempts(_ context.Context, creatorID string,
	deliveryIDs []string) (map[string][]webhook.Attempt, error) {
	var rows []attemptRow
	err := t.DB.Where("creator_id = ? AND delivery_id IN ?", creatorID,
		deliveryIDs).Order("delivery_id, number, at").Find(&rows).Error
	byDelivery := map[string][]webhook.Attempt{}
	for _, r := range rows {
		byDelivery[r.DeliveryID] = append(byDelivery[r.DeliveryID], webhook.Attempt{
			Number: r.Number, At: time.Time(r.At), StatusCode: r.StatusCode,
			Duration: time.Duration(r.DurationMs) * time.Millisecond,
			Error:    r.Error, ResponseBody: r.ResponseBody,
		})
	}
	return byDelivery, t.Failure("list attempts", err)
}
