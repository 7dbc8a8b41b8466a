package e2e_test

import (
	"html"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sundry/tests/harness"
)

const changedMeanwhile = "This was changed after you opened the page"

// editingForms are the forms of the dashboard that replace what is stored, each with a member and another value of it;
// "" is another option. A form that is not here is one of addingForms.
var editingForms = map[string][2]string{
	"/listings/:id/edit":                {"description", "Another one."},
	"/listings/:id/plans/pro":           {"name", "Professional"},
	"/listings/:id/variants/:id":        {"name", "Longer"},
	"/listings/:id/images/:id/describe": {"alt", "A red fox"},
	"/bookings/hours":                   {"timezone", "Asia/Kathmandu"},
	"/bookings/meetings":                {"address", "1 Main Street"},
	"/settings":                         {"refundPolicy", "None."},
	"/balance/schedule":                 {"payoutSchedule", "weekly"},
	"/links/:id":                        {"successUrl", "https://shop.example/after"},
	"/webhooks/:id/edit":                {"maxInFlight", "4"},
	"/customers/:id/edit":               {"displayName", "Grace"},
	"/team/:id":                         {"role", "analyst"},
	"/usage/plans/:id/change":           {"priceId", ""},
}

// addingForms have fields, and add something or do something once.
var addingForms = []string{
	"/settings/logo", "/team", "/security/password", "/security/steps/app", "/security/steps/passkey", "/filters",
	"/listings/new", "/listings/:id/images", "/listings/:id/files", "/listings/:id/plans",
	"/listings/:id/variants/new", "/discounts/new", "/links/new", "/customers/new", "/customers/:id/grant",
	"/keys/new", "/webhooks/new", "/usage/plans/new", "/usage/meters/new", "/usage/prices/new", "/balance/payout",
}

var (
	postForm = regexp.MustCompile(`(?s)<form[^>]* method="post" action="/dashboard([^"]*)".*?</form>`)
	someID   = regexp.MustCompile(`\b[a-z]{2,5}_[0-9A-Za-z]{20,}`)
	// sameForms matches addresses of pages that have no forms of their own.
	sameForms = regexp.MustCompile(`[?&](sort|q|format|from|customer|subscription)=`)
	someField = regexp.MustCompile(`<textarea|<select|<input (?:type="(?:checkbox|date)"|id=)`)
)

// replaced returns fields with another value of one of them.
func replaced(fields []string, name, value string) []string {
	fields = slices.Clone(fields)
	for i := 0; i < len(fields); i += 2 {
		if fields[i] == name {
			fields[i+1] = value
		}
	}
	return fields
}

// contentOf returns a page without its navigation.
func contentOf(page *harness.Page) string {
	_, content, _ := strings.Cut(page.Body, "<main")
	return content
}

// withoutDigest returns what fields say of the object.
func withoutDigest(fields []string) string { return strings.Join(replaced(fields, "stored", ""), "\n") }

// saveOldForm saves a form of a page after another save, as the second of two tabs does.
func saveOldForm(t *testing.T, v *harness.Visitor, path, action, member, value string) {
	t.Helper()
	old := v.Open(t, path).Fields(action)
	changed := replaced(old, member, value)
	if page := v.Send(t, action, changed...); page.Status != 200 {
		t.Fatalf("%s: the first save is %d: %s", action, page.Status, contentOf(page))
	}
	now := v.Open(t, path).Fields(action)
	if withoutDigest(now) != withoutDigest(changed) {
		t.Fatalf("%s shows %q after the first save, want %q", action, now, changed)
	}
	page := v.Send(t, action, old...)
	if page.Status != 409 || !strings.Contains(page.Body, changedMeanwhile) {
		t.Errorf("%s: the save of an old form is %d: %s", action, page.Status, contentOf(page))
		return
	}
	again := page.Fields(action)
	if withoutDigest(again) != withoutDigest(old) {
		t.Errorf("%s: the refused form shows %q, want %q", action, again, old)
	}
	if after := v.Open(t, path).Fields(action); !slices.Equal(after, now) {
		t.Errorf("%s: the refused save changed %q to %q", action, now, after)
	}
	if page := v.Send(t, action, again...); page.Status != 200 {
		t.Errorf("%s: the second save of the old form is %d: %s", action, page.Status, contentOf(page))
	}
	if after := v.Open(t, path).Fields(action); !slices.Equal(after, old) {
		t.Errorf("%s: the second save made it %q, want %q", action, after, old)
	}
}

