//go:build unix

package faults

import (
	"fmt"
	"maps"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"sundry/tests/harness"
	"sundry/tests/testredis"
)

// pair is a PostgreSQL and a standby that confirms each commit before the program hears of it, as Patroni and
// pg_auto_failover set it up.
type pair struct {
	t       *testing.T
	servers [2]*server
	primary int // which one leads
	// prepare makes what the data of a server shall be on.
	prepare func(*server)
}

// newPair starts both.
func newPair(t *testing.T) *pair {
	t.Helper()
	p := newPrimary(t)
	p.follow(freeAddress(t))
	return p
}

// newPrimary starts a primary that has no standby yet.
func newPrimary(t *testing.T) *pair {
	t.Helper()
	return newPrimaryOn(t, func(*server) {})
}

// newPrimaryOn is newPrimary where prepare makes what the data of each server shall be on.
func newPrimaryOn(t *testing.T, prepare func(*server)) *pair {
	t.Helper()
	primary, _, ok := newPostgresServerOn(t, prepare)
	if !ok {
		t.Skip("PostgreSQL's own programs are not installed here")
	}
	primary.start()
	return &pair{t: t, servers: [2]*server{primary}, prepare: prepare}
}

// primaryOf is the address of the one of several servers that takes writes.
func primaryOf(servers ...string) string {
	return "postgres://postgres@" + strings.Join(servers, ",") +
		"/postgres?sslmode=disable&target_session_attrs=read-write&pool_max_conns=5"
}

// address leads to the server of a number alone.
func (p *pair) address(i int) string {
	return "postgres://postgres@" + p.servers[i].addr + "/postgres?sslmode=disable"
}

// leader is the address of the primary.
func (p *pair) leader() string { return p.address(p.primary) }

// follow makes a standby at an address, in the place of the server that does not lead, and waits until commits wait for it.
func (p *pair) follow(at string) {
	p.t.Helper()
	primary := p.servers[p.primary]
	s := newServer(p.t, primary.path, "postgres")
	s.addr = at
	p.prepare(s)
	data := filepath.Join(s.dir, "data")
	s.run(filepath.Join(filepath.Dir(primary.path), "pg_basebackup"), "-d", p.leader()+"&application_name=standby",
		"-D", data, "-R", "--no-sync", "-c", "fast")
	host, port, _ := net.SplitHostPort(s.addr)
	s.args = []string{
		"-D", data, "-p", port, "-c", "listen_addresses=" + host, "-c", "unix_socket_directories=", "-c", "fsync=off",
	}
	address := "postgres://postgres@" + at + "/postgres?sslmode=disable"
	s.ready = func() bool { return accepts(p.t.Context(), address) }
	s.start()
	p.servers[1-p.primary] = s
	harness.Eventually(p.t, "the standby follows", func() bool {
		return onServer(p.t, p.leader(), "SELECT COUNT(*)::text FROM pg_stat_replication WHERE state = 'streaming'") == "1"
	})
	p.configure("wal_keep_size = '64MB'") // or a checkpoint after a crash recycles what the standby has not received
	p.configure("synchronous_standby_names = 'standby'")
	p.synced()
}

// configure changes a setting of the primary while it runs.
func (p *pair) configure(setting string) {
	p.t.Helper()
	conn, err := pgx.Connect(p.t.Context(), p.leader())
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = conn.Close(p.t.Context()) }()
	for _, statement := range []string{"ALTER SYSTEM SET " + setting, "SELECT pg_reload_conf()"} {
		if _, err := conn.Exec(p.t.Context(), statement); err != nil {
			p.t.Fatal(err)
		}
	}
}

// synced waits until the standby confirms commits. What a primary had committed when it crashed may be seen on it before
// the standby has it, and must not be lost by a failover then.
func (p *pair) synced() {
	p.t.Helper()
	harness.Eventually(p.t, "commits wait for the standby", func() bool {
		return onServer(p.t, p.leader(), "SELECT COALESCE(MAX(sync_state), '') FROM pg_stat_replication") == "sync"
	})
}

// failOver kills the primary and promotes the standby.
func (p *pair) failOver() {
	p.t.Helper()
	p.servers[p.primary].die(syscall.SIGKILL)
	p.primary = 1 - p.primary
	onServer(p.t, p.leader(), "SELECT pg_promote()::text")
}

// onServer runs a statement on a server and returns its one value.
func onServer(t *testing.T, address, statement string) (value string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	if err := conn.QueryRow(t.Context(), statement).Scan(&value); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return value
}

