package e2e_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"sundry/tests/harness"
)

// catalogFile reads the catalog as a file.
func catalogFile(t *testing.T, a *harness.Account) harness.JSON {
	t.Helper()
	return a.AsBackend(t, http.MethodGet, "/v1/catalog", nil).Want(t, 200).Map(t)
}

// putCatalog imports a file and returns what changed. It previews it first, which must say and change the same.
func putCatalog(t *testing.T, a *harness.Account, file harness.JSON) []string {
	t.Helper()
	var preview, made struct {
		DryRun  bool
		Changes []string
	}
	before := catalogFile(t, a)
	a.AsBackend(t, http.MethodPut, "/v1/catalog?dryRun=true", file).Want(t, 200).Into(t, &preview)
	if after := catalogFile(t, a); !preview.DryRun || asJSON(t, after) != asJSON(t, before) {
		t.Errorf("a dry run wrote %s, before %s", asJSON(t, after), asJSON(t, before))
	}
	a.AsBackend(t, http.MethodPut, "/v1/catalog", file).Want(t, 200).Into(t, &made)
	if made.DryRun || !slices.Equal(made.Changes, preview.Changes) {
		t.Errorf("the import changed %q, its dry run said %q", made.Changes, preview.Changes)
	}
	return made.Changes
}

func asJSON(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// everythingForSale gives an account something of every part of the file.
func everythingForSale(t *testing.T, a *harness.Account) {
	t.Helper()
	listing := plans(t, a, 14)
	a.AsCreator(t, http.MethodPost, "/v1/discounts", harness.JSON{
		"code": "SPRING", "percentOff": 20, "listingIds": []string{listing.ID}, "maxRedemptions": 100,
	}).Want(t, 201)
	var product struct{ ID string }
	a.AsBackend(t, http.MethodPost, "/v1/usage/meters", harness.JSON{
		"name": "API calls", "eventName": "api.calls", "aggregation": "SUM",
	}).Want(t, 201)
	a.AsBackend(t, http.MethodPost, "/v1/usage/products", harness.JSON{"name": "API access", "type": "SERVICE"}).
		Want(t, 201).Into(t, &product)
	for range 2 { // twice the same is one in the file
		a.AsBackend(t, http.MethodPost, "/v1/usage/prices", harness.JSON{
			"productId": product.ID, "billingScheme": "usage_based", "currency": "eur", "tiersMode": "graduated",
			"recurring": harness.JSON{"interval": "month"},
			"tiers":     []harness.JSON{{"upTo": 1000, "unitAmountInCents": 10}, {"upTo": nil, "unitAmountDecimal": "0.350"}},
		}).Want(t, 201)
	}
	a.AsCreator(t, http.MethodPut, "/v1/scheduling/availability", availabilityBody()).Want(t, 200)
	a.AsCreator(t, http.MethodPut, "/v1/scheduling/meeting-settings", harness.JSON{
		"virtual": harness.JSON{"provider": "jitsi", "url": "https://jitsi.example.com/team"},
	}).Want(t, 200)
	a.AsBackend(t, http.MethodPost, "/v1/webhook-endpoints", harness.JSON{
		"url": "https://hooks.example.com/in", "events": []string{"customer.access_changed", "invoice.*"}, "maxPerSecond": 5,
	}).Want(t, 201)
	a.AsCreator(t, http.MethodPatch, "/v1/creator", harness.JSON{
		"displayName": "Ada & Sons", "accentColor": "#4f46e5", "refundPolicy": "14 days.",
	}).Want(t, 200)
}

func TestTheCatalogMovesAsAFile(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		from, to := app.NewAccount(t), app.NewAccount(t)
		everythingForSale(t, from)
		file := catalogFile(t, from)
		text := asJSON(t, file)
		for _, part := range []string{"discounts", "usage", "availability", "endpoints", "branding"} {
			if file[part] == nil {
				t.Errorf("the file has no %s: %s", part, text)
			}
		}
		for _, unwanted := range []string{"whsec_", "lst_", "dsc_", "mtr_", "prd_", "pri_", "we_"} {
			if strings.Contains(text, `"`+unwanted) {
				t.Errorf("the file has a %s: %s", unwanted, text)
			}
		}
		if changes := putCatalog(t, from, file); len(changes) != 0 {
			t.Errorf("the import of what an account has changed %q", changes)
		}

		listing := file["listings"].([]any)[0].(harness.JSON)
		listing["key"], listing["slug"] = "moved", harness.Unique("moved")
		file["discounts"].([]any)[0].(harness.JSON)["listings"] = []string{"moved"}
		changes := putCatalog(t, to, file)
		for _, want := range []string{
			"+ listing moved: Studio", "+ discount SPRING: once", "+ meter api.calls: API calls",
			"+ product API access (SERVICE): 1 prices",
			"+ endpoint https://hooks.example.com/in: customer.access_changed, invoice.*",
			`~ branding.displayName: "Ada's Workshop" → "Ada \u0026 Sons"`,
		} {
			if !slices.Contains(changes, want) {
				t.Errorf("the changes %q lack %q", changes, want)
			}
		}
		if got := asJSON(t, catalogFile(t, to)); got != asJSON(t, file) {
			t.Errorf("imported as\n%s\nwant\n%s", got, asJSON(t, file))
		}
		if again := putCatalog(t, to, file); len(again) != 0 {
			t.Errorf("the second import changed %q", again)
		}
		var endpoints struct{ Data []struct{ ID string } }
		to.AsBackend(t, http.MethodGet, "/v1/webhook-endpoints", nil).Want(t, 200).Into(t, &endpoints)
		if len(endpoints.Data) != 1 {
			t.Fatalf("there are %d endpoints, want 1", len(endpoints.Data))
		}
		to.AsBackend(t, http.MethodGet, "/v1/webhook-endpoints/"+endpoints.Data[0].ID+"/secret", nil).Want(t, 200)
	})
}

