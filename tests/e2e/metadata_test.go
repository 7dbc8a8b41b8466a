package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"sundry/tests/harness"
)

func TestCustomersKeepTheirMetadata(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		var made struct {
			ID       string
			Metadata map[string]string
		}
		a.AsBackend(t, http.MethodPost, "/v1/customers", harness.JSON{
			"email": "ada@example.com", "metadata": harness.JSON{"crm": "4711", "tier": "gold", "empty": ""},
		}).Want(t, 201).Into(t, &made)
		want := func(step, pairs string) {
			t.Helper()
			got := a.AsBackend(t, http.MethodGet, "/v1/customers/"+made.ID, nil).Want(t, 200).Map(t)["metadata"]
			if asJSON(t, got) != pairs {
				t.Errorf("%s: %s, want %s", step, asJSON(t, got), pairs)
			}
		}
		patch := func(body harness.JSON) *harness.Response {
			return a.AsBackend(t, http.MethodPatch, "/v1/customers/"+made.ID, body)
		}
		want("as made", `{"crm":"4711","tier":"gold"}`)
		patch(harness.JSON{"displayName": "Ada"}).Want(t, 200)
		want("after another change", `{"crm":"4711","tier":"gold"}`)
		patch(harness.JSON{"metadata": harness.JSON{"tier": "", "region": "eu"}}).Want(t, 200)
		want("merged", `{"crm":"4711","region":"eu"}`)

		many := harness.JSON{}
		for i := range 19 {
			many[fmt.Sprint("key", i)] = "x"
		}
		for name, c := range map[string]struct {
			pairs  any
			fields []string
		}{
			"more than twenty in all": {many, []string{"metadata"}},
			"a key that is too long":  {harness.JSON{strings.Repeat("k", 41): "x"}, []string{"metadata." + strings.Repeat("k", 41)}},
			"a value too long":        {harness.JSON{"crm": strings.Repeat("x", 501)}, []string{"metadata.crm"}},
			"a number":                {harness.JSON{"crm": 1}, []string{"metadata.crm"}},
			"no object":               {"crm", []string{"metadata"}},
		} {
			t.Run(name, func(t *testing.T) {
				patch(harness.JSON{"metadata": c.pairs}).Refuses(t, 400, "VALIDATION_FAILED", c.fields...)
			})
		}
		want("after refusals", `{"crm":"4711","region":"eu"}`)
		if page := a.Visit(t).Open(t, "/dashboard/customers/"+made.ID); !strings.Contains(page.Body, "4711") {
			t.Error("the dashboard does not show the metadata")
		}
		session := a.NewSession(t, a.Published(t, nil), "default", "ada", nil)
		a.Pay(t, session, harness.CardSucceeds).Want(t, 200)
		want("after a sale to another", `{"crm":"4711","region":"eu"}`)
		patch(harness.JSON{"metadata": nil}).Want(t, 200)
		want("cleared", `{}`)
	})
}
