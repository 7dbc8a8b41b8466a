package e2e_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"sundry/tests/harness"
	"sundry/tests/testdb"
)

// storeAs makes the databases that later versions upgrade: go test ./tests/e2e -run Upgrade -store-as 0.1.0, which
// needs pg_dump. A release stores its own once and never changes it.
var storeAs = flag.String("store-as", "", "store a database of both engines as this version's")

// upgradeSecret is the APP_SECRET of every stored database.
const upgradeSecret = "the secret of the databases that are stored for upgrades"

// stored lists the objects of a stored database that a test looks up.
type stored struct {
	Email, Key     string
	Customer       string
	SubscriptionID string
	Event          string
	PaymentID      string
	Receipt        harness.JSON
}

func storedPath(parts ...string) string {
	return filepath.Join(append([]string{"testdata", "upgrades"}, parts...)...)
}

func TestOldDatabasesUpgrade(t *testing.T) {
	t.Parallel()
	if *storeAs != "" {
		testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) { store(t, engine, *storeAs) })
		return
	}
	versions, err := os.ReadDir(storedPath())
	if err != nil || len(versions) == 0 {
		t.Fatalf("no database is stored: %v", err)
	}
	for _, version := range versions {
		t.Run(version.Name(), func(t *testing.T) {
			t.Parallel()
			testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) { upgraded(t, engine, version.Name()) })
		})
	}
}

// store fills a database by a life of an account and stores it.
func store(t *testing.T, engine testdb.Engine, version string) {
	t.Helper()
	app := harness.New(t, engine, map[string]string{"APP_SECRET": upgradeSecret})
	b := &moneyBooks{
		fixture: newFixture(t, app), r: rand.New(rand.NewPCG(1, 2)), //nolint:gosec // the same life each time
	}
	write(t, filepath.Join(app.DataDir, "app_secret"), []byte(upgradeSecret)) // where a life looks for it
	b.sellOne(t)
	for range 3 {
		b.refundSome(t)
		b.cancelOne(t)
		b.decide(t)
		b.sellTwice(t)
	}
	b.newEndpoint(t)
	m := b.usageOf(t)
	m.report(t, "20")
	b.advance(t, 40*24*3600)
	m.pushed(t)
	b.unpaid(t)
	b.payOut(t)
	m.report(t, "7") // open when the program stops
	verified(t, app)
	session := b.NewSession(t, b.book(t, 1234), "default", harness.Unique("user"), nil)
	b.Pay(t, session, harness.CardSucceeds).Want(t, 200)
	receipt := b.Receipt(t, session)
	facts := stored{
		Email: b.Email, Key: b.Key, Customer: m.customer, SubscriptionID: m.subscriptionID, Event: m.event,
		PaymentID: text(t, receipt["paymentId"]), Receipt: receipt,
	}
	if err := os.MkdirAll(storedPath(version), 0o750); err != nil {
		t.Fatal(err)
	}
	about, err := json.MarshalIndent(facts, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	write(t, storedPath(version, engine.Name+".json"), append(about, '\n'))
	var packed bytes.Buffer
	zip, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // the level is right
	if _, err := zip.Write(dump(t, engine, app)); err != nil || zip.Close() != nil {
		t.Fatalf("pack: %v", err)
	}
	write(t, storedPath(version, engine.Name+".gz"), packed.Bytes())
}

// dump is a database as its engine writes it: SQLite's file, PostgreSQL's statements.
func dump(t *testing.T, engine testdb.Engine, app *harness.App) []byte {
	t.Helper()
	if engine.Name == testdb.SQLite.Name {
		path := filepath.Join(t.TempDir(), "copy.db")
		app.Exec(t, "VACUUM INTO '"+path+"'")
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return file
	}
	command := exec.CommandContext(
		t.Context(), "pg_dump", "--inserts", "--rows-per-insert=500", "--no-owner", "--no-privileges", app.DatabaseURL,
	)
	statements, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`(?m)^\\.*\n`).ReplaceAll(statements, nil) // commands of psql
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// restored returns the address of a new database with what a version stored.
func restored(t *testing.T, engine testdb.Engine, version string) string {
	t.Helper()
	file, err := os.Open(storedPath(version, engine.Name+".gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	zip, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	url := engine.EmptyURL(t)
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
		write(t, path, content)
		return url
	}
	db, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close(t.Context()) }()
	if _, err := db.PgConn().Exec(t.Context(), string(content)).ReadAll(); err != nil {
		t.Fatal(err)
	}
	return url
}

// upgraded starts this program on a version's database, and goes on with the life in it.
func upgraded(t *testing.T, engine testdb.Engine, version string) {
	t.Helper()
	about, err := os.ReadFile(storedPath(version, engine.Name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var facts stored
	if err := json.Unmarshal(about, &facts); err != nil {
		t.Fatal(err)
	}
	app := harness.On(t, engine, restored(t, engine, version), map[string]string{"APP_SECRET": upgradeSecret})
	verified(t, app)
	account := &harness.Account{App: app, Email: facts.Email, Key: facts.Key}
	var in struct {
		AccessToken string
		Creator     struct{ ID string }
	}
	app.Ask(t, harness.Request{Method: http.MethodPost, Path: "/v1/auth/sign-in", Body: harness.JSON{
		"email": facts.Email, "password": harness.Password,
	}}).Want(t, 200).Into(t, &in)
	account.Token, account.ID = in.AccessToken, in.Creator.ID
	w := &fixture{Account: account}

	receipt := w.AsBackend(
		t, get, "/v1/checkout-sessions/"+text(t, facts.Receipt["checkoutId"])+"/receipt?headless=true", nil,
	).Want(t, 200).Map(t)
	for _, member := range []string{"totalInCents", "taxInCents", "receiptNumber", "status", "paidAt"} {
		if fmt.Sprint(receipt[member]) != fmt.Sprint(facts.Receipt[member]) {
			t.Errorf("the receipt's %s is %v, was %v", member, receipt[member], facts.Receipt[member])
		}
	}
	w.refund(t, facts.PaymentID, 100).Want(t, 201)
	m := &metered{fixture: w, customer: facts.Customer, subscriptionID: facts.SubscriptionID, event: facts.Event}
	m.report(t, "5")
	before := w.invoicesOf(t, facts.SubscriptionID)
	w.advance(t, 32*24*3600)
	if made := w.invoicesOf(t, facts.SubscriptionID) - before; made < 1 {
		t.Errorf("%d invoices for the use before and after the upgrade, want one", made)
	}
	if plans := w.plans(t, facts.Customer); plans != 1 {
		t.Errorf("%d active plans after a renewal, want one", plans)
	}
	harness.Eventually(t, "what follows", func() bool {
		return app.Count(t, "SELECT COUNT(*) FROM refunds WHERE status = 'pending'") == 0
	})
	verified(t, app)
}

// invoicesOf counts a subscription's invoices.
func (w *fixture) invoicesOf(t *testing.T, subscriptionID string) int64 {
	t.Helper()
	return w.Count(t, "SELECT COUNT(*) FROM invoices WHERE subscription_id = $1", subscriptionID)
}
