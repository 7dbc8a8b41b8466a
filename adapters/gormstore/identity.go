package gormstore

import (
	"context"
	"time"

	"sundry/core/identity"
	"sundry/ports"
)

type creatorRow struct {
	ID           string `gorm:"primaryKey"`
	Email        string
	DisplayName  string
	PasswordHash string
	CreatedAt    millis `gorm:"autoCreateTime:false"`
	Revision     int64
}

// TableName implements gorm's tabler.
func (creatorRow) TableName() string { return "creators" }

func (r creatorRow) creator() *identity.Creator {
	return identity.RestoreCreator(identity.CreatorState{
		ID: r.ID, Email: r.Email, DisplayName: r.DisplayName, PasswordHash: r.PasswordHash, CreatedAt: time.Time(r.CreatedAt), Revision: r.Revision,
	})
}

func creatorRowOf(c *identity.Creator) *creatorRow {
	s := c.State()
	return &creatorRow{
		ID: s.ID, Email: s.Email, DisplayName: s.DisplayName, PasswordHash: s.PasswordHash, CreatedAt: millis(s.CreatedAt), Revision: s.Revision,
	}
}

type creators struct{ table }

// Insert implements ports.Creators.
func (t creators) Insert(_ context.Context, c *identity.Creator) error {
	return t.insert("insert creator", creatorRowOf(c))
}

// Any implements ports.Creators.
func (t creators) Any(_ context.Context) (bool, error) {
	var found bool
	err := t.db.Raw("SELECT EXISTS (SELECT 1 FROM creators)").Scan(&found).Error
	return found, t.failure("look for creators", err)
}

// ByID implements ports.Creators.
func (t creators) ByID(_ context.Context, id string) (*identity.Creator, error) {
	return t.one("load creator "+id, "id = ?", id)
}

// ByEmail implements ports.Creators.
func (t creators) ByEmail(_ context.Context, address string) (*identity.Creator, error) {
	return t.one("load creator by address", "email = ?", address)
}

func (t creators) one(doing, where string, arg any) (*identity.Creator, error) {
	row, err := first[creatorRow](t.table, doing, where, arg)
	if err != nil {
		return nil, err
	}
	return row.creator(), nil
}

type apiKeyRow struct {
	ID         string `gorm:"primaryKey"`
	CreatorID  string
	Name       string
	Hash       []byte
	Prefix     string
	Last4      string
	CreatedAt  millis `gorm:"autoCreateTime:false"`
	ExpiresAt  millis
	RevokedAt  millis
	LastUsedAt millis
	Revision   int64
}

// TableName implements gorm's tabler.
func (apiKeyRow) TableName() string { return "api_keys" }

func (r apiKeyRow) key() *identity.APIKey {
	return identity.RestoreAPIKey(identity.APIKeyState{
		ID: r.ID, CreatorID: r.CreatorID, Name: r.Name, Hash: r.Hash, Prefix: r.Prefix, Last4: r.Last4, CreatedAt: time.Time(r.CreatedAt),
		ExpiresAt: time.Time(r.ExpiresAt), RevokedAt: time.Time(r.RevokedAt), LastUsedAt: time.Time(r.LastUsedAt), Revision: r.Revision,
	})
}

func apiKeyRowOf(k *identity.APIKey) *apiKeyRow {
	s := k.State()
	return &apiKeyRow{
		ID: s.ID, CreatorID: s.CreatorID, Name: s.Name, Hash: s.Hash, Prefix: s.Prefix, Last4: s.Last4, CreatedAt: millis(s.CreatedAt),
		ExpiresAt: millis(s.ExpiresAt), RevokedAt: millis(s.RevokedAt), LastUsedAt: millis(s.LastUsedAt), Revision: s.Revision,
	}
}

type apiKeys struct{ table }

// Insert implements ports.APIKeys.
func (t apiKeys) Insert(_ context.Context, k *identity.APIKey) error {
	return t.insert("insert API key", apiKeyRowOf(k))
}

