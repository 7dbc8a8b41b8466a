package e2e_test

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"sundry/tests/harness"
)

type JSON = harness.JSON

// accessPath returns the path of a customer's access, whatever their id.
func accessPath(customer string) string { return "/v1/customer-access/" + url.PathEscape(customer) }

// proPlan publishes a listing with a plan "pro" and returns its catalog key.
func proPlan(t *testing.T, a *harness.Account) harness.Listing {
	t.Helper()
	listing := a.NewListing(t, nil)
	a.AsCreator(t, http.MethodPut, "/v1/listings/"+listing.ID+"/plans/pro", JSON{
		"name": "Pro", "isDefault": true, "trialDays": 0,
		"prices": []JSON{{"interval": nil, "intervalCount": nil, "currency": "eur", "amountInCents": 1200}},
		"entitlements": []JSON{
			{"key": "export", "type": "boolean", "value": true}, {"key": "seats", "type": "limit", "value": 5},
		},
		"credits": []JSON{{"key": "renders", "unit": "render", "amount": 40, "renews": false}}, "meters": []JSON{},
	})
	return a.Publish(t, listing)
}

func TestAccessOfEveryKindOfCustomerID(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		for _, customer := range []string{"ada", "ada/1/grants", "auth0|42", "ada@example.com", "org:7 user:9", "Zoë–木",
			"50%", "a+b", "explain", strings.Repeat("é", 255)} {
			made := a.AsBackend(t, http.MethodPost, accessPath(customer)+"/grants",
				JSON{"entitlements": []JSON{{"key": "x", "type": "boolean", "value": true}}}).
				Want(t, 201).Map(t)
			if made["externalCustomerId"] != customer {
				t.Errorf("%q was granted to %q", customer, made["externalCustomerId"])
			}
			if got := a.AsBackend(t, http.MethodGet, accessPath(customer), nil).
				Want(t, 200).Map(t); got["externalCustomerId"] != customer ||
				got["version"].(interface{ String() string }).String() != "1" {
				t.Errorf("%q reads %v", customer, got)
			}
		}
		for name, path := range map[string]string{
			"too long":            "/v1/customer-access/" + strings.Repeat("x", 256),
			"too long in bytes":   accessPath(strings.Repeat("é", 256)),
			"a control character": "/v1/customer-access/a%07",
			"NUL":                 "/v1/customer-access/a%00b",
			"half of a character": "/v1/customer-access/%C3",
		} {
			for _, r := range []harness.Request{
				{Method: http.MethodGet, Path: path},
				{Method: http.MethodGet, Path: path + "/explain"},
				{
					Method: http.MethodPost, Path: path + "/grants",
					Body: JSON{"entitlements": []JSON{{"key": "x", "type": "boolean", "value": true}}},
				},
				{Method: http.MethodDelete, Path: path + "/grants/grt_01jqz5y2c4e6g8h0k2m4p6r8s0"},
				{
					Method: http.MethodPost, Path: path + "/credits/consume",
					Body: JSON{"key": "x", "amount": 1, "idempotencyKey": "1"},
				},
			} {
				r.Bearer = a.Key
				t.Log(name, r.Method, r.Path)
				a.Ask(t, r).Refuses(t, 400, "VALIDATION_FAILED", "externalCustomerId")
			}
		}
	})
}

func TestAccessIsConditionalAndApart(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a, other := app.NewAccount(t), app.NewAccount(t)
		listing := proPlan(t, a)
		ask := func(etag string) *harness.Response {
			return a.Ask(t, harness.Request{
				Method: http.MethodGet, Path: accessPath("ada"), Bearer: a.Key,
				Headers: map[string]string{"If-None-Match": etag},
			})
		}
		empty := ask(`"nothing"`).Want(t, 200)
		ask(empty.Header.Get("ETag")).Want(t, 304)
		a.AsBackend(t, http.MethodPost, accessPath("ada")+"/grants",
			JSON{"listing": listing.CatalogKey, "plan": "pro"}).Want(t, 201)
		full := ask(empty.Header.Get("ETag")).Want(t, 200)
		etag := full.Header.Get("ETag")
		for _, header := range []string{etag, "W/" + etag, `"x", ` + etag, "*"} {
			same := ask(header).Want(t, 304)
			if same.Header.Get("ETag") != etag || len(same.Body) > 0 {
				t.Errorf("304 with tag %s and %d bytes", same.Header.Get("ETag"), len(same.Body))
			}
		}
		if !strings.HasPrefix(etag, `"`) {
			t.Errorf("the tag %s is not strong", etag)
		}
		if got := other.Access(t, "ada"); len(got["activePlans"].([]any)) != 0 {
			t.Errorf("another account sees %v", got)
		}
		for name, path := range map[string]string{"read": "", "explain": "/explain"} {
			app.Ask(t, harness.Request{Method: http.MethodGet, Path: accessPath("ada") + path}).Refuses(t, 401,
				"UNAUTHENTICATED")
			a.AsCreator(t, http.MethodGet, accessPath("ada")+path, nil).Refuses(t, 401, "UNAUTHENTICATED")
			t.Log(name)
		}
	})
}

