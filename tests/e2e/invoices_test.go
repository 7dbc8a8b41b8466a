package e2e_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"sundry/tests/harness"
	"sundry/tests/testdb"
)

func (m *metered) invoiceBody(key string, minor int) harness.JSON {
	return harness.JSON{
		"customerId": m.customerID, "currency": "eur", "periodStart": "2026-03-01", "periodEnd": "2026-03-31",
		"idempotencyKey": key,
		"lineItems": []harness.JSON{
			{"description": "Support, 3 hours", "amountInCents": minor},
			{"description": "Discount", "amountInCents": -100},
		},
	}
}

// payOnPage pays an invoice as the customer does, on its page.
func (m *metered) payOnPage(t *testing.T, inv invoiceBody, card string) *harness.Response {
	t.Helper()
	page, err := url.Parse(inv.HostedURL)
	if err != nil {
		t.Fatal(err)
	}
	return m.Ask(t, harness.Request{
		Method: http.MethodPost, Path: page.Path + "/pay", Body: url.Values{"cardNumber": {card}}.Encode(),
		Headers: map[string]string{"Content-Type": "application/x-www-form-urlencoded"},
	})
}

func TestInvoiceLinksAreNotStored(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		m := newFixture(t, harness.New(t, engine, nil)).subscribed(t, harness.CardSucceeds, "SUM")
		var inv invoiceBody
		m.AsBackend(t, http.MethodPost, "/v1/invoices", m.invoiceBody("one", 27000)).Want(t, 201).Into(t, &inv)
		workOff(t, m.Account)
		var list struct{ Data []json.RawMessage }
		m.AsBackend(t, http.MethodGet, "/v1/events?type=invoice.paid", nil).Want(t, 200).Into(t, &list)
		if len(list.Data) != 1 {
			t.Fatalf("%d events", len(list.Data))
		}
		var listed struct{ Data invoiceBody }
		if err := json.Unmarshal(list.Data[0], &listed); err != nil || listed.Data.HostedURL != inv.HostedURL ||
			listed.Data.PDFURL != inv.PDFURL {
			t.Errorf("the event names %q and %q, %v", listed.Data.HostedURL, listed.Data.PDFURL, err)
		}
		secret := inv.HostedURL[strings.LastIndex(inv.HostedURL, "/")+1:]
		if tables := m.TablesWith(t, secret); len(tables) > 0 || len(secret) < 40 {
			t.Errorf("the address %q is stored in %v", secret, tables)
		}
	})
}

func TestAPushedInvoiceIsPaid(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		m := newFixture(t, app).subscribed(t, harness.CardSucceeds, "SUM")
		var inv invoiceBody
		m.AsBackend(t, http.MethodPost, "/v1/invoices", m.invoiceBody(harness.Unique("march"), 27000)).Want(t, 201).Into(t,
			&inv)
		wantLines(t, inv, "paid", "pushed  = 27000", "pushed  = -100")
		if got := m.story(t, inv.ID); got != "created finalized paid" || inv.AttemptCount != 1 {
			t.Errorf("events %s, %d attempts", got, inv.AttemptCount)
		}
		m.AsBackend(t, http.MethodGet, "/v1/invoices/"+inv.ID, nil).Want(t, 200)
		for path, kind := range map[string]string{inv.HostedURL: "text/html", inv.PDFURL: "application/pdf"} {
			u, err := url.Parse(path)
			if err != nil {
				t.Fatal(err)
			}
			response := m.Ask(t, harness.Request{Method: http.MethodGet, Path: u.Path}).Want(t, 200)
			if !strings.HasPrefix(response.Header.Get("Content-Type"), kind) {
				t.Errorf("%s is %s", path, response.Header.Get("Content-Type"))
			}
			if kind == "application/pdf" && !bytes.HasPrefix(response.Body, []byte("%PDF-")) {
				t.Error("the document is no PDF")
			}
		}
	})
}

func TestAPushedInvoiceOfNothingIsPaidWithoutACharge(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		m := newFixture(t, app).subscribed(t, harness.CardSucceeds, "SUM")
		var inv invoiceBody
		m.AsBackend(t, http.MethodPost, "/v1/invoices", m.invoiceBody(harness.Unique("march"), 100)).Want(t, 201).Into(t,
			&inv)
		if inv.Status != "paid" || inv.AttemptCount != 0 {
			t.Errorf("%+v", inv)
		}
	})
}

func TestAPushedInvoiceWithoutACardIsRefused(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		m := w.subscribed(t, harness.CardSucceeds, "SUM")
		_, receipt := w.sell(t, w.book(t, 500), harness.CardSucceeds, nil) // nothing recurs, so no card is kept
		m.customerID, _ = receipt["customerId"].(string)
		response := m.AsBackend(t, http.MethodPost, "/v1/invoices", m.invoiceBody(harness.Unique("march"), 500))
		response.Refuses(t, 400, "PAYMENT_METHOD_REQUIRED")
		if !strings.Contains(string(response.Body), "no saved payment method") {
			t.Errorf("%s", response.Body)
		}
		if got := m.invoices(t); len(got) != 0 {
			t.Errorf("%d invoices", len(got))
		}
	})
}

