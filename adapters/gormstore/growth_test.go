package gormstore_test

import (
	"context"
	"testing"
	"time"

	"sundry/adapters/gormstore"
	"sundry/core/access"
	"sundry/core/document"
	"sundry/core/listing"
	"sundry/core/money"
	"sundry/core/payout"
	"sundry/ports"
	"sundry/tests/testdb"
)

// filled holds statements that fill tables of which one account has half the rows, and in which the queries below
// select next to nothing.
var filled = []string{
	`INSERT INTO tasks (id, kind, subject, class, creator_id, due_at, run_at)
		SELECT 'later:' || n, 'later', 's' || n, 'default', CASE WHEN n % 2 = 0 THEN 'crt_0' ELSE 'crt_' || n % 500 END,
			CASE WHEN n <= 20 THEN 1700000000000 ELSE 4000000000000 + n END, CASE WHEN n <= 20 THEN 1700000000000
			ELSE 4000000000000 + n END
		FROM generate_series(1, 40000) n`,
	"UPDATE tasks SET lease_until = 5000000000000 WHERE due_at < 2000000000000 AND right(id, 1) = '4'",
	"INSERT INTO clock_offsets (creator_id, offset_ms) VALUES ('crt_0', 1000)",
	`INSERT INTO appointments SELECT 'apt_' || lpad(n::text, 9, '0'), CASE WHEN n % 2 = 0 THEN 'crt_0'
		ELSE 'crt_' || n % 500 END, 'lst_' || n % 1000,
			'v', 'ses_' || n, 0, 'rsv_' || n, 'c', 'cus', 'T', CASE WHEN n % 4000 = 0 THEN 'canceled' ELSE 'confirmed' END,
			1700000000000 + n, 1700000000000 + n, 'UTC', 'online', '', '', 0, 0, '', NULL, n, 1
		FROM generate_series(1, 40000) n`,
	`INSERT INTO listings SELECT 'lst_' || lpad(n::text, 9, '0'), CASE WHEN n % 2 = 0 THEN 'crt_0'
		ELSE 'crt_' || n % 500 END,
			CASE WHEN n % 4000 = 0 THEN 'DIGITAL' ELSE 'SESSION' END, 'T', 'd', 'text ' || md5(n::text) ||
			CASE WHEN n % 4000 = 0 THEN ' needle' ELSE '' END,
			'slug-' || n, 'key-' || n, n, CASE WHEN n % 4000 = 0 THEN 'gbp' ELSE 'eur' END, 'pri', 'inclusive', 'ACTIVE', '{}',
			'[]', n, n, 1
		FROM generate_series(1, 40000) n`,
	`INSERT INTO access_snapshots SELECT CASE WHEN n % 2 = 0 THEN 'crt_0' ELSE 'crt_' || n % 500 END, 'user-' || n, 1,
		'"e"', '{}', NULL
		FROM generate_series(1, 40000) n`,
	`INSERT INTO grants SELECT 'grt_' || lpad(n::text, 9, '0'), CASE WHEN n % 2 = 0 THEN 'crt_0'
		ELSE 'crt_' || n % 500 END, 'user-' || n,
			'purchase', 'pay_' || lpad(n::text, 9, '0'), '', 'null', '[]', '[]', '', n, NULL, NULL, '', 1
		FROM generate_series(1, 40000) n`,
	`INSERT INTO documents SELECT 'receipt:' || lpad(n::text, 26, '0'), 'crt_' || n % 500, 'R', 'R-' || n,
		'pay_' || lpad(n::text, 26, '0'), 'eur', 0, 0,
			1700000000000 + n, '{"kind":"receipt"}'
		FROM generate_series(1, 40000) n`,
	`INSERT INTO sessions (id, creator_id, listing_id, offer, catalog, discount_terms, payment_link_id, buyer, opened_by,
		external_customer_id, email, ui_mode, success_url, cancel_url, reference_id,
			metadata, utm, slots, session_count, status, currency, subtotal, discount, tax, total, tax_details, attempts,
			live_payment_id, last_error,
			payment_id, customer_id, subscription_id, receipt_number, expires_at, created_at, revision)
		SELECT 'chk_' || lpad(n::text, 9, '0'), CASE WHEN n % 2 = 0 THEN 'crt_0' ELSE 'crt_' || n % 500 END, 'lst_1', '{}',
		'null', 'null', '', '{}',
			CASE WHEN n % 4000 = 0 THEN 'visitor' ELSE '' END, 'user-' || n, '', 'hosted', '', '',
			CASE WHEN n % 4000 = 0 THEN 'order' ELSE '' END,
			'{}', '{}', '[]', 0, 'processing', 'eur', 1, 0, 0, 1, '{}', 0, '', '{}', '', '', '', '', n, n, 1
		FROM generate_series(1, 40000) n`,
	`INSERT INTO events (id, creator_id, type, customer_id, external_customer_id, livemode, data, created_at, position)
		SELECT 'evt_' || lpad(n::text, 9, '0'), CASE WHEN n % 2 = 0 THEN 'crt_0'
		ELSE 'crt_' || n % 500 END, 'payment.succeeded',
			CASE WHEN n % 4000 = 0 THEN 'cus_1' WHEN n % 8 = 0 THEN 'cus_' || n ELSE '' END,
			CASE WHEN n % 4000 = 0 THEN 'ada' WHEN n % 8 = 0 THEN 'x' || n ELSE '' END, false, '{}', n, n
		FROM generate_series(1, 40000) n`,
	`INSERT INTO customers (id, creator_id, external_customer_id, email, display_name, details, created_at, updated_at,
			revision) VALUES ('cus', 'crt_0', 'ada', '', '', '{}', 0, 0, 1)`,
	`INSERT INTO customers (id, creator_id, email, display_name, details, created_at, updated_at, revision)
		SELECT 'cus_' || lpad(n::text, 9, '0'), CASE WHEN n % 2 = 0 THEN 'crt_0' ELSE 'crt_' || n % 500 END,
			CASE WHEN n % 4000 = 0 THEN 'Rare' ELSE md5(n::text) END || '@example.com', 'Name', '{}', n, n, 1
		FROM generate_series(1, 40000) n`,
	`INSERT INTO payments (id, creator_id, purpose, subject_id, customer_id, payment_method_id, receipt_number, sale,
			off_session, currency, amount, status, decline, provider, processor_id, method, brand, last4, save_card, created_at,
			settled_at, refunded, processor_fee, revision)
		SELECT 'pay_' || lpad(n::text, 9, '0'), CASE WHEN n % 2 = 0 THEN 'crt_0' ELSE 'crt_' || n % 500 END, 'checkout',
			'chk_' || lpad(n::text, 9, '0'), CASE WHEN n % 4000 = 0 THEN 'cus_1' ELSE 'cus_' || n END, '', '', '{}', false,
			'eur', 1, 'succeeded', '{}', 'sandbox', '', '', '', '', false, n, n, 0, 0, 1
		FROM generate_series(1, 40000) n`,
	`INSERT INTO subscriptions (id, creator_id, customer_id, external_customer_id, checkout_id, offer, status,
			payment_method_id, anchor, current_period_start, current_period_end, started_at, cancel_at_period_end, planned,
			discount, credit, period_value, dunning, charge, revision, trial_card)
		SELECT 'sub_' || lpad(n::text, 9, '0'), 'crt_0', 'cus', 'ada', 'chk_' || lpad(n::text, 9, '0'), '{}', 'active',
			'', 0, 0, 0, 0, false, 'null', 'null', 0, 0, '{}', 'null', 1, CASE WHEN n % 8 = 0 THEN md5(n::text) ELSE '' END
		FROM generate_series(1, 40000) n`,
	`INSERT INTO ledger_postings (id, creator_id, source_type, source_id, kind, currency, processor_clearing, disputed_funds,
			processor_fee, tax_payable, platform_fee, creator_pending, creator_available, creator_reserved, creator_in_transit,
			created_at)
		SELECT 'led_' || lpad(n::text, 9, '0'), 'crt_0', CASE n WHEN 40000 THEN 'payout' ELSE 'sale' END, 'source_' || n,
			CASE n WHEN 40000 THEN 'payout_requested' ELSE 'release' END, 'eur', 0, 0, 0, 0, 0, 1, -1, 0, 0, n
		FROM generate_series(1, 40000) n`,
	"INSERT INTO ledger_days_until (creator_id, until) VALUES ('crt_0', 'led_000039990')",
	`INSERT INTO usage_meters (id, creator_id, name, event_name, aggregation, created_at)
		VALUES ('mtr', 'crt_0', '', 'e', 'SUM', 0)`,
	"INSERT INTO usage_products (id, creator_id, name, type, created_at) VALUES ('prd', 'crt_0', '', 'SERVICE', 0)",
	`INSERT INTO usage_prices (id, creator_id, product_id, billing_scheme, currency, tiers, billing_interval, created_at)
		VALUES ('upr', 'crt_0', 'prd', 'usage_based', 'eur', '[]', 'month', 0)`,
	`INSERT INTO usage_billing_plans (id, creator_id, customer_id, external_customer_id, subscription_id, meter_id,
			price_id, billing_interval, anchor, starts_at, current_start, current_end, status, created_at, revision)
		SELECT 'ubp_' || n, 'crt_0', 'cus', 'ada', 'sub_' || lpad(n::text, 9, '0'), 'mtr', 'upr', 'month', 0, 0, 0,
			2678400000, 'active', 0, 1
		FROM generate_series(1, 20) n`,
	`INSERT INTO usage_streams (id, creator_id, customer_id, external_customer_id, subscription_id, meter_id, event_name,
			aggregation, billing_interval, interval_count, anchor, starts_at, included, plan_id, closed, version)
		SELECT n, 'crt_0', 'cus', 'ada', 'sub_' || lpad(n::text, 9, '0'), 'mtr', 'e', 'SUM', 'month', 1, 0, 0, 0, 'ubp_' || n,
			false, 1
		FROM generate_series(1, 40000) n`,
	`INSERT INTO invoices (id, creator_id, customer_id, external_customer_id, number, status, currency, lines, subtotal,
			tax, tax_details, total, period_start, period_end, subscription_id, billing_plan_id, key, fingerprint, attempt_count,
			decline_code, payment_id, created_at, finalized_at, revision)
		SELECT 'inv_' || n, CASE WHEN n % 2 = 0 THEN 'crt_0' ELSE 'crt_' || n % 500 END, 'cus', 'ada', 'I-' || n, 'paid',
			'eur', '[]', 0, 0, '{}', 0, '', '', '', CASE WHEN n % 4 = 0 THEN 'ubp_old_' || n ELSE '' END, '', '', 0, '', '', n,
			n, 1
		FROM generate_series(1, 40000) n`,
	// Of 100 texts in the histogram, in about one run of a hundred, one has the rare word, which is then expected in each
	// hundredth row.
	"ALTER TABLE listings ALTER COLUMN search SET STATISTICS 1000",
	"VACUUM ANALYZE tasks, appointments, listings, access_snapshots, grants, documents, sessions, events, subscriptions, " +
		"ledger_postings, customers, payments, usage_billing_plans, usage_streams, invoices",
}