func TestGrantsOverHTTP(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a, other := app.NewAccount(t), app.NewAccount(t)
		listing := proPlan(t, a)
		draft := a.NewListing(t, nil)
		grants := accessPath("ada") + "/grants"
		soon := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
		loose := []JSON{{"key": "x", "type": "boolean", "value": true}}
		for name, c := range map[string]struct {
			body   any
			status int
			code   string
			fields []string
		}{
			"nothing": {JSON{}, 400, "VALIDATION_FAILED", []string{"listing"}},
			"no body": {nil, 400, "VALIDATION_FAILED", []string{"body"}},
			"both": {
				JSON{"listing": listing.CatalogKey, "plan": "pro", "entitlements": loose}, 400, "VALIDATION_FAILED",
				[]string{"listing"},
			},
			"no plan": {
				JSON{"listing": listing.CatalogKey}, 400, "VALIDATION_FAILED", []string{"plan"},
			},
			"an unknown listing":      {JSON{"listing": "no-such", "plan": "pro"}, 404, "NOT_FOUND", nil},
			"a listing no key can be": {JSON{"listing": "No Such", "plan": "pro"}, 404, "NOT_FOUND", nil},
			"an unknown plan":         {JSON{"listing": listing.CatalogKey, "plan": "max"}, 404, "NOT_FOUND", nil},
			"a draft": {
				JSON{"listing": draft.CatalogKey, "plan": "default"}, 409, "LISTING_NOT_PURCHASABLE", nil,
			},
			"wrong types": {
				JSON{"listing": 1, "plan": []int{}, "note": true}, 400, "VALIDATION_FAILED",
				[]string{"listing", "plan", "note"},
			},
			"an unknown member": {
				JSON{"entitlements": loose, "customer": "x"}, 400, "VALIDATION_FAILED", []string{"customer"},
			},
			"renewing credits": {
				JSON{"credits": []JSON{{"key": "x", "unit": "y", "amount": 1, "renews": true}}}, 400,
				"VALIDATION_FAILED", []string{"credits[0].renews"},
			},
			"bad entries": {
				JSON{
					"entitlements": []JSON{{"key": "x", "type": "limit", "value": "many"}},
					"credits":      []JSON{{"key": "", "unit": "", "amount": 0}},
				},
				400, "VALIDATION_FAILED",
				[]string{"entitlements[0].value", "credits[0].key", "credits[0].unit", "credits[0].amount"},
			},
			"a time that is none": {
				JSON{"entitlements": loose, "expiresAt": "tomorrow", "note": strings.Repeat("x", 501)}, 400,
				"VALIDATION_FAILED", []string{"expiresAt", "note"},
			},
			"a time that is over": {
				JSON{"entitlements": loose, "expiresAt": "2020-01-01T00:00:00Z"}, 400, "VALIDATION_FAILED",
				[]string{"expiresAt"},
			},
		} {
			t.Log(name)
			a.AsBackend(t, http.MethodPost, grants, c.body).Refuses(t, c.status, c.code, c.fields...)
		}
		if got := a.Access(t, "ada"); len(got["activePlans"].([]any))+len(got["entitlements"].([]any)) != 0 {
			t.Errorf("refusals granted %v", got)
		}
		body := JSON{"listing": listing.CatalogKey, "plan": "pro", "expiresAt": soon, "note": "guest"}
		first := a.Once(t, "k1", http.MethodPost, grants, body).Want(t, 201)
		again := a.Once(t, "k1", http.MethodPost, grants, body).Want(t, 201)
		if !bytes.Equal(first.Body, again.Body) || again.Header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("again: %s, first: %s", again.Body, first.Body)
		}
		a.Once(t, "k1", http.MethodPost, grants, JSON{"entitlements": loose}).Refuses(
			t, 409, "IDEMPOTENCY_KEY_MISMATCH",
		)
		made := first.Map(t)
		if made["plan"] != "pro" || made["listing"] != listing.CatalogKey || made["note"] != "guest" ||
			made["status"] != "active" {
			t.Errorf("made %s", first.Body)
		}
		path := grants + "/" + made["id"].(string)
		other.AsBackend(t, http.MethodDelete, path, nil).Refuses(t, 404, "NOT_FOUND")
		a.AsBackend(t, http.MethodDelete, accessPath("grace")+"/grants/"+made["id"].(string), nil).Refuses(t, 404,
			"NOT_FOUND")
		a.AsBackend(t, http.MethodDelete, grants+"/nothing", nil).Refuses(t, 404, "NOT_FOUND")
		if got := a.Access(t, "ada"); len(got["activePlans"].([]any)) != 1 {
			t.Errorf("before revoking: %v", got)
		}
		revoked := a.AsBackend(t, http.MethodDelete, path, nil).Want(t, 200).Map(t)
		if revoked["status"] != "revoked" || revoked["revokedAt"] == nil {
			t.Errorf("revoked %v", revoked)
		}
		explained := a.AsBackend(t, http.MethodGet, accessPath("ada")+"/explain", nil).Want(t, 200).Map(t)
		if len(explained["grants"].([]any)) != 1 || len(explained["history"].([]any)) != 2 {
			t.Errorf("explained %v", explained)
		}
		// what is archived can still be given
		a.AsCreator(t, http.MethodDelete, "/v1/listings/"+listing.ID, nil).Want(t, 200)
		a.AsBackend(t, http.MethodPost, grants, JSON{"listing": listing.CatalogKey, "plan": "pro"}).Want(t, 201)
	})
}

