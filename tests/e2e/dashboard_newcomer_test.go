package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"sundry/tests/harness"
	"sundry/tests/testdb"
)

// Slugs are unique across the platform, which a newcomer who only gives a title has never heard of.
func TestATitleThatOthersHaveTakenIsNoObstacle(t *testing.T) {
	t.Parallel()
	app := harness.New(t, testdb.SQLite, nil)
	title := harness.Unique("Linocut pack")
	slugs := map[string]bool{}
	for range 2 {
		a := app.NewAccount(t)
		v := a.Visit(t)
		for range 3 {
			v.Open(t, "/dashboard/listings/new?type=DIGITAL")
			if page := v.Send(t, "/dashboard/listings/new", "type", "DIGITAL", "title", title, "price", "12.50", "currency",
				"eur"); !strings.Contains(page.Body, "Saved as a draft") {
				t.Fatalf("%d %s: %s", page.Status, page.Path, page.Body)
			}
		}
		for _, l := range a.AsCreator(t, get, "/v1/listings/mine", nil).Want(t, 200).Map(t)["data"].([]any) {
			slugs[text(t, l.(map[string]any)["slug"])] = true
		}
	}
	if len(slugs) != 6 {
		t.Errorf("slugs %v", slugs)
	}
	v := app.NewAccount(t).Visit(t)
	v.Open(t, "/dashboard/listings/new?type=DIGITAL")
	var taken string
	for slug := range slugs {
		taken = slug
	}
	if page := v.Send(t, "/dashboard/listings/new", "type", "DIGITAL", "title", "日本語", "price", "1.00", "currency", "eur",
		"slug", taken); !strings.Contains(page.Body, "Another listing has this slug.") {
		t.Errorf("a slug that was chosen is replaced: %d %s", page.Status, page.Path)
	}
	v.Open(t, "/dashboard/listings/new?type=DIGITAL")
	if page := v.Send(t, "/dashboard/listings/new", "type", "DIGITAL", "title", "日本語", "price", "1.00", "currency",
		"eur"); !strings.Contains(page.Body, "Saved as a draft") {
		t.Errorf("a title without Latin letters: %d %s", page.Status, page.Body)
	}
}

func TestAnAppointmentIsCanceledFromTheDashboard(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := coaching(t, app)
		v := w.Visit(t)
		for name, c := range map[string]struct{ refund, said, shown, decision string }{
			"with the money": {"true", "Canceled. We’ll email the buyer and return the money.", "€100.00", "refunded"},
			"without the money": {
				"false", "Canceled. We’ll email the buyer. Not refunded, as you chose.", "Not refunded, as you chose.",
				"declined",
			},
		} {
			id := w.booked(t).ID
			page := v.Open(t, "/dashboard/bookings/"+id)
			if !strings.Contains(page.Body, "Refund €100.00") || !strings.Contains(page.Body, "Don’t refund") {
				t.Fatalf("%s: the form has no choice: %s", name, page.Body)
			}
			page = v.Send(t, "/dashboard/bookings/"+id+"/cancel", "reason", "I have a cold.", "refund", c.refund)
			for _, words := range []string{c.said, c.shown, "I have a cold.", "Canceled by"} {
				if !strings.Contains(page.Body, words) {
					t.Errorf("%s: the page lacks %q:\n%s", name, words, page.Body)
				}
			}
			view := w.AsBackend(t, get, "/v1/appointments/"+id, nil).Want(t, 200).Map(t)
			if view["status"] != "canceled" || view["canceledBy"] != "creator" || view["refundDecision"] != c.decision ||
				(view["refundId"] != nil) != (c.refund == "true") {
				t.Errorf("%s: %v", name, view)
			}
			if page := v.Post(t, "/dashboard/bookings/"+id+"/cancel", "token", v.Token(t)); !strings.Contains(page.Body,
				"is canceled") {
				t.Errorf("%s, again: %s", name, page.Body)
			}
		}
	})
}

