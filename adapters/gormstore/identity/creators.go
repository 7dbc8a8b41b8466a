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
