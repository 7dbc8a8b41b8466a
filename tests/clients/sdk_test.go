package clients_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
		"PRICE_ID=" + price.ID, "CALL=" + call.ID, "GOFLAGS=-mod=mod",
	}
}

// lifecycle is what a program prints of its lifecycle.
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
