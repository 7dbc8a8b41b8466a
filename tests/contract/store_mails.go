package contract

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sundry/core/id"
	"sundry/ports"
)

func insertMail(t *testing.T, store StoreAdapter, m ports.Mail, limit ports.MailLimit) {
	t.Helper()
	atomically(t, store, func(ctx context.Context, r ports.Repos) error { return r.Mail.Mails.Insert(ctx, m, limit) })
}

func mailsAreOnePerKindAndCause(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	now := realNow()
	m := ports.Mail{
		ID: id.New(id.Mail, [16]byte{1}), CreatorID: creator, Kind: "receipt", Cause: "pay_1",
		Recipient:     "grace@example.com",
		RecipientName: "Grace Höpper", Data: json.RawMessage(`{"item":"Type & <specimens>"}`), CreatedAt: now,
	}
	limit := ports.MailLimit{Most: 20, Window: time.Hour}
	insertMail(t, store, m, limit)
	mails := store.Read(t.Context()).Mail.Mails
	repeat := m
	repeat.ID, repeat.Recipient = id.New(id.Mail, [16]byte{2}), "eve@example.com"
	insertMail(t, store, repeat, limit)
	for n, change := range []func(*ports.Mail){
		func(m *ports.Mail) { m.Kind = "reminder" }, func(m *ports.Mail) { m.Cause = "pay_2" },
		func(m *ports.Mail) { m.CreatorID = "crt_2" },
	} {
		other := m
		other.ID = id.New(id.Mail, [16]byte{3, byte(n)})
		change(&other)
		insertMail(t, store, other, limit)
		mailOf(t, store, other.CreatorID, other.ID) // it was not taken for a repeat
	}
	got := mailOf(t, store, creator, m.ID)
	var data map[string]string
	if json.Unmarshal(got.Data, &data) != nil || data["item"] != "Type & <specimens>" ||
		got.Recipient != m.Recipient ||
		got.RecipientName != m.RecipientName || got.Kind != m.Kind || got.Cause != m.Cause || !got.CreatedAt.Equal(now) ||
		got.Settled() {
		t.Errorf("found %+v", got)
	}
	for account, ids := range map[string][]string{"crt_2": {m.ID}, creator: {repeat.ID}} {
		if found, err := mails.ListByID(t.Context(), account, ids); err != nil || len(found) > 0 {
			t.Errorf("%v of %s: %+v, %v, want none", ids, account, found, err)
		}
	}
	newest, err := mails.ListTo(t.Context(), creator, strings.ToUpper(m.Recipient), 2)
	if err != nil || len(newest) != 2 || newest[0].ID <= newest[1].ID || !strings.EqualFold(newest[1].Recipient, m.Recipient) {
		t.Errorf("the newest to the address: %+v, %v", newest, err)
	}
	if others, err := mails.ListTo(t.Context(), "crt_9", m.Recipient, 2); err != nil || len(others) > 0 {
		t.Errorf("another account's: %+v, %v", others, err)
	}
	both, err := mails.ListByID(t.Context(), creator, []string{id.New(id.Mail, [16]byte{3, 1}), m.ID})
	if err != nil || len(both) != 2 || both[0].ID != m.ID {
		t.Errorf("two of the account: %+v, %v", both, err)
	}
}

func mailOf(t *testing.T, store StoreAdapter, creatorID, mailID string) ports.Mail {
	t.Helper()
	found, err := store.Read(t.Context()).Mail.Mails.ListByID(t.Context(), creatorID, []string{mailID})
	if err != nil || len(found) != 1 {
		t.Fatalf("mail %s of %s: %+v, %v", mailID, creatorID, found, err)
	}
	return found[0]
}

// settledMailsEndTheirTasks records the mails of many tasks at once, one of which was scheduled again meanwhile: of that
// one nothing is written.
func settledMailsEndTheirTasks(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	const kind, tasks = "mail.send", 12
	now := realNow()
	settled := map[string][]ports.Mail{}
	for n := range byte(tasks) {
		sent := ports.Mail{
			ID: id.New(id.Mail, [16]byte{n, 1}), CreatorID: creator, Kind: "receipt", Cause: fmt.Sprint("pay_", n),
			Recipient: "grace@example.com", Data: json.RawMessage(`{}`), CreatedAt: now,
		}
		refused := sent
		refused.ID, refused.Kind = id.New(id.Mail, [16]byte{n, 2}), "order"
		for _, m := range []ports.Mail{sent, refused} {
			insertMail(t, store, m, ports.MailLimit{Most: 100, Window: time.Hour})
		}
		sent.SentAt = now.Add(time.Second)
		refused.RefusedAt, refused.Refusal = now.Add(2*time.Second), "no such address"
		subject := sent.ID + "," + refused.ID
		settled[subject] = []ports.Mail{sent, refused}
		atomically(t, store, func(ctx context.Context, r ports.Repos) error {
			return r.Tasks.Schedule(ctx, kind, subject, creator, now)
		})
	}
	claimed, err := store.Claim(t.Context(), ports.DefaultTasks, now, time.Minute, tasks)
	if err != nil || len(claimed) != tasks {
		t.Fatalf("claimed %d, %v", len(claimed), err)
	}
	fenced := claimed[3].Subject
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		return r.Tasks.Schedule(ctx, kind, fenced, creator, now)
	})
	var all sync.WaitGroup
	for _, task := range claimed {
		all.Go(func() {
			err := store.RecordSettled(t.Context(), task, settled[task.Subject])
			if errors.Is(err, ports.ErrFenced) != (task.Subject == fenced) || err != nil && task.Subject != fenced {
				t.Errorf("%s: %v", task.Subject, err)
			}
		})
	}
	all.Wait()
	for subject, mails := range settled {
		sent, refused := mailOf(t, store, creator, mails[0].ID), mailOf(t, store, creator, mails[1].ID)
		if subject == fenced {
			if sent.Settled() || refused.Settled() {
				t.Errorf("of a run that was fenced %+v and %+v were written", sent, refused)
			}
			continue
		}
		if !sent.SentAt.Equal(mails[0].SentAt) || !sent.RefusedAt.IsZero() ||
			!refused.RefusedAt.Equal(mails[1].RefusedAt) || refused.Refusal != "no such address" || !refused.SentAt.IsZero() {
			t.Errorf("stored %+v and %+v", sent, refused)
		}
	}
	left, err := store.Claim(t.Context(), ports.DefaultTasks, now.Add(time.Hour), time.Minute, tasks)
	if err != nil || len(left) != 1 || left[0].Subject != fenced {
		t.Errorf("tasks left: %+v, %v; want that which was scheduled again", left, err)
	}
}

