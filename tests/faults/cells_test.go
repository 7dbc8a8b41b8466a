//go:build unix

package faults

import (
	"crypto/rand"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sundry/core/id"
	"sundry/core/identity"
	"sundry/tests/harness"
	"sundry/tests/testdb"
	"sundry/tests/testenv"
	"sundry/tests/testredis"
)

// cell is one of several cells: a schema of a PostgreSQL, two processes that serve and one that works.
type cell struct {
	*Deployment
	serve  [2]*Process
	worker *Process
}

// cells are two cells behind a HAProxy with the configuration of deploy/haproxy. Each has a PostgreSQL.
type cells struct {
	all    [2]*cell
	router *harness.App
	// second has the second cell, and moves to the address place, which its processes know.
	second *pair
	place  string
}

func startCells(t *testing.T) *cells {
	t.Helper()
	path := testenv.Need(t, testenv.HAProxy)
	database := testdb.Postgres.EmptyURL(t)
	c := &cells{second: newPrimary(t), place: freeAddress(t)}
	databases := [2]string{database, c.second.leader()}
	s := newServer(t, path, "")
	base := "http://" + s.addr
	shared := map[string]string{
		"APP_SECRET": rand.Text() + rand.Text(), "REDIS_URL": testredis.URL(t, testredis.Shared), "BASE_URL": base,
		"DIRECTORY_URL": withParameter(t, database, "search_path", "directory"), "TRUSTED_PROXIES": "private",
		"WEBHOOK_ALLOW_PRIVATE": "true", "WEBHOOK_WORKERS": "8",
	}
	c.router = &harness.App{URL: base, Log: &harness.Log{}}
	environment := []string{"SUNDRY_BIND=" + s.addr, "SUNDRY_MAP=" + filepath.Join(s.dir, "cells.map")}
	var routes strings.Builder
	for i := range c.all {
		d := newDeployment(t)
		maps.Copy(d.env, shared)
		schema := fmt.Sprint("cell_", i)
		d.env["CELL"], d.env["DATABASE_SCHEMA"] = strconv.Itoa(i), schema
		d.env["DATABASE_URL"] = fewConnections(t, database)
		if i == 1 {
			d.env["DATABASE_URL"] = primaryOf(c.second.servers[0].addr, c.place)
		}
		d.DatabaseURL = withParameter(t, databases[i], "search_path", schema)
		one := &cell{Deployment: d}
		for n, name := range []string{"A", "B"} {
			one.serve[n] = d.Start(t, "serve", nil)
			environment = append(environment, fmt.Sprintf("SUNDRY_%d_%s=%s", i, name,
				strings.TrimPrefix(one.serve[n].App.URL, "http://")))
		}
		one.worker = d.Start(t, "worker", nil)
		lines, err := d.RunToEnd(t, "cell map "+schema)
		if err != nil {
			t.Fatalf("cell map: %v\n%s", err, lines)
		}
		routes.WriteString(lines)
		c.all[i] = one
	}
	config, err := filepath.Abs("../../deploy/haproxy/haproxy.cfg")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "cells.map"), []byte(routes.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	s.args, s.env = []string{"-db", "-f", config}, environment
	s.start()
	harness.Eventually(t, "the router leads to both cells", func() bool {
		for i := range c.all {
			if c.router.AskUnjudged(t, harness.Request{Method: http.MethodGet, Path: fmt.Sprintf("/cell/%d/healthz", i)}).
				Status != http.StatusOK {
				return false
			}
		}
		return true
	})
	return c
}

// withParameter is an address with one more parameter.
func withParameter(t testing.TB, address, name, value string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set(name, value)
	u.RawQuery = q.Encode()
	return u.String()
}

// newAccountOf signs up at a process of a cell, and asks through the router from then on.
func newAccountOf(t *testing.T, cell int, process, router *harness.App) *harness.Account {
	t.Helper()
	account := process.NewAccount(t)
	account.App = router
	if made, ok := id.CellOf(account.ID); !ok || int(made) != cell {
		t.Errorf("%s is not of cell %d", account.ID, cell)
	}
	if made, ok := identity.KeyCell(account.Key); !ok || int(made) != cell {
		t.Errorf("the key of an account of cell %d is of cell %d", cell, made)
	}
	return account
}