// ByHash implements ports.APIKeys.
func (t apiKeys) ByHash(_ context.Context, hash []byte) (*identity.APIKey, error) {
	return t.one("find API key", "hash = ?", hash)
}

// ByID implements ports.APIKeys.
func (t apiKeys) ByID(_ context.Context, creatorID, id string) (*identity.APIKey, error) {
	return t.one("load API key "+id, "creator_id = ? AND id = ?", creatorID, id)
}

func (t apiKeys) one(doing, where string, args ...any) (*identity.APIKey, error) {
	row, err := first[apiKeyRow](t.table, doing, where, args...)
	if err != nil {
		return nil, err
	}
	return row.key(), nil
}

// Save implements ports.APIKeys.
func (t apiKeys) Save(_ context.Context, k *identity.APIKey) error {
	row := apiKeyRowOf(k)
	return t.update("save API key "+row.ID, row, row.ID, row.Revision)
}

// List implements ports.APIKeys.
func (t apiKeys) List(_ context.Context, creatorID string, page ports.Page) (ports.List[*identity.APIKey], error) {
	query := t.db.Where("creator_id = ? AND revoked_at IS NULL", creatorID)
	return newest(t.table, "list API keys", query, page, apiKeyRow.key, func(r apiKeyRow) string { return r.ID })
}

// Touch implements ports.APIKeys.
func (t apiKeys) Touch(_ context.Context, id string, at time.Time) error {
	return t.failure("touch API key "+id, t.db.Exec(
		"UPDATE api_keys SET last_used_at = ? WHERE id = ? AND (last_used_at IS NULL OR last_used_at < ?)", millis(at), id, millis(at)).Error)
}

type refreshFamilyRow struct {
	ID         string `gorm:"primaryKey"`
	CreatorID  string
	TokenHash  []byte
	Generation int64
	CreatedAt  millis `gorm:"autoCreateTime:false"`
	ExpiresAt  millis
	RevokedAt  millis
	Revision   int64
}

// TableName implements gorm's tabler.
func (refreshFamilyRow) TableName() string { return "refresh_families" }

func (r refreshFamilyRow) family() *identity.RefreshFamily {
	return identity.RestoreFamily(identity.RefreshFamilyState{
		ID: r.ID, CreatorID: r.CreatorID, TokenHash: r.TokenHash, Generation: r.Generation, CreatedAt: time.Time(r.CreatedAt),
		ExpiresAt: time.Time(r.ExpiresAt), RevokedAt: time.Time(r.RevokedAt), Revision: r.Revision,
	})
}

func refreshFamilyRowOf(f *identity.RefreshFamily) *refreshFamilyRow {
	s := f.State()
	return &refreshFamilyRow{
		ID: s.ID, CreatorID: s.CreatorID, TokenHash: s.TokenHash, Generation: s.Generation, CreatedAt: millis(s.CreatedAt),
		ExpiresAt: millis(s.ExpiresAt), RevokedAt: millis(s.RevokedAt), Revision: s.Revision,
	}
}

type refreshFamilies struct{ table }

// Insert implements ports.RefreshFamilies.
func (t refreshFamilies) Insert(_ context.Context, f *identity.RefreshFamily) error {
	return t.insert("insert refresh family", refreshFamilyRowOf(f))
}

// ByID implements ports.RefreshFamilies.
func (t refreshFamilies) ByID(_ context.Context, id string) (*identity.RefreshFamily, error) {
	row, err := first[refreshFamilyRow](t.table, "load refresh family "+id, "id = ?", id)
	if err != nil {
		return nil, err
	}
	return row.family(), nil
}

// Save implements ports.RefreshFamilies.
func (t refreshFamilies) Save(_ context.Context, f *identity.RefreshFamily) error {
	row := refreshFamilyRowOf(f)
	return t.update("save refresh family "+row.ID, row, row.ID, row.Revision)
}

// DeleteExpired implements ports.RefreshFamilies.
func (t refreshFamilies) DeleteExpired(_ context.Context, before time.Time) error {
	return t.failure("forget refresh families", t.db.Exec("DELETE FROM refresh_families WHERE expires_at < ?", millis(before)).Error)
}