// TestLargeTablesAreNotScanned counts the rows that a query of one page reads. Its plan is made without the parameters,
// as all are.
func TestLargeTablesAreNotScanned(t *testing.T) {
	t.Parallel()
	databaseURL := testdb.Postgres.URL(t)
	for _, statement := range filled {
		testdb.Postgres.Exec(t, databaseURL, statement)
	}
	store, err := gormstore.Open(t.Context(), databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	page, now, highest := ports.Page{Limit: 20}, time.Now(), int64(4001)
	search := func(s ports.ListingSearch) func(ctx context.Context, r ports.Repos) (int, error) {
		return func(ctx context.Context, r ports.Repos) (int, error) {
			found, err := r.Catalog.Listings.Search(ctx, s, page)
			return len(found.Items), err
		}
	}
	tasks := func(state ports.TaskState) func(ctx context.Context, r ports.Repos) (int, error) {
		return func(ctx context.Context, r ports.Repos) (int, error) {
			found, err := r.TaskAdmin.List(ctx, "crt_0", state, now, page)
			return len(found.Items), err
		}
	}
	appointments := func(s ports.AppointmentSearch) func(ctx context.Context, r ports.Repos) (int, error) {
		return func(ctx context.Context, r ports.Repos) (int, error) {
			found, err := r.Booking.Appointments.List(ctx, "crt_0", s, page)
			return len(found.Items), err
		}
	}
	billingAudit := func(ctx context.Context, r ports.Repos) (int, error) {
		wrong, err := r.Usage.Audit.Misbilled(ctx, 10)
		return len(wrong), err
	}
	sortedBy := func(value string) ports.Page {
		return ports.Page{Limit: 20, Sort: ports.Sort{By: value, Ascending: true}}
	}
	for name, c := range map[string]struct {
		table       string
		found, most int
		query       func(ctx context.Context, r ports.Repos) (int, error)
	}{
		"running tasks": {"tasks", 2, 100, tasks(ports.TaskRunning)},
		"failed tasks":  {"tasks", 0, 100, tasks(ports.TaskFailed)},
		"waiting tasks": {"tasks", 20, 200, tasks(ports.TaskWaiting)},
		"backlog": {"tasks", 20, 100, func(ctx context.Context, _ ports.Repos) (due int, err error) {
			backlog, err := store.Backlog(ctx, now)
			for _, kind := range backlog {
				due += int(kind.Due)
			}
			return due, err
		}},
		"next due task": {"tasks", 1, 100, func(ctx context.Context, _ ports.Repos) (int, error) {
			_, ok, err := store.NextDue(ctx, now)
			if !ok {
				return 0, err
			}
			return 1, err
		}},
		"clock sweep": {"tasks", 0, 100, func(ctx context.Context, _ ports.Repos) (int, error) {
			return 0, store.Retime(ctx, "")
		}},
		"calendar feed": {"appointments", 50, 200, func(ctx context.Context, r ports.Repos) (int, error) {
			found, err := r.Booking.Appointments.ListFrom(ctx, "crt_0", time.UnixMilli(1700000000000+39901), 5000)
			return len(found), err
		}},
		"appointments of a listing": {"appointments", 20, 200,
			appointments(ports.AppointmentSearch{ListingID: "lst_2"})},
		"appointments by status": {"appointments", 10, 200,
			appointments(ports.AppointmentSearch{Status: "canceled"})},
		"appointments newest":         {"appointments", 20, 200, appointments(ports.AppointmentSearch{})},
		"listings newest":             {"listings", 20, 2500, search(ports.ListingSearch{})},
		"listings with a common word": {"listings", 20, 2500, search(ports.ListingSearch{Text: "text"})},
		"listings with a rare word":   {"listings", 10, 2500, search(ports.ListingSearch{Text: "needle"})},
		"listings with no such word": {"listings", 0, 2500,
			search(ports.ListingSearch{Text: "haystack", Sort: ports.PriceDesc})},
		"listings in a rare currency": {"listings", 10, 2500,
			search(ports.ListingSearch{Currency: "gbp", Sort: ports.PriceAsc})},
		"newest listings in a rare currency": {"listings", 10, 2500, search(ports.ListingSearch{Currency: "gbp"})},
		"listings of a rare type":            {"listings", 10, 2500, search(ports.ListingSearch{Type: listing.Digital})},
		"listings by price and currency": {"listings", 1, 2500,
			search(ports.ListingSearch{Currency: "gbp", MaxPrice: &highest, Sort: ports.PriceAsc})},
		"access of a page of customers": {"grants", 100, 200,
			func(ctx context.Context, r ports.Repos) (grants int, err error) {
				customers, err := r.Access.Audit.ListCustomers(ctx,
					access.Document{CreatorID: "crt_0", ExternalCustomerID: "user-2"}, 100)
				for _, c := range customers {
					grants += len(c.Grants)
				}
				return grants, err
			}},
		"documents of a time": {"documents", 500, 600, func(ctx context.Context, r ports.Repos) (int, error) {
			found, err := r.Invoicing.Documents.ListIssued(ctx, time.UnixMilli(1700000020000), time.UnixMilli(1700000030000),
				document.Snapshot{}, 500)
			return len(found), err
		}},
		"sessions of a reference": {"sessions", 10, 100, func(ctx context.Context, r ports.Repos) (int, error) {
			found, err := r.Checkout.Sessions.List(ctx, "crt_0", ports.SessionSearch{ReferenceID: "order"}, page)
			return len(found.Items), err
		}},
		"sessions of a visitor that hold times": {"sessions", 0, 100, func(ctx context.Context, r ports.Repos) (int, error) {
			return r.Checkout.Sessions.CountHolding(ctx, "crt_0", "visitor")
		}},
		"subscriptions of an account that has none beside one that has all": {"subscriptions", 0, 10,
			func(ctx context.Context, r ports.Repos) (int, error) {
				found, err := r.Subscriptions.Subscriptions.List(ctx, ports.SubscriptionFilter{CreatorID: "crt_9"}, page)
				return len(found.Items), err
			}},
		"payments of a reference": {"sessions", 10, 100, func(ctx context.Context, r ports.Repos) (int, error) {
			found, err := r.Payments.Payments.List(ctx, "crt_0", ports.PaymentSearch{ReferenceID: "order"}, page)
			return len(found.Items), err
		}},
		"payments of a subscription": {"payments", 1, 10, func(ctx context.Context, r ports.Repos) (int, error) {
			found, err := r.Payments.Payments.List(ctx, "crt_0", ports.PaymentSearch{SubscriptionID: "sub_000000042"}, page)
			return len(found.Items), err
		}},
		"payments of customers": {"payments", 10, 100, func(ctx context.Context, r ports.Repos) (int, error) {
			found, err := r.Payments.Payments.List(ctx, "crt_0", ports.PaymentSearch{CustomerIDs: []string{"cus_1"}}, page)
			return len(found.Items), err
		}},
		"new name of a customer": {"payments", 0, 100, func(ctx context.Context, r ports.Repos) (int, error) {
			return 0, r.Checkout.Sessions.Rename(ctx, "crt_0", "cus_1", "grace")
		}},
		"new address of a customer": {"payments", 0, 100, func(ctx context.Context, r ports.Repos) (int, error) {
			return 0, r.Checkout.Sessions.Readdress(ctx, "crt_0", "cus_1", "old@example.com", "new@example.com")
		}},
		"payments of a buyer": {"payments", 0, 5100, func(ctx context.Context, r ports.Repos) (int, error) {
			found, err := r.Payments.Payments.FindByBuyer(ctx, "crt_0", "nobody", 10)
			return len(found), err
		}},
		"customers by the beginning of an address": {"customers", 10, 5300,
			func(ctx context.Context, r ports.Repos) (int, error) {
				found, err := r.Customers.Customers.Search(ctx, "crt_0", "rare", 10)
				return len(found), err
			}},
		"events of a customer": {"events", 10, 100, func(ctx context.Context, r ports.Repos) (int, error) {
			found, err := r.Webhooks.Events.List(ctx, "crt_0", ports.EventSearch{CustomerID: "cus_1"}, page)
			return len(found.Items), err
		}},
		"events of an external customer": {"events", 10, 100, func(ctx context.Context, r ports.Repos) (int, error) {
			found, err := r.Webhooks.Events.List(ctx, "crt_0", ports.EventSearch{ExternalCustomerID: "ada"}, page)
			return len(found.Items), err
		}},
		"trial of a card": {"subscriptions", 0, 10, func(ctx context.Context, r ports.Repos) (int, error) {
			_, err := r.Subscriptions.Subscriptions.HasTrialCard(ctx, "unknown")
			return 0, err
		}},
		"figures of all days": {"ledger_postings", 0, 30, func(ctx context.Context, r ports.Repos) (int, error) {
			found, err := r.Treasury.Ledger.Days(ctx, "crt_0", 0, 99_999)
			return len(found), err
		}},
		"posting of a payout": {"ledger_postings", 1, 10, func(ctx context.Context, r ports.Repos) (int, error) {
			_, _, err := r.Treasury.Ledger.PayoutPosting(ctx, payout.State{ID: "source_40000", CreatorID: "crt_0",
				Amount: money.Amount{Minor: 1, Currency: "eur"}})
			return 1, err
		}},
		"invoices of all billing plans": {"invoices", 0, 100, billingAudit},
		"streams of all billing plans":  {"usage_streams", 0, 100, billingAudit},
		"customers by address": {"customers", 20, 100, func(ctx context.Context, r ports.Repos) (int, error) {
			found, err := r.Customers.Customers.List(ctx, ports.CustomerFilter{CreatorID: "crt_0"}, sortedBy("email"))
			return len(found.Items), err
		}},
		"appointments by start": {"appointments", 20, 100,
			func(ctx context.Context, r ports.Repos) (int, error) {
				found, err := r.Booking.Appointments.List(ctx, "crt_0", ports.AppointmentSearch{}, sortedBy("startsAt"))
				return len(found.Items), err
			}},
		"canceled appointments by start": {"appointments", 10, 100,
			func(ctx context.Context, r ports.Repos) (int, error) {
				found, err := r.Booking.Appointments.List(ctx, "crt_0", ports.AppointmentSearch{Status: "canceled"},
					sortedBy("startsAt"))
				return len(found.Items), err
			}},
		"payments by amount": {"payments", 20, ports.NewestRows + 100,
			func(ctx context.Context, r ports.Repos) (int, error) {
				found, err := r.Payments.Payments.List(ctx, "crt_0", ports.PaymentSearch{}, sortedBy("amount"))
				if !found.Partial {
					t.Error("not all payments were sorted, and the list does not say so")
				}
				return len(found.Items), err
			}},
		"own listings": {"listings", 20, 200, func(ctx context.Context, r ports.Repos) (int, error) {
			found, err := r.Catalog.Listings.List(ctx, "crt_0", page)
			return len(found.Items), err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
				before, err := gormstore.RowsRead(ctx, c.table)
				if err != nil {
					return err
				}
				found, err := c.query(ctx, r)
				if err != nil {
					return err
				}
				after, err := gormstore.RowsRead(ctx, c.table)
				if read := after - before; found != c.found || read > int64(c.most) {
					t.Errorf("found %d (want %d) by reading %d rows of 40000 (want at most %d)", found, c.found, read, c.most)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}
