// Package identity keeps creators, their API keys and their sign-ins.
package identity

import (
	"context"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/checkout"
	"sundry/core/identity"
	"sundry/core/payout"
	"sundry/ports"
)

// Repositories returns the area's repositories over the connection of b.
func Repositories(b *repo.Base) ports.IdentityRepos {
	return ports.IdentityRepos{
		Creators: creators{creatorMapping.On(b)}, APIKeys: apiKeys{apiKeyMapping.On(b)},
		RefreshFamilies: refreshFamilies{refreshFamilyMapping.ByID(b)}, WebSessions: webSessions{webSessionMapping.ByID(b)},
		AccountEvents: accountEvents{b}, Members: members{memberMapping.ByID(b)},
		SecondSteps: secondSteps{secondStepMapping.ByID(b)}, RefundPolicies: refundPolicies{b},
		SavedFilters: savedFilters{b},
	}
}

type creatorRow struct {
	repo.Revised
	Email          string
	DisplayName    string
	PasswordHash   string
	LogoURL        string
	AccentColor    string
	SupportEmail   string
	RefundPolicy   string
	EmbedOrigins   string
	PayoutSchedule string
	NotifyOrders   bool
	NotifyPayouts  bool

	SuspendedAt      repo.UnixMillis
	SuspensionReason string
	EmailUnconfirmed bool

	SecondStepRequired bool

	CreatedAt repo.UnixMillis `gorm:"autoCreateTime:false"`
}

// TableName implements gorm's tabler.
func (creatorRow) TableName() string { return "creators" }

func (r creatorRow) toState() *identity.Creator {
	return identity.RestoreCreator(identity.CreatorState{
		ID: r.ID, Email: r.Email, DisplayName: r.DisplayName, PasswordHash: r.PasswordHash,
		Profile: identity.Profile{LogoURL: r.LogoURL, AccentColor: r.AccentColor, SupportEmail: r.SupportEmail,
			RefundPolicy: r.RefundPolicy, EmbedOrigins: checkout.EmbedOrigins(r.EmbedOrigins)},
		PayoutSchedule: payout.Schedule(r.PayoutSchedule),
		Notifications:  identity.Notifications{Orders: r.NotifyOrders, Payouts: r.NotifyPayouts},
		SuspendedAt:    time.Time(r.SuspendedAt), SuspensionReason: r.SuspensionReason,
		EmailUnconfirmed: r.EmailUnconfirmed, SecondStepRequired: r.SecondStepRequired,
		CreatedAt: time.Time(r.CreatedAt), Revision: r.Revision,
	})
}

func newCreatorRow(c *identity.Creator) creatorRow {
	s := c.State()
	return creatorRow{
		Revised: repo.Revised{ID: s.ID, Revision: s.Revision},
		Email:   s.Email, DisplayName: s.DisplayName, PasswordHash: s.PasswordHash,
		LogoURL: s.Profile.LogoURL, AccentColor: s.Profile.AccentColor, SupportEmail: s.Profile.SupportEmail,
		RefundPolicy: s.Profile.RefundPolicy, EmbedOrigins: string(s.Profile.EmbedOrigins),
		PayoutSchedule: string(s.PayoutSchedule),
		NotifyOrders:   s.Notifications.Orders, NotifyPayouts: s.Notifications.Payouts,
		SuspendedAt: repo.UnixMillis(s.SuspendedAt), SuspensionReason: s.SuspensionReason,
		EmailUnconfirmed: s.EmailUnconfirmed, SecondStepRequired: s.SecondStepRequired,
		CreatedAt: repo.UnixMillis(s.CreatedAt),
	}
}

var creatorMapping = repo.Mapping[creatorRow, *identity.Creator]{
	Name: "creator", NewRow: newCreatorRow, ToState: creatorRow.toState,
}

type creators struct {
	repo.Table[creatorRow, *identity.Creator]
}

// Exists implements ports.Creators.
func (t creators) Exists(_ context.Context) (found bool, err error) {
	err = t.QueryRow("find creators", "SELECT EXISTS (SELECT 1 FROM creators)", nil, &found)
	return found, err
}

