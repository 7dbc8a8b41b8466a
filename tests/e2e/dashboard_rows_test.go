package e2e_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"sundry/tests/harness"
)

func TestAPlansTermsAreEnteredInRows(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		v, at := w.Visit(t), "/dashboard/listings/"+w.listing.ID+"/plans"
		plans := func() string {
			all := w.AsCreator(t, http.MethodGet, "/v1/listings/"+w.listing.ID+"/plans", nil).Want(t, 200).Map(t)
			return asJSON(t, all["data"])
		}
		before := plans()
		v.Open(t, at)
		form := []string{"planKey", "team", "name", "Team", "prices0.amountInCents", "40.00",
			"prices0.currency", "eur", "prices0.interval", "month:1", "entitlements0.key", "exports",
			"entitlements2.key", "beta", "entitlements2.value", "no",
			"entitlements3.key", "projects", "entitlements3.value", "10", "entitlements3.perSeat", "yes",
			"entitlements5.key", "support", "entitlements5.value", "priority",
			"credits1.key", "renders", "credits1.unit", "render", "credits1.renews", "yes"}
		page := v.Send(t, at, append(form, "entitlements8.value", "7", "entitlements9.key", "x",
			"entitlements9.perSeat", "yes", "credits1.amount", "many", "credits2.key", "tokens")...)
		for _, id := range []string{"entitlements8-key", "entitlements9-perSeat", "credits1-amount", "credits2-unit",
			"credits2-amount"} {
			if !marked(page)["plan-"+id] {
				t.Errorf("%s is not marked: %v", id, marked(page))
			}
		}
		if got := marked(page); len(got) != 5 || page.Status != 400 {
			t.Errorf("%d with %v marked", page.Status, got)
		}
		for _, kept := range []string{
			`name="entitlements8.value" value="7"`, `name="entitlements5.value" value="priority"`,
			`name="entitlements10.key" value=""`, `name="credits1.amount" value="many"`,
			`name="entitlements3.perSeat" value="yes" checked`,
		} {
			if !strings.Contains(page.Body, kept) {
				t.Errorf("the refused form lacks %s: %s", kept, page.Body)
			}
		}
		if after := plans(); after != before {
			t.Errorf("a refused plan was saved: %s", after)
		}
		v.Send(t, at, append(form, "credits1.amount", "100")...)
		saved := plans()
		for _, term := range []string{
			`{"key":"exports","type":"boolean","value":true}`, `{"key":"beta","type":"boolean","value":false}`,
			`{"key":"projects","perSeat":true,"type":"limit","value":10}`,
			`{"key":"support","type":"text","value":"priority"}`,
			`{"amount":100,"key":"renders","renews":true,"unit":"render"}`,
		} {
			if !strings.Contains(saved, term) {
				t.Errorf("the plans lack %s: %s", term, saved)
			}
		}
		v.Open(t, at+"/team")
		if v.Send(t, at+"/team", v.Page.Fields(at+"/team")...); plans() != saved {
			t.Errorf("saving what the form shows changed the plans to %s from %s", plans(), saved)
		}
		fields := v.Open(t, at+"/team").Fields(at + "/team")
		for i := 0; i < len(fields); i += 2 {
			if strings.HasPrefix(fields[i], "entitlements1.") {
				fields[i+1] = ""
			}
		}
		v.Send(t, at+"/team", fields...)
		if after := plans(); strings.Contains(after, "beta") || !strings.Contains(after, `"support"`) {
			t.Errorf("after a row was emptied the plans are %s", after)
		}
	})
}

