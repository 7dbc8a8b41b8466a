package e2e_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sundry/tests/harness"
)

const (
	get, post, put, patch, remove = http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete
	unknownListing                = "lst_01jqz5y2c4e6g8h0k2m4p6r8s0"
)

// without is a response's object but for members that another response may have different.
func without(object map[string]any, members ...string) map[string]any {
	for _, m := range members {
		delete(object, m)
	}
	return object
}

func TestAListingIsMadePublishedChangedAndArchived(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a, slug := app.NewAccount(t), harness.Unique("notes")
		made := a.AsCreator(t, post, "/v1/listings", harness.JSON{
			"type": "DIGITAL", "slug": slug, "title": "Field notes", "description": "On moss.", "priceInCents": 1200,
			"currency": "eur",
			"metadata": harness.JSON{"downloadUrl": "https://files.example/notes.pdf", "pageCount": 12},
		}).Want(t, 201).Map(t)
		id, _ := made["id"].(string)
		if made["status"] != "DRAFT" || made["catalogKey"] != slug || made["creatorId"] != a.ID || made["livemode"] != false {
			t.Errorf("made %v", made)
		}
		app.Ask(t, harness.Request{Method: get, Path: "/v1/listings/" + slug}).Refuses(t, 404, "NOT_FOUND")
		if own := a.AsCreator(t, get, "/v1/listings/mine/"+id, nil).Want(t, 200).Map(t); !reflect.DeepEqual(own, made) {
			t.Errorf("own %v, want %v", own, made)
		}
		published := a.AsCreator(t, post, "/v1/listings/"+id+"/publish", nil).Want(t, 200).Map(t)
		a.AsCreator(t, post, "/v1/listings/"+id+"/publish", nil).Refuses(t, 409, "STATE_CONFLICT")
		if published["status"] != "ACTIVE" || !reflect.DeepEqual(published["metadata"], made["metadata"]) {
			t.Errorf("published %v", published)
		}

		public := app.Ask(t, harness.Request{Method: get, Path: "/v1/listings/" + slug}).Want(t, 200)
		if strings.Contains(string(public.Body), "files.example") {
			t.Errorf("everybody can read what the buyer pays for: %s", public.Body)
		}
		if got, want := without(public.Map(t), "metadata"), without(published, "metadata"); !reflect.DeepEqual(got, want) {
			t.Errorf("public %v, want %v", got, want)
		}

		changed := a.AsCreator(t, patch, "/v1/listings/"+id,
			harness.JSON{"priceInCents": 900, "description": nil,
				"metadata": harness.JSON{"pageCount": nil, "fileFormat": "pdf", "previewUrl": nil}}).
			Want(t, 200).Map(t)
		if want := map[string]any{"downloadUrl": "https://files.example/notes.pdf",
			"fileFormat": "pdf"}; !reflect.DeepEqual(changed["metadata"], want) || changed["description"] != "" {
			t.Errorf("changed %v", changed)
		}
		archived := a.AsCreator(t, remove, "/v1/listings/"+id, nil).Want(t, 200)
		again := a.AsCreator(t, remove, "/v1/listings/"+id, nil).Want(t, 200)
		if archived.Map(t)["status"] != "ARCHIVED" || !bytes.Equal(again.Body, archived.Body) {
			t.Errorf("archived %s, then %s", archived.Body, again.Body)
		}
		a.AsCreator(t, patch, "/v1/listings/"+id, harness.JSON{"title": "Other"}).Refuses(t, 409, "STATE_CONFLICT")
		if own := a.AsCreator(t, get, "/v1/listings/mine/"+id, nil).Want(t, 200); !bytes.Equal(own.Body, archived.Body) {
			t.Errorf("own %s, want %s", own.Body, archived.Body)
		}
		app.Ask(t, harness.Request{Method: get, Path: "/v1/listings/" + slug}).Refuses(t, 404, "NOT_FOUND")
	})
}