// After implements ports.Creators.
func (t creators) After(_ context.Context, id string, limit int) (ids []string, err error) {
	err = t.DB.Raw("SELECT id FROM creators WHERE id > ? ORDER BY id LIMIT ?", id, limit).Scan(&ids).Error
	return ids, t.Failure("list creators", err)
}

// Sole implements ports.Creators.
func (t creators) Sole(_ context.Context) (*identity.Creator, error) {
	return t.GetBy("get the only creator", "(SELECT COUNT(*) FROM (SELECT id FROM creators LIMIT 2) AS first_two) = 1")
}

// Get implements ports.Creators.
func (t creators) Get(_ context.Context, id string) (*identity.Creator, error) {
	row, err := cachedCreators.Get(t.Base, id, func() (creatorRow, error) {
		return repo.TakeOne[creatorRow](t.Base, "get creator "+id, "id = ?", id)
	})
	if err != nil {
		return nil, err
	}
	return creatorMapping.ToState(row), nil
}

var cachedCreators = repo.NewSlot[creatorRow]("creators")

// PreloadCreator reads the creator that owner, a query with an argument, selects the id of.
func PreloadCreator(b *repo.Base, owner, arg string) {
	repo.PreloadRow(b, cachedCreators, "get creator of "+arg, "SELECT * FROM creators WHERE id = ("+owner+")", []any{arg},
		func(r creatorRow) creatorRow { return r }, func(r creatorRow) string { return r.ID })
}

// GetByEmail implements ports.Creators.
func (t creators) GetByEmail(_ context.Context, address string) (*identity.Creator, error) {
	return t.GetBy("get creator by address", "email = ?", address)
}

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

type refreshFamilyRow struct {
	repo.Revised
	CreatorID  string
	MemberID   string
	Generation int64
	CreatedAt  repo.UnixMillis `gorm:"autoCreateTime:false"`
	RotatedAt  repo.UnixMillis
	ExpiresAt  repo.UnixMillis
	RevokedAt  repo.UnixMillis
}

// TableName implements gorm's tabler.
func (refreshFamilyRow) TableName() string { return "refresh_families" }

func (r refreshFamilyRow) toState() *identity.RefreshFamily {
	return identity.RestoreFamily(identity.RefreshFamilyState{
		ID: r.ID, CreatorID: r.CreatorID, MemberID: r.MemberID, Generation: r.Generation,
		CreatedAt: time.Time(r.CreatedAt), RotatedAt: time.Time(r.RotatedAt),
		ExpiresAt: time.Time(r.ExpiresAt), RevokedAt: time.Time(r.RevokedAt), Revision: r.Revision,
	})
}

func newRefreshFamilyRow(f *identity.RefreshFamily) refreshFamilyRow {
	s := f.State()
	return refreshFamilyRow{
		Revised:   repo.Revised{ID: s.ID, Revision: s.Revision},
		CreatorID: s.CreatorID, MemberID: s.MemberID, Generation: s.Generation,
		CreatedAt: repo.UnixMillis(s.CreatedAt), RotatedAt: repo.UnixMillis(s.RotatedAt),
		ExpiresAt: repo.UnixMillis(s.ExpiresAt), RevokedAt: repo.UnixMillis(s.RevokedAt),
	}
}

var refreshFamilyMapping = repo.Mapping[refreshFamilyRow, *identity.RefreshFamily]{
	Name: "refresh family", NewRow: newRefreshFamilyRow, ToState: refreshFamilyRow.toState,
}

type refreshFamilies struct {
	repo.ByID[refreshFamilyRow, *identity.RefreshFamily]
}

// RevokeAll implements ports.RefreshFamilies.
func (t refreshFamilies) RevokeAll(_ context.Context, u identity.User, at time.Time) error {
	return t.Exec("revoke refresh families of "+u.ID(),
		"UPDATE refresh_families SET revoked_at = ?, revision = revision + 1 WHERE creator_id = ? AND member_id = ? AND "+
			"revoked_at IS NULL", repo.UnixMillis(at), u.CreatorID, u.MemberID)
}

// DeleteExpired implements ports.RefreshFamilies.
func (t refreshFamilies) DeleteExpired(_ context.Context, before time.Time) error {
	return t.Exec("delete expired refresh families", "DELETE FROM refresh_families WHERE expires_at < ?",
		repo.UnixMillis(before))
}
