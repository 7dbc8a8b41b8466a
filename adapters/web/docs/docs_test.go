package docs

import (
	"bytes"
	"cmp"
	"go/format"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"sundry/adapters/web/layout/layouttest"
	"sundry/core/locale"
	"sundry/core/webhook"
)

func TestTheReferenceShowsWhatTheDocumentSays(t *testing.T) {
	t.Parallel()
	doc, err := readAPIDoc([]byte(openapiSample), "https://pay.example")
	if err != nil {
		t.Fatal(err)
	}
	if len(doc.Groups) != 1 || doc.Count != 2 {
		t.Fatalf("%d groups, %d operations; want the used tag only, with 2", len(doc.Groups), doc.Count)
	}
	create, read := doc.Groups[0].Ops[0], doc.Groups[0].Ops[1]
	if len(create.Auth) != 1 || create.Auth[0] != "secretKey" || read.Auth != nil {
		t.Errorf("auth %v and %v; want the document's default and none", create.Auth, read.Auth)
	}
	if got := strings.Join(create.Params[0].Limits, " "); got != "at most 255 characters" {
		t.Errorf("limits %q", got)
	}
	if got := create.Responses[0].Example; !strings.Contains(got, `"listing": "studio-pro"`) ||
		create.Responses[1].Example != "" {
		t.Errorf("response example %s", got)
	}
	if p := create.Params[0]; p.Name != "Idempotency-Key" || !p.Required || p.Type != "header · string" {
		t.Errorf("parameter %+v", p)
	}
	var names []string
	for _, f := range create.Body {
		names = append(names, f.Name+":"+f.Type)
	}
	if got := strings.Join(names, " "); got != "catalog:object successUrl:string (uri) uiMode:string metadata:object" {
		t.Errorf("body fields in order: %s", got)
	}
	if create.Body[0].Children[0].Name != "listing" || !create.Body[0].Children[0].Required {
		t.Errorf("nested fields %+v", create.Body[0].Children)
	}
	if got := create.Body[2].Enum; len(got) != 2 || got[1] != "embedded" {
		t.Errorf("enum %v", got)
	}
	created := create.Responses[0]
	if !slices.IsSortedFunc(create.Responses, func(a, b apiResponse) int { return cmp.Compare(a.Status, b.Status) }) {
		t.Errorf("responses out of order: %v", create.Responses)
	}
	if created.Status != "201" || created.Failed || created.Headers[0] != "X-Request-Id" || !create.Responses[1].Failed {
		t.Errorf("responses %+v", create.Responses)
	}
	last := created.Fields[len(created.Fields)-2]
	if last.Name != "expiresAt" || last.Type != "string (date-time) or null" {
		t.Errorf("merged field %+v", last)
	}
}

func TestACurlLineCanBePasted(t *testing.T) {
	t.Parallel()
	doc, err := readAPIDoc([]byte(openapiSample), "https://pay.example")
	if err != nil {
		t.Fatal(err)
	}
	want := `curl -X POST 'https://pay.example/v1/checkout-sessions' \
  -H "Authorization: Bearer $SUNDRY_KEY" \
  -H 'Idempotency-Key: checkout-sessions-2026-03-08' \
  -H 'Content-Type: application/json' \
  -d '{
    "catalog": {
      "listing": "studio-pro"
    },
    "successUrl": "https://shop.example/it'\''s"
  }'`
	if got := doc.Groups[0].Ops[0].Samples[0].Text; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := doc.Groups[0].Ops[1].Samples[0].Text; got != "curl 'https://pay.example/v1/checkout-sessions/cs_1'" {
		t.Errorf("public read: %s", got)
	}
}

func TestEverySampleIsAProgram(t *testing.T) {
	t.Parallel()
	doc, err := readAPIDoc([]byte(openapiSample), "https://pay.example")
	if err != nil {
		t.Fatal(err)
	}
	wantNode := "const response = await fetch(`${process.env.SUNDRY_URL}/v1/checkout-sessions`, {\n" +
		"  method: \"POST\",\n  headers: {\n    Authorization: `Bearer ${process.env.SUNDRY_KEY}`,\n"
	if got := doc.Groups[0].Ops[0].Samples[1].Text; !strings.HasPrefix(got, wantNode) {
		t.Errorf("Node.js: %s", got)
	}
	for _, op := range doc.Groups[0].Ops {
		source := op.Samples[2].Text
		if formatted, err := format.Source([]byte(source)); err != nil || string(formatted) != source+"\n" {
			t.Errorf("Go: %v\n%s\nwant\n%s", err, source, formatted)
		}
	}
}

