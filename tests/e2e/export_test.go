package e2e_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"sundry/adapters/cli"
	"sundry/tests/harness"
)

// exportedLine is a line of an export.
type exportedLine struct {
	Type string
	Data harness.JSON
}

// readLines reads an export, which must be complete.
func readLines(t *testing.T, text []byte) map[string][]harness.JSON {
	t.Helper()
	byType := map[string][]harness.JSON{}
	lines := bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	for i, raw := range lines {
		var line exportedLine
		if err := json.Unmarshal(raw, &line); err != nil {
			t.Fatalf("line %d: %v: %s", i, err, raw)
		}
		byType[line.Type] = append(byType[line.Type], line.Data)
	}
	if end := byType["end"]; len(end) != 1 || end[0]["lines"] != float64(len(lines)-1) {
		t.Errorf("the export ends with %v after %d lines", end, len(lines))
	}
	return byType
}

// soldToTwo gives an account two customers who have bought, one with usage and a refund.
func soldToTwo(t *testing.T, a *harness.Account) {
	t.Helper()
	everythingForSale(t, a)
	listing := plans(t, a, 0)
	subscribe(t, a, listing, "basic", "ada", harness.CardSucceeds)
	subscribe(t, a, listing, "studio", "bob", harness.CardSucceeds)
	session := a.NewSession(t, a.Published(t, nil), "default", "ada", nil)
	a.Pay(t, session, harness.CardSucceeds).Want(t, 200)
	a.AsBackend(t, http.MethodPost, "/v1/refunds", harness.JSON{"checkoutId": session.ID, "reason": "requested"}).Want(t, 201)
}

func TestAnAccountIsExportedWhole(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a, other := app.NewAccount(t), app.NewAccount(t)
		soldToTwo(t, a)
		var mine struct{ Data []harness.Listing }
		a.AsCreator(t, http.MethodGet, "/v1/listings/mine", nil).Want(t, 200).Into(t, &mine)
		fileID := beginUpload(t, a, mine.Data[0], fileBody())
		for range 101 { // more than a page
			a.AsBackend(t, http.MethodPost, "/v1/customers", harness.JSON{"email": harness.Unique("c") + "@example.com"}).Want(t, 201)
		}
		got := a.AsBackend(t, http.MethodGet, "/v1/export", nil).Want(t, 200)
		if kind := got.Header.Get("Content-Type"); kind != "application/x-ndjson" {
			t.Errorf("Content-Type %q", kind)
		}
		byType := readLines(t, got.Body)
		for kind, want := range map[string]int{
			"creator": 1, "catalog": 1, "listing": 3, "plan": 4, "discount": 1, "availability": 1, "meeting_settings": 1,
			"api_key": 1, "webhook_endpoint": 1, "meter": 1, "product": 1, "usage_price": 2, "customer": 103, "payment_method": 2,
			"checkout_session": 3, "payment": 3, "refund": 1, "subscription": 2, "balance": 1,
		} {
			if len(byType[kind]) != want {
				t.Errorf("%d lines of %s, want %d", len(byType[kind]), kind, want)
			}
		}
		if files := byType["file"]; len(files) != 1 || files[0]["id"] != fileID {
			t.Errorf("the files are %v, want %s", files, fileID)
		}
		if logged := byType["audit_log"]; len(logged) == 0 || len(byType["usage_credit"]) != 0 {
			t.Errorf("%d lines of the audit log, %d usage credits", len(logged), len(byType["usage_credit"]))
		}
		if len(byType["event"]) < 6 || len(byType["ledger_entry"]) < 3 {
			t.Errorf("%d events and %d ledger entries", len(byType["event"]), len(byType["ledger_entry"]))
		}
		for _, secret := range []string{a.Key, "whsec_", "passwordHash"} {
			if strings.Contains(string(got.Body), secret) {
				t.Errorf("the export has a secret: %s", secret)
			}
		}
		byToken := a.AsCreator(t, http.MethodGet, "/v1/export", nil).Want(t, 200)
		if len(readLines(t, byToken.Body)["customer"]) != 103 {
			t.Error("by token the export is another")
		}
		foreign := readLines(t, other.AsBackend(t, http.MethodGet, "/v1/export", nil).Want(t, 200).Body)
		if len(foreign["customer"]) != 0 || foreign["creator"][0]["id"] != other.ID {
			t.Errorf("another account's export has %d customers of %v", len(foreign["customer"]), foreign["creator"])
		}
		logged := a.Count(t, "SELECT COUNT(*) FROM api_requests WHERE creator_id = $1 AND path = '/v1/ledger/entries'", a.ID)
		if logged != 0 {
			t.Errorf("%d requests of the server's own are in the log", logged)
		}
	})
}

