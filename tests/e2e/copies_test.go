package e2e_test

import (
	"testing"

	"sundry/tests/harness"
	"sundry/tests/testdb"
)

// TestACopyGoesOnCountingUse starts the program on a database whose sequence starts over, as on a promoted logical
// replica: the reports from then on are counted like those before.
func TestACopyGoesOnCountingUse(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		vars := map[string]string{"APP_SECRET": "a secret of forty characters, for tests."}
		url := engine.URL(t)
		app := harness.On(t, engine, url, vars)
		m := newFixture(t, app).metered(t, harness.CardSucceeds)
		for range 5 {
			m.report(t, "1")
		}
		m.counts(t, "5")
		if engine.Name == testdb.Postgres.Name {
			app.Exec(t, "SELECT setval('usage_positions', 1, false)")
		}
		if err := app.Close(); err != nil {
			t.Fatal(err)
		}

		vars["BASE_URL"] = app.URL // which tokens name
		m.App = harness.On(t, engine, url, vars)
		m.report(t, "1.5")
		m.counts(t, "6.5")
		verified(t, m.App)
	})
}
