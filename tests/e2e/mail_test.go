package e2e_test

import (
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sundry/tests/contract"
	"sundry/tests/harness"
	"sundry/tests/testdb"
)

// mailsTo are the mails in the sandbox's folder for an address.
func mailsTo(t *testing.T, app *harness.App, address string) []contract.ReceivedMail {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(app.DataDir, "mail", "mail_*.eml"))
	if err != nil {
		t.Fatal(err)
	}
	var found []contract.ReceivedMail
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if m := contract.ReadMail(t, raw); m.To.Address == address {
			if want := "<" + strings.TrimSuffix(filepath.Base(file), ".eml") + "@"; !strings.HasPrefix(m.MessageID, want) {
				t.Errorf("%s has the Message-ID %s", file, m.MessageID)
			}
			found = append(found, m)
		}
	}
	return found
}

// workOff runs everything that is due for the account.
func workOff(t *testing.T, a *harness.Account) {
	t.Helper()
	a.AsBackend(t, post, "/v1/sandbox/clock/advance", JSON{"seconds": 1}).Want(t, 200)
}

// A buyer gets one receipt by mail, however often the payment is requested.
func TestRepeatedPaysMailOneReceipt(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a, buyer := app.NewAccount(t), harness.Unique("grace")+"@example.com"
		listing := a.Published(t, JSON{
			"title": "Type & <specimens>", "metadata": JSON{"downloadUrl": "https://cdn.example.com/specimens.pdf"},
		})
		session := a.NewSession(t, listing, "default", harness.Unique("user"), JSON{
			"customer": JSON{"name": "Grace Hopper"},
		})
		pay := func() *harness.Response {
			return a.AsBackend(t, post, "/v1/sandbox/checkout-sessions/"+session.ID+"/pay", JSON{
				"cardNumber": harness.CardSucceeds, "email": buyer,
			})
		}
		statuses := make(chan int, 4)
		for range 4 {
			go func() { statuses <- pay().Status }()
		}
		paid := 0
		for range 4 {
			if <-statuses == http.StatusOK {
				paid++
			}
		}
		if paid != 1 {
			t.Fatalf("%d of four payments of one session succeeded", paid)
		}
		workOff(t, a)
		mails := mailsTo(t, app, buyer)
		if len(mails) != 1 {
			t.Fatalf("%d mails, want one", len(mails))
		}
		m, receipt := mails[0], a.Receipt(t, session)
		number, link := receipt["receiptNumber"].(string), receipt["receiptUrl"].(string)
		if m.From.Address != "no-reply@sundry.example" || m.To.Name != "Grace Hopper" ||
			!strings.Contains(m.Subject, "Ada's Workshop") || !strings.Contains(m.Subject, number) {
			t.Errorf("from %v to %v: %s", m.From, m.To, m.Subject)
		}
		for _, part := range []string{"Type & <specimens>", "€12.00", number, link, "https://cdn.example.com/specimens.pdf",
			"No money moved", "merchant of record for Ada's Workshop"} {
			if !strings.Contains(m.Parts["text/plain"], part) {
				t.Errorf("the text lacks %s", part)
			}
		}
		for _, part := range []string{"Type &amp; &lt;specimens&gt;", "€12.00", number, `href="` + link + `"`,
			`href="https://cdn.example.com/specimens.pdf"`, "No money moved"} {
			if !strings.Contains(m.Parts["text/html"], part) {
				t.Errorf("the HTML lacks %s", part)
			}
		}
		for _, secret := range []string{a.Key, "sk_test_", session.Secret(), "/c/", "return_token", harness.CardSucceeds,
			"4242"} {
			if strings.Contains(m.Parts["text/plain"]+m.Parts["text/html"], secret) {
				t.Errorf("the mail reveals %s", secret)
			}
		}
		app.Ask(t, harness.Request{Method: get, Path: strings.TrimPrefix(link, app.URL)}).Want(t, 200)
	})
}

func TestADeclinedBuyerGetsNoMail(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a, buyer := app.NewAccount(t), harness.Unique("grace")+"@example.com"
		session := a.NewSession(t, a.Published(t, nil), "default", harness.Unique("user"), nil)
		a.AsBackend(t, post, "/v1/sandbox/checkout-sessions/"+session.ID+"/pay",
			JSON{"cardNumber": harness.CardDeclined, "email": buyer}).Want(t, 402)
		workOff(t, a)
		if got := mailsTo(t, app, buyer); len(got) > 0 {
			t.Errorf("mailed %v", got)
		}
	})
}

// TestAMailServerThatIsAwayStopsNothing pays while nobody takes mail.
func TestAMailServerThatIsAwayStopsNothing(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		app := harness.New(t, engine, map[string]string{"SMTP_URL": "smtp://ada:hunter2hunter2@127.0.0.1:9"})
		a := app.NewAccount(t)
		session := a.NewSession(t, a.Published(t, nil), "default", harness.Unique("user"), nil)
		a.Pay(t, session, harness.CardSucceeds).Want(t, 200)
		for end := time.Now().Add(20 * time.Second); app.Log.About("mail server") == ""; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("no try to send the mail was logged")
			}
		}
		if a.Receipt(t, session)["status"] != "paid" {
			t.Error("the session is not paid")
		}
		if app.Log.About("hunter2") != "" {
			t.Error("the password was logged")
		}
		if _, err := os.Stat(filepath.Join(app.DataDir, "mail")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("with a mail server there are files too (%v)", err)
		}
	})
}

func TestAnOwnerIsMailedWhenAReceiverIsGone(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		app := harness.New(t, engine, map[string]string{"WEBHOOK_ALLOW_PRIVATE": "true"})
		a := app.NewAccount(t)
		gone := httptest.NewServer(
			http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) }),
		)
		defer gone.Close()
		var made hookEndpoint
		a.AsBackend(t, post, endpointsPath, JSON{"url": gone.URL, "events": []string{"*"}}).Want(t, 201).Into(t, &made)
		a.AsBackend(t, post, endpointsPath+"/"+made.ID+"/test", nil).Want(t, 202)
		workOff(t, a)
		workOff(t, a) // the mail is owed by the delivery
		mails := mailsTo(t, app, a.Email)
		if len(mails) != 1 || !strings.Contains(mails[0].Parts["text/plain"], gone.URL) ||
			!strings.Contains(mails[0].Parts["text/plain"], "410 Gone") {
			t.Fatalf("mailed %v", mails)
		}
		if text := mails[0].Parts["text/plain"] + mails[0].Parts["text/html"]; strings.Contains(text, made.Secret) ||
			strings.Contains(text, "whsec_") {
			t.Error("the mail reveals the secret")
		}
	})
}
