package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sundry/tests/harness"
	"sundry/tests/testdb"
	"sundry/tests/testenv"
)

// visitShop asks an example's shop for a page and returns its status, where it leads and what it shows.
func visitShop(t *testing.T, client *http.Client, method, address string) (status int, location, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, response.Header.Get("Location"), string(raw)
}

func newVisitor(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{
		Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func TestTheGoShopSellsInTheOverlay(t *testing.T) {
	t.Parallel()
	app := harness.New(t, testdb.SQLite, nil)
	a := app.NewAccount(t)
	club := plans(t, a, 0) // basic for €10 a month is its default
	a.AsCreator(t, http.MethodPut, "/v1/listings/"+club.ID+"/plans/agency", JSON{
		"name": "Agency", "isDefault": false, "trialDays": 0, "entitlements": []JSON{}, "credits": []JSON{},
		"meters": []JSON{},
		"prices": []JSON{{"interval": "month", "intervalCount": 1, "currency": "eur", "amountInCents": 9900}},
	}).Want(t, 200)
	program := filepath.Join(t.TempDir(), "shop")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".")
	build.Dir = "../../examples/go-overlay"
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	addr := receiverAddress(t)
	runReceiver(t, []string{program}, addr, "SUNDRY_URL="+app.URL, "SUNDRY_KEY="+a.Key, "LISTING="+club.CatalogKey)
	visitor, shop := newVisitor(t), "http://"+addr

	if status, _, body := visitShop(t, visitor, http.MethodGet, shop+"/"); status != 200 ||
		!strings.Contains(body, `data-amount="1000" data-currency="eur" data-per="per month"`) ||
		!strings.Contains(body, `name="viewport"`) || !strings.Contains(body, app.URL+"/sundry.js") {
		t.Fatalf("the shop's page: %d %s", status, body)
	}
	if status, _, _ := visitShop(t, visitor, http.MethodGet, shop+"/members"); status != 403 {
		t.Fatalf("before payment: %d", status)
	}
	_, _, body := visitShop(t, visitor, http.MethodPost, shop+"/checkout")
	_, rest, _ := strings.Cut(body, `"id":"`)
	id, _, _ := strings.Cut(rest, `"`)
	if !strings.Contains(body, "embed=1") {
		t.Fatalf("the session: %s", body)
	}
	session := a.AsBackend(t, get, "/v1/checkout-sessions/"+id, nil).Want(t, 200).Map(t)
	if total := fmt.Sprint(session["totalInCents"]); total != "1000" {
		t.Errorf("the page shows 1000 and sells for %s", total)
	}
	a.Pay(t, harness.Session{ID: id}, harness.CardSucceeds).Want(t, 200)
	if status, _, body := visitShop(t, visitor, http.MethodGet, shop+"/members"); status != 200 ||
		!strings.Contains(body, "Welcome") {
		t.Errorf("after payment: %d %s", status, body)
	}
	if status, _, _ := visitShop(t, newVisitor(t), http.MethodGet, shop+"/members"); status != 403 {
		t.Errorf("somebody else: %d", status)
	}
}

func TestTheNodeShopSellsOnTheHostedPage(t *testing.T) {
	t.Parallel()
	node := testenv.Need(t, testenv.Node)
	whole := t.TempDir()
	for _, part := range []string{"examples/node-hosted", "sdk/typescript"} {
		if err := os.CopyFS(filepath.Join(whole, part), os.DirFS("../../"+part)); err != nil {
			t.Fatal(err)
		}
	}
	folder, sdk := filepath.Join(whole, "examples/node-hosted"), filepath.Join(whole, "sdk/typescript")
	tsc := filepath.Join(testenv.Need(t, testenv.Packages), "node_modules/typescript/bin/tsc")
	if out, err := exec.CommandContext(t.Context(), node, tsc, "-p", sdk).CombinedOutput(); err != nil {
		t.Fatalf("build the SDK: %v\n%s", err, out)
	}
	npm := filepath.Join(filepath.Dir(node), "npm")
	if _, err := os.Stat(npm); err != nil {
		npm = "npm"
	}
	install := exec.CommandContext(t.Context(), npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts")
	install.Dir = folder
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("npm ci: %v\n%s", err, out)
	}
	app := harness.New(t, testdb.SQLite, map[string]string{"WEBHOOK_ALLOW_PRIVATE": "true"})
	a := app.NewAccount(t)
	club := a.Published(t, JSON{"title": "Club", "priceInCents": 900})
	addr := receiverAddress(t)
	var made hookEndpoint
	a.AsBackend(t, http.MethodPost, endpointsPath,
		JSON{"url": "http://" + addr + "/webhooks", "events": []string{"customer.access_changed"}}).Want(t, 201).Into(t,
		&made)
	runReceiver(
		t, []string{node, filepath.Join(folder, "shop.js")}, addr, "SUNDRY_URL="+app.URL, "SUNDRY_KEY="+a.Key,
		"SUNDRY_WEBHOOK_SECRET="+made.Secret, "LISTING="+club.CatalogKey,
	)
	visitor, shop := newVisitor(t), "http://"+addr

	if status, _, _ := visitShop(t, visitor, http.MethodGet, shop+"/members/u-1"); status != 403 {
		t.Fatalf("before payment: %d", status)
	}
	status, page, body := visitShop(t, visitor, http.MethodPost, shop+"/buy/u-1/7")
	if status != 303 || !strings.HasPrefix(page, app.URL+"/c/") {
		t.Fatalf("buying leads to %d %s: %s", status, page, body)
	}
	if _, again, _ := visitShop(t, visitor, http.MethodPost, shop+"/buy/u-1/7"); again != page {
		t.Errorf("the order leads to %s the second time, want %s", again, page)
	}
	if status, _, body := visitShop(t, visitor, http.MethodPost, shop+"/webhooks"); status != 401 {
		t.Errorf("an unsigned event: %d %s", status, body)
	}
	sessions := a.AsBackend(t, http.MethodGet, "/v1/checkout-sessions", nil).Want(t, 200).Map(t)["data"].([]any)
	a.Pay(t, harness.Session{ID: sessions[0].(map[string]any)["id"].(string)}, harness.CardSucceeds).Want(t, 200)
	var state struct{ RedirectURL string }
	app.Ask(t, harness.Request{Method: http.MethodGet, Path: strings.TrimPrefix(page, app.URL) + "/state"}).
		Want(t, 200).Into(t, &state)
	if _, _, body := visitShop(t, visitor, http.MethodGet, state.RedirectURL); !strings.Contains(body,
		"The order is paid.") {
		t.Errorf("the shop thanks with %s", body)
	}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if status, _, _ := visitShop(t, visitor, http.MethodGet, shop+"/members/u-1"); status == 200 {
			return
		}
		if time.Now().After(end) {
			t.Fatal("the webhook never let the member in")
		}
	}
}