func TestAPartOfTheFileMayBeLeftOut(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		everythingForSale(t, a)
		if changes := putCatalog(t, a, harness.JSON{"version": 1, "listings": []any{}}); len(changes) != 0 {
			t.Errorf("an empty file changed %q", changes)
		}
		changes := putCatalog(t, a, harness.JSON{"version": 1, "listings": []any{}, "endpoints": []harness.JSON{
			{"url": "https://hooks.example.com/in", "events": []string{"*"}, "enabled": false, "maxPerSecond": nil},
		}})
		want := []string{
			`~ endpoint https://hooks.example.com/in.enabled: true → false`,
			`~ endpoint https://hooks.example.com/in.events: ["customer.access_changed","invoice.*"] → ["*"]`,
			`- endpoint https://hooks.example.com/in.maxPerSecond: 5`,
		}
		if !slices.Equal(changes, want) {
			t.Errorf("changed %q, want %q", changes, want)
		}
	})
}

func TestAWrongFileChangesNothing(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		everythingForSale(t, a)
		before := asJSON(t, catalogFile(t, a))
		meter := func(aggregation string) harness.JSON {
			return harness.JSON{"name": "API calls", "eventName": "api.calls", "aggregation": aggregation}
		}
		price := harness.JSON{
			"billingScheme": "usage_based", "currency": "eur", "recurring": harness.JSON{"interval": "month"},
			"tiers": []harness.JSON{{"upTo": 5, "unitAmountDecimal": "1"}},
		}
		for name, c := range map[string]struct {
			part   string
			value  any
			fields []string
		}{
			"another version":         {"version", 2, []string{"version"}},
			"a member of nothing":     {"lisings", []any{}, []string{"lisings"}},
			"a discount that changed": {"discounts", []harness.JSON{{"code": "spring", "percentOff": 99}}, []string{"discounts.spring"}},
			"a meter that changed":    {"usage", harness.JSON{"meters": []harness.JSON{meter("MAX")}}, []string{"usage.meters[0]"}},
			"a meter that is none":    {"usage", harness.JSON{"meters": []harness.JSON{{"name": "x", "eventName": "é", "aggregation": "SUM"}}}, []string{"usage.meters[0].eventName"}},
			"a price without a last tier": {
				"usage",
				harness.JSON{"products": []harness.JSON{{"name": "P", "type": "SERVICE", "prices": []harness.JSON{price}}}},
				[]string{"usage.products[0].prices[0].tiers[0].upTo"},
			},
			"hours that end before": {
				"availability",
				harness.JSON{
					"hours":    harness.JSON{"timezone": "UTC", "weekly": []harness.JSON{{"weekday": "someday", "start": "09:00", "end": "10:00"}}},
					"meetings": harness.JSON{},
				},
				[]string{"availability.hours.weekly[0].weekday"},
			},
			"an endpoint nowhere": {
				"endpoints",
				[]harness.JSON{{"url": "http://hooks.example.com/in", "events": []string{"*"}, "enabled": true}, {"url": "http://hooks.example.com/in", "events": []string{"*"}, "enabled": true}},
				[]string{"endpoints[0].url", "endpoints[1].url"},
			},
			"a name of nothing": {"branding", harness.JSON{"displayName": ""}, []string{"branding.displayName"}},
		} {
			t.Run(name, func(t *testing.T) {
				body := harness.JSON{"version": 1, "listings": []any{}}
				maps.Copy(body, harness.JSON{c.part: c.value})
				for _, query := range []string{"", "?dryRun=true"} {
					a.AsBackend(t, http.MethodPut, "/v1/catalog"+query, body).Refuses(t, 400, "VALIDATION_FAILED", c.fields...)
				}
			})
		}
		a.AsBackend(t, http.MethodPut, "/v1/catalog?dryRun=maybe", harness.JSON{"version": 1, "listings": []any{}}).
			Refuses(t, 400, "VALIDATION_FAILED", "dryRun")
		if after := asJSON(t, catalogFile(t, a)); after != before {
			t.Errorf("refused files left\n%s\nwant\n%s", after, before)
		}
	})
}

