package e2e_test

import (
	"net/http"
	"testing"

	"sundry/tests/harness"
	"sundry/tests/testdb"
)

func TestADatabaseThatCannotBeWrittenIsA503UntilItCan(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		app := harness.New(t, engine, nil)
		a := app.NewAccount(t)
		listing := a.Published(t, nil)
		ready := harness.Request{Method: http.MethodGet, Path: "/readyz"}
		app.AskAnything(t, ready).Want(t, 200)
		order := func() *harness.Response {
			return app.AskAnything(t, harness.Request{
				Method: http.MethodPost, Path: "/v1/customers", Bearer: a.Key,
				Body: harness.JSON{"email": "ada@example.com", "displayName": "Ada"},
			})
		}
		allow := app.BlockWrites(t)
		var refused *harness.Response
		harness.Eventually(t, "an order is refused for now", func() bool {
			refused = order()
			return refused.Status == http.StatusServiceUnavailable
		})
		refused.Refuses(t, 503, "DATABASE_BUSY")
		if refused.Header.Get("Retry-After") == "" {
			t.Error("the refusal does not show when to come back")
		}
		harness.Eventually(
			t, "it is not ready", func() bool { return app.AskAnything(t, ready).Status == 503 },
		)
		app.AskAnything(t, harness.Request{Method: http.MethodGet, Path: "/healthz"}).Want(t, 200)
		harness.Eventually(t, "what is there is read, by connections that came after the block", func() bool {
			read := harness.Request{Method: http.MethodGet, Path: "/v1/listings/" + listing.Slug}
			return app.AskAnything(t, read).Status == 200
		})
		allow()
		harness.Eventually(t, "orders are taken again", func() bool { return order().Status == 201 })
		harness.Eventually(
			t, "it is ready again", func() bool { return app.AskAnything(t, ready).Status == 200 },
		)
	})
}
