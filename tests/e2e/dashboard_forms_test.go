package e2e_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"sundry/tests/harness"
)

var fieldError = regexp.MustCompile(`id="([a-zA-Z0-9-]+)-error"`)

// marked are the ids of the fields that a page shows as wrong.
func marked(page *harness.Page) map[string]bool {
	ids := map[string]bool{}
	for _, m := range fieldError.FindAllStringSubmatch(page.Body, -1) {
		ids[m[1]] = true
	}
	return ids
}

func TestFormsShowAllErrorsAtOnce(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		appointment := w.appointment(t)
		book := w.book(t, 2900)
		customer := text(t, w.AsBackend(t, post, "/v1/customers", JSON{
			"email": "grace@buyer.example", "displayName": "Grace",
		}).Want(t, 201).Map(t)["id"])
		v := w.Visit(t)
		for name, c := range map[string]struct {
			open, send string
			fields     []string
			heading    string
			want       []string
		}{
			"a new download": {
				"/listings/new?type=DIGITAL", "/listings/new",
				[]string{"type", "DIGITAL", "price", "cheap", "currency", "eur", "metadata.pageCount", "many",
					"metadata.previewUrl", "nowhere", "slug", "Not A Slug", "gives", "link"},
				"New download",
				[]string{"title", "price", "slug", "metadata-pageCount", "metadata-previewUrl", "metadata-downloadUrl"},
			},
			"a listing": {
				"/listings/" + book.ID + "/edit", "/listings/" + book.ID + "/edit",
				[]string{"title", "", "price", "cheap", "currency", "eur", "metadata.previewUrl", "nowhere", "slug", "Not A Slug"},
				"Edit ", []string{"title", "price", "slug", "metadata-previewUrl"},
			},
			"a plan": {
				"/listings/" + w.listing.ID + "/plans", "/listings/" + w.listing.ID + "/plans",
				[]string{"planKey", "Not A Key", "name", "", "prices0.amountInCents", "cheap",
					"prices0.currency", "eur", "meters1.eventName", "calls", "usageCredits0.expiresInDays", "ten"},
				"New plan", []string{"planKey", "name", "prices0-amountInCents", "meters1-included",
					"usageCredits0-expiresInDays", "usageCredits0-currency", "usageCredits0-amountInCents"},
			},
			"a variant": {
				"/listings/" + appointment.ID + "/variants/new", "/listings/" + appointment.ID + "/variants/new",
				[]string{"name", "Long", "durationMinutes", "2", "sessionCount", "several", "price", "cheap"},
				"New ", []string{"durationMinutes", "sessionCount", "price"},
			},
			"a discount": {
				"/discounts/new", "/discounts/new",
				[]string{"code", "two words", "percentOff", "", "amount", "cheap", "currency", "eur", "duration", "once",
					"maxRedemptions", "0"},
				"New discount", []string{"code", "amount", "maxRedemptions"},
			},
			"an endpoint": {
				"/webhooks/new", "/webhooks/new",
				[]string{"url", "nowhere", "events", "no.such.event", "maxInFlight", "many"},
				"New endpoint", []string{"url", "events", "maxInFlight"},
			},
			"a grant": {
				"/customers/" + customer + "/grant", "/customers/" + customer + "/grant",
				[]string{"plan", "", "entitlements1.value", "7", "credits0.key", "renders", "credits0.unit", "render",
					"credits0.amount", "many", "note", strings.Repeat("long ", 200)},
				"Give access", []string{"entitlements1-key", "credits0-amount", "note"},
			},
		} {
			v.Open(t, "/dashboard"+c.open)
			page := v.Send(t, "/dashboard"+c.send, c.fields...)
			got := marked(page)
			for _, id := range c.want {
				found := false
				for field := range got {
					found = found || strings.HasSuffix(field, "-"+id)
				}
				if !found {
					t.Errorf("%s: %s is not marked", name, id)
				}
			}
			if len(got) != len(c.want) || page.Status != 400 {
				t.Errorf("%s: %d, marked %v, want %v", name, page.Status, got, c.want)
			}
			if !strings.Contains(page.Body, "<h1>"+c.heading) {
				t.Errorf("%s: the heading is not %q", name, c.heading)
			}
		}
	})
}

