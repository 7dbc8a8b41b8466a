package webhooks

import (
	"context"
	"fmt"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/webhook"
)

type endpointRow struct {
	repo.Revised
	CreatorID       string
	URL             string
	Events          repo.SharedJSON[[]string]
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
}

// TableName implements gorm's tabler.
func (endpointRow) TableName() string { return "webhook_endpoints" }

func newEndpointRow(s webhook.EndpointState) endpointRow {
	return endpointRow{
		Revised:   repo.Revised{ID: s.ID, Revision: s.Revision},
		CreatorID: s.CreatorID, URL: s.URL, Events: repo.Shared(s.Events), Enabled: s.Enabled,
		DisabledReason: s.DisabledReason,
		MaxInFlight:    s.MaxInFlight, MaxPerSecond: s.MaxPerSecond,
		Secret: s.Secret, PreviousSecret: s.PreviousSecret, PreviousUntil: repo.UnixMillis(s.PreviousUntil),
		Failures:     s.Failures,
		FailingSince: repo.UnixMillis(s.FailingSince), OpenUntil: repo.UnixMillis(s.OpenUntil),
		SubscribedSince: repo.UnixMillis(s.SubscribedSince), CreatedAt: repo.UnixMillis(s.CreatedAt),
	}
}

func (r endpointRow) toState() webhook.EndpointState {
	return webhook.EndpointState{
		ID: r.ID, CreatorID: r.CreatorID, URL: r.URL, Events: r.Events.V, Enabled: r.Enabled,
		DisabledReason: r.DisabledReason,
		MaxInFlight:    r.MaxInFlight, MaxPerSecond: r.MaxPerSecond,
		Secret: r.Secret, PreviousSecret: r.PreviousSecret, PreviousUntil: time.Time(r.PreviousUntil), Failures: r.Failures,
		FailingSince: time.Time(r.FailingSince), OpenUntil: time.Time(r.OpenUntil),
		SubscribedSince: time.Time(r.SubscribedSince), CreatedAt: time.Time(r.CreatedAt), Revision: r.Revision,
	}
}

var endpointMapping = repo.Mapping[endpointRow, webhook.EndpointState]{
	Name: "webhook endpoint", NewRow: newEndpointRow, ToState: endpointRow.toState,
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
	// each event of a transaction asks
	return cachedEndpoints.Get(t.Base, creatorID, func() ([]webhook.EndpointState, error) {
		return t.ListBy("list all webhook endpoints of "+creatorID, t.DB.Where("creator_id = ?", creatorID).Order("id"))
	})
}

// cachedEndpoints are all endpoints of an account.
var cachedEndpoints = repo.NewSlot[[]webhook.EndpointState]("webhook_endpoints")

// PreloadEndpoints reads all endpoints of the account that owner, a query with an argument, selects the id of.
func PreloadEndpoints(b *repo.Base, owner, arg string) {
	const query = "SELECT o.creator_id AS owner, e.* FROM (%s) o (creator_id) LEFT JOIN webhook_endpoints e ON " +
		"e.creator_id = o.creator_id ORDER BY e.id"
	repo.PreloadList(b, cachedEndpoints, "list all webhook endpoints of "+arg, fmt.Sprintf(query, owner), []any{arg},
		endpointRow.toState)
}

// LockReplay implements ports.WebhookEndpoints.
func (t endpoints) LockReplay(_ context.Context, endpointID string) error {
	return t.AdvisoryLock("lock the replay to "+endpointID, "webhook replay\x00"+endpointID)
}

// Delete implements ports.WebhookEndpoints.
func (t endpoints) Delete(_ context.Context, creatorID, endpointID string) error {
	return t.Exec("delete webhook endpoint "+endpointID, "DELETE FROM webhook_endpoints WHERE creator_id = ? AND id = ?",
		creatorID, endpointID)
}
