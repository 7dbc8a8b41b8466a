package e2e_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"sundry/tests/harness"
	"sundry/tests/testdb"
)

// bookableListing is a published hybrid listing of an account that meets buyers every day, all day, in New York.
func (w *fixture) bookableListing(t *testing.T) harness.Listing {
	t.Helper()
	w.AsCreator(t, put, "/v1/scheduling/availability", everyDay("America/New_York", "00:00", "24:00")).Want(t, 200)
	w.AsCreator(t, put, "/v1/scheduling/meeting-settings", harness.JSON{
		"virtual": harness.JSON{"provider": "jitsi"}, "inPerson": harness.JSON{"address": "350 Fifth Avenue"},
	}).Want(t, 200)
	return w.Published(t, harness.JSON{
		"type": "APPOINTMENT", "metadata": harness.JSON{"deliveryMethod": "hybrid", "horizonDays": 730},
	})
}

func everyDay(zone, start, end string) harness.JSON {
	weekly := []harness.JSON{}
	for _, day := range []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"} {
		weekly = append(weekly, harness.JSON{"weekday": day, "start": start, "end": end})
	}
	return harness.JSON{"timezone": zone, "weekly": weekly}
}

type calendar struct {
	VariantID       *string
	Timezone        string
	DurationMinutes *int
	From, To, Date  string
	DeliveryModes   []string
	Dates           []string
	Slots           []openTime
	Days            []struct {
		Date  string
		Slots []openTime
	}
}

type openTime struct{ StartsAt, EndsAt string }

// calendar asks one of the public routes as any page may.
func askCalendar(t *testing.T, app *harness.App, listingID, route string, query ...string) (c calendar) {
	t.Helper()
	response := app.Ask(t, harness.Request{Method: get, Path: "/v1/listings/" + listingID + "/" + route,
		Query: pairs(query)}).Want(t, 200)
	if got := response.Header.Get("Access-Control-Allow-Origin"); got != "*" {
		t.Errorf("%s: Access-Control-Allow-Origin %q", route, got)
	}
	response.Into(t, &c)
	return c
}

func pairs(of []string) url.Values {
	values := url.Values{}
	for i := 0; i+1 < len(of); i += 2 {
		values.Set(of[i], of[i+1])
	}
	return values
}

func TestTheCalendarShowsTheViewersDays(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		l := w.bookableListing(t)
		var clock struct{ Now string }
		w.AsBackend(t, get, "/v1/sandbox/clock", nil).Want(t, 200).Into(t, &clock)
		var year int
		if _, err := fmt.Sscanf(clock.Now, "%d", &year); err != nil {
			t.Fatal(err)
		}
		next := fmt.Sprint(year + 1)
		// The clocks of Paris change on the last Sundays of March and October.
		for month, hours := range map[string]map[int]int{"03": {23: 1, 24: 30}, "10": {25: 1, 24: 30}} {
			c := askCalendar(
				t, app, l.ID, "slots/range", "from", next+"-"+month+"-01", "to", next+"-"+month+"-31", "timezone",
				"Europe/Paris",
			)
			counts := map[int]int{}
			for _, day := range c.Days {
				counts[len(day.Slots)]++
			}
			if len(c.Days) != 31 || !reflect.DeepEqual(counts, hours) ||
				!reflect.DeepEqual(c.DeliveryModes, []string{"virtual", "in_person"}) ||
				c.VariantID == nil || c.DurationMinutes == nil || *c.DurationMinutes != 60 || c.Timezone != "Europe/Paris" {
				t.Errorf("month %s: %v slots a day, %v", month, counts, c.DeliveryModes)
			}
			dates := askCalendar(
				t, app, l.ID, "available-dates", "from", next+"-"+month+"-01", "to", next+"-"+month+"-31", "timezone",
				"Europe/Paris",
			)
			if len(dates.Dates) != 31 || dates.Dates[30] != next+"-"+month+"-31" || dates.From != next+"-"+month+"-01" {
				t.Errorf("dates %v", dates.Dates)
			}
			day := askCalendar(
				t, app, l.ID, "slots", "date", c.Days[16].Date, "timezone", "Europe/Paris", "variantId", *c.VariantID,
			)
			if day.Date != c.Days[16].Date || !reflect.DeepEqual(day.Slots, c.Days[16].Slots) {
				t.Errorf("day %+v, of the range %+v", day, c.Days[16])
			}
		}
		own := askCalendar(t, app, l.ID, "slots", "date", next+"-06-15", "durationMinutes", "90")
		if own.Timezone != "America/New_York" || len(own.Slots) != 24 ||
			own.Slots[0] != (openTime{next + "-06-15T04:00:00.000Z", next + "-06-15T05:30:00.000Z"}) {
			t.Errorf("the creator's day: %+v", own)
		}
	})
}