func TestACreatorReadsTheCatalogFileToo(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		byToken := a.AsCreator(t, http.MethodGet, "/v1/catalog", nil).Want(t, 200)
		if byKey := a.AsBackend(t, http.MethodGet, "/v1/catalog", nil).Want(t, 200); string(byKey.Body) != string(byToken.Body) {
			t.Errorf("by key %s, by token %s", byKey.Body, byToken.Body)
		}
	})
}

func TestAListingOfTheFileHasItsPriceAndStatus(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		everythingForSale(t, a)
		for member, change := range map[string]func(harness.JSON){
			"priceInCents": func(l harness.JSON) { delete(l, "priceInCents") }, // sold for nothing, if it were taken
			"status":       func(l harness.JSON) { l["status"] = "active" },
		} {
			file := catalogFile(t, a)
			listing := file["listings"].([]any)[0].(harness.JSON)
			change(listing)
			refused := a.AsBackend(t, http.MethodPut, "/v1/catalog", file).Want(t, 400).Map(t)
			details, _ := refused["details"].([]any)
			want := listing["key"].(string) + "." + member
			if len(details) != 1 || details[0].(harness.JSON)["field"] != want {
				t.Errorf("without a right %s: %s, want a fault of %s", member, asJSON(t, refused), want)
			}
		}
	})
}

func TestALinkOfTheFileIsActiveUnlessItSaysOtherwise(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		everythingForSale(t, a)
		file := catalogFile(t, a)
		listing := file["listings"].([]any)[0].(harness.JSON)
		for _, step := range []struct {
			link harness.JSON
			want bool
		}{
			{harness.JSON{"plan": "basic"}, true}, {harness.JSON{"plan": "basic", "active": false}, false},
			{harness.JSON{"plan": "basic"}, false},
		} {
			listing["paymentLinks"] = []harness.JSON{step.link}
			putCatalog(t, a, file)
			links := a.AsCreator(t, http.MethodGet, "/v1/payment-links", nil).Want(t, 200).Map(t)["data"].([]any)
			if len(links) != 1 || links[0].(harness.JSON)["active"] != step.want {
				t.Errorf("%s made %s, want one with active %v", asJSON(t, step.link), asJSON(t, links), step.want)
			}
		}
	})
}