// trade sells, books, delivers and counts, all through the router.
func trade(t *testing.T, d *Deployment, a *harness.Account) *meteredUse {
	receiver := listen(t)
	receiver.subscribe(t, a)
	listing := a.Published(t, nil)
	const sales = 6
	for i := range sales {
		session := a.NewSession(t, listing, "default", fmt.Sprint("buyer-", i), nil)
		visitor := a.NewVisitor(t)
		visitor.Open(t, "/c/"+session.Secret())
		a.Pay(t, session, harness.CardSucceeds).Want(t, http.StatusOK)
		if status := a.Receipt(t, session)["status"]; status != "paid" {
			t.Errorf("the receipt of session %s is %v", session.ID, status)
		}
	}
	hours := bookable(t, a)
	booked := a.NewSession(t, hours, "default", "booker", harness.JSON{"appointmentSlot": harness.JSON{
		"startsAt": openStarts(t, a, hours)[3], "timezone": "Europe/Paris",
	}})
	a.Pay(t, booked, harness.CardSucceeds).Want(t, http.StatusOK)
	use := newMeteredUse(t, a)
	for n := range 5 {
		use.report(t, http.DefaultClient, fmt.Sprint("report-", n), "2")
	}
	a.AsBackend(t, http.MethodPost, "/v1/sandbox/clock/advance", harness.JSON{"seconds": 24*3600 + 120}).
		Want(t, http.StatusOK)
	use.wantSum(t, d, "the counts", "SELECT SUM(quantity)::text FROM usage_rollups")
	use.wantInvoice(t)
	harness.Eventually(t, "every change of access has arrived", func() bool { return receiver.received() >= sales+1 })
	return use
}

// TestTwoCellsBehindOneRouter lets two cells, each with a PostgreSQL, work at once, asks each for what the other has,
// moves the second, and takes its database away.
func TestTwoCellsBehindOneRouter(t *testing.T) {
	t.Parallel()
	c := startCells(t)
	var accounts [2]*harness.Account
	var use [2]*meteredUse
	var trading sync.WaitGroup
	for i, one := range c.all {
		accounts[i] = newAccountOf(t, i, one.serve[0].App, c.router)
		trading.Go(func() { use[i] = trade(t, one.Deployment, accounts[i]) })
	}
	trading.Wait()
	if t.Failed() {
		return
	}
	for i, one := range c.all {
		one.wantLeaders(t, 1)
		if n := one.Count(t, "SELECT COUNT(*) FROM creators"); n != 1 {
			t.Errorf("cell %d has %d accounts, want 1", i, n)
		}
	}
	c.wantMisdirected(t, accounts)
	c.wantNamesOnce(t, accounts)

	sold := [2]*sales{startSales(t, accounts[0], 1, 200*time.Millisecond), startSales(t, accounts[1], 2, 200*time.Millisecond)}
	c.wantToMove(t, use[1], sold[1])
	sold[1].end(t, c.all[1].Deployment)

	c.second.servers[c.second.primary].die(syscall.SIGKILL)
	harness.Eventually(t, "the second cell is not available, in the router's words", func() bool {
		response := c.router.AskAnything(t, harness.Request{Method: http.MethodGet, Path: "/v1/listings/mine",
			Bearer: accounts[1].Token})
		return response.Status == http.StatusServiceUnavailable && response.Header.Get("Retry-After") == "5" &&
			strings.Contains(string(response.Body), "This part of the service is not available.")
	})
	sold[0].await(t, "sales of the first cell while the second has no database", 5)
	sold[0].end(t, c.all[0].Deployment)
	if n := sold[0].refused.Load(); n > 0 {
		t.Errorf("%d requests to the first cell were refused because of the second", n)
	}
	c.second.servers[c.second.primary].start()
	c.wantSums(t)
}