func TestTheCalendarFollowsTheAccountsClock(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		l := w.bookableListing(t)
		var clock struct{ Now string }
		w.AsBackend(t, post, "/v1/sandbox/clock/advance", harness.JSON{"to": "2031-06-15T10:30:00.000Z"}).Want(t, 200).Into(t,
			&clock)
		c := askCalendar(t, app, l.ID, "slots", "date", "2031-06-15", "timezone", "UTC")
		if len(c.Slots) != 13 || c.Slots[0].StartsAt != "2031-06-15T11:00:00.000Z" {
			t.Errorf("at %s: %+v", clock.Now, c.Slots)
		}
		if c := askCalendar(t, app, l.ID, "slots", "date", "2031-06-14"); len(c.Slots) != 0 {
			t.Errorf("yesterday: %+v", c.Slots)
		}
	})
}

func TestACalendarThatIsKnownIsNotSentAgain(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		l := w.bookableListing(t)
		w.AsBackend(t, post, "/v1/sandbox/clock/advance", harness.JSON{"to": "2031-06-15T10:30:00.000Z"}).Want(t, 200)
		for route, query := range map[string][]string{
			"slots": {"date", "2031-06-15"}, "slots/range": {"from", "2031-06-15", "to", "2031-06-20"},
			"available-dates": {"from", "2031-06-01", "to", "2031-06-30"},
		} {
			ask := func(known string, status int) *harness.Response {
				t.Helper()
				return app.Ask(t, harness.Request{
					Method: get, Path: "/v1/listings/" + l.ID + "/" + route, Query: pairs(query),
					Headers: map[string]string{"If-None-Match": known},
				}).Want(t, status)
			}
			known := ask("", 200).Header.Get("ETag")
			if same := ask(known, 304); len(same.Body) > 0 || same.Header.Get("ETag") != known {
				t.Errorf("%s: %q, %s", route, same.Body, same.Header.Get("ETag"))
			}
			w.AsCreator(t, put, "/v1/scheduling/availability", harness.JSON{"timezone": "UTC", "weekly": []any{}}).Want(t, 200)
			changed := ask(known, 200)
			if cached := changed.Header.Get("Cache-Control"); cached != "private, no-cache" {
				t.Errorf("%s: Cache-Control %q", route, cached)
			}
			w.AsCreator(t, put, "/v1/scheduling/availability", everyDay("UTC", "00:00", "24:00")).Want(t, 200)
			ask(changed.Header.Get("ETag"), 200)
		}
	})
}

func TestTheCalendarRefusesAsDocumented(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		draft, active := w.appointment(t), w.Publish(t, w.appointment(t))
		ask := func(listingID, route string, query ...string) *harness.Response {
			return app.Ask(t, harness.Request{
				Method: get, Path: "/v1/listings/" + listingID + "/" + route, Query: pairs(query),
			})
		}
		march := []string{"from", "2027-03-01", "to", "2027-03-31"}
		for _, route := range []string{"available-dates", "slots/range"} {
			ask(active.ID, route).Refuses(t, 400, "VALIDATION_FAILED", "from", "to")
			ask(active.ID, route, "from", "2027-02-30", "to", "x", "durationMinutes", "4").Refuses(
				t, 400, "VALIDATION_FAILED", "from", "to", "durationMinutes",
			)
			ask(active.ID, route, "from", "2027-03-02", "to", "2027-03-01").Refuses(t, 400, "INVALID_RANGE")
			ask(active.ID, route, append(march, "timezone", "Europe/Atlantis")...).Refuses(t, 400, "INVALID_TIMEZONE")
			ask(active.ID, route, "from", "x", "to", "2027-03-01", "durationMinutes", "4", "timezone", "Local").
				Refuses(t, 400, "VALIDATION_FAILED", "from", "durationMinutes", "timezone")
			ask(active.ID, route, append(march, "variantId", "var_01jqz5y2c4e6g8h0k2m4p6r8s0")...).Refuses(t, 404, "NOT_FOUND")
			ask(draft.ID, route, march...).Refuses(t, 404, "NOT_FOUND")
			ask(unknownListing, route, march...).Refuses(t, 404, "NOT_FOUND")
			for _, bad := range []string{"4", "1441", "60.0", "x", "99999999999999999999"} {
				ask(active.ID, route, append(march, "durationMinutes", bad)...).Refuses(
					t, 400, "VALIDATION_FAILED", "durationMinutes",
				)
			}
		}
		for _, zone := range []string{"Local", "+02:00", "UTC+2", "../UTC", "posix/UTC"} {
			ask(active.ID, "slots", "date", "2027-03-01", "timezone", zone).Refuses(
				t, 400, "INVALID_TIMEZONE", "timezone",
			)
		}
		ask(active.ID, "slots").Refuses(t, 400, "VALIDATION_FAILED", "date")
		ask(active.ID, "slots/range", "from", "2027-03-01", "to", "2027-04-01").Refuses(t, 400, "RANGE_TOO_LARGE")
		ask(active.ID, "available-dates", "from", "2027-03-01", "to", "2027-05-02").Refuses(t, 400, "RANGE_TOO_LARGE")
		ask(active.ID, "available-dates", "from", "2027-03-01", "to", "2027-05-01").Want(t, 200)
	})
}