func TestGrantsAreExported(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a, other := app.NewAccount(t), app.NewAccount(t)
		subscribe(t, a, plans(t, a, 0), "basic", "ada", harness.CardSucceeds)
		a.AsBackend(t, http.MethodPost, "/v1/customer-access/ada/credits/consume", harness.JSON{
			"key": "renders", "amount": 30, "idempotencyKey": "video",
		}).Want(t, 200)
		grant := func(of *harness.Account, externalID string) harness.JSON {
			return of.AsBackend(t, http.MethodPost, "/v1/customer-access/"+externalID+"/grants", harness.JSON{
				"note": "beta", "credits": []harness.JSON{{"key": "renders", "unit": "render", "amount": 5}},
			}).Want(t, 201).Map(t)
		}
		grant(other, "theirs")
		var want []harness.JSON // the newest manual ones first, behind what was bought
		for i := range 101 {    // more than a page
			want = append([]harness.JSON{grant(a, "no-customer-"+strconv.Itoa(i))}, want...)
		}
		revoked := "/v1/customer-access/no-customer-100/grants/" + text(t, want[0]["id"])
		want[0] = a.AsBackend(t, http.MethodDelete, revoked, nil).Want(t, 200).Map(t)
		explained := a.AsBackend(t, http.MethodGet, "/v1/customer-access/ada/explain", nil).Want(t, 200).Map(t)
		bought := explained["grants"].([]any)[0].(harness.JSON)
		if credits := fmt.Sprint(bought["credits"]); !strings.Contains(credits, "used:30") {
			t.Fatalf("the credits are %s, want 30 of them used", credits)
		}
		want = append([]harness.JSON{bought}, want...)
		got := readLines(t, a.AsBackend(t, http.MethodGet, "/v1/export", nil).Want(t, 200).Body)["grant"]
		if len(got) != len(want) {
			t.Fatalf("%d lines of grant, want %d", len(got), len(want))
		}
		for i := range want {
			if got, want := fmt.Sprint(got[i]), fmt.Sprint(want[i]); got != want {
				t.Fatalf("line %d is %s, want %s", i, got, want)
			}
		}
	})
}

func TestACustomersDataIsExported(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a, other := app.NewAccount(t), app.NewAccount(t)
		soldToTwo(t, a)
		var found struct {
			Data []struct{ ID, ExternalCustomerID string }
		}
		a.AsBackend(t, http.MethodGet, "/v1/customers", nil).Want(t, 200).Into(t, &found)
		for _, customer := range found.Data {
			path := "/v1/customers/" + customer.ID + "/export"
			got := a.AsBackend(t, http.MethodGet, path, nil).Want(t, 200)
			byType := readLines(t, got.Body)
			want := map[string]int{
				"customer": 1, "payment_method": 1, "checkout_session": 2, "payment": 2, "refund": 1, "subscription": 1, "usage": 1,
				"access": 1, "access_history": 1,
			}
			stranger := "bob"
			if customer.ExternalCustomerID == "bob" {
				want["checkout_session"], want["payment"], want["refund"], stranger = 1, 1, 0, "ada"
			}
			for kind, n := range want {
				if len(byType[kind]) != n {
					t.Errorf("%s: %d lines of %s, want %d", customer.ExternalCustomerID, len(byType[kind]), kind, n)
				}
			}
			if len(byType["event"]) == 0 || strings.Contains(string(got.Body), `"externalCustomerId":"`+stranger) {
				t.Errorf("%s: %d events, or something of %s: %s", customer.ExternalCustomerID, len(byType["event"]), stranger, got.Body)
			}
			other.AsBackend(t, http.MethodGet, path, nil).Refuses(t, 404, "CUSTOMER_NOT_FOUND")
		}
	})
}

