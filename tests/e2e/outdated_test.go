package e2e_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"sundry/tests/harness"
	"sundry/tests/testdb"
)

// While a process runs, a later version takes from its schema what it may use. Where one database has two schemas, the
// process on the other goes on.
func TestAContractedSchemaStopsWhatRunsOnIt(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		databaseURL := engine.URL(t)
		vars := map[string]string{"WEBHOOK_ALLOW_PRIVATE": "true", "APP_SECRET": strings.Repeat("0123456789abcdef", 4)}
		app := harness.On(t, engine, databaseURL, vars)
		a := app.NewAccount(t)
		url, taken := receive(t)
		var made hookEndpoint
		a.AsBackend(t, http.MethodPost, endpointsPath, JSON{"url": url, "events": []string{"payment.completed"}}).
			Want(t, 201).Into(t, &made)
		engine.Exec(t, databaseURL, "INSERT INTO concurrency_pauses (concurrency_key, creator_id, paused_until, due_until) "+
			"VALUES ('"+made.ID+"', '', 9000000000000, 9000000000000)")
		a.Pay(t, a.NewSession(t, proPlan(t, a), "pro", "ada", nil), harness.CardSucceeds).Want(t, 200)
		others := []*harness.App{}
		if engine.Name == testdb.Postgres.Name {
			vars["DATABASE_SCHEMA"], vars["CELL"] = "other", "1"
			others = append(others, harness.On(t, engine, databaseURL, vars))
		}

		read := harness.Request{Method: http.MethodGet, Path: "/v1/customers", Bearer: a.Key}
		engine.Exec(t, databaseURL, "INSERT INTO migration_phases (version, phase) VALUES (99998, 'expand'), "+
			"(99999, 'contract')")
		engine.Exec(t, databaseURL, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (99998, TRUE)")
		time.Sleep(6 * time.Second) // one comparison at least
		app.Ask(t, harness.Request{Method: http.MethodGet, Path: "/readyz"}).Want(t, 200)
		app.Ask(t, read).Want(t, 200)

		engine.Exec(t, databaseURL, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, TRUE)")
		var ready *harness.Response
		harness.Eventually(t, "the process is not ready", func() bool {
			ready = app.AskAnything(t, harness.Request{Method: http.MethodGet, Path: "/readyz"})
			return ready.Status == http.StatusServiceUnavailable
		})
		if reason := ready.Map(t)["reason"]; reason != "schema" {
			t.Errorf("it is not ready because of %v, want schema", reason)
		}
		refused := app.AskAnything(t, read)
		refused.Refuses(t, http.StatusServiceUnavailable, "DATABASE_BUSY")
		if refused.Header.Get("Retry-After") == "" {
			t.Error("the refusal does not show when to come back")
		}
		app.AskAnything(t, harness.Request{Method: http.MethodGet, Path: "/healthz"}).Want(t, 200)
		harness.Eventually(t, "it logs why", func() bool { return app.Log.About("has migration 99999") != "" })
		if line := app.Log.About("replace this process"); strings.Count(line, "\n") != 1 {
			t.Errorf("it logged %q, want one line", line)
		}
		for _, other := range others {
			other.Ask(t, harness.Request{Method: http.MethodGet, Path: "/readyz"}).Want(t, 200)
		}

		// A process of the later version, which this one is if that migration had never been, finds the work undone.
		engine.Exec(t, databaseURL, "DELETE FROM concurrency_pauses")
		time.Sleep(2 * time.Second)
		if len(taken) > 0 {
			t.Error("the process has delivered an event after the change of the schema")
		}
		if err := app.Close(); err != nil {
			t.Fatal(err)
		}
		engine.Exec(t, databaseURL, "DELETE FROM goose_db_version WHERE version_id = 99999")
		delete(vars, "DATABASE_SCHEMA")
		delete(vars, "CELL")
		harness.On(t, engine, databaseURL, vars)
		next(t, taken)
	})
}
