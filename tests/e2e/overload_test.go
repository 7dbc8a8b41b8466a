package e2e_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"sundry/tests/harness"
	"sundry/tests/testdb"
)

// Both connections of a process are kept busy by a lock that somebody else holds.
func TestOverloadIsRefusedAtOnceAndEnds(t *testing.T) {
	t.Parallel()
	url := testdb.Postgres.URL(t)
	app := harness.New(t, testdb.Postgres, map[string]string{"DATABASE_URL": url + "&pool_max_conns=2"})
	a := app.NewAccount(t)
	listing := a.Published(t, nil)
	other, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close(t.Context())
	tx, err := other.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "LOCK TABLE customers IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	create := harness.Request{
		Method: http.MethodPost, Path: "/v1/customers", Bearer: a.Key, Body: harness.JSON{"email": "ada@example.com"},
	}
	var waiting sync.WaitGroup
	refused := make(chan struct{})
	stop := sync.OnceFunc(func() { close(refused) })
	defer stop()
	for range 4 {
		waiting.Go(func() {
			for { // who waits gives up before a slow machine has made the reads below
				response := app.AskAnything(t, create)
				if response.Status != 201 && response.Status != 503 {
					t.Errorf("a customer: %d %s", response.Status, response.Body)
				}
				select {
				case <-refused:
					return
				case <-time.After(10 * time.Millisecond):
				}
			}
		})
	}
	read := harness.Request{Method: http.MethodGet, Path: "/v1/listings/" + listing.Slug}
	harness.Eventually(t, "a request is refused without waiting", func() bool {
		response := app.AskAnything(t, read)
		if response.Status == 503 && response.Header.Get("Retry-After") == "" {
			t.Errorf("the refusal shows no time to come back: %v", response.Header)
		}
		return response.Status == 503 && strings.Contains(string(response.Body), "more requests than can be served")
	})
	stop()
	app.AskAnything(t, harness.Request{Method: http.MethodGet, Path: "/healthz"}).Want(t, 200)
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	waiting.Wait()
	harness.Eventually(t, "it is served again", func() bool { return app.AskAnything(t, read).Status == 200 })
	app.AskAnything(t, create).Want(t, 201)
}
