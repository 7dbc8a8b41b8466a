package e2e_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"sundry/core/identity"
	"sundry/tests/harness"
)

// scopedKeys makes keys by their scopes, each once.
type scopedKeys struct {
	account *harness.Account
	made    map[string]string
}

func (k scopedKeys) with(t *testing.T, scopes ...string) string {
	t.Helper()
	name := strings.Join(scopes, ",")
	if k.made[name] == "" {
		var made struct {
			Key    string
			Scopes []string
		}
		k.account.AsCreator(t, http.MethodPost, "/v1/api-keys", harness.JSON{"name": "limited", "scopes": scopes}).
			Want(t, 201).Into(t, &made)
		if !slices.Equal(made.Scopes, scopes) {
			t.Fatalf("the key has the scopes %q, want %q", made.Scopes, scopes)
		}
		k.made[name] = made.Key
	}
	return k.made[name]
}

func (k scopedKeys) without(t *testing.T, scopes []string) string {
	t.Helper()
	var others []string
	for _, scope := range identity.LimitedScopes() {
		if !slices.Contains(scopes, string(scope)) {
			others = append(others, string(scope))
		}
	}
	return k.with(t, others...)
}

// TestAKeyDoesWhatItsScopesAllow calls every route that takes a key with a key of each scope that is enough, and with
// one of all others.
func TestAKeyDoesWhatItsScopesAllow(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		keys := scopedKeys{app.NewAccount(t), map[string]string{}}
		for _, op := range harness.Operations(t) {
			names, ok := op.Extensions["x-scopes"].([]any)
			if !ok {
				continue
			}
			var enough []string
			for _, name := range names {
				enough = append(enough, name.(string))
			}
			r := harness.Request{Method: op.Method, Path: placeholder.ReplaceAllString(op.Path, "x")}
			if op.TakesBody() {
				r.Body = "{not json" // no request gets as far as an effect
			}
			r.Bearer = keys.without(t, enough)
			refused := app.Ask(t, r)
			refused.Refuses(t, 403, "FORBIDDEN")
			if message := refused.Refusal(t).Message; !strings.Contains(message, strings.Join(enough, " or ")) {
				t.Errorf("%s: the refusal %q does not name %q", op.Line(), message, enough)
			}
			for _, scope := range enough {
				r.Bearer = keys.with(t, scope)
				if got := app.Ask(t, r); got.Status == http.StatusForbidden || got.Status == http.StatusUnauthorized {
					t.Errorf("%s refuses a key with the scope %s: %d %s", op.Line(), scope, got.Status, got.Body)
				}
			}
		}
	})
}

func TestReadingWithAKeyIsNotRefusedAsSuspended(t *testing.T) {
	t.Parallel()
	const read = "GET /v1/customer-access/{externalCustomerId}"
	all := harness.Operations(t)
	i := slices.IndexFunc(all, func(op harness.Operation) bool { return op.Line() == read })
	if i < 0 {
		t.Fatalf("the document lacks %s", read)
	}
	if got := *all[i].Responses.Value("403").Value.Description; strings.Contains(got, "suspended") {
		t.Errorf("%s: got the 403 %q, want none of a suspended account, whose keys go on reading", read, got)
	}
}

func TestACustomersExportTakesTheScopeRead(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		keys := scopedKeys{a, map[string]string{}}
		made := a.AsBackend(t, post, "/v1/customers", harness.JSON{
			"email": "ada@buyer.example", "displayName": "Ada",
		}).Want(t, 201).Map(t)
		export := func(scope string) *harness.Response {
			t.Helper()
			return a.Ask(t, harness.Request{
				Method: get, Path: "/v1/customers/" + text(t, made["id"]) + "/export", Bearer: keys.with(t, scope),
			})
		}
		export("read").Want(t, 200)
		export("customers").Refuses(t, 403, "FORBIDDEN")
	})
}

func TestADashboardKeyHasScopesAndAnEnd(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		v := w.Visit(t)
		if form := v.Open(t, "/dashboard/keys/new"); !strings.Contains(form.Body, `name="scopes" value="refunds"`) {
			t.Fatalf("the form has no scopes: %s", form.Body)
		}
		v.Send(t, "/dashboard/keys/new", "name", "Reporter", "expiresAt", "2999-12-31",
			"scopes", "usage", "scopes", "read")
		var keys struct {
			Data []struct {
				Name, ExpiresAt string
				Scopes          []string
			}
		}
		w.AsCreator(t, http.MethodGet, "/v1/api-keys?limit=1", nil).Want(t, 200).Into(t, &keys)
		if len(keys.Data) != 1 || keys.Data[0].Name != "Reporter" || !slices.Equal(keys.Data[0].Scopes, []string{"read", "usage"}) ||
			keys.Data[0].ExpiresAt != "2999-12-31T00:00:00.000Z" {
			t.Errorf("the form made %+v", keys.Data)
		}
		list := v.Open(t, "/dashboard/keys")
		for _, want := range []string{"read, usage", "Everything", "2999"} {
			if !strings.Contains(list.Body, want) {
				t.Errorf("the list of keys does not show %q", want)
			}
		}
		v.Open(t, "/dashboard/keys/new")
		wrong := v.Send(t, "/dashboard/keys/new", "name", "Late", "expiresAt", "2001-01-01",
			"scopes", "usage", "scopes", "gone")
		if !strings.Contains(wrong.Body, "The end must be in the future.") {
			t.Errorf("an end in the past is not refused at its field: %s", wrong.Body)
		}
		if !strings.Contains(wrong.Body, `aria-describedby="key-scopes-error"`) ||
			!strings.Contains(wrong.Body, `name="scopes" value="usage" checked`) {
			t.Errorf("an unknown scope is not refused at its field with the others kept: %s", wrong.Body)
		}
	})
}