func TestTheEventsOfTheDocumentationAreValid(t *testing.T) {
	t.Parallel()
	events := listEvents()
	kinds := webhook.Catalogue()
	if len(events) != len(kinds) {
		t.Fatalf("%d events, %d types", len(events), len(kinds))
	}
	for i, kind := range kinds {
		schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(kind.Schema))
		if err != nil {
			t.Fatal(err)
		}
		compiler := jsonschema.NewCompiler()
		compiler.AssertFormat()
		if err := compiler.AddResource("data.json", schema); err != nil {
			t.Fatal(err)
		}
		envelope, err := jsonschema.UnmarshalJSON(strings.NewReader(asOf(time.Now(), events[i].Payload)))
		if err != nil {
			t.Fatal(err)
		}
		if err := compiler.MustCompile("data.json").Validate(envelope.(map[string]any)["data"]); err != nil {
			t.Errorf("%s: %v", kind.Type, err)
		}
	}
}

func TestExamplesTakePlaceToday(t *testing.T) {
	t.Parallel()
	now := time.Date(2028, 2, 28, 23, 30, 0, 0, time.UTC)
	for given, want := range map[string]string{
		"2026-03-08T09:00:00.000Z":   "2028-02-28T09:00:00.000Z",
		"from 2026-03-09 to 2026-12": "from 2028-02-29 to 2026-12",
		"2026-13-39 is no date":      "2026-13-39 is no date",
	} {
		if got := asOf(now, given); got != want {
			t.Errorf("%s: %s, want %s", given, got, want)
		}
	}
	if got := firstMonday(now); got != "2028-03-06" {
		t.Errorf("the Monday is %s", got)
	}
}

