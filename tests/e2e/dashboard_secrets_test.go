package e2e_test

import (
	"strings"
	"testing"

	"sundry/tests/harness"
)

func TestASecretIsShownOnceAndReloadingMakesNoOther(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		customer := w.placed(t, nil)
		count := func(table string) int64 {
			return w.Count(t, "SELECT COUNT(*) FROM "+table+" WHERE creator_id = $1", w.ID)
		}
		for name, c := range map[string]struct {
			on, action, table, prefix string
			fields                    []string
		}{
			"API key": {"/dashboard/keys/new", "/dashboard/keys/new", "api_keys", "sk_test_", []string{"name", "Backend"}},
			"endpoint": {
				"/dashboard/webhooks/new", "/dashboard/webhooks/new", "webhook_endpoints", "whsec_",
				[]string{"url", "https://hooks.example.com/in", "events", "*"},
			},
			"portal link": {
				"/dashboard/customers/" + customer, "/dashboard/customers/" + customer + "/portal", "", app.URL + "/p/", nil,
			},
		} {
			v := w.Visit(t)
			before := int64(0)
			if c.table != "" {
				before = count(c.table)
			}
			v.Open(t, c.on)
			made := v.Send(t, c.action, c.fields...)
			if made.Status != 200 || made.Path == c.action && c.table != "" || !strings.Contains(made.Body, c.prefix) {
				t.Errorf("%s: made, and at %d %s without it", name, made.Status, made.Path)
			}
			reloaded := v.Open(t, made.Path)
			if reloaded.Status != 200 || strings.Contains(reloaded.Body, `id="key"`) ||
				strings.Contains(reloaded.Body, `id="secret"`) || strings.Contains(reloaded.Body, `id="portal"`) {
				t.Errorf("%s: reloading shows it again, or %d", name, reloaded.Status)
			}
			if c.table != "" && count(c.table) != before+1 {
				t.Errorf("%s: %d more, want one", name, count(c.table)-before)
			}
		}
	})
}
