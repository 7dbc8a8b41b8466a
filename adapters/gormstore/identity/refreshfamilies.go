package identity

import (
	"context"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/identity"
)

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