// A refused body lists every fault and changes nothing.
func TestARefusedListingListsEveryFault(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		l := a.NewListing(t, nil)
		before := a.AsCreator(t, get, "/v1/listings/mine", nil).Want(t, 200)
		big := `{"title":"` + strings.Repeat("x", 1<<20) + `"}`
		for name, c := range map[string]struct {
			method, path string
			body         any
			fields       []string
		}{
			"an empty object": {
				post, "", `{}`, []string{"type", "title", "slug", "currency", "priceInCents"},
			},
			"no body":         {post, "", ``, []string{"body"}},
			"a list":          {post, "", `[]`, []string{"body"}},
			"half a document": {post, "", `{"type":"DIGITAL"`, []string{"body"}},
			"members that are not to be": {
				post, "",
				`{"id":"x","status":"ACTIVE","color":1,"type":"DIGITAL","slug":"abc","title":"T","priceInCents":1,"currency":"eur"}`,
				[]string{"id", "status", "color"},
			},
			"wrong types and bad values": {
				post, "",
				`{"type":"DIGITAL","slug":"A","title":7,"priceInCents":1.5,"currency":"EUR","metadata":{"pageCount":"3","zebra":1}}`,
				[]string{"slug", "title", "priceInCents", "currency", "metadata.pageCount", "metadata.zebra"},
			},
			"a member twice": {
				post, "", `{"type":"DIGITAL","slug":"abc","slug":"abd","title":"T","priceInCents":1,"currency":"eur"}`,
				[]string{"slug"},
			},
			"NUL and the reserved slug": {
				post, "",
				"{\"type\":\"DIGITAL\",\"slug\":\"mine\",\"title\":\"a\\u0000b\",\"priceInCents\":1,\"currency\":\"eur\"}",
				[]string{"slug", "title"},
			},
			"a metadata list": {
				post, "", `{"type":"DIGITAL","slug":"abc","title":"T","priceInCents":1,"currency":"eur","metadata":[]}`,
				[]string{"metadata"},
			},
			"what PATCH cannot touch": {
				patch, "/" + l.ID,
				`{"type":"DIGITAL","status":"ACTIVE","creatorId":"x","createdAt":null,"variants":[]}`,
				[]string{"type", "status", "creatorId", "createdAt", "variants"},
			},
			"null where none may be": {
				patch, "/" + l.ID, `{"title":null,"slug":null,"priceInCents":null,"currency":null}`,
				[]string{"title", "slug", "priceInCents", "currency"},
			},
			"metadata of another type": {
				patch, "/" + l.ID, `{"metadata":{"trialDays":3}}`, []string{"metadata.trialDays"},
			},
		} {
			t.Run(name, func(t *testing.T) {
				a.AsCreator(t, c.method, "/v1/listings"+c.path, c.body).Refuses(
					t, 400, "VALIDATION_FAILED", c.fields...,
				)
			})
		}
		a.AsCreator(t, post, "/v1/listings", big).Refuses(t, 413, "PAYLOAD_TOO_LARGE")
		a.AsCreator(t, post, "/v1/listings", harness.JSON{"type": "SERVICE", "slug": l.Slug, "title": "T", "priceInCents": 1,
			"currency": "eur"}).Refuses(t, 409, "SLUG_TAKEN")
		a.AsCreator(t, post, "/v1/listings", harness.JSON{"type": "SERVICE", "slug": harness.Unique("x"),
			"catalogKey": l.CatalogKey, "title": "T", "priceInCents": 1, "currency": "eur"}).
			Refuses(t, 409, "CATALOG_KEY_TAKEN")
		if after := a.AsCreator(t, get, "/v1/listings/mine", nil).Want(t, 200); !bytes.Equal(after.Body, before.Body) {
			t.Errorf("refusals changed %s to %s", before.Body, after.Body)
		}
	})
}

