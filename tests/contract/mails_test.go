package contract

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"sundry/adapters/gormstore"
	"sundry/core/id"
	"sundry/ports"
	"sundry/tests/testdb"
)

func insertMail(t *testing.T, store *gormstore.Store, m ports.Mail) (ok bool) {
	t.Helper()
	atomically(t, store, func(ctx context.Context, r ports.Repos) (err error) {
		ok, err = r.Mails.Insert(ctx, m)
		return err
	})
	return ok
}

func TestMailsAreOnePerKindAndCause(t *testing.T) {
	t.Parallel()
	testdb.EachStore(t, func(t *testing.T, store *gormstore.Store) {
		now := realNow()
		m := ports.Mail{
			ID: id.New(id.Mail, [16]byte{1}), CreatorID: creator, Kind: "receipt", Cause: "pay_1", Recipient: "grace@example.com",
			RecipientName: "Grace Höpper", Data: json.RawMessage(`{"item":"Type & <specimens>"}`), CreatedAt: now,
		}
		if !insertMail(t, store, m) {
			t.Fatal("the first mail was taken for a repeat")
		}
		repeat := m
		repeat.ID, repeat.Recipient = id.New(id.Mail, [16]byte{2}), "eve@example.com"
		if insertMail(t, store, repeat) {
			t.Error("a second mail about one cause was written")
		}
		for n, change := range []func(*ports.Mail){
			func(m *ports.Mail) { m.Kind = "reminder" }, func(m *ports.Mail) { m.Cause = "pay_2" }, func(m *ports.Mail) { m.CreatorID = "crt_2" },
		} {
			other := m
			other.ID = id.New(id.Mail, [16]byte{3, byte(n)})
			if change(&other); !insertMail(t, store, other) {
				t.Errorf("%+v was taken for a repeat", other)
			}
		}
		mails := store.Read(t.Context()).Mails
		got, err := mails.Find(t.Context(), creator, m.ID)
		var data map[string]string
		if err != nil || json.Unmarshal(got.Data, &data) != nil || data["item"] != "Type & <specimens>" || got.Recipient != m.Recipient ||
			got.RecipientName != m.RecipientName || got.Kind != m.Kind || got.Cause != m.Cause || !got.CreatedAt.Equal(now) || got.Settled() {
			t.Errorf("found %+v, %v", got, err)
		}
		for _, other := range []struct{ creatorID, mailID string }{{"crt_2", m.ID}, {creator, repeat.ID}} {
			if _, err := mails.Find(t.Context(), other.creatorID, other.mailID); !errors.Is(err, ports.ErrNotFound) {
				t.Errorf("%v: %v, want ErrNotFound", other, err)
			}
		}
	})
}

func TestAMailRemembersWhatBecameOfIt(t *testing.T) {
	t.Parallel()
	testdb.EachStore(t, func(t *testing.T, store *gormstore.Store) {
		now := realNow()
		m := ports.Mail{ID: id.New(id.Mail, [16]byte{1}), CreatorID: creator, Kind: "receipt", Cause: "pay_1", Data: json.RawMessage("{}"), CreatedAt: now}
		insertMail(t, store, m)
		m.RefusedAt, m.Refusal = now.Add(time.Second), "550 \x00"+strings.Repeat("ö", 400)
		atomically(t, store, func(ctx context.Context, r ports.Repos) error { return r.Mails.Settle(ctx, m) })
		got, err := store.Read(t.Context()).Mails.Find(t.Context(), creator, m.ID)
		if err != nil || !got.RefusedAt.Equal(m.RefusedAt) || !got.SentAt.IsZero() || !strings.HasPrefix(got.Refusal, "550 ö") || !got.Settled() {
			t.Errorf("found %+v, %v", got, err)
		}
		m.CreatorID = "crt_2"
		err = store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error { return r.Mails.Settle(ctx, m) })
		if !errors.Is(err, ports.ErrNotFound) {
			t.Errorf("somebody else's mail: %v, want ErrNotFound", err)
		}
	})
}