// A listing that is not ready says what it lacks, and its days are empty meanwhile.
func TestAnUnreadyListingSaysWhatItLacks(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w, other := newFixture(t, app), app.NewAccount(t)
		l := w.appointment(t)
		missing := func() []any {
			ready := w.AsCreator(t, get, "/v1/listings/"+l.ID+"/readiness", nil).Want(t, 200).Map(t)
			all, _ := ready["missing"].([]any)
			fields := []any{}
			for _, m := range all {
				object, _ := m.(map[string]any)
				fields = append(fields, object["field"])
			}
			if ready["ready"] != (len(all) == 0) || ready["listingId"] != l.ID {
				t.Errorf("%v", ready)
			}
			return fields
		}
		if got := missing(); !reflect.DeepEqual(got, []any{"status", "availability.weekly", "meetingSettings.virtual"}) {
			t.Errorf("a new draft lacks %v", got)
		}
		other.AsCreator(t, get, "/v1/listings/"+l.ID+"/readiness", nil).Refuses(t, 404, "NOT_FOUND")
		w.Publish(t, l)
		c := askCalendar(t, app, l.ID, "slots/range", "from", "2027-03-01", "to", "2027-03-02")
		if len(c.Days) != 2 || c.Days[0].Slots == nil || len(c.Days[0].Slots)+len(c.Days[1].Slots) != 0 ||
			c.Timezone != "UTC" {
			t.Errorf("%+v", c)
		}
		w.AsCreator(t, put, "/v1/scheduling/availability", everyDay("Asia/Kathmandu", "09:00", "12:00")).Want(t, 200)
		w.AsCreator(t, put, "/v1/scheduling/meeting-settings",
			harness.JSON{"virtual": harness.JSON{"provider": "static", "url": "https://meet.example.com/ada"}}).Want(t, 200)
		if got := missing(); len(got) != 0 {
			t.Errorf("a ready listing lacks %v", got)
		}
		book := askCalendar(t, app, w.listing.ID, "slots", "date", "2027-03-01")
		if book.VariantID != nil || book.DurationMinutes != nil || len(book.Slots) != 0 || len(book.DeliveryModes) != 0 {
			t.Errorf("a subscription: %+v", book)
		}
	})
}

