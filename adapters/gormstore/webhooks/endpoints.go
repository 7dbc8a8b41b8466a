package webhooks

import (
	"context"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/webhook"
)

type endpointRow struct {
	ID              string `gorm:"primaryKey"`
	CreatorID       string
	URL             string
	Events          repo.JSONColumn[[]string]
	Enabled         bool
	DisabledReason  string
	MaxInFlight     int
	MaxPerSecond    int
	Secret          []byte
	PreviousSecret  []byte
	PreviousUntil   repo.UnixMillis
	Failures        int
	FailingSince    repo.UnixMillis
	OpenUntil       repo.UnixMillis
	SubscribedSince repo.UnixMillis
	CreatedAt       repo.UnixMillis `gorm:"autoCreateTime:false"`
	Revision        int64
}

// TableName implements gorm's tabler.
func (endpointRow) TableName() string { return "webhook_endpoints" }

func newEndpointRow(s webhook.EndpointState) endpointRow {
	return endpointRow{
		ID: s.ID, CreatorID: s.CreatorID, URL: s.URL, Events: repo.JSON(s.Events), Enabled: s.Enabled, DisabledReason: s.DisabledReason,
		MaxInFlight: s.MaxInFlight, MaxPerSecond: s.MaxPerSecond,
		Secret: s.Secret, PreviousSecret: s.PreviousSecret, PreviousUntil: repo.UnixMillis(s.PreviousUntil), Failures: s.Failures,
		FailingSince: repo.UnixMillis(s.FailingSince), OpenUntil: repo.UnixMillis(s.OpenUntil), SubscribedSince: repo.UnixMillis(s.SubscribedSince), CreatedAt: repo.UnixMillis(s.CreatedAt), Revision: s.Revision,
	}
}

func (r endpointRow) toState() webhook.EndpointState {
	return webhook.EndpointState{
		ID: r.ID, CreatorID: r.CreatorID, URL: r.URL, Events: r.Events.V, Enabled: r.Enabled, DisabledReason: r.DisabledReason,
		MaxInFlight: r.MaxInFlight, MaxPerSecond: r.MaxPerSecond,
		Secret: r.Secret, PreviousSecret: r.PreviousSecret, PreviousUntil: time.Time(r.PreviousUntil), Failures: r.Failures,
		FailingSince: time.Time(r.FailingSince), OpenUntil: time.Time(r.OpenUntil), SubscribedSince: time.Time(r.SubscribedSince), CreatedAt: time.Time(r.CreatedAt), Revision: r.Revision,
	}
}

var endpointMapping = repo.Mapping[endpointRow, webhook.EndpointState]{
	Name: "webhook endpoint", NewRow: newEndpointRow, ToState: endpointRow.toState,
	Key: func(r endpointRow) (string, int64) { return r.ID, r.Revision },
}

type endpoints struct {
	repo.Table[endpointRow, webhook.EndpointState]
}

// GetForShare implements ports.WebhookEndpoints.
func (t endpoints) GetForShare(ctx context.Context, creatorID, endpointID string) (webhook.EndpointState, error) {
	t.Base = t.ForShare()
	return t.Get(ctx, creatorID, endpointID)
}

// ListAll implements ports.WebhookEndpoints.
func (t endpoints) ListAll(_ context.Context, creatorID string) ([]webhook.EndpointState, error) {
	doing := "list all webhook endpoints of " + creatorID
	return repo.Memoized(t.Base, doing, func() ([]webhook.EndpointState, error) { // each event of a transaction asks
		return t.ListBy(doing, t.DB.Where("creator_id = ?", creatorID).Order("id"))
	})
}

// Insert implements ports.WebhookEndpoints.
func (t endpoints) Insert(ctx context.Context, s webhook.EndpointState) error {
	clear(t.Memo)
	return t.Table.Insert(ctx, s)
}

// Update implements ports.WebhookEndpoints.
func (t endpoints) Update(ctx context.Context, s webhook.EndpointState) error {
	clear(t.Memo)
	return t.Table.Update(ctx, s)
}

// Lock implements ports.WebhookEndpoints.
func (t endpoints) Lock(_ context.Context, creatorID string) error {
	return t.AdvisoryLock("lock the webhook endpoints of "+creatorID, "webhook endpoints\x00"+creatorID)
}

// Delete implements ports.WebhookEndpoints.
func (t endpoints) Delete(_ context.Context, creatorID, endpointID string) error {
	clear(t.Memo)
	return t.Exec("delete webhook endpoint "+endpointID, "DELETE FROM webhook_endpoints WHERE creator_id = ? AND id = ?", creatorID, endpointID)
}
