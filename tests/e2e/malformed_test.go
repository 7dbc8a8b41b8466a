package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"sundry/tests/harness"
)

// spoil makes malformed bodies out of a valid one.
var spoil = map[string]func(valid string) string{
	"no body at all":           func(string) string { return "" },
	"only white space":         func(string) string { return " \n\t " },
	"no JSON":                  func(string) string { return "title=Hello" },
	"a string":                 func(string) string { return `"{}"` },
	"a number":                 func(string) string { return "1" },
	"null":                     func(string) string { return "null" },
	"an array":                 func(v string) string { return "[" + v + "]" },
	"half the body":            func(v string) string { return v[:len(v)/2] },
	"an unknown member":        func(v string) string { return v[:len(v)-1] + `,"surprise":1}` },
	"an unknown member, empty": func(v string) string { return v[:len(v)-1] + `,"":1}` },
	"a member twice":           func(v string) string { return v[:len(v)-1] + "," + v[1:] },
	"a second document":        func(v string) string { return v + v },
	"trailing bytes":           func(v string) string { return v + " x" },
	"a NUL at the end":         func(v string) string { return v + "\x00" },
	"a NUL in a name":          func(v string) string { return v[:len(v)-1] + `,"a\u0000b":1}` },
	"invalid UTF-8":            func(v string) string { return v[:len(v)-1] + ",\"a\":\"\xff\xfe\"}" },
	"half a surrogate":         func(v string) string { return v[:len(v)-1] + `,"a":"\ud800"}` },
	"a byte order mark":        func(v string) string { return "\xef\xbb\xbf" + v },
	"UTF-16":                   func(v string) string { return "\xff\xfe" + strings.Join(strings.Split(v, ""), "\x00") },
	"a comment":                func(v string) string { return "/* hi */" + v },
	"a trailing comma":         func(v string) string { return v[:len(v)-1] + ",}" },
	"single quotes":            func(v string) string { return strings.ReplaceAll(v, `"`, "'") },
	"very deep": func(v string) string {
		return v[:len(v)-1] + `,"a":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + "}"
	},
	"an exponent without end": func(v string) string { return v[:len(v)-1] + `,"a":1e999999999}` },
	"a prototype's name":      func(v string) string { return v[:len(v)-1] + `,"__proto__":{}}` },
	"a name of another case":  func(v string) string { return strings.Replace(v, `"`, `"X`, 1) },
	"thousands of unknown ones": func(v string) string {
		return v[:len(v)-1] + strings.Repeat(`,"surprise":1`, 5000) +
			"}"
	},
}

func TestMalformedBodiesAreRefusedEverywhere(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		for _, op := range harness.Operations(t) {
			if !op.TakesBody() {
				continue
			}
			t.Run(op.OperationID, func(t *testing.T) {
				r := w.request(t, op)
				valid, err := json.Marshal(r.Body)
				if err != nil {
					t.Fatal(err)
				}
				for name, change := range spoil {
					if name == "no body at all" && !op.NeedsBody() {
						continue
					}
					r.Body = change(string(valid))
					if response := app.Ask(t, r); response.Status != http.StatusBadRequest ||
						response.Refusal(t).Code != "VALIDATION_FAILED" || len(response.Refusal(t).Details) == 0 {
						t.Errorf("%s with %s: %d %s", op.Line(), name, response.Status, response.Body)
					}
				}
				r.Body = valid // and none of them has done anything: the valid request is still accepted
				if response := app.Ask(t, r); response.Status >= 300 {
					t.Errorf("%s after the malformed ones: %d %s", op.Line(), response.Status, response.Body)
				}
			})
		}
	})
}

func TestABodyThatNothingReadsIsRefused(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		seen := 0
		for _, op := range harness.Operations(t) {
			if op.TakesBody() || op.TakesBytes() || op.Method != http.MethodPost {
				continue
			}
			seen++
			r := w.request(t, op)
			for _, body := range []string{`{"surprise":1}`, "[]", "null", `"x"`, "no JSON", "{}x", " "} {
				r.Body = body
				app.Ask(t, r).Refuses(t, 400, "VALIDATION_FAILED")
			}
			// no body in the document's eyes, so not validated by it; and none of those before has done anything
			r.Body = "{}"
			if response := app.AskUnjudged(t, r); response.Status >= 300 {
				t.Errorf("%s with {}: %d %s", op.Line(), response.Status, response.Body)
			}
		}
		if seen < 7 {
			t.Errorf("only %d operations without a body were asked", seen)
		}
	})
}

func TestBodiesOverOneMebibyteAreRefusedEverywhere(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		for _, op := range harness.Operations(t) {
			if !op.TakesBody() {
				continue
			}
			r := w.request(t, op)
			r.Body = `{"surprise":"` + strings.Repeat("a", 1<<20) + `"}`
			app.Ask(t, r).Refuses(t, 413, "PAYLOAD_TOO_LARGE")
			// just under: read, and refused for what it is
			r.Body = `{"surprise":"` + strings.Repeat("a", 1<<20-16) + `"}`
			app.Ask(t, r).Refuses(t, 400, "VALIDATION_FAILED")
		}
	})
}

// readable are the members that people read in pages, mails and documents.
var readable = map[string]bool{
	"title": true, "name": true, "displayName": true, "description": true, "reason": true, "note": true, "unit": true,
	"refundPolicy": true,
}

// readableMembers lists where a body has such members: paths as refusals write them, and what sets each.
func readableMembers(path string, value any, found map[string]func(text string)) {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			at := strings.TrimPrefix(path+"."+name, ".")
			if _, isText := member.(string); isText && readable[name] {
				found[at] = func(text string) { value[name] = text }
			}
			readableMembers(at, member, found)
		}
	case []any:
		for i, item := range value {
			readableMembers(fmt.Sprintf("%s[%d]", path, i), item, found)
		}
	}
}

func TestTextIsVisibleAndTurnsNoDirectionEverywhere(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		seen := map[string]bool{}
		for _, op := range harness.Operations(t) {
			if !op.TakesBody() {
				continue
			}
			r := w.request(t, op)
			raw, err := json.Marshal(r.Body)
			if err != nil {
				t.Fatal(err)
			}
			var body any
			if err := json.Unmarshal(raw, &body); err != nil {
				t.Fatal(err)
			}
			members := map[string]func(string){}
			readableMembers("", body, members)
			for path, set := range members {
				for _, text := range []string{"invoice\u202efdp.exe", "a\u2067b", "\u200b\u2060", "\u3164"} {
					set(text)
					r.Body = body
					app.Ask(t, r).Refuses(t, 400, "VALIDATION_FAILED", path)
				}
				set("שלום\u200f, 世界")
				seen[op.Line()+" "+path] = true
			}
		}
		if len(seen) < 12 {
			t.Errorf("only %d members were asked: %v", len(seen), seen)
		}
	})
}

// Neither engine is asked for bytes that are no text: PostgreSQL refuses them, and SQLite would keep them.
func TestBytesThatAreNoTextAreRefused(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		address := strings.TrimPrefix(app.URL, "http://")
		raw := func(method, path, credential, more string) int {
			t.Helper()
			all := responsesTo(t, address, fmt.Sprintf(
				"%s %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n%sContent-Length: 2\r\nConnection: close\r\n\r\n{}",
				method, path, credential, more,
			))
			if len(all) != 1 {
				t.Fatalf("%s %q: %d responses", method, path, len(all))
			}
			return all[0].StatusCode
		}
		for _, op := range harness.Operations(t) {
			path := placeholder.ReplaceAllString(op.Path, "\xff")
			if path == op.Path {
				continue
			}
			if got := raw(op.Method, path, w.credential(op), ""); got != http.StatusBadRequest {
				t.Errorf("%s: %d, want 400", op.Line(), got)
			}
		}
		for _, path := range []string{"/v1/customers", "/v1/invoices"} {
			if got := raw(post, path, w.Key, "Idempotency-Key: \xff\r\n"); got != http.StatusBadRequest {
				t.Errorf("POST %s with such a key: %d, want 400", path, got)
			}
		}
		v := w.Visit(t)
		for _, path := range []string{
			"/dashboard/ledger?source=%00", "/dashboard/requests?cursor=1.%ff.YQ", "/dashboard/events?customer=%ff",
		} {
			if page := v.Open(t, path); page.Status != http.StatusBadRequest {
				t.Errorf("%s: %d, want 400", path, page.Status)
			}
		}
		v.Open(t, "/dashboard/customers/new")
		page := v.Send(t, "/dashboard/customers/new", "email", "a@example.com", "displayName", "a\xffb")
		if page.Status != http.StatusBadRequest {
			t.Errorf("a form: %d, want 400", page.Status)
		}
	})
}

// A newsletter may put a first and a last name into its links; readers whose name it does not know buy all the same.
func TestLinksWithABlankNameOpen(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		link := w.Account.AsCreator(t, post, "/v1/payment-links", w.linkBody()).Want(t, 201).Map(t)
		path := strings.TrimPrefix(fmt.Sprint(link["url"]), app.URL) + "?customer_name="
		for _, name := range []string{"+", "+Lovelace"} {
			if page := app.NewVisitor(t).Open(t, path+name); page.Status != http.StatusOK ||
				strings.Contains(page.Body, `value=" `) {
				t.Errorf("customer_name=%s: %d, want the checkout with no space before a name", name, page.Status)
			}
		}
	})
}

// A newsletter may write its links in Latin-1; its readers buy all the same.
func TestLinksInAnotherEncodingOpen(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		link := w.Account.AsCreator(t, post, "/v1/payment-links", w.linkBody()).Want(t, 201).Map(t)
		path := strings.TrimPrefix(fmt.Sprint(link["url"]), app.URL) + "?reference_id=caf%E9&utm_source=caf%E9"
		if page := app.NewVisitor(t).Open(t, path); page.Status != http.StatusOK {
			t.Fatalf("%d, want the checkout", page.Status)
		}
		all := w.Account.AsBackend(t, "GET", "/v1/checkout-sessions?limit=1", nil).Want(t, 200).Map(t)
		session := all["data"].([]any)[0].(map[string]any)
		if got := session["referenceId"]; got != "caf\ufffd" {
			t.Errorf("referenceId %q, want caf\ufffd", got)
		}
	})
}