func TestSchedulingSettingsAreReadAsTheyWereSet(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		const hours, meetings = "/v1/scheduling/availability", "/v1/scheduling/meeting-settings"
		unsaid := w.AsCreator(t, get, hours, nil).Want(t, 200).Map(t)
		if want := (map[string]any{"timezone": "UTC", "weekly": []any{}, "overrides": []any{},
			"busyCalendarUrls": []any{}}); !reflect.DeepEqual(unsaid, want) {
			t.Errorf("unsaid: %v", unsaid)
		}
		if got := w.AsCreator(t, get, meetings, nil).Want(t, 200).Map(t); !reflect.DeepEqual(got,
			map[string]any{"virtual": nil, "inPerson": nil}) {
			t.Errorf("unsaid: %v", got)
		}
		set := w.AsCreator(t, put, hours, availabilityBody()).Want(t, 200)
		for name, c := range map[string]struct {
			body   string
			code   string
			fields []string
		}{
			"nothing":      {`{}`, "VALIDATION_FAILED", []string{"timezone", "weekly"}},
			"another zone": {`{"timezone":"Local","weekly":[]}`, "INVALID_TIMEZONE", []string{"timezone"}},
			"everything": {
				`{"timezone":"x","weekly":[{"weekday":"someday","start":"9","end":""}],"overrides":[{"date":"2026-02-30"}],"busyCalendarUrls":["http://a.example"]}`,
				"VALIDATION_FAILED",
				[]string{
					"timezone", "weekly[0].weekday", "weekly[0].start", "weekly[0].end", "overrides[0].date",
					"busyCalendarUrls[0]",
				},
			},
			"a zone, twice": {
				`{"timezone":"UTC","timezone":"UTC","weekly":[]}`, "VALIDATION_FAILED", []string{"timezone"},
			},
			"a zone, by number": {`{"timezone":1,"weekly":[]}`, "VALIDATION_FAILED", []string{"timezone"}},
			"a wrong type": {
				`{"timezone":1,"weekly":[{"weekday":"monday","start":"09:00","end":"09:61"}]}`, "VALIDATION_FAILED",
				[]string{"timezone", "weekly[0].end"},
			},
			"a night too far": {
				`{"timezone":"UTC","weekly":[{"weekday":"sunday","start":"22:00","end":"02:00"},{"weekday":"monday","start":"01:00","end":"03:00"}]}`,
				"VALIDATION_FAILED", []string{"weekly[1]"},
			},
		} {
			response := w.AsCreator(t, put, hours, c.body)
			if response.Status != 400 {
				t.Errorf("%s: %d", name, response.Status)
			}
			response.Refuses(t, 400, c.code, c.fields...)
		}
		w.AsCreator(t, put, meetings, harness.JSON{"virtual": harness.JSON{"provider": "static"},
			"inPerson": harness.JSON{"address": " "}}).
			Refuses(t, 400, "VALIDATION_FAILED", "virtual.url", "inPerson.address")
		if got := w.AsCreator(t, get, hours, nil).Want(t, 200); string(got.Body) != string(set.Body) {
			t.Errorf("got %s, set %s", got.Body, set.Body)
		}
	})
}

func TestBusyTimesOfAnotherCalendarAreNotOffered(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		app := harness.New(t, engine, map[string]string{"WEBHOOK_ALLOW_PRIVATE": "true"})
		w := newFixture(t, app)
		l := w.bookableListing(t)
		day := time.Now().AddDate(0, 0, 3).UTC()
		other := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
			_, _ = fmt.Fprintf(
				rw,
				"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTART:%s\r\nDURATION:PT5H\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
				day.Format("20060102")+"T120000Z",
			)
		}))
		t.Cleanup(other.Close)
		open := func() int {
			return len(askCalendar(t, app, l.ID, "slots", "date", day.Format(time.DateOnly), "timezone", "UTC").Slots)
		}
		before := open()
		body := everyDay("America/New_York", "00:00", "24:00")
		body["busyCalendarUrls"] = []string{other.URL + "/busy.ics", other.URL[:len(other.URL)-1] + "/gone"}
		set := w.AsCreator(t, put, "/v1/scheduling/availability", body).Want(t, 200)
		if got := w.AsCreator(t, get, "/v1/scheduling/availability", nil).Want(t, 200); string(got.Body) != string(set.Body) {
			t.Errorf("got %s, set %s", got.Body, set.Body)
		}
		var read struct {
			Data []struct{ URL, ReadAt, FailedAt, Failure string }
		}
		for range 200 {
			w.AsCreator(t, get, "/v1/scheduling/busy-calendars", nil).Want(t, 200).Into(t, &read)
			if read.Data[0].ReadAt != "" && read.Data[1].FailedAt != "" {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		if read.Data[0].ReadAt == "" || read.Data[0].Failure != "" || read.Data[1].Failure == "" ||
			read.Data[1].ReadAt != "" {
			t.Errorf("%+v", read)
		}
		page := w.Visit(t).Open(t, "/dashboard/bookings/settings")
		if _, part, shown := strings.Cut(page.Body, "Calendars that cannot be read"); !shown ||
			!strings.Contains(part, "/gone</strong>") || strings.Contains(part, "/busy.ics</strong>") {
			t.Errorf("the dashboard does not say which calendar cannot be read: %s", page.Body)
		}
		if after := open(); before != 24 || after != 19 {
			t.Errorf("%d times were open, %d are", before, after)
		}
	})
}