func TestWhoMayTouchACatalog(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		owner, other := app.NewAccount(t), app.NewAccount(t)
		active := owner.Published(t, harness.JSON{"type": "APPOINTMENT"})
		draft := owner.NewListing(t, harness.JSON{"type": "APPOINTMENT"})
		var link struct{ ID string }
		owner.AsCreator(t, post, "/v1/payment-links", harness.JSON{"listingId": active.ID}).Want(t, 201).Into(t, &link)
		before := owner.AsCreator(t, get, "/v1/listings/mine", nil).Want(t, 200)

		plan := harness.JSON{
			"name": "Pro",
			"prices": []harness.JSON{
				{"interval": "month", "intervalCount": 1, "currency": "eur", "amountInCents": 900},
			},
		}
		variant := harness.JSON{"name": "Long", "durationMinutes": 90}
		of := func(id string) []harness.Request {
			base := "/v1/listings/" + id
			return []harness.Request{
				{Method: patch, Path: base, Body: harness.JSON{"title": "Mine now"}}, {Method: remove, Path: base},
				{Method: post, Path: base + "/publish"},
				{Method: post, Path: base + "/variants", Body: variant},
				{Method: patch, Path: base + "/variants/var_x", Body: variant},
				{Method: remove, Path: base + "/variants/var_x"},
				{Method: put, Path: base + "/plans/pro", Body: plan}, {Method: remove, Path: base + "/plans/pro"},
			}
		}
		private := []harness.Request{
			{Method: get, Path: "/v1/listings/mine/" + active.ID}, {Method: get, Path: "/v1/listings/mine/" + draft.ID},
			{Method: get, Path: "/v1/listings/" + active.ID + "/plans"},
			{Method: get, Path: "/v1/payment-links/" + link.ID},
			{Method: patch, Path: "/v1/payment-links/" + link.ID, Body: harness.JSON{"active": false}},
			{Method: remove, Path: "/v1/payment-links/" + link.ID},
			{Method: post, Path: "/v1/payment-links", Body: harness.JSON{"listingId": active.ID}},
		}
		as := func(r harness.Request, bearer string) *harness.Response {
			r.Bearer = bearer
			return app.Ask(t, r)
		}
		for _, r := range of(active.ID) {
			as(r, other.Token).Refuses(t, 403, "FORBIDDEN")
		}
		for _, r := range slices.Concat(of(draft.ID), of(unknownListing), of("mine"), private) {
			as(r, other.Token).Refuses(t, 404, "NOT_FOUND")
		}
		for _, r := range slices.Concat(of(active.ID), private, []harness.Request{
			{Method: get, Path: "/v1/listings/mine"}, {Method: post, Path: "/v1/listings", Body: harness.JSON{}},
			{Method: get, Path: "/v1/payment-links"},
		}) {
			for _, bearer := range []string{"", owner.Key, owner.Token + "x"} {
				as(r, bearer).Refuses(t, 401, "UNAUTHENTICATED")
			}
		}
		recipe := harness.Request{Method: get, Path: "/v1/catalog/listings/" + active.CatalogKey + "/recipe"}
		as(recipe, other.Key).Refuses(t, 404, "NOT_FOUND")
		as(recipe, owner.Token).Refuses(t, 401, "UNAUTHENTICATED")
		as(recipe, "").Refuses(t, 401, "UNAUTHENTICATED")
		as(recipe, owner.Key).Want(t, 200)
		as(harness.Request{Method: get, Path: "/v1/catalog/listings/" + draft.CatalogKey + "/recipe"}, owner.Key).Refuses(t,
			404, "NOT_FOUND")
		if after := owner.AsCreator(t, get, "/v1/listings/mine", nil).Want(t, 200); !bytes.Equal(after.Body, before.Body) {
			t.Errorf("an untrusted party changed %s to %s", before.Body, after.Body)
		}
		if l := owner.AsCreator(t, get, "/v1/payment-links/"+link.ID, nil).Want(t, 200).Map(t); l["active"] != true {
			t.Errorf("an untrusted party changed the link: %v", l)
		}
	})
}

