package identity

import (
	"context"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/identity"
	"sundry/ports"
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

type accountEventRow struct {
	repo.Unrevised
	CreatorID string
	Kind      string
	Address   string
	UserAgent string
	ActorID   string
	KeyName   string
	ObjectID  string
	Note      string
	At        repo.UnixMillis
}

// TableName implements gorm's tabler.
func (accountEventRow) TableName() string { return "account_events" }

func (r accountEventRow) toState() identity.AccountEvent {
	return identity.AccountEvent{
		ID: r.ID, CreatorID: r.CreatorID, Kind: identity.AccountEventKind(r.Kind),
		Actor: identity.Actor{
			ID: r.ActorID, Name: r.KeyName, Client: identity.Client{Address: r.Address, UserAgent: r.UserAgent},
		},
		ObjectID: r.ObjectID, Note: r.Note, At: time.Time(r.At),
	}
}

type accountEvents struct{ *repo.Base }

// Insert implements ports.AccountEvents.
func (t accountEvents) Insert(_ context.Context, e identity.AccountEvent) error {
	return t.InsertRow("insert account event "+e.ID, &accountEventRow{
		Unrevised: repo.Unrevised{ID: e.ID}, CreatorID: e.CreatorID, Kind: string(e.Kind), Address: e.Address,
		UserAgent: repo.SanitizeText(e.UserAgent, len(e.UserAgent)),
		ActorID:   e.Actor.ID, KeyName: e.Name, ObjectID: e.ObjectID,
		Note: repo.SanitizeText(e.Note, len(e.Note)), At: repo.UnixMillis(e.At),
	})
}

// List implements ports.AccountEvents.
func (t accountEvents) List(_ context.Context, creatorID string, kind identity.AccountEventKind,
	page ports.Page) (ports.List[identity.AccountEvent], error) {
	query := repo.Equal(t.DB.Where("creator_id = ?", creatorID), map[string]string{"kind": string(kind)})
	return repo.ListByID(t.Base, "list account events of "+creatorID, query, page, accountEventRow.toState)
}

// DeleteBefore implements ports.AccountEvents.
func (t accountEvents) DeleteBefore(_ context.Context, before time.Time) error {
	return t.Exec("delete old account events", "DELETE FROM account_events WHERE at < ?", repo.UnixMillis(before))
}