func TestAPushedInvoiceForAStrangersCustomerIsNotFound(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		m, other := newFixture(t, app).subscribed(t, harness.CardSucceeds, "SUM"), newFixture(t, app)
		other.AsBackend(t, http.MethodPost, "/v1/invoices", m.invoiceBody(harness.Unique("march"), 500)).Refuses(t, 404,
			"CUSTOMER_NOT_FOUND")
	})
}

func TestAnInvoiceKeyMakesOneInvoiceForGood(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		m := newFixture(t, app).subscribed(t, harness.CardSucceeds, "SUM")
		key := harness.Unique("march")
		var inv invoiceBody
		m.AsBackend(t, http.MethodPost, "/v1/invoices", m.invoiceBody(key, 500)).Want(t, 201).Into(t, &inv)
		advance(t, m.Account, 48*time.Hour)
		type refusal struct {
			Code, ID, Status string
			Invoice          invoiceBody
		}
		var reused, mismatch refusal
		m.AsBackend(t, http.MethodPost, "/v1/invoices", m.invoiceBody(key, 500)).Want(t, 409).Into(t, &reused)
		if reused.Code != "IDEMPOTENCY_KEY_REUSED" || reused.ID != inv.ID || reused.Invoice.ID != inv.ID ||
			reused.Status != "paid" {
			t.Errorf("%+v", reused)
		}
		m.AsBackend(t, http.MethodPost, "/v1/invoices", m.invoiceBody(key, 600)).Want(t, 409).Into(t, &mismatch)
		if mismatch.Code != "IDEMPOTENCY_KEY_MISMATCH" || mismatch.Invoice.ID != inv.ID {
			t.Errorf("%+v", mismatch)
		}
		body := m.invoiceBody("", 500)
		delete(body, "idempotencyKey")
		m.Once(t, key, http.MethodPost, "/v1/invoices", body).Want(t, 409)
		m.Once(t, key+"-other", http.MethodPost, "/v1/invoices", m.invoiceBody(key, 500)).Refuses(
			t, 400, "VALIDATION_FAILED", "Idempotency-Key",
		)
	})
}

// Many posts with one invoice key make one invoice with one charge.
func TestManyPostsOfAnInvoiceKeyAreOneCharge(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		m := newFixture(t, app).subscribed(t, harness.CardSucceeds, "SUM")
		key := harness.Unique("march")
		var mu sync.Mutex
		statuses := map[int]int{}
		var wait sync.WaitGroup
		for range 32 {
			wait.Go(func() {
				response := m.AsBackend(t, http.MethodPost, "/v1/invoices", m.invoiceBody(key, 500))
				mu.Lock()
				defer mu.Unlock()
				statuses[response.Status]++
			})
		}
		wait.Wait()
		if statuses[201] != 1 || statuses[409] != 31 {
			t.Errorf("responses %v", statuses)
		}
		all := m.invoices(t)
		if len(all) != 1 || all[0].Status != "paid" || all[0].AttemptCount != 1 ||
			!strings.HasSuffix(all[0].Number, "-I-000001") {
			t.Errorf("%+v", all)
		}
	})
}

func TestADeclinedInvoiceIsStoredAsFailed(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		m := newFixture(t, app).subscribed(t, cardFailsLater, "SUM")
		var refused struct {
			Code, ID, Status string
			Invoice          invoiceBody
		}
		key := harness.Unique("march")
		m.AsBackend(t, http.MethodPost, "/v1/invoices", m.invoiceBody(key, 500)).Want(t, 402).Into(t, &refused)
		if refused.Code != "CARD_DECLINED" || refused.Status != "failed" || refused.Invoice.ID != refused.ID ||
			refused.Invoice.NextAttemptAt == nil {
			t.Errorf("%+v", refused)
		}
		if got := m.story(t, refused.ID); got != "created finalized payment_failed" {
			t.Errorf("events %s", got)
		}
		advance(t, m.Account, 8*day)
		inv := m.invoices(t)[0]
		if inv.Status != "failed" || inv.AttemptCount != 5 || inv.NextAttemptAt != nil {
			t.Errorf("after every retry: %+v", inv)
		}
	})
}

func TestAnInvoicesPageIsOpenedByItsSecretOnly(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		w.Ask(t, harness.Request{Method: http.MethodGet, Path: "/i/" + strings.Repeat("0", 52)}).Want(t, 404)
		w.Ask(t, harness.Request{Method: http.MethodGet, Path: "/i/" + strings.Repeat("0", 52) + "/pdf"}).Want(t, 404)
	})
}