func TestThePublicListIsFilteredSortedAndPaged(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		var ids []string
		for i, price := range []int{500, 100, 100, 900} {
			over := harness.JSON{
				"priceInCents": price, "title": fmt.Sprintf("Ünique %d%%", i),
				"metadata": harness.JSON{"downloadUrl": "https://files.example/x"},
			}
			if i == 3 {
				over["currency"] = "usd"
			}
			ids = append(ids, a.Published(t, over).ID)
		}
		a.NewListing(t, nil)
		walk := func(query url.Values) []string {
			t.Helper()
			query.Set("creatorId", a.ID)
			query.Set("limit", "1")
			var seen []string
			for len(seen) < 10 {
				var page struct {
					Data       []struct{ ID string }
					HasMore    bool
					NextCursor *string
				}
				response := app.Ask(t, harness.Request{Method: get, Path: "/v1/listings", Query: query}).Want(t, 200)
				response.Into(t, &page)
				if strings.Contains(string(response.Body), "files.example") {
					t.Errorf("the list shows what the buyer pays for: %s", response.Body)
				}
				for _, l := range page.Data {
					seen = append(seen, l.ID)
				}
				if page.HasMore != (page.NextCursor != nil) {
					t.Errorf("hasMore %v with cursor %v", page.HasMore, page.NextCursor)
				}
				if page.NextCursor == nil {
					break
				}
				query.Set("cursor", *page.NextCursor)
			}
			return seen
		}
		for name, c := range map[string]struct {
			query url.Values
			want  []string
		}{
			"newest first": {url.Values{}, []string{ids[3], ids[2], ids[1], ids[0]}},
			"cheapest":     {url.Values{"sort": {"price_asc"}}, []string{ids[1], ids[2], ids[0], ids[3]}},
			"dearest":      {url.Values{"sort": {"price_desc"}}, []string{ids[3], ids[0], ids[2], ids[1]}},
			"by words":     {url.Values{"q": {"üNIQUE 2%"}}, []string{ids[2]}},
			"by currency":  {url.Values{"currency": {"usd"}}, []string{ids[3]}},
			"between": {
				url.Values{"minPriceInCents": {"100"}, "maxPriceInCents": {"500"}, "type": {"DIGITAL"}},
				[]string{ids[2], ids[1], ids[0]},
			},
			"nothing found": {url.Values{"type": {"SERVICE"}}, nil},
		} {
			if got := walk(c.query); !slices.Equal(got, c.want) {
				t.Errorf("%s: got %q, want %q", name, got, c.want)
			}
		}
		for first, others := range map[string][]string{
			"newest": {"price_asc", "price_desc"}, "price_asc": {"newest", "price_desc"}, "price_desc": {"price_asc"},
		} {
			query := url.Values{"creatorId": {a.ID}, "limit": {"1"}, "sort": {first}}
			next := app.Ask(t, harness.Request{Method: get, Path: "/v1/listings", Query: query}).Want(t, 200).Map(t)
			for _, sort := range others {
				query = with(with(query, "sort", sort), "cursor", fmt.Sprint(next["nextCursor"]))
				app.Ask(t, harness.Request{Method: get, Path: "/v1/listings", Query: query}).
					Refuses(t, 400, "VALIDATION_FAILED", "cursor")
			}
		}
		app.Ask(t, harness.Request{Method: get, Path: "/v1/listings", Query: url.Values{
			"type": {"digital"}, "sort": {"cheap"}, "limit": {"101"}, "cursor": {"!"}, "creatorId": {"x"},
			"currency": {"EUR"}, "q": {"\x00"},
			"minPriceInCents": {"-1"}, "maxPriceInCents": {"1e3"},
		}}).Refuses(
			t, 400, "VALIDATION_FAILED", "type", "sort", "limit", "cursor", "creatorId", "currency", "q",
			"minPriceInCents", "maxPriceInCents",
		)
		for _, query := range []url.Values{{"q": {"\xff"}}, {"q": {strings.Repeat("x", 201)}},
			{"minPriceInCents": {"2"}, "maxPriceInCents": {"1"}}} {
			app.Ask(t, harness.Request{Method: get, Path: "/v1/listings", Query: query}).Refuses(t, 400, "VALIDATION_FAILED")
		}
		for _, path := range []string{"/v1/listings/%00", "/v1/listings/%ff%fe", "/v1/listings/..%2f",
			"/v1/listings/" + strings.Repeat("a", 500)} {
			app.Ask(t, harness.Request{Method: get, Path: path}).Refuses(t, 404, "NOT_FOUND")
		}
	})
}