func TestAGuestsAccessIsExported(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		l := a.Published(t, harness.JSON{"type": "SUBSCRIPTION", "metadata": harness.JSON{"features": []string{"exports"}}})
		session := a.AsBackend(t, http.MethodPost, "/v1/checkout-sessions", harness.JSON{
			"listingId": l.ID, "successUrl": "https://shop.example/done",
		}).Want(t, 201)
		a.AsBackend(t, http.MethodPost, "/v1/sandbox/checkout-sessions/"+text(t, session.Map(t)["id"])+"/pay", harness.JSON{
			"cardNumber": harness.CardSucceeds, "email": "guest@buyer.example",
		}).Want(t, 200)
		a.AsBackend(t, http.MethodPost, "/v1/customers", harness.JSON{"email": "nothing@buyer.example"}).Want(t, 201)
		for email, want := range map[string]int{"guest@buyer.example": 1, "nothing@buyer.example": 0} {
			var found struct{ Data []struct{ ID string } }
			a.AsBackend(t, http.MethodGet, "/v1/customers?email="+email, nil).Want(t, 200).Into(t, &found)
			got := readLines(t, a.AsBackend(t, http.MethodGet, "/v1/customers/"+found.Data[0].ID+"/export", nil).Want(t, 200).Body)
			if len(got["access"]) != 1 || len(got["access_history"]) != 1 {
				t.Fatalf("%s: %d lines of access, %d of its history", email, len(got["access"]), len(got["access_history"]))
			}
			if plans, _ := got["access"][0]["activePlans"].([]any); len(plans) != want {
				t.Errorf("%s: the access is %v", email, got["access"][0])
			}
		}
	})
}

func TestExportsToAPipeAreTheFileAlone(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		for name, args := range map[string][]string{
			"export": {"export", "--api", app.URL, "--key", a.Key}, "catalog": {"catalog", "export"},
		} {
			reader, writer, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("/dev/fd", strconv.Itoa(int(writer.Fd())))
			if args = append(args, file); name == "catalog" {
				args = append(args, a.Email)
			}
			var notes strings.Builder
			err = cli.Run(t.Context(), args, cli.Host{Out: writer, Err: &notes, Open: forCommands(app)})
			if err := errors.Join(err, writer.Close()); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			written, err := io.ReadAll(reader)
			_ = reader.Close() // it was read
			if err != nil || strings.Contains(string(written), file) || !strings.Contains(notes.String(), file) {
				t.Errorf("%s: wrote %q, noted %q, %v", name, written, notes.String(), err)
			}
		}
	})
}

func TestExportsAreWrittenByTheCommand(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		a.Published(t, nil)
		file := filepath.Join(t.TempDir(), "account.jsonl")
		run := func(args ...string) (string, error) {
			var out strings.Builder
			err := cli.Run(t.Context(), append([]string{"export", "--api", app.URL}, args...), cli.Host{Out: &out})
			return out.String(), err
		}
		printed, err := run("--key", a.Key, file)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if lines := readLines(t, text); len(lines["listing"]) != 1 || !strings.Contains(printed, " lines") {
			t.Errorf("the file has %d listings, printed %q", len(lines["listing"]), printed)
		}
		if _, err := run("--key", a.Key, "--customer", "cus_nobody", file+"2"); err == nil || !strings.Contains(err.Error(), "NOT_FOUND") {
			t.Errorf("a customer who is not there: %v", err)
		}
		if _, err := os.Stat(file + "2"); !os.IsNotExist(err) {
			t.Errorf("a refused export left a file: %v", err)
		}
	})
}