func TestEmptiedFieldsAreTheirDefaults(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		l, v := w.appointment(t), w.Visit(t)
		var group struct{ VariantID string }
		w.AsCreator(t, post, "/v1/listings/"+l.ID+"/variants", JSON{"name": "Class", "durationMinutes": 45, "seats": 8}).
			Want(t, 201).Into(t, &group)
		at := "/dashboard/listings/" + l.ID + "/variants/" + group.VariantID
		for _, c := range []struct{ sessions, seats, want string }{
			{"3", "", `"sessionCount":3,"seats":1`}, {"", "8", `"sessionCount":1,"seats":8`},
		} {
			v.Open(t, at)
			v.Send(t, at, "name", "Class", "durationMinutes", "45", "sessionCount", c.sessions, "seats", c.seats)
			shown := w.AsCreator(t, get, "/v1/listings/mine/"+l.ID, nil).Want(t, 200)
			if !strings.Contains(string(shown.Body), c.want) {
				t.Errorf("with %q sessions and %q seats it lacks %s: %s", c.sessions, c.seats, c.want, shown.Body)
			}
		}
		endpoint := w.AsBackend(t, post, endpointsPath, JSON{
			"url": "https://hooks.example.com/in", "events": []string{"*"}, "maxInFlight": 4, "maxPerSecond": 5,
		}).Want(t, 201).Map(t)
		at = "/dashboard/webhooks/" + text(t, endpoint["id"]) + "/edit"
		v.Open(t, at)
		v.Send(t, at, "url", "https://hooks.example.com/in", "events", "*", "maxInFlight", "", "maxPerSecond", "")
		endpoint = w.AsBackend(t, get, endpointsPath+"/"+text(t, endpoint["id"]), nil).Want(t, 200).Map(t)
		if got := asJSON(t, []any{endpoint["maxInFlight"], endpoint["maxPerSecond"]}); got != "[32,null]" {
			t.Errorf("the emptied limits of an endpoint are %s", got)
		}
	})
}

func TestADiscountOfOneMonthSaysMonth(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		for _, months := range []int{1, 3} {
			a.AsCreator(t, post, "/v1/discounts", JSON{
				"code": harness.Unique("CODE"), "percentOff": 20, "duration": "repeating", "durationInMonths": months,
			}).Want(t, 201)
		}
		reads(t, a.Visit(t).Open(t, "/dashboard/discounts"), "20% off for 1 month<", "1 months")
		reads(t, a.Visit(t).Open(t, "/dashboard/discounts"), "20% off for 3 months<", "for 3 month<")
	})
}

// The creator is in New York: a day ends there at 4:00 UTC in summer.
func TestACodeWorksThroughItsLastDay(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		a.AsCreator(t, put, "/v1/scheduling/availability", JSON{
			"timezone": "America/New_York", "weekly": []JSON{}, "overrides": []JSON{}, "busyCalendarUrls": []string{},
		}).Want(t, 200)
		v := a.Visit(t)
		reads(t, v.Open(t, "/dashboard/discounts/new"), "It ends when this day does (America/New_York).", "(UTC)")
		v.Send(t, "/dashboard/discounts/new", "code", "SUMMER", "percentOff", "20", "duration", "once",
			"expiresAt", "2100-06-30")
		made := string(a.AsCreator(t, get, "/v1/discounts", nil).Want(t, 200).Body)
		if !strings.Contains(made, `"expiresAt":"2100-07-01T04:00:00.000Z"`) {
			t.Errorf("a code with the last day June 30: %s", made)
		}
	})
}

func TestACodeIsOfferedForWhatCanBeSold(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		sold, gone := a.Published(t, JSON{}), a.Published(t, JSON{})
		a.AsCreator(t, http.MethodDelete, "/v1/listings/"+gone.ID, nil).Want(t, 200)
		reads(t, a.Visit(t).Open(t, "/dashboard/discounts/new"), `value="`+sold.ID+`"`, gone.ID)
	})
}

func TestAccessIsOfferedToWhatWasPublished(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		draft := w.NewListing(t, JSON{"title": "Not yet", "priceInCents": 900})
		w.AsCreator(t, put, "/v1/listings/"+draft.ID+"/plans/basic", JSON{
			"name": "Basic", "prices": []JSON{{"currency": "eur", "amountInCents": 900}},
		}).Want(t, 200)
		customer := text(t, w.AsBackend(t, post, "/v1/customers", JSON{"email": "grace@buyer.example"}).
			Want(t, 201).Map(t)["id"])
		w.AsBackend(t, post, "/v1/customer-access/"+customer+"/grants", JSON{"listing": draft.CatalogKey, "plan": "basic"}).
			Refuses(t, 409, "LISTING_NOT_PURCHASABLE")
		reads(t, w.Visit(t).Open(t, "/dashboard/customers/"+customer+"/grant"),
			`value="`+w.listing.CatalogKey+`:pro"`, `value="`+draft.CatalogKey+`:basic"`)
	})
}

func TestAPlanWithTheKeyNewIsEdited(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		w.AsCreator(t, put, "/v1/listings/"+w.listing.ID+"/plans/new", JSON{
			"name": "Newcomer", "prices": []JSON{{"currency": "eur", "amountInCents": 900}},
		}).Want(t, 200)
		v, at := w.Visit(t), "/dashboard/listings/"+w.listing.ID+"/plans/new"
		reads(t, v.Open(t, at), `value="Newcomer"`, "<h1>New plan")
		v.Send(t, at, "name", "Beginner", "planKey", "new", "prices0.amountInCents", "9.00", "prices0.currency", "eur",
			"prices0.interval", ":1")
		reads(t, v.Open(t, at), `value="Beginner"`, `value="Newcomer"`)
	})
}