func TestAPlanIncludesUseByRows(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		l := w.NewListing(t, JSON{"type": "SERVICE", "title": "Prepaid use", "priceInCents": 10000})
		v, at := w.Visit(t), "/dashboard/listings/"+l.ID+"/plans"
		plans := func() string {
			return asJSON(t, w.AsCreator(t, http.MethodGet, "/v1/listings/"+l.ID+"/plans", nil).Want(t, 200).Map(t)["data"])
		}
		if page := v.Open(t, at); !strings.Contains(page.Body, `type="text" name="meters0.eventName"`) {
			t.Error("without meters a plan's form does not ask for an event name")
		}
		w.AsBackend(t, post, "/v1/usage/meters", JSON{"name": "Calls", "eventName": "api.calls", "aggregation": "SUM"}).
			Want(t, 201)
		if page := v.Open(t, at); !strings.Contains(page.Body, `<option value="api.calls">Calls</option>`) {
			t.Error("a plan's form does not offer the meter")
		}
		form := []string{"planKey", "prepaid", "name", "Prepaid", "prices0.amountInCents", "100.00",
			"prices0.currency", "eur", "prices0.interval", ":1",
			"meters2.eventName", "api.calls", "usageCredits0.currency", "eur", "usageCredits1.amountInCents", "100.00",
			"usageCredits1.currency", "eur", "usageCredits1.meter", "api.calls"}
		page := v.Send(t, at, append(form, "usageCredits1.expiresInDays", "soon")...)
		if got := marked(page); len(got) != 2 || !got["plan-meters2-included"] || !got["plan-usageCredits1-expiresInDays"] {
			t.Errorf("%d with %v marked", page.Status, got)
		}
		if !strings.Contains(page.Body, `value="soon"`) || !strings.Contains(page.Body, `value="api.calls" selected`) {
			t.Errorf("the refused form lost what was entered: %s", page.Body)
		}
		if strings.Contains(plans(), "Prepaid") {
			t.Error("a refused plan was saved")
		}
		v.Send(t, at, append(form, "usageCredits1.expiresInDays", "90", "meters2.included", "1000")...)
		saved := plans()
		for _, term := range []string{
			`{"eventName":"api.calls","included":1000}`,
			`{"amountInCents":10000,"currency":"eur","expiresInDays":90,"meter":"api.calls"}`,
		} {
			if !strings.Contains(saved, term) {
				t.Errorf("the plans lack %s: %s", term, saved)
			}
		}
		v.Open(t, at+"/prepaid")
		if v.Send(t, at+"/prepaid", v.Page.Fields(at+"/prepaid")...); plans() != saved {
			t.Errorf("saving what the form shows changed the plans to %s from %s", plans(), saved)
		}
	})
}

func TestAPlanOfTheAPIStaysAsItIs(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		plans := func() string {
			all := w.AsCreator(t, http.MethodGet, "/v1/listings/"+w.listing.ID+"/plans", nil).Want(t, 200).Map(t)
			return asJSON(t, all["data"])
		}
		text := func(key, value string) JSON { return JSON{"key": key, "type": "text", "value": value} }
		w.AsCreator(t, http.MethodPut, "/v1/listings/"+w.listing.ID+"/plans/odd", JSON{
			"name": "Odd", "prices": []JSON{
				{"interval": "week", "intervalCount": 2, "currency": "eur", "amountInCents": 900},
				{"interval": nil, "currency": "usd", "amountInCents": 9900},
			},
			"entitlements": []JSON{
				text("empty", ""), text("number", "10"), text("answer", "no"), text("quoted", `"a"`),
			},
		}).Want(t, 200)
		saved, v, at := plans(), w.Visit(t), "/dashboard/listings/"+w.listing.ID
		v.Open(t, at+"/plans/odd")
		if page := v.Send(t, at+"/plans/odd", v.Page.Fields(at+"/plans/odd")...); page.Path != at || plans() != saved {
			t.Errorf("saving what the form shows leads to %s and made the plans %s from %s", page.Path, plans(), saved)
		}
	})
}

func TestPricesOfANewPlanAreBilledAsItsListing(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		club := a.NewListing(t, JSON{
			"type": "SUBSCRIPTION", "title": "Club", "metadata": JSON{"interval": "month", "intervalCount": 3},
		})
		page := a.Visit(t).Open(t, "/dashboard/listings/"+club.ID+"/plans").Body
		if rows := strings.Count(page, `name="prices`) / 3; rows < 2 ||
			strings.Count(page, `<option value="month:3" selected>`) != rows {
			t.Errorf("not every price is billed every 3 months:\n%s", page)
		}
	})
}

