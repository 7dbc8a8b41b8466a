package gormstore_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"sundry/core/checkout"
	"sundry/core/id"
	"sundry/core/webhook"
	"sundry/ports"
	"sundry/tests/testdb"
)

// TestRetentionDeletesWhatNobodyNeeds has one row of each kind that must go, and beside it all that must stay.
func TestRetentionDeletesWhatNobodyNeeds(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		url := engine.URL(t)
		store := engine.OpenAt(t, url)
		now := time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)
		before, since := now.Add(-time.Hour), now.Add(time.Hour)
		old, young := func(k id.Prefix) string {
			return id.First(k, before)
		}, func(k id.Prefix) string { return id.First(k, since) }
		insert := func(table, columns, format string, args ...any) {
			t.Helper()
			engine.Exec(t, url, fmt.Sprintf("INSERT INTO "+table+" ("+columns+") VALUES ("+format+")", args...))
		}
		event := func(name string) {
			insert("events", "id, creator_id, type, customer_id, external_customer_id, livemode, data, created_at, position",
				"'%s', 'crt_1', 'x', '', '', false, '{}', 1, 1", name)
		}
		deliveryTo := func(endpoint, name, event, status string) {
			insert("deliveries", "id, creator_id, event_id, event_type, endpoint_id, status, "+
				"attempt_count, created_at, revision",
				"'%s', 'crt_1', '%s', 'x', '%s', '%s', 1, 1, 1", name, event, endpoint, status)
		}
		delivery := func(name, event, status string) { deliveryTo("we_1", name, event, status) }
		err := store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			return r.Webhooks.Endpoints.Insert(ctx, webhook.EndpointState{
				ID: "we_1", CreatorID: "crt_1", Secret: []byte("secret"), CreatedAt: before,
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		attempt := func(delivery string, at time.Time) {
			insert("delivery_attempts", "creator_id, delivery_id, number, at, status_code, duration_ms, error, response_body",
				"'crt_1', '%s', 1, %d, 200, 1, '', ''", delivery, at.UnixMilli())
		}
		event(old(id.Event))
		delivery("dlv_gone", old(id.Event), "delivered")
		attempt("dlv_gone", before)
		event(old(id.Event) + "p")
		delivery("dlv_pending", old(id.Event)+"p", "pending")
		event(old(id.Event) + "d")
		deliveryTo("we_deleted", "dlv_deleted", old(id.Event)+"d", "pending")
		event(old(id.Event) + "r")
		delivery("dlv_again", old(id.Event)+"r", "failed")
		attempt("dlv_again", since)
		event(young(id.Event))
		delivery("dlv_young", young(id.Event), "delivered")
		attempt("dlv_young", since)
		mail := func(name, sentAt string) {
			insert("mails", "id, creator_id, kind, cause, recipient, recipient_name, data, created_at, sent_at",
				"'%s', 'crt_1', 'x', '%s', 'a@example.com', '', '{\"a\":1}', 1, %s", name, name, sentAt)
		}
		mail(old(id.Mail), "1")
		mail(old(id.Mail)+"u", "NULL")
		mail(young(id.Mail), "1")
		insert("busy_times", "creator_id, url, starts_at, ends_at", "'crt_1', 'u', 1, 2")
		insert("busy_times", "creator_id, url, starts_at, ends_at", "'crt_1', 'u', 3, %d", since.UnixMilli())
		for _, name := range []string{old(id.Request), young(id.Request)} {
			insert("api_requests", "id, creator_id, method, path, status, code, duration_us, api_key, at",
				"'%s', 'crt_1', 'GET', '/', 200, '', 1, '', 1", name)
		}
		for name, released := range map[string]string{"img_old": strconv.FormatInt(before.UnixMilli(), 10),
			"img_young": strconv.FormatInt(since.UnixMilli(), 10), "img_shown": "NULL"} {
			insert("images", "id, creator_id, content_type, width, height, body, created_at, released_at",
				"'%s', 'crt_1', 'image/png', 1, 1, '', 1, %s", name, released)
		}
		session := func(sessionID string, status checkout.Status) {
			t.Helper()
			err := store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
				return r.Checkout.Sessions.Insert(ctx, checkout.State{ID: sessionID, CreatorID: "crt_1", Status: status,
					CreatedAt: before, ExpiresAt: before})
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		session(old(id.CheckoutSession), checkout.StatusExpired)
		session(old(id.CheckoutSession)+"p", checkout.StatusPaid)
		session(young(id.CheckoutSession), checkout.StatusExpired)

		for range 2 { // again, it changes nothing
			err := store.DeleteOld(t.Context(), ports.Retention{Deliveries: now, Events: now, Sessions: now, MailBodies: now,
				Requests: now, Images: now, Now: now})
			if err != nil {
				t.Fatal(err)
			}
			for query, want := range map[string]int64{
				"SELECT COUNT(*) FROM deliveries": 3, "SELECT COUNT(*) FROM deliveries WHERE id = 'dlv_gone'": 0,
				"SELECT COUNT(*) FROM delivery_attempts": 2,
				"SELECT COUNT(*) FROM events":            3, "SELECT COUNT(*) FROM events WHERE id = '" + old(id.Event) + "'": 0,
				"SELECT COUNT(*) FROM sessions": 2, "SELECT COUNT(*) FROM sessions WHERE id = '" + old(id.CheckoutSession) + "'": 0,
				"SELECT COUNT(*) FROM mails": 3, "SELECT COUNT(*) FROM mails WHERE data = '{}'": 1,
				"SELECT COUNT(*) FROM mails WHERE data = '{}' AND id = '" + old(id.Mail) + "'": 1,
				"SELECT COUNT(*) FROM busy_times":                                              1,
				"SELECT COUNT(*) FROM images":                                                  2, "SELECT COUNT(*) FROM images " +
					"WHERE id = 'img_old'": 0,
				"SELECT COUNT(*) FROM api_requests": 1, "SELECT COUNT(*) FROM api_requests WHERE id = '" + old(id.Request) + "'": 0,
			} {
				if got := engine.Int(t, url, query); got != want {
					t.Errorf("%s: %d, want %d", query, got, want)
				}
			}
		}
	})
}