// TestFormsOfferEveryListing lets an account have more listings than a page of any list has.
func TestFormsOfferEveryListing(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		listings := make([]JSON, 100)
		for i := range listings {
			slug := harness.Unique("book")
			listings[i] = JSON{
				"key": slug, "slug": slug, "type": "DIGITAL", "status": "ACTIVE", "title": "Book", "priceInCents": 900,
				"currency": "eur",
			}
		}
		putCatalog(t, w.Account, JSON{"version": 1, "listings": listings})
		customer := text(t, w.AsBackend(t, post, "/v1/customers", JSON{"email": "grace@buyer.example"}).
			Want(t, 201).Map(t)["id"])
		v := w.Visit(t)
		for path, want := range map[string]string{
			"/discounts/new":                    `value="` + w.listing.ID + `"`,
			"/customers/" + customer + "/grant": `value="` + w.listing.CatalogKey + `:pro"`,
			"/links/new":                        "/dashboard/links/new?listing=" + w.listing.ID,
		} {
			if page := v.Open(t, "/dashboard"+path); !strings.Contains(page.Body, want) {
				t.Errorf("%s lacks %s", path, want)
			}
		}
	})
}

func TestSavingWhatAFormShowsChangesNoText(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		description := strings.Repeat("Two\nlines.\n", 900) + "End"
		l := a.Published(t, JSON{"description": description})
		v, at := a.Visit(t), "/dashboard/listings/"+l.ID+"/edit"
		shown := a.AsCreator(t, get, "/v1/listings/mine/"+l.ID, nil).Want(t, 200).Map(t)
		v.Open(t, at)
		page := v.Send(t, at, "title", text(t, shown["title"]), "price", "12.00", "currency", "eur", "gives", "access",
			"description", strings.ReplaceAll(description, "\n", "\r\n"), // as browsers send it
			"slug", text(t, shown["slug"]), "catalogKey", text(t, shown["catalogKey"]))
		after := a.AsCreator(t, get, "/v1/listings/mine/"+l.ID, nil).Want(t, 200).Map(t)
		if page.Status != 200 || asJSON(t, after) != asJSON(t, shown) {
			t.Errorf("%d, the listing is %.3000s, was %.3000s", page.Status, asJSON(t, after), asJSON(t, shown))
		}
	})
}

func TestBookingChecklistLeadsToTheCure(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		l := a.NewListing(t, JSON{
			"type": "APPOINTMENT", "title": "Portfolio review", "priceInCents": 9000,
			"metadata": JSON{"deliveryMethod": "hybrid"},
		})
		v, at := a.Visit(t), "/dashboard/listings/"+l.ID
		page := v.Open(t, at)
		for _, words := range []string{
			"Publish the listing", "Set your weekly hours", "Choose where you meet online", "Enter where you meet in person",
			`action="` + at + `/publish"`, `href="/dashboard/bookings/settings#hours"`,
			`href="/dashboard/bookings/settings#meetings"`,
		} {
			if !strings.Contains(page.Body, words) {
				t.Errorf("the checklist lacks %q", words)
			}
		}
		if strings.Contains(page.Body, "The creator") {
			t.Error("the checklist speaks of its reader in the third person")
		}
		page = v.Send(t, at+"/publish")
		if !strings.Contains(page.Body, "once the steps below are done") {
			t.Errorf("published as bookable: %s", page.Body)
		}
		settings := v.Open(t, "/dashboard/bookings/settings").Body
		for _, id := range []string{"hours", "meetings"} {
			if !strings.Contains(settings, `id="`+id+`"`) {
				t.Errorf("the settings have no %s", id)
			}
		}
		for path, titles := range map[string][]string{
			"/dashboard/listings/new": {"Download", "Service", "Subscription", "Appointment"},
			"/dashboard/links/new":    {"Portfolio review"},
		} {
			body := v.Open(t, path).Body
			for _, title := range titles {
				if !strings.Contains(body, `Choose<span class="unseen">: `+title+`</span>`) {
					t.Errorf("%s has no link that says it chooses %s", path, title)
				}
			}
		}
	})
}

func TestAListingsFormSaysIfTaxIsIncluded(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		l := a.Published(t, JSON{})
		v, at := a.Visit(t), "/dashboard/listings/"+l.ID+"/edit"
		for behavior, want := range map[string]string{
			"inclusive": "Tax is included. 0 makes it free.", "exclusive": "Tax is added at the checkout. 0 makes it free.",
		} {
			a.AsCreator(t, patch, "/v1/listings/"+l.ID, JSON{"taxBehavior": behavior}).Want(t, 200)
			if page := v.Open(t, at); !strings.Contains(page.Body, want) {
				t.Errorf("the form of a listing whose tax is %s lacks %q", behavior, want)
			}
		}
	})
}

func TestRetiringTheLastPlanNamesWhatBuyersPay(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		l := plans(t, a, 0)
		v, last := a.Visit(t), "last plan: buyers then pay €10.00"
		if page := v.Open(t, "/dashboard/listings/"+l.ID); strings.Contains(page.Body, last) {
			t.Errorf("with two plans the page says %q", last)
		}
		a.AsCreator(t, remove, "/v1/listings/"+l.ID+"/plans/studio", nil).Want(t, 200)
		if page := v.Open(t, "/dashboard/listings/"+l.ID); !strings.Contains(page.Body, last) {
			t.Errorf("with one plan the page lacks %q", last)
		}
	})
}
