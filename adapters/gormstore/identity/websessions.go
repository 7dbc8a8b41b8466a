package identity

import (
	"context"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/identity"
)

type webSessionRow struct {
	repo.Revised
	CreatorID  string
	MemberID   string
	Address    string
	UserAgent  string
	CreatedAt  repo.UnixMillis `gorm:"autoCreateTime:false"`
	LastSeenAt repo.UnixMillis
	ExpiresAt  repo.UnixMillis
	RevokedAt  repo.UnixMillis

	ConfirmedAt repo.UnixMillis
}

// TableName implements gorm's tabler.
func (webSessionRow) TableName() string { return "web_sessions" }

func (r webSessionRow) toState() *identity.WebSession {
	return identity.RestoreWebSession(identity.WebSessionState{
		ID: r.ID, CreatorID: r.CreatorID, MemberID: r.MemberID,
		Client:     identity.Client{Address: r.Address, UserAgent: r.UserAgent},
		CreatedAt:  time.Time(r.CreatedAt),
		LastSeenAt: time.Time(r.LastSeenAt), ExpiresAt: time.Time(r.ExpiresAt), RevokedAt: time.Time(r.RevokedAt),
		ConfirmedAt: time.Time(r.ConfirmedAt), Revision: r.Revision,
	})
}

func newWebSessionRow(w *identity.WebSession) webSessionRow {
	s := w.State()
	return webSessionRow{
		Revised:   repo.Revised{ID: s.ID, Revision: s.Revision},
		CreatorID: s.CreatorID, MemberID: s.MemberID, Address: s.Address,
		UserAgent:  repo.SanitizeText(s.UserAgent, len(s.UserAgent)),
		CreatedAt:  repo.UnixMillis(s.CreatedAt),
		LastSeenAt: repo.UnixMillis(s.LastSeenAt), ExpiresAt: repo.UnixMillis(s.ExpiresAt),
		RevokedAt: repo.UnixMillis(s.RevokedAt), ConfirmedAt: repo.UnixMillis(s.ConfirmedAt),
	}
}

var webSessionMapping = repo.Mapping[webSessionRow, *identity.WebSession]{
	Name: "web session", NewRow: newWebSessionRow, ToState: webSessionRow.toState,
}

type webSessions struct {
	repo.ByID[webSessionRow, *identity.WebSession]
}

// ListValid implements ports.WebSessions.
func (t webSessions) ListValid(_ context.Context, u identity.User, now time.Time,
	limit int) ([]*identity.WebSession, error) {
	return t.ListBy("list web sessions of "+u.ID(), t.DB.
		Where("creator_id = ? AND member_id = ? AND revoked_at IS NULL AND expires_at > ?", u.CreatorID, u.MemberID,
			repo.UnixMillis(now)).Order("id DESC").Limit(limit))
}

// RevokeAll implements ports.WebSessions.
func (t webSessions) RevokeAll(_ context.Context, u identity.User, except string, at time.Time) error {
	return t.Exec("revoke web sessions of "+u.ID(),
		"UPDATE web_sessions SET revoked_at = ?, revision = revision + 1 WHERE creator_id = ? AND member_id = ? AND "+
			"id <> ? AND revoked_at IS NULL", repo.UnixMillis(at), u.CreatorID, u.MemberID, except)
}

// DeleteExpired implements ports.WebSessions.
func (t webSessions) DeleteExpired(_ context.Context, before time.Time) error {
	return t.Exec("delete expired web sessions", "DELETE FROM web_sessions WHERE expires_at < ?", repo.UnixMillis(before))
}