func TestPlansAndTheRecipe(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		l := a.Published(t, harness.JSON{
			"type":     "SUBSCRIPTION",
			"metadata": harness.JSON{"interval": "year", "trialDays": 14, "features": []string{"exports"}},
		})
		recipePath, plans := "/v1/catalog/listings/"+l.CatalogKey+"/recipe", "/v1/listings/"+l.ID+"/plans"
		recipe := func(noneMatch string) *harness.Response {
			t.Helper()
			return app.Ask(t, harness.Request{
				Method: get, Path: recipePath, Bearer: a.Key, Headers: map[string]string{"If-None-Match": noneMatch},
			})
		}
		implied := recipe("").Want(t, 200)
		var first struct {
			Revision int
			Plans    []struct {
				Key       string
				IsDefault bool
				TrialDays int
				Prices    []struct {
					ID, Interval  string
					IntervalCount int
					AmountInCents int
				}
				Entitlements []struct{ Key string }
			}
		}
		implied.Into(t, &first)
		if p := first.Plans; len(p) != 1 || p[0].Key != "default" || !p[0].IsDefault || p[0].TrialDays != 14 ||
			p[0].Prices[0].Interval != "year" ||
			p[0].Prices[0].AmountInCents != 1200 || p[0].Entitlements[0].Key != "exports" {
			t.Errorf("implied %s", implied.Body)
		}
		etag := implied.Header.Get("ETag")
		for _, header := range []string{etag, "*", `"other", W/` + etag, "W/" + etag} {
			if response := recipe(header).Want(t, 304); response.Header.Get("ETag") != etag {
				t.Errorf("304 with ETag %s, want %s", response.Header.Get("ETag"), etag)
			}
		}
		recipe(`"other"`).Want(t, 200)

		body := harness.JSON{
			"name": "Pro", "isDefault": true, "trialDays": 7,
			"prices": []harness.JSON{
				{"interval": "month", "intervalCount": 1, "currency": "eur", "amountInCents": 1900},
				{"interval": nil, "intervalCount": nil, "currency": "eur", "amountInCents": 99900},
			},
			"entitlements": []harness.JSON{
				{"key": "exports", "type": "boolean", "value": true}, {"key": "projects", "type": "limit", "value": 50},
				{"key": "tier", "type": "text", "value": "gold"},
			},
			"credits": []harness.JSON{{"key": "renders", "unit": "render", "amount": 100, "renews": true}},
			"meters":  []harness.JSON{{"eventName": "api.calls", "included": 1000}},
		}
		made := a.AsCreator(t, put, plans+"/pro", body).Want(t, 200)
		changed := recipe(etag).Want(t, 200)
		if again := a.AsCreator(t, put, plans+"/pro", body).Want(t, 200); !bytes.Equal(again.Body, made.Body) {
			t.Errorf("the same plan again is %s, want %s", again.Body, made.Body)
		}
		recipe(changed.Header.Get("ETag")).Want(t, 304)
		if got := changed.Map(t)["plans"].([]any); len(got) != 1 || !reflect.DeepEqual(got[0], any(made.Map(t))) {
			t.Errorf("recipe %s, plan %s", changed.Body, made.Body)
		}

		a.AsCreator(t, put, plans+"/A b", harness.JSON{
			"name": "", "trialDays": 731,
			"prices": []harness.JSON{
				{"interval": "hour", "currency": "xyz", "amountInCents": -1}, {"currency": "eur", "amountInCents": "1"},
			},
			"entitlements": []harness.JSON{{"key": "x", "type": "limit", "value": "1"}}, "extra": 1,
		}).Refuses(
			t, 400, "VALIDATION_FAILED", "planKey", "name", "trialDays", "prices[0].interval", "prices[0].currency",
			"prices[0].amountInCents", "prices[1].amountInCents", "entitlements[0].value", "extra",
		)
		recipe(changed.Header.Get("ETag")).Want(t, 304)

		a.AsCreator(t, remove, plans+"/nope", nil).Refuses(t, 404, "NOT_FOUND")
		a.AsCreator(t, remove, plans+"/pro", nil).Want(t, 200)
		a.AsCreator(t, remove, plans+"/pro", nil).Want(t, 200)
		var left struct{ Data []any }
		a.AsCreator(t, get, plans, nil).Want(t, 200).Into(t, &left)
		if len(left.Data) != 0 {
			t.Errorf("left %v", left.Data)
		}
		if back := recipe("").Want(t, 200).Map(t); !reflect.DeepEqual(back["plans"], implied.Map(t)["plans"]) {
			t.Errorf("without plans the recipe is %v", back)
		}
		a.AsCreator(t, patch, "/v1/listings/"+l.ID, harness.JSON{"metadata": harness.JSON{"interval": nil}}).Want(t, 200)
		var monthly struct {
			Plans []struct {
				Prices []struct{ ID, Interval string }
			}
		}
		recipe("").Want(t, 200).Into(t, &monthly)
		if price := monthly.Plans[0].Prices[0]; price.Interval != "month" || price.ID == first.Plans[0].Prices[0].ID {
			t.Errorf("another interval at %+v, was %+v", price, first.Plans[0].Prices[0])
		}
	})
}

