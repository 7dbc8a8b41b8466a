package clients_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"sundry/tests/harness"
	"sundry/tests/testenv"
)

// shop is the environment of a program that runs the lifecycle: a new account with a plan and a meter. The program
// has a key with the scopes of a shop's backend.
func shop(t *testing.T, app *harness.App) []string {
	t.Helper()
	a := app.NewAccount(t)
	listing := a.NewListing(t, harness.JSON{
		"type": "SUBSCRIPTION", "slug": harness.Unique("studio"), "title": "Studio", "priceInCents": 2000,
		"metadata": harness.JSON{"interval": "month", "intervalCount": 1},
	})
	a.AsCreator(t, http.MethodPut, "/v1/listings/"+listing.ID+"/plans/pro", harness.JSON{
		"name": "Pro", "isDefault": true, "trialDays": 0,
		"prices": []harness.JSON{{"interval": "month", "intervalCount": 1, "currency": "eur", "amountInCents": 2000}},
		"entitlements": []harness.JSON{
			{"key": "export", "type": "boolean", "value": true}, {"key": "seats", "type": "limit", "value": 5},
		},
		"credits": []harness.JSON{}, "meters": []harness.JSON{},
	}).Want(t, 200)
	a.Publish(t, listing)
	a.AsCreator(t, http.MethodPut, "/v1/scheduling/availability", harness.JSON{
		"timezone": "UTC", "overrides": []harness.JSON{}, "busyCalendarUrls": []string{},
		"weekly": []harness.JSON{{
			"weekday": strings.ToLower(time.Now().UTC().AddDate(0, 0, 3).Weekday().String()), "start": "09:00", "end": "17:00",
		}},
	}).Want(t, 200)
	a.AsCreator(t, http.MethodPut, "/v1/scheduling/meeting-settings", harness.JSON{
		"virtual": harness.JSON{"provider": "jitsi"},
	}).Want(t, 200)
	call := a.Published(t, harness.JSON{
		"type": "APPOINTMENT", "title": "Call", "priceInCents": 900, "metadata": harness.JSON{"deliveryMethod": "virtual"},
	})
	var meter, product, price struct{ ID string }
	a.AsBackend(t, http.MethodPost, "/v1/usage/meters", harness.JSON{
		"name": "API calls", "eventName": "api.calls", "aggregation": "SUM",
	}).Want(t, 201).Into(t, &meter)
	a.AsBackend(t, http.MethodPost, "/v1/usage/products", harness.JSON{"name": "API access", "type": "SERVICE"}).
		Want(t, 201).Into(t, &product)
	a.AsBackend(t, http.MethodPost, "/v1/usage/prices", harness.JSON{
		"productId": product.ID, "billingScheme": "usage_based", "currency": "eur", "tiersMode": "graduated",
		"tiers": []harness.JSON{{"upTo": nil, "unitAmountInCents": 10}}, "recurring": harness.JSON{"interval": "month"},
	}).Want(t, 201).Into(t, &price)
	var key struct{ Key string }
	a.AsCreator(t, http.MethodPost, "/v1/api-keys", harness.JSON{
		"name": "shop", "scopes": []string{"read", "checkout", "customers", "usage", "invoices", "refunds", "webhooks"},
	}).Want(t, 201).Into(t, &key)
	return []string{
		"BASE_URL=" + app.URL, "SECRET_KEY=" + key.Key, "LISTING=" + listing.CatalogKey, "METER_ID=" + meter.ID,
		"PRICE_ID=" + price.ID, "CALL=" + call.ID, goFlags,
	}
}

// lifecycle is a program's report of what it did through an SDK.
type lifecycle struct {
	Receipt, PlanStatus, Refused, RefusedField, InvoiceStatus, RefundStatus, MissingScope, Webhook, CRM string
	Export, Stale, SameSession, SameInvoice, DuplicateUse, PortalURL, Booked                            bool
	Seats, TotalInCents, Uses, Invoices, Expanded                                                       int
	ForgedWebhook                                                                                       string
	Events                                                                                              []string
}

func wantLifecycle(t *testing.T, printed []byte) {
	t.Helper()
	var got lifecycle
	if err := json.Unmarshal(printed, &got); err != nil {
		t.Fatalf("%v: %s", err, printed)
	}
	for _, want := range []string{"payment.completed", "subscription.created", "invoice.paid", "refund.created"} {
		found := false
		for _, seen := range got.Events {
			found = found || seen == want
		}
		if !found {
			t.Errorf("the events %q have no %s", got.Events, want)
		}
	}
	got.Events = nil
	want := lifecycle{
		Receipt: "paid", PlanStatus: "active", Refused: "VALIDATION_FAILED", RefusedField: "email", InvoiceStatus: "paid",
		RefundStatus: "succeeded", MissingScope: "FORBIDDEN", Webhook: "webhook_endpoint.test", ForgedWebhook: "refused",
		Export: true, Stale: true, SameSession: true, SameInvoice: true, DuplicateUse: true, PortalURL: true, Booked: true,
		CRM: "4711", Seats: 5, TotalInCents: 2000, Uses: 2, Invoices: 1, Expanded: 2,
	}
	gotJSON, _ := json.Marshal(got)   // of plain data there is no error
	wantJSON, _ := json.Marshal(want) // and none here
	if string(gotJSON) != string(wantJSON) {
		t.Errorf("the program saw\n%s, want\n%s", gotJSON, wantJSON)
	}
}