// sales lets buyers pay, each again until the response says that the sale is made, and notes it.
type sales struct {
	confirmed sync.Map // ids of sessions
	count     atomic.Int64
	// refused counts the requests that were to come again later.
	refused atomic.Int64
	// pause is between two sales of a buyer.
	pause   time.Duration
	stop    chan struct{}
	running sync.WaitGroup
}

// startSales lets some buyers begin.
func startSales(t *testing.T, a *harness.Account, buyers int, pause time.Duration) *sales {
	t.Helper()
	listing := a.Published(t, harness.JSON{"priceInCents": 2000, "currency": "eur"})
	s := &sales{pause: pause, stop: make(chan struct{})}
	for range buyers {
		s.running.Go(func() { s.buy(t, a, listing) })
	}
	return s
}

// await waits for some more sales.
func (s *sales) await(t *testing.T, what string, more int64) {
	t.Helper()
	until := s.count.Load() + more
	harness.Eventually(t, what, func() bool { return s.count.Load() > until })
}

// end lets the buyers finish, and wants each confirmed sale once in the database.
func (s *sales) end(t *testing.T, d *Deployment) {
	t.Helper()
	close(s.stop)
	s.running.Wait()
	s.confirmed.Range(func(session, _ any) bool {
		query := fmt.Sprintf("SELECT COUNT(*) FROM payments WHERE subject_id = '%s' AND status = 'succeeded'", session)
		if n := d.Count(t, query); n != 1 {
			t.Errorf("session %s was confirmed and has %d payments", session, n)
		}
		return true
	})
}

func (s *sales) buy(t *testing.T, a *harness.Account, listing harness.Listing) {
	for {
		select {
		case <-s.stop:
			return
		default:
		}
		body := harness.JSON{
			"listingId": listing.ID, "externalCustomerId": harness.Unique("user"), "successUrl": "https://shop.example/thanks",
		}
		opened := s.again(t, a, "/v1/checkout-sessions", body)
		session := fmt.Sprint(opened.Map(t)["id"])
		harness.Eventually(t, "the sale of "+session, func() bool { return s.pay(t, a, session) })
		s.confirmed.Store(session, true)
		s.count.Add(1)
		time.Sleep(s.pause)
	}
}

// pay reports whether a session is paid, and pays it unless it is. A charge that was interrupted is declined, and the
// buyer pays again.
func (s *sales) pay(t *testing.T, a *harness.Account, session string) bool {
	paid := s.again(t, a, "/v1/sandbox/checkout-sessions/"+session+"/pay",
		harness.JSON{"cardNumber": harness.CardSucceeds, "email": "ada@example.com"})
	if paid.Status != http.StatusOK {
		paid.Refuses(t, http.StatusConflict, "SESSION_ALREADY_PAID") // the response to an earlier try was lost
		return true
	}
	return paid.Map(t)["status"] == "paid"
}

// again asks until the service is there and the outcome of an interrupted payment is known, as a client does that heeds
// Retry-After and polls.
func (s *sales) again(t *testing.T, a *harness.Account, path string, body any) (response *harness.Response) {
	harness.Eventually(t, "a response to "+path, func() bool {
		response = a.AskAnything(t, harness.Request{Method: http.MethodPost, Path: path, Bearer: a.Key, Body: body})
		if response.Status == http.StatusInternalServerError {
			t.Errorf("%s: %s", path, response.Body)
		}
		if response.Status > http.StatusInternalServerError {
			s.refused.Add(1)
		}
		if response.Status < http.StatusInternalServerError &&
			!strings.Contains(string(response.Body), `"code":"STATE_CONFLICT"`) {
			return true
		}
		time.Sleep(100 * time.Millisecond)
		return false
	})
	return response
}

// TestAFailoverLosesNoSale kills the primary while buyers pay, promotes its synchronous standby, and wants every sale
// that was confirmed, once. The processes are started once and told nothing.
func TestAFailoverLosesNoSale(t *testing.T) {
	t.Parallel()
	d := newDeployment(t)
	p := newPair(t)
	d.DatabaseURL = p.address(1) // for the test's own queries, afterwards
	maps.Copy(d.env, map[string]string{
		"DATABASE_URL": primaryOf(p.servers[0].addr, p.servers[1].addr), "REDIS_URL": testredis.URL(t, testredis.Shared),
	})
	serve := d.Start(t, "serve", nil)
	d.Start(t, "worker", nil)
	account := serve.App.NewAccount(t)
	sold := startSales(t, account, 4, 0)
	sold.await(t, "sales", 20)

	died := time.Now()
	p.failOver()
	sold.await(t, "sales after the failover", 4)
	t.Logf("sold again %v after the primary's death", time.Since(died).Round(time.Millisecond))
	sold.await(t, "more sales", 40)
	sold.end(t, d)
	d.Verify(t)
}