// TestForms_OldOnesReplaceNothing walks every form of the dashboard.
func TestForms_OldOnesReplaceNothing(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := busyShop(t, app)
		w.invite(t, "support")
		w.AsBackend(t, post, "/v1/usage/prices", priceBody(w.usage.product(t))).Want(t, 201)
		v := w.Visit(t)
		v.Open(t, "/dashboard/listings/"+w.listing.ID)
		v.Upload(t, "/dashboard/listings/"+w.listing.ID+"/images", "file", drawing(t, 40, 40), "alt", "A fox")
		type place struct{ path, action string }
		places, unknown := map[string]place{}, map[string]bool{}
		everyPage(t, v, sameForms, func(path string, page *harness.Page) {
			for _, m := range postForm.FindAllStringSubmatch(page.Body, -1) {
				action := html.UnescapeString(m[1])
				name := someID.ReplaceAllString(action, ":id")
				if strings.Contains(m[0], `name="stored"`) {
					if _, ok := places[name]; !ok {
						places[name] = place{path, "/dashboard" + action}
					}
				} else if someField.MatchString(m[0]) && !slices.Contains(addingForms, name) && !unknown[name] {
					unknown[name] = true
					t.Errorf("%s: the form %s is none that adds, and carries no digest of what is stored", path, name)
				}
			}
		})
		for _, name := range slices.Sorted(maps.Keys(places)) {
			change, ok := editingForms[name]
			if !ok {
				t.Errorf("the form %s replaces what is stored: it lacks a change for this test", name)
				continue
			}
			at := places[name]
			if change[1] == "" {
				change[1] = anotherOption(v.Open(t, at.path).Body, change[0])
			}
			saveOldForm(t, v, at.path, at.action, change[0], change[1])
		}
		for name := range editingForms {
			if _, ok := places[name]; !ok {
				t.Errorf("no page has the form %s with a digest of what is stored", name)
			}
		}
	})
}

// anotherOption is a value of a list that is not chosen.
func anotherOption(body, name string) string {
	_, list, _ := strings.Cut(body, `name="`+name+`"`)
	list, _, _ = strings.Cut(list, "</select>")
	for _, m := range regexp.MustCompile(`<option value="([^"]+)">`).FindAllStringSubmatch(list, -1) {
		return m[1]
	}
	return ""
}

// withEntitlement returns the fields of a plan with an entitlement in the second row.
func withEntitlement(fields []string, key string) []string {
	at := slices.Index(fields, "entitlements1.key")
	fields = slices.Clone(fields)
	fields[at+1] = key
	return fields
}

func TestForms_AnOldPlanKeepsAnEntitlement(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		at := "/dashboard/listings/" + w.listing.ID + "/plans/pro"
		plans := func() string {
			return asJSON(t, w.AsCreator(t, get, "/v1/listings/"+w.listing.ID+"/plans", nil).Want(t, 200).Map(t)["data"])
		}
		a, b := w.Visit(t), w.Visit(t)
		shown := a.Open(t, at).Fields(at)
		b.Open(t, at)
		a.Send(t, at, withEntitlement(shown, "exports-of-a")...)
		saved := plans()
		for name, fields := range map[string][]string{
			"an old form":                    replaced(shown, "name", "Plan of B"),
			"an old form with a wrong value": replaced(replaced(shown, "name", "Plan of B"), "trialDays", "ten"),
		} {
			b.Open(t, at)
			page := b.Send(t, at, fields...)
			if page.Status != 409 || !strings.Contains(page.Body, changedMeanwhile) ||
				!strings.Contains(page.Body, `value="Plan of B"`) {
				t.Errorf("%s is %d: %s", name, page.Status, contentOf(page))
			}
		}
		if after := plans(); after != saved || !strings.Contains(after, "exports-of-a") {
			t.Errorf("the plans are %s, want %s", after, saved)
		}
		b.Send(t, "/dashboard/language", "language", "de", "back", at)
		b.Open(t, at)
		if page := b.Send(t, at, replaced(shown, "name", "Plan of B")...); !strings.Contains(
			page.Body, "Das wurde geändert, nachdem du die Seite geöffnet hast.") {
			t.Errorf("in German it is %s", contentOf(page))
		}
	})
}