func TestVariantsOfAnAppointmentListing(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		l := a.NewListing(t, harness.JSON{"type": "APPOINTMENT"})
		variants := "/v1/listings/" + l.ID + "/variants"
		pack := a.AsCreator(t, post, variants, harness.JSON{"name": "Pack of five", "durationMinutes": 60, "sessionCount": 5,
			"priceInCents": 40000}).Want(t, 201).Map(t)
		at := variants + "/" + pack["variantId"].(string)
		a.AsCreator(t, patch, at, harness.JSON{"isDefault": true, "priceInCents": nil}).Want(t, 200)
		a.AsCreator(t, patch, at, harness.JSON{"isDefault": false}).Refuses(t, 400, "VALIDATION_FAILED", "isDefault")
		a.AsCreator(t, patch, at, `{"name":"","durationMinutes":4,"sessionCount":"x","priceInCents":-1,"color":1}`).
			Refuses(t, 400, "VALIDATION_FAILED", "name", "durationMinutes", "sessionCount", "priceInCents", "color")
		a.AsCreator(t, remove, at, nil).Refuses(t, 409, "STATE_CONFLICT")
		a.AsCreator(t, patch, variants+"/var_x", harness.JSON{"name": "x"}).Refuses(t, 404, "NOT_FOUND")

		var own struct {
			Variants []struct {
				VariantID string
				IsDefault bool
			}
		}
		a.AsCreator(t, get, "/v1/listings/mine/"+l.ID, nil).Want(t, 200).Into(t, &own)
		if v := own.Variants; len(v) != 2 || v[0].IsDefault || !v[1].IsDefault {
			t.Fatalf("variants %+v", v)
		}
		a.AsCreator(t, remove, variants+"/"+own.Variants[0].VariantID, nil).Want(t, 200)
		digital := a.NewListing(t, nil)
		a.AsCreator(t, post, "/v1/listings/"+digital.ID+"/variants",
			harness.JSON{"name": "x", "durationMinutes": 30}).Refuses(t, 409, "STATE_CONFLICT")
	})
}

