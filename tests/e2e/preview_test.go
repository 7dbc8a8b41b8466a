package e2e_test

import (
	"html"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"sundry/tests/harness"
	"sundry/tests/testdb"
)

var previewFrame = regexp.MustCompile(`<iframe title="Checkout preview"[^>]* src="([^"]+)"`)

// previewOf is the address of the preview on a listing's page.
func previewOf(t *testing.T, page *harness.Page) string {
	t.Helper()
	found := previewFrame.FindStringSubmatch(page.Body)
	if found == nil {
		t.Fatalf("no preview on %d %s: %s", page.Status, page.Path, page.Body)
	}
	return html.UnescapeString(found[1])
}

func TestADraftIsPreviewedAndNothingIsWritten(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		app := harness.New(t, engine, nil) // its own, so that nobody else writes
		a := app.NewAccount(t)
		draft := a.NewListing(t, JSON{"title": "Unpublished zine", "priceInCents": 1250})
		sold := a.Published(t, JSON{"title": "Published zine"})
		v := a.Visit(t)
		address := previewOf(t, v.Open(t, "/dashboard/listings/"+draft.ID))
		published := previewOf(t, v.Open(t, "/dashboard/listings/"+sold.ID+"/edit"))

		before := app.Tables(t)
		stranger := app.NewVisitor(t)
		page := stranger.Open(t, address)
		if page.Status != http.StatusOK || !strings.Contains(page.Body, "Unpublished zine") ||
			!strings.Contains(page.Body, "Pay €12.50") || !strings.Contains(page.Body, "Nothing can be bought here.") {
			t.Errorf("the preview of a draft is %d: %s", page.Status, page.Body)
		}
		policy := page.Header.Get("Content-Security-Policy")
		for _, want := range []string{"script-src 'none'", "form-action 'none'", "frame-ancestors 'self'"} {
			if !strings.Contains(policy, want) {
				t.Errorf("the preview's policy lacks %s: %s", want, policy)
			}
		}
		if page := stranger.Open(t, published); !strings.Contains(page.Body, "Published zine") {
			t.Errorf("the preview of a published listing is %d: %s", page.Status, page.Body)
		}
		one, other := strings.Split(address, "/"), strings.Split(published, "/")
		for name, path := range map[string]string{
			"another listing's with this proof": "/preview/" + other[2][:26] + one[2][26:] + "/" + one[3],
			"a later end":                       "/preview/" + one[2] + "/9" + one[3],
			"no end":                            "/preview/" + one[2] + "/x",
			"no proof":                          "/preview/x/" + one[3],
		} {
			if page := stranger.Open(t, path); page.Status != http.StatusNotFound || strings.Contains(page.Body, "zine") {
				t.Errorf("%s opens %d: %s", name, page.Status, page.Body)
			}
		}
		after := app.Tables(t)
		maps.DeleteFunc(after, func(name, _ string) bool { return before[name] == "" }) // partitions of the next months
		if diff := changed(before, after); len(diff) > 0 {
			t.Errorf("previews wrote %s", strings.Join(diff, "; "))
		}
		a.AsCreator(t, "DELETE", "/v1/listings/"+draft.ID, nil).Want(t, http.StatusOK)
		if page := stranger.Open(t, address); page.Status != http.StatusNotFound {
			t.Errorf("the preview of a deleted draft is %d: %s", page.Status, page.Body)
		}
		if page := v.Open(t, "/dashboard/listings/"+draft.ID); previewFrame.MatchString(page.Body) {
			t.Error("an archived listing is previewed")
		}
	})
}

func TestAFormIsPreviewedBeforeItIsSaved(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		l := a.NewListing(t, JSON{"title": "Saved title"})
		v := a.Visit(t)
		token := v.Open(t, "/dashboard/listings/"+l.ID+"/edit")
		at := "/dashboard/listings/" + l.ID + "/preview"
		if !strings.Contains(token.Body, `formaction="`+at+`" formtarget="_blank"`) {
			t.Errorf("the form has no button for its preview: %s", token.Body)
		}
		sign := v.Token(t)
		page := v.Post(t, at, "token", sign, "title", "Typed title", "price", "7.00", "currency", "usd")
		if page.Status != http.StatusOK || !strings.Contains(page.Body, "Typed title") ||
			!strings.Contains(page.Body, "Pay $7.00") {
			t.Errorf("what is typed is previewed as %d: %s", page.Status, page.Body)
		}
		page = v.Post(t, at, "token", sign, "title", "", "price", "cheap", "currency", "eur")
		if page.Status != http.StatusBadRequest || !marked(page)["listing-title"] || !marked(page)["listing-price"] {
			t.Errorf("what can't be previewed is %d: %s", page.Status, page.Body)
		}
		got := a.AsCreator(t, get, "/v1/listings/mine/"+l.ID, nil).Want(t, 200).Map(t)["title"]
		if got != "Saved title" {
			t.Errorf("a preview saved %v", got)
		}
		for kind, want := range map[string]string{
			"DIGITAL": "Get for free", "SUBSCRIPTION": "Subscribe to Title", "APPOINTMENT": "90 minutes · Online",
		} {
			if page := v.Open(t, "/dashboard/listings/new?type="+kind); !strings.Contains(page.Body, "<iframe ") {
				t.Errorf("%s: the form of a new listing has no frame for its preview", kind)
			}
			page := v.Post(t, "/dashboard/listings/new/preview", "token", sign, "type", kind, "currency", "eur",
				"metadata.interval", "month", "durationMinutes", "90", "metadata.deliveryMethod", "virtual")
			if page.Status != http.StatusOK || !strings.Contains(page.Body, want) {
				t.Errorf("an empty form of %s is previewed as %d, without %q: %s", kind, page.Status, want, page.Body)
			}
		}
		if n := app.Count(t, "SELECT COUNT(*) FROM listings WHERE creator_id = '"+a.ID+"'"); n != 1 {
			t.Errorf("previews made %d listings", n-1)
		}
		stranger := app.NewAccount(t).Visit(t)
		stranger.Open(t, "/dashboard")
		if page := stranger.Post(t, at, "token", stranger.Token(t), "title", "Theirs"); page.Status != http.StatusNotFound {
			t.Errorf("another account's listing is previewed: %d", page.Status)
		}
	})
}