func TestPurchaseGivesAccessAndReceiptItsVersion(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		listing := proPlan(t, a)
		session := a.NewSession(t, listing, "pro", "ada", nil)
		a.Pay(t, session, harness.CardSucceeds).Want(t, 200)
		receipt, got := a.Receipt(t, session), a.Access(t, "ada")
		if receipt["accessVersion"] != got["version"] {
			t.Errorf("the receipt shows version %v, access %v", receipt["accessVersion"], got["version"])
		}
		plans := got["activePlans"].([]any)
		if len(plans) != 1 || plans[0].(JSON)["sourceId"] != receipt["paymentId"] || plans[0].(JSON)["source"] != "purchase" {
			t.Fatalf("plans %v of payment %v", plans, receipt["paymentId"])
		}
		explained := a.AsBackend(t, http.MethodGet, accessPath("ada")+"/explain", nil).Want(t, 200).Map(t)
		grant := explained["grants"].([]any)[0].(JSON)
		if grant["checkoutId"] != session.ID {
			t.Errorf("explained by %v, want session %s", grant, session.ID)
		}
		a.AsBackend(t, http.MethodDelete, accessPath("ada")+"/grants/"+grant["id"].(string), nil).Refuses(t, 409,
			"STATE_CONFLICT")
	})
}

func TestCreditsOverHTTP(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		listing := proPlan(t, a)
		a.AsBackend(t, http.MethodPost, accessPath("ada")+"/grants",
			JSON{"listing": listing.CatalogKey, "plan": "pro"}).Want(t, 201)
		path := accessPath("ada") + "/credits/consume"
		for name, c := range map[string]struct {
			body   any
			status int
			code   string
			fields []string
		}{
			"nothing": {JSON{}, 400, "VALIDATION_FAILED", []string{"key", "amount", "idempotencyKey"}},
			"none": {
				JSON{"key": "renders", "amount": 0, "idempotencyKey": "1"}, 400, "VALIDATION_FAILED",
				[]string{"amount"},
			},
			"less than none": {
				JSON{"key": "renders", "amount": -1, "idempotencyKey": "1"}, 400, "VALIDATION_FAILED",
				[]string{"amount"},
			},
			"a part of one": {
				`{"key":"renders","amount":0.5,"idempotencyKey":"1"}`, 400, "VALIDATION_FAILED", []string{"amount"},
			},
			"more than can be": {
				`{"key":"renders","amount":99999999999999999999,"idempotencyKey":"1"}`, 400, "VALIDATION_FAILED",
				[]string{"amount"},
			},
			"more than there are": {
				JSON{"key": "renders", "amount": 41, "idempotencyKey": "1"}, 409, "INSUFFICIENT_BALANCE", nil,
			},
			"an unknown credit": {
				JSON{"key": "images", "amount": 1, "idempotencyKey": "1"}, 409, "INSUFFICIENT_BALANCE", nil,
			},
		} {
			t.Log(name)
			a.AsBackend(t, http.MethodPost, path, c.body).Refuses(t, c.status, c.code, c.fields...)
		}
		body := JSON{"key": "renders", "amount": 3, "idempotencyKey": "render-1"}
		first := a.AsBackend(t, http.MethodPost, path, body).Want(t, 200)
		again := a.AsBackend(t, http.MethodPost, path, body).Want(t, 200)
		if want := `{"key":"renders","unit":"render","amount":3,"granted":40,"used":3,"balance":37,"version":2}`; string(first.Body) != want || string(again.Body) != want {
			t.Errorf("first %s, again %s, want %s", first.Body, again.Body, want)
		}
		body["amount"] = 4
		a.AsBackend(t, http.MethodPost, path, body).Refuses(t, 409, "IDEMPOTENCY_KEY_MISMATCH")
	})
}

