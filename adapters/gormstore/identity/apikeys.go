package identity

import (
	"context"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/identity"
	"sundry/ports"
)

type apiKeyRow struct {
	repo.Revised
	CreatorID  string
	Name       string
	Hash       []byte
	Prefix     string
	Last4      string
	Scopes     string
	CreatedAt  repo.UnixMillis `gorm:"autoCreateTime:false"`
	ExpiresAt  repo.UnixMillis
	RevokedAt  repo.UnixMillis
	LastUsedAt repo.UnixMillis
}

// TableName implements gorm's tabler.
func (apiKeyRow) TableName() string { return "api_keys" }

func (r apiKeyRow) toState() *identity.APIKey {
	return identity.RestoreAPIKey(identity.APIKeyState{
		ID: r.ID, CreatorID: r.CreatorID, Name: r.Name, Hash: r.Hash, Prefix: r.Prefix, Last4: r.Last4,
		Scopes: identity.RestoreScopes(r.Scopes), CreatedAt: time.Time(r.CreatedAt),
		ExpiresAt: time.Time(r.ExpiresAt), RevokedAt: time.Time(r.RevokedAt), LastUsedAt: time.Time(r.LastUsedAt),
		Revision: r.Revision,
	})
}

func newAPIKeyRow(k *identity.APIKey) apiKeyRow {
	s := k.State()
	return apiKeyRow{
		Revised:   repo.Revised{ID: s.ID, Revision: s.Revision},
		CreatorID: s.CreatorID, Name: s.Name, Hash: s.Hash, Prefix: s.Prefix, Last4: s.Last4,
		Scopes: s.Scopes.Text(), CreatedAt: repo.UnixMillis(s.CreatedAt),
		ExpiresAt: repo.UnixMillis(s.ExpiresAt), RevokedAt: repo.UnixMillis(s.RevokedAt),
		LastUsedAt: repo.UnixMillis(s.LastUsedAt),
	}
}

var apiKeyMapping = repo.Mapping[apiKeyRow, *identity.APIKey]{
	Name: "API key", NewRow: newAPIKeyRow, ToState: apiKeyRow.toState,
}

type apiKeys struct {
	repo.Table[apiKeyRow, *identity.APIKey]
}

// GetByHash implements ports.APIKeys.
func (t apiKeys) GetByHash(_ context.Context, hash []byte) (*identity.APIKey, error) {
	return t.GetBy("get API key by hash", "hash = ?", hash)
}

// List implements ports.APIKeys.
func (t apiKeys) List(_ context.Context, creatorID string, page ports.Page) (ports.List[*identity.APIKey], error) {
	return t.Page("list API keys of "+creatorID, t.DB.Where("creator_id = ? AND revoked_at IS NULL", creatorID), page)
}

// Count implements ports.APIKeys.
func (t apiKeys) Count(_ context.Context, creatorID string, now time.Time) (n int64, err error) {
	err = t.QueryRow("count API keys of "+creatorID, "SELECT COUNT(*) FROM api_keys WHERE creator_id = ? AND "+
		"revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)", []any{creatorID, repo.UnixMillis(now)}, &n)
	return n, err
}

// Touch implements ports.APIKeys.
func (t apiKeys) Touch(_ context.Context, id string, at time.Time) error {
	return t.Exec("touch API key "+id,
		"UPDATE api_keys SET last_used_at = ? WHERE id = ? AND (last_used_at IS NULL OR last_used_at < ?)",
		repo.UnixMillis(at), id, repo.UnixMillis(at))
}