func TestForms_ANewPlanReplacesNoOther(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		v, plans := w.Visit(t), "/dashboard/listings/"+w.listing.ID+"/plans"
		shown := v.Open(t, plans+"/pro").Fields(plans + "/pro")
		form := []string{"planKey", "pro", "name", "Another", "prices0.amountInCents", "1.00", "prices0.currency", "eur",
			"prices0.interval", "month:1"}
		v.Open(t, plans)
		if page := v.Send(t, plans, form...); page.Status != 400 || !marked(page)["plan-planKey"] {
			t.Errorf("a new plan with the key of another is %d: %s", page.Status, contentOf(page))
		}
		if after := v.Open(t, plans+"/pro").Fields(plans + "/pro"); !slices.Equal(after, shown) {
			t.Errorf("the plan is %q, was %q", after, shown)
		}
	})
}

func TestForms_SentTwiceAreSavedOnce(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		v, at := w.Visit(t), "/dashboard/listings/"+w.listing.ID+"/plans/pro"
		changed := withEntitlement(v.Open(t, at).Fields(at), "uploads")
		for range 2 {
			v.Open(t, at)
			if page := v.Send(t, at, changed...); page.Status != 200 {
				t.Errorf("the plan is %d: %s", page.Status, contentOf(page))
			}
		}
		hours, settings := "/dashboard/bookings/hours", "/dashboard/bookings/settings"
		changed = replaced(v.Open(t, settings).Fields(hours), "timezone", "Asia/Kathmandu")
		for range 2 {
			v.Open(t, settings)
			if page := v.Send(t, hours, changed...); page.Status != 200 {
				t.Errorf("the hours are %d: %s", page.Status, contentOf(page))
			}
		}
	})
}

// TestForms_AnOldOneStaysOld after it was shown again for another row, or with a wrong value in a preview.
func TestForms_AnOldOneStaysOld(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		v, hours := w.Visit(t), "/dashboard/bookings/hours"
		old := v.Open(t, "/dashboard/bookings/settings").Fields(hours)
		again := v.Send(t, hours, append(old, "add", "monday")...).Fields(hours)
		if page := v.Send(t, hours, again...); page.Status != 200 {
			t.Errorf("hours with a row more are %d: %s", page.Status, contentOf(page))
		}
		again = v.Send(t, hours, append(old, "add", "tuesday")...).Fields(hours)
		if page := v.Send(t, hours, again...); page.Status != 409 || !strings.Contains(page.Body, changedMeanwhile) {
			t.Errorf("old hours with a row more are %d: %s", page.Status, contentOf(page))
		}

		at := "/dashboard/listings/" + w.listing.ID
		old = v.Open(t, at+"/edit").Fields(at + "/edit")
		v.Send(t, at+"/edit", replaced(old, "description", "Another one.")...)
		v.Open(t, at+"/edit")
		page := v.Post(t, at+"/preview", append(replaced(old, "price", "cheap"), "token", v.Token(t))...)
		again = replaced(page.Fields(at+"/edit"), "price", "12.00")
		if page = v.Send(t, at+"/edit", again...); page.Status != 409 || !strings.Contains(page.Body, changedMeanwhile) {
			t.Errorf("an old listing after a preview is %d: %s", page.Status, contentOf(page))
		}
	})
}

func TestAFormGivesNoAccessToAnErasedCustomer(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		customer := text(t, w.AsBackend(t, post, "/v1/customers", JSON{
			"email": "grace@buyer.example", "displayName": "Grace",
		}).Want(t, 201).Map(t)["id"])
		v := w.Visit(t)
		form := "/dashboard/customers/" + customer + "/grant"
		v.Open(t, form)
		w.AsBackend(t, post, "/v1/customers/"+customer+"/erase", nil).Want(t, 200)
		page := v.Send(t, form, "entitlements0.key", "club", "entitlements0.value", "yes", "note", "A friend of Grace")
		if page.Status != 409 || !strings.Contains(page.Body, "This customer was erased.") ||
			!strings.Contains(page.Body, "A friend of Grace") {
			t.Errorf("the form of an erased customer is %d", page.Status)
		}
		access := w.AsBackend(t, get, "/v1/customer-access/"+customer, nil).Want(t, 200).Map(t)
		if given := access["entitlements"].([]any); len(given) > 0 {
			t.Errorf("an erased customer got %v", given)
		}
	})
}