func TestTheGoSDKRunsTheLifecycle(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		folder := t.TempDir()
		copied(t, "testdata/sdkgo", folder)
		env := shop(t, app)
		runIn(t, folder, env, "go", "mod", "edit", "-replace=sundry/sdk/go="+config(t, "../../sdk/go"))
		wantLifecycle(t, runIn(t, folder, env, "go", "run", "."))
	})
}

// sentBySDKs are the bodies of requests that the SDKs have types of, with the members that they leave out on purpose.
var sentBySDKs = []struct {
	schema, goType, tsType string
	without                []string
}{
	{"NewCheckoutSession", "NewSession", "NewSession", []string{"appointmentSlot"}}, // appointmentSlots has it
	{"CatalogReference", "CatalogReference", "CatalogReference", nil},
	{"NewCustomer", "NewCustomer", "NewCustomer", nil},
	{"NewSubscription", "NewSubscription", "NewSubscription", nil},
	{"UsageReport", "Use", "Use", nil},
	{"NewInvoice", "NewInvoice", "NewInvoice", []string{"idempotencyKey"}}, // a parameter of its own
	{"NewRefund", "NewRefund", "NewRefund", nil},
}

func TestSDKsHaveEveryMember(t *testing.T) {
	t.Parallel()
	schemas := map[string]map[string]any{}
	parts, err := filepath.Glob("../../adapters/httpapi/*/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range parts {
		var read struct {
			Components struct {
				Schemas map[string]struct{ Properties map[string]any }
			}
		}
		if err := yaml.Unmarshal([]byte(content(t, part)), &read); err != nil {
			t.Fatal(part, err)
		}
		for name, schema := range read.Components.Schemas {
			schemas[name] = schema.Properties
		}
	}
	inGo, inTS := content(t, "../../sdk/go/resources.go"), content(t, "../../sdk/typescript/src/types.ts")
	body := func(text, begin, end string) string {
		_, text, _ = strings.Cut(text, begin)
		text, _, _ = strings.Cut(text, end)
		return text
	}
	for _, sent := range sentBySDKs {
		if len(schemas[sent.schema]) == 0 {
			t.Errorf("the document has no %s", sent.schema)
		}
		goBody := body(inGo, "\ntype "+sent.goType+" struct {", "\n}")
		tsBody := body(inTS, "\nexport interface "+sent.tsType+" {", "\n}")
		for member := range schemas[sent.schema] {
			if slices.Contains(sent.without, member) {
				continue
			}
			if !strings.Contains(goBody, "`json:\""+member+"\"`") && !strings.Contains(goBody, "`json:\""+member+",omitempty\"`") {
				t.Errorf("%s of the Go SDK has no %s", sent.goType, member)
			}
			if !strings.Contains(tsBody, "\n  "+member+":") && !strings.Contains(tsBody, "\n  "+member+"?:") {
				t.Errorf("%s of the TypeScript SDK has no %s", sent.tsType, member)
			}
		}
	}
}

func content(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestTheGoSDKPassesItsTests(t *testing.T) {
	t.Parallel()
	runIn(t, config(t, "../../sdk/go"), nil, "go", "vet", ".")
	runIn(t, config(t, "../../sdk/go"), nil, "go", "test", "-count=1", ".")
}

func TestTheTypeScriptSDKRunsTheLifecycle(t *testing.T) {
	t.Parallel()
	node, npm := testenv.Need(t, testenv.Node), testenv.Need(t, testenv.Packages)
	folder := t.TempDir()
	copied(t, "testdata/sdktypescript", folder)
	packages := filepath.Join(folder, "node_modules")
	sdk := filepath.Join(packages, "sundry-sdk")
	copied(t, "../../sdk/typescript", sdk)
	script(t, sdk, "typescript/bin/tsc", "-p", sdk)
	if err := os.Symlink(filepath.Join(npm, "node_modules", "@types"), filepath.Join(packages, "@types")); err != nil {
		t.Fatal(err)
	}
	script(t, folder, "typescript/bin/tsc", "-p", folder)
	runIn(t, folder, nil, node, "--test", "out/unit.mjs")
	harness.Each(t, func(t *testing.T, app *harness.App) {
		wantLifecycle(t, runIn(t, folder, shop(t, app), node, "out/lifecycle.mjs"))
	})
}