func TestFaultsShowBehindAnEmptyRow(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		l := w.NewListing(t, JSON{"type": "APPOINTMENT", "title": "Review", "priceInCents": 9000, "metadata": JSON{
			"deliveryMethod": "virtual", "questions": []JSON{
				{"key": "goal", "label": "Your goal", "type": "text", "required": true},
				{"key": "story", "label": "Your story", "type": "text", "required": false},
			},
		}})
		v := w.Visit(t)
		for at, c := range map[string]struct {
			fields []string
			want   string
		}{
			"/listings/" + w.listing.ID + "/plans": {
				[]string{"planKey", "team", "name", "Team",
					"prices0.amountInCents", "40.00", "prices0.currency", "eur", "prices0.interval", "month:1",
					"prices1.currency", "eur", "prices1.interval", ":1",
					"prices2.amountInCents", "50.00", "prices2.currency", "eur", "prices2.interval", "month:1"},
				"plan-prices2-amountInCents",
			},
			"/listings/" + l.ID + "/edit": {
				[]string{"title", "Review", "price", "90.00", "currency", "eur", "metadata.deliveryMethod", "virtual",
					"metadata.questions0.key", "goal", "metadata.questions0.label", "Your goal",
					"metadata.questions0.type", "text",
					"metadata.questions1.key", "story", "metadata.questions1.type", "text",
					"metadata.questions2.label", "Your level", "metadata.questions2.type", "select"},
				"listing-metadata-questions2-options",
			},
		} {
			v.Open(t, "/dashboard"+at)
			page := v.Send(t, "/dashboard"+at, c.fields...)
			if got := marked(page); page.Status != 400 || len(got) != 1 || !got[c.want] {
				t.Errorf("%s: %d with %v marked, want %s", at, page.Status, got, c.want)
			}
		}
	})
}

// saveQuestions sends rows of questions with the form of an appointment that has none. It returns the page that
// follows and what buyers are asked then.
func (w *fixture) saveQuestions(t *testing.T, rows ...string) (page *harness.Page, asked []any) {
	t.Helper()
	l := w.NewListing(t, JSON{"type": "APPOINTMENT", "title": "Review", "priceInCents": 9000,
		"metadata": JSON{"deliveryMethod": "virtual"}})
	v, at := w.Visit(t), "/dashboard/listings/"+l.ID+"/edit"
	v.Open(t, at)
	page = v.Send(t, at, append([]string{
		"title", "Review", "price", "90.00", "currency", "eur", "metadata.deliveryMethod", "virtual"}, rows...)...)
	metadata := w.AsCreator(t, http.MethodGet, "/v1/listings/mine/"+l.ID, nil).Want(t, 200).Map(t)["metadata"].(JSON)
	asked, _ = metadata["questions"].([]any)
	return page, asked
}

func TestOptionsWithoutAQuestionAreRefusedAndKept(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		page, asked := newFixture(t, app).saveQuestions(t,
			"metadata.questions1.type", "select", "metadata.questions1.options", "Beginner\nA year or more")
		if got := marked(page); page.Status != 400 || len(got) != 1 || !got["listing-metadata-questions1-label"] {
			t.Errorf("%d with %v marked, want the question", page.Status, got)
		}
		if !strings.Contains(page.Body, ">Beginner\nA year or more</textarea>") {
			t.Errorf("the options are gone:\n%s", page.Body)
		}
		if asked != nil {
			t.Errorf("it asks %v", asked)
		}
	})
}

func TestAQuestionInAnyScriptGetsAKey(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		_, asked := newFixture(t, app).saveQuestions(t,
			"metadata.questions0.type", "text", "metadata.questions0.label", "目標は?",
			"metadata.questions1.type", "text", "metadata.questions1.label", "予算は?",
			"metadata.questions2.type", "checkbox", "metadata.questions2.label", "OK?")
		var keys []string
		for _, q := range asked {
			keys = append(keys, q.(JSON)["key"].(string))
		}
		if want := []string{"question", "question-2", "ok"}; !slices.Equal(keys, want) {
			t.Errorf("the keys are %q, want %q", keys, want)
		}
	})
}