func TestADocumentThatCannotBeReadStopsTheStart(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string]string{"not YAML": "a: [", "empty": "",
		"a broken reference": "paths: {/a: {get: {responses: {'200': {$ref: '#/components/gone'}}}}}"} {
		if _, err := readAPIDoc([]byte(raw), ""); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestMarkupOfDescriptions(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ source, want string }{
		"nothing":                    {"", ""},
		"lines flow together":        {"one\ntwo", "<p>one two</p>"},
		"paragraphs":                 {"one\n\ntwo", "<p>one</p><p>two</p>"},
		"a list":                     {"- a\n- `b`", "<ul><li>a</li><li><code>b</code></li></ul>"},
		"a list after its sentence":  {"Either:\n- a\n- b", "<p>Either:</p><ul><li>a</li><li>b</li></ul>"},
		"a list item over two lines": {"- a\n  b", "<ul><li>a b</li></ul>"},
		"bold and links": {
			"**x** [y](https://z.example/a?b=1)", `<p><strong>x</strong> <a href="https://z.example/a?b=1">y</a></p>`,
		},
		"markup is text":              {"<img src=x onerror=alert(1)>", "<p>&lt;img src=x onerror=alert(1)&gt;</p>"},
		"a script address is no link": {"[x](javascript:alert(1))", "<p>[x](javascript:alert(1))</p>"},
		"a quote cannot leave a link": {`[x](https://a/"onclick=1)`, `<p><a href="https://a/&#34;onclick=1">x</a></p>`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := string(markup(c.source)); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestTheGuidesContentsAreItsHeadings(t *testing.T) {
	t.Parallel()
	pages := newTestRoutes(t, true)
	html, err := pages.render(locale.Default, guidePage, "")
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, m := range regexp.MustCompile(`<section class="prose" id="([^"]*)"><h2>`).FindAllStringSubmatch(string(html),
		-1) {
		ids = append(ids, m[1])
	}
	var listed []string
	for _, s := range pages.guideSections(locale.Default) {
		listed = append(listed, s.ID)
	}
	if strings.Join(ids, " ") != strings.Join(listed, " ") {
		t.Errorf("headings %v, contents %v", ids, listed)
	}
}

func TestAMemberThatTwoPartsDescribeIsToldOnce(t *testing.T) {
	t.Parallel()
	doc, err := readAPIDoc([]byte(`
openapi: 3.1.0
info: {title: x, version: v1}
paths:
  /x:
    get:
      responses:
        "409":
          description: A conflict.
          content:
            application/json:
              schema:
                allOf:
                  - {$ref: '#/components/schemas/Error'}
                  - {properties: {code: {type: string, enum: [SLUG_TAKEN]}}}
components:
  schemas:
    Error:
      type: object
      required: [code]
      properties:
        code: {type: string, description: Switch on it.}
        message: {type: string}
`), "https://pay.example")
	if err != nil {
		t.Fatal(err)
	}
	fields := doc.Groups[0].Ops[0].Responses[0].Fields
	if len(fields) != 2 || fields[0].Name != "code" || !fields[0].Required || len(fields[0].Enum) != 1 ||
		fields[0].Text == "" || fields[1].Name != "message" {
		t.Errorf("fields %+v", fields)
	}
}

func TestFieldsShowTypesAndLimits(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ schema, kind, limits, enum string }{
		"a nullable format": {"{type: [string, 'null'], format: uuid}", "string (uuid) or null", "", ""},
		"a list of types":   {"{type: [integer, 'null']}", "integer or null", "", ""},
		"no type":           {"{}", "any", "", ""},
		"alternatives":      {"{oneOf: [{type: boolean}, {type: string}]}", "boolean or string", "", ""},
		"a list of alternatives": {
			"{type: array, items: {anyOf: [{type: boolean}, {type: string}]}}", "array of boolean or string", "", "",
		},
		"two bounds": {
			"{type: integer, minimum: 1, maximum: 100, default: 20}", "integer", "1–100 | default 20", "",
		},
		"one length": {
			"{type: string, minLength: 2, maxLength: 2, pattern: '^[a-z]+$'}", "string",
			"2 characters | pattern ^[a-z]+$", "",
		},
		"the least items": {
			"{type: array, items: {type: number}, minItems: 0}", "array of number", "at least 0 items", "",
		},
		"a constant":       {"{type: string, const: v1}", "string", "", "v1"},
		"a list of words":  {"{type: array, items: {type: string, enum: [a, b]}}", "array of string", "", "a b"},
		"any other member": {"{type: object, additionalProperties: true}", "object", "", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc, err := parseDocument([]byte("components: {schemas: {One: {properties: {x: " + c.schema + "}}}}"))
			if err != nil {
				t.Fatal(err)
			}
			_, fields := doc.shape(&schema{Ref: "#/components/schemas/One"}, 0)
			if got := fields[0].Type; got != c.kind {
				t.Errorf("type %q, want %q", got, c.kind)
			}
			if got := strings.Join(fields[0].Limits, " | "); got != c.limits {
				t.Errorf("limits %q, want %q", got, c.limits)
			}
			if got := strings.Join(fields[0].Enum, " "); got != c.enum {
				t.Errorf("enum %q, want %q", got, c.enum)
			}
		})
	}
}

func TestPublicPagesCarryTheirPolicy(t *testing.T) {
	t.Parallel()
	app := fiber.New()
	newTestRoutes(t, true).Mount(app)
	for path, want := range map[string][]string{
		"/":               {"https://pay.example/v1/checkout-sessions", "You’re in the sandbox"},
		"/docs":           {"Getting started", "Level 1", `href="/docs/checkout"`},
		"/docs/reference": {"Sample API", "Create a checkout session", "/v1/checkout-sessions/{id}"},
		"/docs/checkout":  {"Sell one thing.", "urllib.request", `href="#post-v1-checkout-sessions"`},
		"/docs/events":    {"payment.completed"},
		"/docs?q=session": {" results.", `href="/docs/checkout#get-v1-checkout-sessions-id"`},
		"/docs?q=%3Cb%3E": {"&lt;b&gt;"},
	} {
		response, body := layouttest.Get(t, app, path, nil)
		policy := response.Header.Get("Content-Security-Policy")
		if response.StatusCode != 200 || !strings.Contains(policy, "frame-ancestors 'none'") ||
			strings.Contains(policy, "unsafe") ||
			response.Header.Get("X-Frame-Options") != "DENY" || response.Header.Get("Referrer-Policy") != "no-referrer" ||
			response.Header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %d %v", path, response.StatusCode, response.Header)
		}
		for _, w := range want {
			if !strings.Contains(body, w) {
				t.Errorf("%s lacks %q", path, w)
			}
		}
		layouttest.CheckMarkup(t, []byte(body))
	}
	if response, _ := layouttest.Get(t, app, "/docs/nothing", nil); response.StatusCode != http.StatusTeapot {
		t.Errorf("an unknown page: %d", response.StatusCode)
	}
}

func TestTheBestResultsComeFirst(t *testing.T) {
	t.Parallel()
	all, err := newTestRoutes(t, true).contents()
	if err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{
		"create checkout session":          "post-v1-checkout-sessions",
		"/v1/checkout-sessions/{id}":       "get-v1-checkout-sessions-id",
		"read sess":                        "get-v1-checkout-sessions-id",
		"related":                          "post-v1-checkout-sessions",
		"payment.completed":                "event-payment-completed",
		"overlay":                          "overlay",
		"test cards":                       "test-cards",
		"SLOT_TAKEN":                       "appointments",
		"xyzzy":                            "",
		"create xyzzy":                     "",
		strings.Repeat("checkout ", 10000): "level-1",
	} {
		first := ""
		if found := all.search(query); len(found) > 0 {
			first = found[0].ID
		}
		if first != want {
			t.Errorf("%.40q finds %q first, want %q", query, first, want)
		}
	}
}