func aMailRemembersWhatBecameOfIt(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	now := realNow()
	m := ports.Mail{
		ID: id.New(id.Mail, [16]byte{1}), CreatorID: creator, Kind: "receipt", Cause: "pay_1",
		Data: json.RawMessage("{}"), CreatedAt: now,
	}
	insertMail(t, store, m, ports.MailLimit{Most: 20, Window: time.Hour})
	m.RefusedAt, m.Refusal = now.Add(time.Second), "550 \x00"+strings.Repeat("ö", 400)
	atomically(t, store, func(ctx context.Context, r ports.Repos) error { return r.Mail.Mails.Update(ctx, m) })
	got := mailOf(t, store, creator, m.ID)
	if !got.RefusedAt.Equal(m.RefusedAt) || !got.SentAt.IsZero() ||
		!strings.HasPrefix(got.Refusal, "550 ö") || !got.Settled() {
		t.Errorf("found %+v", got)
	}
	m.CreatorID = "crt_2"
	err := store.Atomically(
		t.Context(), func(ctx context.Context, r ports.Repos) error { return r.Mail.Mails.Update(ctx, m) },
	)
	if !errors.Is(err, ports.ErrNotFound) {
		t.Errorf("somebody else's mail: %v, want ErrNotFound", err)
	}
}

// aRecipientsLimitHolds inserts mails together, and one after another: all of a recipient leave by one limit.
func aRecipientsLimitHolds(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	now, limit, total := realNow(), ports.MailLimit{Most: 3, Window: time.Hour, Apart: "order"}, byte(10)
	mailTo := func(n byte, kind, recipient string) ports.Mail {
		return ports.Mail{
			ID: id.New(id.Mail, [16]byte{n + 1}), CreatorID: creator, Kind: kind, Cause: fmt.Sprint(n),
			Recipient: recipient, Data: json.RawMessage("{}"), CreatedAt: now,
		}
	}
	leavesOf := func(m ports.Mail) time.Time { return mailOf(t, store, creator, m.ID).LeavesAt }
	mails := make([]ports.Mail, total)
	errs := make([]error, total)
	var all sync.WaitGroup
	for i := range total {
		mails[i] = mailTo(i, "receipt", []string{"grace@example.com", "Grace@example.com"}[i%2])
		insert := func() {
			errs[i] = store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
				return r.Mail.Mails.Insert(ctx, mails[i], limit)
			})
		}
		if i < total/2 {
			all.Go(insert)
			continue
		}
		all.Wait()
		insert()
	}
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	leaves := make([]time.Time, total)
	for i, m := range mails {
		leaves[i] = leavesOf(m)
	}
	slices.SortFunc(leaves, time.Time.Compare)
	for i, at := range leaves {
		if want := now.Add(time.Duration(i/limit.Most) * time.Hour); !at.Equal(want) {
			t.Errorf("mail %d leaves at %v, want %v", i, at, want)
		}
	}
	apart, other := mailTo(20, "order", "grace@example.com"), mailTo(21, "receipt", "heidi@example.com")
	later := mailTo(22, "receipt", "grace@example.com")
	later.CreatedAt = now.Add(24 * time.Hour)
	for _, m := range []ports.Mail{apart, other, later} {
		insertMail(t, store, m, limit)
		if at := leavesOf(m); !at.Equal(m.CreatedAt) {
			t.Errorf("a %s to %s of %v leaves at %v, want at once", m.Kind, m.Recipient, m.CreatedAt, at)
		}
	}
	atomically(t, store, func(ctx context.Context, r ports.Repos) error { // in one transaction
		for n := range byte(4) {
			if err := r.Mail.Mails.Insert(ctx, mailTo(30+n, "receipt", "ivan@example.com"), limit); err != nil {
				return err
			}
		}
		return nil
	})
	if at := leavesOf(mailTo(33, "", "")); !at.Equal(now.Add(time.Hour)) {
		t.Errorf("the fourth of a transaction leaves at %v, want an hour later", at)
	}
}
