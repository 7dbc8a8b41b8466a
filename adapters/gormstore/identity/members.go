package identity

import (
	"context"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/identity"
	"sundry/ports"
)

type memberRow struct {
	repo.Revised
	CreatorID    string
	Email        string
	Name         string
	Role         string
	PasswordHash string
	ExpiresAt    repo.UnixMillis
	JoinedAt     repo.UnixMillis
	CreatedAt    repo.UnixMillis `gorm:"autoCreateTime:false"`
}

// TableName implements gorm's tabler.
func (memberRow) TableName() string { return "members" }

func (r memberRow) toState() *identity.Member {
	return identity.RestoreMember(identity.MemberState{
		ID: r.ID, CreatorID: r.CreatorID, Email: r.Email, Name: r.Name, Role: identity.Role(r.Role),
		PasswordHash: r.PasswordHash, ExpiresAt: time.Time(r.ExpiresAt), JoinedAt: time.Time(r.JoinedAt),
		CreatedAt: time.Time(r.CreatedAt), Revision: r.Revision,
	})
}

func newMemberRow(m *identity.Member) memberRow {
	s := m.State()
	return memberRow{
		Revised:   repo.Revised{ID: s.ID, Revision: s.Revision},
		CreatorID: s.CreatorID, Email: s.Email, Name: s.Name, Role: string(s.Role),
		PasswordHash: s.PasswordHash, ExpiresAt: repo.UnixMillis(s.ExpiresAt), JoinedAt: repo.UnixMillis(s.JoinedAt),
		CreatedAt: repo.UnixMillis(s.CreatedAt),
	}
}

var memberMapping = repo.Mapping[memberRow, *identity.Member]{
	Name: "member", NewRow: newMemberRow, ToState: memberRow.toState,
}

type members struct {
	repo.ByID[memberRow, *identity.Member]
}

// LockAddress implements ports.Members.
func (t members) LockAddress(_ context.Context, address string) error {
	return t.AdvisoryLock("lock the address of a sign-in", "sign-in-address:"+address)
}

// GetByEmail implements ports.Members.
func (t members) GetByEmail(_ context.Context, address string) (*identity.Member, error) {
	return t.GetBy("get member by address", "email = ? AND joined_at IS NOT NULL", address)
}

// Find implements ports.Members.
func (t members) Find(_ context.Context, creatorID, address string) (*identity.Member, error) {
	return t.GetBy("get member of "+creatorID+" by address", "creator_id = ? AND email = ?", creatorID, address)
}

// List implements ports.Members.
func (t members) List(_ context.Context, creatorID string, page ports.Page) (ports.List[*identity.Member], error) {
	return t.Page("list members of "+creatorID, t.DB.Where("creator_id = ?", creatorID), page)
}

// Count implements ports.Members.
func (t members) Count(_ context.Context, creatorID string) (n int64, err error) {
	err = t.QueryRow("count members of "+creatorID, "SELECT COUNT(*) FROM members WHERE creator_id = ?",
		[]any{creatorID}, &n)
	return n, err
}

// Delete implements ports.Members.
func (t members) Delete(_ context.Context, m *identity.Member) error {
	return t.Exec("delete member "+m.State().ID, "DELETE FROM members WHERE id = ?", m.State().ID)
}