func TestWaitingForAccess(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		for _, c := range []struct {
			query  string
			fields []string
		}{
			{"afterVersion=-1", []string{"afterVersion"}},
			{"afterVersion=x&waitSeconds=26", []string{"afterVersion", "waitSeconds"}},
			{"waitSeconds=5", []string{"afterVersion"}},
			{"afterVersion=1&waitSeconds=1.5", []string{"waitSeconds"}},
		} {
			a.AsBackend(t, http.MethodGet, accessPath("ada")+"?"+c.query, nil).Refuses(
				t, 400, "VALIDATION_FAILED", c.fields...,
			)
		}
		start := time.Now()
		a.AsBackend(t, http.MethodGet, accessPath("ada")+"?afterVersion=5", nil).Want(t, 200)
		a.AsBackend(t, http.MethodGet, accessPath("ada")+"?afterVersion=0&waitSeconds=1", nil).Want(t, 200)
		if waited := time.Since(start); waited < time.Second {
			t.Errorf("waited %v for a version that did not come, want a second", waited)
		}
		responses := make(chan *harness.Response, 1)
		go func() {
			responses <- a.AsBackend(t, http.MethodGet, accessPath("ada")+"?afterVersion=0&waitSeconds=25", nil)
		}()
		time.Sleep(300 * time.Millisecond) // the point is to be waiting already; to be late only makes it easier
		start = time.Now()
		a.AsBackend(t, http.MethodPost, accessPath("ada")+"/grants",
			JSON{"entitlements": []JSON{{"key": "x", "type": "boolean", "value": true}}}).Want(t, 201)
		response := <-responses
		if waited := time.Since(start); waited > 10*time.Second || !strings.Contains(string(response.Body), `"version":1`) {
			t.Errorf("notified after %v: %s", waited, response.Body)
		}
	})
}

func TestGrantsEndOnTheAccountsClock(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		var clock struct{ Now time.Time }
		a.AsBackend(t, http.MethodGet, "/v1/sandbox/clock", nil).Want(t, 200).Into(t, &clock)
		ends := clock.Now.Add(10 * 24 * time.Hour)
		grant := func(entitlement string, expiresAt time.Time) {
			a.AsBackend(t, http.MethodPost, accessPath("ada")+"/grants", JSON{
				"entitlements": []JSON{{"key": entitlement, "type": "boolean", "value": true}},
				"expiresAt":    expiresAt.Format(time.RFC3339Nano),
			}).Want(t, 201)
		}
		grant("first", ends)
		grant("second", ends.Add(24*time.Hour))
		keys := func() (keys []string) {
			for _, e := range a.Access(t, "ada")["entitlements"].([]any) {
				keys = append(keys, e.(JSON)["key"].(string))
			}
			return keys
		}
		for _, step := range []struct {
			to   time.Time
			want string
		}{{ends.Add(-time.Hour), "first second"}, {ends, "second"}, {ends.Add(48 * time.Hour), ""}} {
			a.AsBackend(t, http.MethodPost, "/v1/sandbox/clock/advance", JSON{"to": step.to.Format(time.RFC3339Nano)}).
				Want(t, 200)
			if got := strings.Join(keys(), " "); got != step.want {
				t.Errorf("at %v: %q, want %q", step.to, got, step.want)
			}
		}
		explained := a.AsBackend(t, http.MethodGet, accessPath("ada")+"/explain", nil).Want(t, 200).Map(t)
		for _, g := range explained["grants"].([]any) {
			if g.(JSON)["status"] != "expired" || g.(JSON)["endedAt"] != g.(JSON)["expiresAt"] {
				t.Errorf("grant %v, want it expired at its time", g)
			}
		}
		if history := explained["history"].([]any); len(history) != 4 || history[0].(JSON)["cause"] != "grant_expired" {
			t.Errorf("history %v", history)
		}
	})
}