func TestOneFormCreatesPublishesAndLinks(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := coaching(t, app)
		v := w.Visit(t)
		create := func(kind string, fields ...string) *harness.Page {
			page := v.Open(t, "/dashboard/listings/new?type="+kind)
			if !strings.Contains(page.Body, `name="publish"`) {
				t.Errorf("the form of %s does not offer to publish", kind)
			}
			return v.Send(t, "/dashboard/listings/new", append([]string{
				"type", kind, "title", harness.Unique("Lesson"), "price", "12.50", "currency", "eur", "publish", "yes",
			}, fields...)...)
		}
		page := create("APPOINTMENT", "durationMinutes", "45", "metadata.deliveryMethod", "virtual")
		if !strings.HasPrefix(page.Path, "/dashboard/links/") || !strings.Contains(page.Body, "your link is ready to share") {
			t.Errorf("an appointment leads to %d %s: %s", page.Status, page.Path, page.Body)
		}
		own := w.AsCreator(t, get, "/v1/listings?creatorId="+w.ID, nil).Want(t, 200).Map(t)["data"].([]any)
		newest := own[0].(map[string]any)
		variant := newest["variants"].([]any)[0].(map[string]any)
		if newest["status"] != "ACTIVE" || fmt.Sprint(variant["durationMinutes"]) != "45" ||
			variant["key"] != "45-minutes" {
			t.Errorf("made is %v", newest)
		}
		if page := create("APPOINTMENT", "durationMinutes", "4"); page.Status != 400 ||
			!strings.Contains(page.Body, `id="listing-durationMinutes-error"`) {
			t.Errorf("a length of four minutes is %d", page.Status)
		}
		if page := create("SERVICE"); !strings.HasPrefix(page.Path, "/dashboard/links/") {
			t.Errorf("a service leads to %d %s", page.Status, page.Path)
		}
		other := app.NewAccount(t).Visit(t)
		other.Open(t, "/dashboard/listings/new?type=APPOINTMENT")
		page = other.Send(t, "/dashboard/listings/new", "type", "APPOINTMENT", "title", "Lesson", "price", "5", "currency",
			"eur", "durationMinutes", "30", "publish", "yes", "metadata.deliveryMethod", "virtual")
		if !strings.HasPrefix(page.Path, "/dashboard/listings/lst_") || !strings.Contains(page.Body, "once the steps below") {
			t.Errorf("without hours it leads to %d %s", page.Status, page.Path)
		}
	})
}

// The API publishes downloads without a file, for sellers whose own app gives access: their page says so.
func TestDashboard_SaysThatADownloadIsMissing(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		page := "/dashboard/listings/" + a.Published(t, nil).ID
		v := a.Visit(t)
		warns := func() bool { return strings.Contains(v.Open(t, page).Body, "Buyers get no download") }
		if !warns() {
			t.Error("without a file and an address, the page does not say so")
		}
		a.AsCreator(t, http.MethodPatch, "/v1"+strings.TrimPrefix(page, "/dashboard"),
			JSON{"metadata": JSON{"downloadUrl": "https://files.example/notes.pdf"}}).Want(t, 200)
		if warns() {
			t.Error("with an address, the page says that there is none")
		}
	})
}

func TestADownloadIsNotSavedWithoutWhatItGives(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		v := w.Visit(t)
		for gives, says := range map[string]string{
			"link": "Enter the address that buyers get", "access": "Saved as a draft",
		} {
			v.Open(t, "/dashboard/listings/new?type=DIGITAL")
			page := v.Send(
				t, "/dashboard/listings/new", "type", "DIGITAL", "title", harness.Unique("Pack"), "price", "12.50", "currency",
				"eur",
				"gives", gives, "metadata.downloadUrl", "",
			)
			if !strings.Contains(page.Body, says) {
				t.Errorf("%s: %s", gives, page.Body)
			}
		}
	})
}