// wantSums asks one command for what both cells have, by a file with the settings of each.
func (c *cells) wantSums(t *testing.T) {
	t.Helper()
	flags := ""
	documents := func(command string) (count int) {
		report, err := c.all[0].RunToEnd(t, command+" 2020-01-01 2100-01-01")
		if err != nil {
			t.Errorf("%s: %v\n%s", command, err, report)
		}
		for row := range strings.SplitSeq(report, "\n") {
			if columns := strings.Split(row, ","); len(columns) > 5 {
				n, _ := strconv.Atoi(columns[5]) // 0 of the header
				count += n
			}
		}
		return count
	}
	var want int
	for i, one := range c.all {
		var settings strings.Builder
		for name, value := range one.env {
			fmt.Fprintf(&settings, "%s=%s\n", name, value)
		}
		file := filepath.Join(t.TempDir(), fmt.Sprint(i, ".env"))
		if err := os.WriteFile(file, []byte(settings.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		flags += " --cell " + file
		want += documents("tax-report --cell " + file)
	}
	if got := documents("tax-report" + flags); got != want || want == 0 {
		t.Errorf("both cells have %d documents for the taxes, want %d", got, want)
	}
	for command, holds := range map[string]string{
		"verify":  "cell 0: all invariants hold\ncell 1: all invariants hold\n",
		"figures": "\nall    2 ",
	} {
		if out, err := c.all[0].RunToEnd(t, command+flags); err != nil || !strings.Contains(out, holds) {
			t.Errorf("%s of both cells: %v\n%s", command, err, out)
		}
	}
}

// wantLeaders wants so many workers of a database to lead: one of each cell.
func (d *Deployment) wantLeaders(t *testing.T, want int) {
	t.Helper()
	leads := "SELECT COUNT(*) FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid WHERE l.locktype = 'advisory' " +
		"AND a.datname = current_database() AND l.granted AND a.query NOT LIKE '%xact%' AND a.state = 'idle'"
	harness.Eventually(t, fmt.Sprint("leaders: ", want), func() bool { return d.Count(t, leads) == want })
}

// wantMisdirected asks processes of the first cell for what the second has.
func (c *cells) wantMisdirected(t *testing.T, accounts [2]*harness.Account) {
	t.Helper()
	theirs := accounts[1]
	session := theirs.NewSession(t, theirs.Published(t, nil), "default", "ada", nil)
	direct := c.all[0].serve[1].App
	for what, request := range map[string]harness.Request{
		"a key":          {Method: http.MethodGet, Path: "/v1/customers", Bearer: theirs.Key},
		"a token":        {Method: http.MethodGet, Path: "/v1/listings/mine", Bearer: theirs.Token},
		"a link":         {Method: http.MethodGet, Path: "/c/" + session.Secret()},
		"refresh tokens": {Method: http.MethodPost, Path: "/v1/auth/refresh", Body: harness.JSON{"refreshToken": theirs.RefreshToken}},
		"a sign-in": {Method: http.MethodPost, Path: "/v1/auth/sign-in",
			Body: harness.JSON{"email": theirs.Email, "password": harness.Password}},
	} {
		response := direct.AskUnjudged(t, request)
		if response.Status != http.StatusMisdirectedRequest || response.Header.Get("Sundry-Cell") != "1" {
			t.Errorf("%s of cell 1 in cell 0: %d, Sundry-Cell %q, %s", what, response.Status,
				response.Header.Get("Sundry-Cell"), response.Body)
		}
		request.Headers = map[string]string{"Sundry-Cell": "1"}
		if response := c.router.AskUnjudged(t, request); response.Status != http.StatusOK {
			t.Errorf("%s of cell 1 through the router: %d %s", what, response.Status, response.Body)
		}
	}
	// A key of this cell decides: what another account has is not found, wherever it is.
	c.router.Ask(t, harness.Request{Method: http.MethodGet, Path: "/v1/checkout-sessions/" + session.ID,
		Bearer: accounts[0].Key}).Refuses(t, http.StatusNotFound, "NOT_FOUND")
	// A browser is sent on to the cell of its account, by a cookie.
	visitor := c.router.NewVisitor(t)
	visitor.Open(t, "/dashboard/sign-in")
	page := visitor.Send(t, "/dashboard/sign-in", "email", theirs.Email, "password", harness.Password)
	if page.Status != http.StatusOK || !strings.Contains(page.Body, theirs.Email) {
		t.Errorf("a sign-in that began in the wrong cell: %d, cookie %q", page.Status, visitor.Cookie(t, "sundry_cell"))
	}
}

// wantNamesOnce wants a name of one cell to be taken in the other.
func (c *cells) wantNamesOnce(t *testing.T, accounts [2]*harness.Account) {
	t.Helper()
	c.all[0].serve[0].App.Ask(t, harness.Request{Method: http.MethodPost, Path: "/v1/auth/sign-up", Body: harness.JSON{
		"email": accounts[1].Email, "password": harness.Password, "displayName": "Ada",
	}}).Refuses(t, http.StatusConflict, "EMAIL_TAKEN")
	listing := accounts[1].Published(t, nil)
	mine := accounts[0].Published(t, nil)
	accounts[0].AsCreator(t, http.MethodPatch, "/v1/listings/"+mine.ID, harness.JSON{"slug": listing.Slug}).
		Refuses(t, http.StatusConflict, "SLUG_TAKEN")
	request := harness.Request{Method: http.MethodGet, Path: "/v1/listings/" + listing.Slug}
	response := c.router.Ask(t, request)
	response.Refuses(t, http.StatusMisdirectedRequest, "MISDIRECTED")
	request.Headers = map[string]string{"Sundry-Cell": response.Header.Get("Sundry-Cell")}
	c.router.Ask(t, request).Want(t, http.StatusOK)
	if out, err := c.all[1].RunToEnd(t, "cell claim"); err != nil {
		t.Errorf("cell claim: %v\n%s", err, out)
	}
}
