package identity

import (
	"context"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/identity"
	"sundry/ports"
)

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