func TestPaymentLinksAreMadeChangedAndSwitchedOff(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		l := a.Published(t, nil)
		made := a.AsCreator(t, post, "/v1/payment-links",
			harness.JSON{"listingId": l.ID, "plan": "default", "successUrl": "https://shop.example/?s={CHECKOUT_SESSION_ID}"}).
			Want(t, 201).Map(t)
		if made["url"] != app.URL+"/l/"+made["code"].(string) || made["active"] != true || made["interval"] != nil {
			t.Errorf("made %v", made)
		}
		at := "/v1/payment-links/" + made["id"].(string)
		a.AsCreator(t, post, "/v1/payment-links", harness.JSON{"listingId": l.ID, "plan": "gold"}).Refuses(t, 404,
			"NOT_FOUND")
		a.AsCreator(t, post, "/v1/payment-links", harness.JSON{"listingId": unknownListing}).Refuses(t, 404, "NOT_FOUND")
		a.AsCreator(t, post, "/v1/payment-links", `{"interval":"hour","plan":"","successUrl":"ftp://x","active":"yes","price":1}`).
			Refuses(t, 400, "VALIDATION_FAILED", "listingId", "interval", "plan", "successUrl", "active", "price")
		a.AsCreator(t, patch, at, `{"listingId":null,"active":null}`).Refuses(
			t, 400, "VALIDATION_FAILED", "listingId", "active",
		)
		if same := a.AsCreator(t, get, at, nil).Want(t, 200).Map(t); !reflect.DeepEqual(same, made) {
			t.Errorf("refusals changed %v to %v", made, same)
		}
		if cleared := a.AsCreator(t, patch, at, harness.JSON{"plan": nil, "successUrl": nil}).
			Want(t, 200).Map(t); cleared["plan"] != nil || cleared["successUrl"] != nil {
			t.Errorf("cleared %v", cleared)
		}
		off := a.AsCreator(t, remove, at, nil).Want(t, 200)
		if again := a.AsCreator(t, remove, at, nil).Want(t, 200); off.Map(t)["active"] != false ||
			!bytes.Equal(again.Body, off.Body) {
			t.Errorf("off %s, then %s", off.Body, again.Body)
		}
		a.AsCreator(t, remove, "/v1/listings/"+l.ID, nil).Want(t, 200)
		a.AsCreator(t, patch, at, harness.JSON{"active": true}).Refuses(t, 409, "LISTING_NOT_PURCHASABLE")
	})
}

func TestOnePlanIsAlwaysTheDefault(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		listing := a.NewListing(t, harness.JSON{"slug": harness.Unique("defaults")})
		at := "/v1/listings/" + listing.ID + "/plans"
		put := func(key string, isDefault bool) (answered bool) {
			answered, _ = a.AsCreator(t, http.MethodPut, at+"/"+key, harness.JSON{
				"name": key, "isDefault": isDefault, "trialDays": 0, "entitlements": []harness.JSON{},
				"credits": []harness.JSON{}, "meters": []harness.JSON{}, "prices": []harness.JSON{
					{"interval": nil, "intervalCount": nil, "currency": "eur", "amountInCents": 1000},
				},
			}).Want(t, 200).Map(t)["isDefault"].(bool)
			return answered
		}
		wants := func(when, want string) {
			t.Helper()
			var plans struct {
				Data []struct {
					Key       string
					IsDefault bool
				}
			}
			a.AsCreator(t, get, at, nil).Want(t, 200).Into(t, &plans)
			var are []string
			for _, p := range plans.Data {
				if p.IsDefault {
					are = append(are, p.Key)
				}
			}
			if got := strings.Join(are, " "); got != want {
				t.Errorf("%s: %q is the default, want %q", when, got, want)
			}
		}
		if !put("first", false) {
			t.Error("the first plan answers that it is not the default")
		}
		if put("second", false) {
			t.Error("the second plan answers that it is the default")
		}
		wants("with two that did not ask", "first")
		if !put("third", true) {
			t.Error("a plan that asks to be the default answers that it is not")
		}
		wants("with one that asked", "third")
		if put("third", false) {
			t.Error("a plan that gave it up answers that it is the default")
		}
		wants("after it gave it up", "first")
		a.AsCreator(t, http.MethodDelete, at+"/first", nil).Want(t, 200)
		wants("after the default was retired", "second")
	})
}
