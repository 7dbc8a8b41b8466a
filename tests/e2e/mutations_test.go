package e2e_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"sundry/tests/harness"
)

// wrongs are values that few members take. What a member does take of them is no matter: the response must be
// documented either way, and never a 5xx.
var wrongs = []any{
	nil, true, -1, 0, 1.5, json.Number("1e3"), json.Number("9223372036854775808"), json.Number("-9223372036854775809"),
	json.Number("99999999999999999999999999999999999999"), "", " ", "a\u0000b", "a\x1bb\u202eb\u2028",
	"'; DROP TABLE listings; --", "%s%n{{7*7}}${x}",
	"../../etc/passwd", "javascript:alert(1)", strings.Repeat("é", 20_000), "2100-13-45T99:99:99Z",
	"0000-00-00T00:00:00Z",
	"9999-12-31T23:59:59.999999999Z", "https://user:secret@shop.example/\r\nX: y", []any{}, []any{nil}, []any{[]any{}},
	harness.JSON{}, harness.JSON{"": ""},
}

// mutations calls visit with every copy of the document in which one value, at any depth, is another or is missing.
func mutations(document any, visit func(what string, mutated any)) {
	switch d := document.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(d)) {
			without := maps.Clone(d)
			delete(without, name)
			visit("without "+name, without)
			replace := func(what string, value any) {
				with := maps.Clone(d)
				with[name] = value
				visit(name+what, with)
			}
			for _, wrong := range wrongs {
				replace(fmt.Sprintf(" = %.40v", wrong), wrong)
			}
			mutations(d[name], func(what string, value any) { replace("."+what, value) })
		}
	case []any:
		for i := range d {
			mutations(d[i], func(what string, value any) {
				with := slices.Clone(d)
				with[i] = value
				visit(fmt.Sprintf("[%d].%s", i, what), with)
			})
		}
		many := make([]any, 0, 1000*len(d))
		for range 1000 {
			many = append(many, d...)
		}
		visit("a thousand times", many)
	}
}

// TestMutatedRequestsAreAnsweredAsDocumented takes each valid request apart. harness.Ask fails the test for a 5xx and
// for any response that the document does not promise, an accepted request that it forbids included.
func TestMutatedRequestsAreAnsweredAsDocumented(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		for _, op := range harness.Operations(t) {
			if !op.TakesBody() || op.Tags[0] == "Sign-in" { // hashing a password for each takes minutes; see below
				continue
			}
			t.Run(op.OperationID, func(t *testing.T) { mutate(t, app, w.request(t, op)) })
		}
	})
}

func TestMutatedSignInsAreAnsweredAsDocumented(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		for _, path := range []string{"sign-up", "sign-in", "refresh", "sign-out"} {
			body := harness.JSON{"refreshToken": "rt_x"}
			if strings.HasPrefix(path, "sign-") && path != "sign-out" {
				// one fault is always left: nothing is hashed
				body = harness.JSON{"email": "", "password": "", "displayName": "Ada"}
			}
			if path == "sign-in" {
				delete(body, "displayName")
			}
			mutate(t, app, harness.Request{Method: http.MethodPost, Path: "/v1/auth/" + path, Body: body})
		}
	})
}

func mutate(t *testing.T, app *harness.App, r harness.Request) {
	t.Helper()
	raw, err := json.Marshal(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	var document any
	if err := json.Unmarshal(raw, &document); err != nil {
		t.Fatal(err)
	}
	tried := 0
	mutations(document, func(what string, mutated any) {
		r.Body = mutated
		tried++
		response := app.Ask(t, r)
		if response.Status >= 400 && t.Failed() {
			t.Logf("%s %s with %s: %d %s", r.Method, r.Path, what, response.Status, response.Body)
			t.FailNow()
		}
	})
	if tried < len(wrongs) {
		t.Errorf("only %d mutations tried", tried)
	}
}

// strangeParameters are sent in the place of each path and query parameter.
var strangeParameters = []string{
	"x", "0", "-1", "%00", "%FF%FE", "%2e%2e%2f", "..", "a%20b", "%F0%9F%92%A9", "lst_01jqz5y2c4e6g8h0k2m4p6r8s0",
	"cs_01jqz5y2c4e6g8h0k2m4p6r8s0",
	"'%20OR%201=1--", strings.Repeat("a", 3000), "%7B%7D", "null", "%0D%0AX:y",
}

func TestStrangeParametersAreAnsweredAsDocumented(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		for _, op := range harness.Operations(t) {
			if op.Tags[0] == "Sign-in" {
				continue
			}
			for _, strange := range strangeParameters {
				r := w.requestWith(t, op, strange)
				app.Ask(t, r)
				for _, p := range op.Parameters {
					if p.Value.In != "query" || p.Value.Name == "waitSeconds" {
						continue
					}
					value, err := url.PathUnescape(strange)
					if err != nil {
						t.Fatal(err)
					}
					r := w.requestWith(t, op, "x")
					r.Query = url.Values{p.Value.Name: {value}}
					app.Ask(t, r)
				}
			}
		}
	})
}

// requestWith is a request with a text in the place of every path parameter, and an empty body where one is taken.
func (w *fixture) requestWith(t *testing.T, op harness.Operation, text string) harness.Request {
	t.Helper()
	r := harness.Request{Method: op.Method, Path: placeholder.ReplaceAllString(op.Path, text), Bearer: w.credential(op)}
	if op.TakesBody() {
		r.Body = harness.JSON{}
	}
	return r
}
