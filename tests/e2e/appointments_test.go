package e2e_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/tests/harness"
)

// bookedTime holds the members of an appointment that tests read.
type bookedTime struct {
	ID, Status, ListingID, VariantID, CheckoutID, StartsAt, EndsAt, Timezone, DeliveryMode string
	ManageURL                                                                              string
	ExternalCustomerID, MeetingURL, Address, CancelReason, CanceledAt                      *string
}

// sessionHours is the account's bookable listing.
func (w *fixture) sessionHours(t *testing.T) harness.Listing {
	t.Helper()
	if w.hours == nil {
		l := w.bookableListing(t)
		w.hours = &l
	}
	return *w.hours
}

// now is the time of the account, which other operations may have advanced.
func (w *fixture) now(t *testing.T) time.Time {
	t.Helper()
	var clock struct{ Now time.Time }
	w.AsBackend(t, get, "/v1/sandbox/clock", nil).Want(t, 200).Into(t, &clock)
	return clock.Now
}

// openTime is the start of an open time of that listing, tomorrow or later.
func (w *fixture) openTime(t *testing.T) string {
	t.Helper()
	from := w.now(t).AddDate(0, 0, 2)
	c := askCalendar(
		t, w.App, w.sessionHours(t).ID, "slots/range", "from", from.Format(time.DateOnly), "to",
		from.AddDate(0, 0, 20).Format(time.DateOnly),
	)
	for _, day := range c.Days {
		if len(day.Slots) > 0 {
			return day.Slots[0].StartsAt
		}
	}
	t.Fatal("no time is open")
	return ""
}

// booked is a new appointment of an hour, tomorrow or later.
func (w *fixture) booked(t *testing.T) bookedTime {
	t.Helper()
	return w.bookedAt(t, w.openTime(t))
}

// bookedAt buys a time of that listing.
func (w *fixture) bookedAt(t *testing.T, startsAt string) (a bookedTime) {
	t.Helper()
	var session harness.Session
	w.AsBackend(t, post, "/v1/checkout-sessions", harness.JSON{
		"listingId": w.sessionHours(t).ID, "externalCustomerId": harness.Unique("user"), "email": "grace@example.com",
		"successUrl":      "https://shop.example/thanks",
		"appointmentSlot": harness.JSON{"startsAt": startsAt, "timezone": "Asia/Kathmandu", "deliveryMode": "virtual"},
	}).Want(t, 201).Into(t, &session)
	w.Pay(t, session, harness.CardSucceeds).Want(t, 200)
	var receipt struct{ Appointments []struct{ ID string } }
	w.AsBackend(t, get, "/v1/checkout-sessions/"+session.ID+"/receipt?headless=true", nil).Want(t, 200).Into(t, &receipt)
	if len(receipt.Appointments) != 1 {
		t.Fatalf("the receipt has %v", receipt.Appointments)
	}
	w.AsBackend(t, get, "/v1/appointments/"+receipt.Appointments[0].ID, nil).Want(t, 200).Into(t, &a)
	return a
}

func slotBody(startsAt string, over harness.JSON) harness.JSON {
	slot := harness.JSON{"startsAt": startsAt, "timezone": "Europe/Dublin"}
	for name, value := range over {
		if value == nil {
			delete(slot, name)
			continue
		}
		slot[name] = value
	}
	return harness.JSON{"appointmentSlot": slot}
}

func TestAnAppointmentIsMovedAndCanceled(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		a := w.booked(t)
		if a.Status != "confirmed" || a.ListingID != w.sessionHours(t).ID || a.Timezone != "Asia/Kathmandu" ||
			a.MeetingURL == nil || a.Address != nil {
			t.Errorf("%+v", a)
		}
		path, target := "/v1/appointments/"+a.ID, w.openTime(t)
		var moved, read bookedTime
		w.AsBackend(t, post, path+"/reschedule", slotBody(target, nil)).Want(t, 200).Into(t, &moved)
		if moved.StartsAt != target || moved.Timezone != "Europe/Dublin" || moved.DeliveryMode != "virtual" ||
			*moved.MeetingURL != *a.MeetingURL {
			t.Errorf("moved: %+v", moved)
		}
		w.AsBackend(t, post, path+"/reschedule", slotBody(target, nil)).Want(t, 200) // it is there already
		if got := w.openTime(t); got != a.StartsAt {
			t.Errorf("its old time is not free: %s is", got)
		}
		w.AsBackend(t, post, path+"/reschedule", slotBody(target, harness.JSON{"deliveryMode": "in_person"})).
			Want(t, 200).Into(t, &moved)
		if moved.MeetingURL != nil || moved.Address == nil || *moved.Address != "350 Fifth Avenue" {
			t.Errorf("in person: %+v", moved)
		}
		w.AsBackend(t, post, path+"/cancel", harness.JSON{"reason": "The coach is ill."}).Want(t, 200).Into(t, &read)
		if read.Status != "canceled" || read.CancelReason == nil || *read.CancelReason != "The coach is ill." ||
			read.CanceledAt == nil {
			t.Errorf("canceled: %+v", read)
		}
		for _, trigger := range []string{"/cancel", "/reschedule"} {
			w.AsBackend(t, post, path+trigger, map[string]harness.JSON{"/reschedule": slotBody(a.StartsAt, nil),
				"/cancel": {}}[trigger]).Refuses(t, 409, "STATE_CONFLICT")
		}
		other := w.booked(t)
		w.AsBackend(t, post, "/v1/appointments/"+other.ID+"/cancel", nil).Want(t, 200) // it needs no body
		w.AsBackend(t, get, path, nil).Want(t, 200).Into(t, &read)
		if read.StartsAt != target || read.Status != "canceled" {
			t.Errorf("read: %+v", read)
		}
		if got, want := w.changesOf(t, a.ID), "canceled, rescheduled from "+target+", rescheduled from "+a.StartsAt+", booked"; got != want {
			t.Errorf("published %s, want %s", got, want)
		}
	})
}

func TestAppointmentsFollowTheNameOfTheirCustomer(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		a, name := w.bookedBy(t, "nameless@example.com", w.openTime(t)), harness.Unique("user")
		var found struct{ Data []struct{ ID string } }
		w.AsBackend(t, get, "/v1/customers?email=nameless@example.com", nil).Want(t, 200).Into(t, &found)
		w.AsBackend(t, patch, "/v1/customers/"+found.Data[0].ID, harness.JSON{"externalCustomerId": name}).Want(t, 200)
		var listed struct{ Data []bookedTime }
		w.AsBackend(t, get, "/v1/appointments?externalCustomerId="+name, nil).Want(t, 200).Into(t, &listed)
		if len(listed.Data) != 1 || listed.Data[0].ID != a.ID || *listed.Data[0].ExternalCustomerID != name {
			t.Errorf("the appointments of %s are %+v, want %s", name, listed.Data, a.ID)
		}
		w.AsBackend(t, post, "/v1/appointments/"+a.ID+"/cancel", nil).Want(t, 200)
	})
}

// begun is a new appointment that the account's clock has reached.
func (w *fixture) begun(t *testing.T) bookedTime {
	t.Helper()
	a := w.booked(t)
	starts, err := time.Parse(time.RFC3339, a.StartsAt)
	if err != nil {
		t.Fatal(err)
	}
	advanceTo(t, w.Account, starts)
	return a
}

func TestAnAppointmentTookPlaceOrNot(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		coming := "/v1/appointments/" + w.booked(t).ID + "/outcome"
		w.AsBackend(t, post, coming, harness.JSON{"outcome": "no_show"}).Refuses(t, 409, "STATE_CONFLICT")
		w.AsBackend(t, post, coming, harness.JSON{"outcome": "late"}).Refuses(t, 400, "VALIDATION_FAILED")
		w.AsBackend(t, post, coming, harness.JSON{"outcome": ""}).Refuses(t, 400, "VALIDATION_FAILED")
		a := w.begun(t)
		record := func(outcome any) any {
			return w.AsBackend(t, post, "/v1/appointments/"+a.ID+"/outcome", harness.JSON{"outcome": outcome}).
				Want(t, 200).Map(t)["outcome"]
		}
		for _, outcome := range []any{"no_show", "no_show", nil} {
			if got := record(outcome); got != outcome {
				t.Errorf("recorded %v, want %v", got, outcome)
			}
		}
		v := w.Visit(t)
		if page := v.Open(t, "/dashboard/bookings/"+a.ID); !strings.Contains(page.Body, "Buyer didn’t come") ||
			strings.Contains(page.Body, "Cancel appointment") {
			t.Errorf("the page of an appointment that has begun is %d", page.Status)
		}
		page := v.Send(t, "/dashboard/bookings/"+a.ID+"/outcome", "outcome", "completed")
		if !strings.Contains(page.Body, ">Completed<") || !strings.Contains(page.Body, "Undo") {
			t.Errorf("recording it leads to %d %s", page.Status, page.Path)
		}
		if got := w.changesOf(t, a.ID); got != "outcome_recorded, outcome_recorded, outcome_recorded, booked" {
			t.Errorf("published %s", got)
		}
	})
}

// TestTheDashboardMovesWhatWasSold has the options of another time be those of the session that was booked, also once
// the listing sells others or none.
func TestTheDashboardMovesWhatWasSold(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		a := w.booked(t)
		w.AsCreator(t, patch, "/v1/listings/"+a.ListingID+"/variants/"+a.VariantID,
			harness.JSON{"durationMinutes": 30}).Want(t, 200)
		v, path := w.Visit(t), "/dashboard/bookings/"+a.ID
		for _, archived := range []bool{false, true} {
			if archived {
				w.AsCreator(t, http.MethodDelete, "/v1/listings/"+a.ListingID, nil).Want(t, 200)
			}
			options := regexp.MustCompile(`value="(20[^"]+Z)"`).FindAllStringSubmatch(v.Open(t, path).Body, -1)
			if len(options) == 0 {
				t.Fatalf("archived: %v, it cannot be moved", archived)
			}
			halfPast := func(option []string) bool { return strings.HasSuffix(option[1], ":30:00Z") }
			if at := slices.IndexFunc(options, halfPast); at >= 0 {
				t.Errorf("an hour is offered the time %s", options[at][1])
			}
			to := options[1][1]
			page := v.Send(t, path+"/move", "startsAt", to)
			if !strings.Contains(page.Body, "Moved. We’ll email the buyer the new time.") {
				t.Errorf("archived: %v, moving it to %s: %s", archived, to, page.Body)
			}
		}
	})
}

// changesOf are the events about an appointment, newest first.
func (w *fixture) changesOf(t *testing.T, id string) string {
	t.Helper()
	var events struct {
		Data []struct {
			Type string
			Data struct{ ID, PreviousStartsAt string }
		}
	}
	w.AsBackend(t, get, "/v1/events?limit=100", nil).Want(t, 200).Into(t, &events)
	var all []string
	for _, e := range events.Data {
		name, ours := strings.CutPrefix(e.Type, "appointment.")
		if !ours || e.Data.ID != id {
			continue
		}
		if e.Data.PreviousStartsAt != "" {
			name += " from " + e.Data.PreviousStartsAt
		}
		all = append(all, name)
	}
	return strings.Join(all, ", ")
}

func TestEveryRefusalOfAMoveLeavesTheAppointment(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w, outsider := newFixture(t, app), newFixture(t, app)
		a, taken := w.booked(t), w.booked(t)
		path, open := "/v1/appointments/"+a.ID, w.openTime(t)
		before := string(w.AsBackend(t, get, path, nil).Want(t, 200).Body)
		for name, c := range map[string]struct {
			body   any
			code   string
			fields []string
		}{
			"nothing": {`{}`, "VALIDATION_FAILED", []string{"appointmentSlot"}},
			"null":    {`{"appointmentSlot":null}`, "VALIDATION_FAILED", []string{"appointmentSlot"}},
			"a list":  {`{"appointmentSlot":[]}`, "VALIDATION_FAILED", []string{"appointmentSlot"}},
			"an empty slot": {
				`{"appointmentSlot":{}}`, "VALIDATION_FAILED",
				[]string{"appointmentSlot.startsAt", "appointmentSlot.timezone"},
			},
			"a date": {
				slotBody("2030-01-01", nil), "VALIDATION_FAILED", []string{"appointmentSlot.startsAt"},
			},
			"no zone": {
				slotBody(open, harness.JSON{"timezone": nil}), "VALIDATION_FAILED",
				[]string{"appointmentSlot.timezone"},
			},
			"an offset": {
				slotBody(open, harness.JSON{"timezone": "+01:00"}), "INVALID_TIMEZONE",
				[]string{"appointmentSlot.timezone"},
			},
			"an unknown mode": {
				slotBody(open, harness.JSON{"deliveryMode": "mail"}), "VALIDATION_FAILED",
				[]string{"appointmentSlot.deliveryMode"},
			},
			"an empty mode": {
				slotBody(open, harness.JSON{"deliveryMode": ""}), "VALIDATION_FAILED",
				[]string{"appointmentSlot.deliveryMode"},
			},
			"an unknown member": {
				slotBody(open, harness.JSON{"endsAt": open}), "VALIDATION_FAILED", []string{"appointmentSlot.endsAt"},
			},
			"a taken time": {slotBody(taken.StartsAt, nil), "SLOT_TAKEN", []string{"appointmentSlot.startsAt"}},
			"a time off hours": {
				slotBody(strings.Replace(open, ":00:00.000", ":07:00.000", 1), nil), "SLOT_NOT_OFFERED",
				[]string{"appointmentSlot.startsAt"},
			},
			"the past": {
				slotBody("2020-01-01T00:00:00.000Z", nil), "SLOT_IN_PAST", []string{"appointmentSlot.startsAt"},
			},
		} {
			t.Log(name)
			w.AsBackend(t, post, path+"/reschedule", c.body).Refuses(t, 400, c.code, c.fields...)
		}
		w.AsBackend(t, post, path+"/cancel", harness.JSON{"reason": strings.Repeat("x", 501)}).Refuses(
			t, 400, "VALIDATION_FAILED", "reason",
		)
		for _, r := range []harness.Request{{Method: get, Path: path}, {Method: post, Path: path + "/cancel"},
			{Method: post, Path: path + "/reschedule", Body: slotBody(open, nil)}} {
			r.Bearer = outsider.Key
			app.Ask(t, r).Refuses(t, 404, "NOT_FOUND")
			r.Bearer, r.Path = w.Key, strings.Replace(r.Path, a.ID, "apt_01jqz5y2c4e6g8h0k2m4p6r8s0", 1)
			app.Ask(t, r).Refuses(t, 404, "NOT_FOUND")
		}
		w.AsBackend(t, post, "/v1/sandbox/clock/advance", harness.JSON{"to": a.StartsAt}).Want(t, 200)
		w.AsBackend(t, post, path+"/cancel", harness.JSON{}).Refuses(t, 409, "STATE_CONFLICT")
		w.AsBackend(t, post, path+"/reschedule", slotBody(w.openTime(t), nil)).Refuses(t, 409, "STATE_CONFLICT")
		if after := string(w.AsBackend(t, get, path, nil).Want(t, 200).Body); after != before {
			t.Errorf("refused and changed: %s, before %s", after, before)
		}
	})
}

func TestAppointmentsAreFoundByTheirFilters(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		first, second := w.booked(t), w.booked(t)
		w.AsBackend(t, post, "/v1/appointments/"+first.ID+"/cancel", nil).Want(t, 200)
		find := func(query ...string) string {
			var found struct{ Data []bookedTime }
			w.Ask(t, harness.Request{Method: get, Path: "/v1/appointments", Query: pairs(query), Bearer: w.Key}).
				Want(t, 200).Into(t, &found)
			names := map[string]string{first.ID: "first", second.ID: "second"}
			var all []string
			for _, a := range found.Data {
				all = append(all, names[a.ID])
			}
			return strings.Join(all, " ")
		}
		for query, want := range map[string]string{
			"": "second first", "status=canceled": "first", "status=confirmed": "second",
			"externalCustomerId=" + *first.ExternalCustomerID: "first",
			"externalCustomerId=nobody":                       "", "listingId=" + first.ListingID: "second first",
			"listingId=" + w.listing.ID: "",
			"from=" + second.StartsAt:   "second", "to=" + second.StartsAt: "first",
			"from=" + first.StartsAt + "&to=" + second.StartsAt: "first",
			"from=" + second.StartsAt + "&to=" + first.StartsAt: "",
		} {
			values, err := url.ParseQuery(query)
			if err != nil {
				t.Fatal(err)
			}
			var flat []string
			for name := range values {
				flat = append(flat, name, values.Get(name))
			}
			if got := find(flat...); got != want {
				t.Errorf("%s: %q, want %q", query, got, want)
			}
		}
		w.Ask(t, harness.Request{Method: get, Path: "/v1/appointments",
			Query: pairs([]string{"status", "booked", "from", "x", "to", "2030", "listingId", "x", "externalCustomerId",
				"\x00"}), Bearer: w.Key}).
			Refuses(t, 400, "VALIDATION_FAILED", "status", "from", "to", "listingId", "externalCustomerId")
	})
}

// TestManyMoveToTheSameTime: one of many appointments gets it, whatever number of workers decides.
func TestManyMoveToTheSameTime(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		var all []bookedTime
		for range 8 {
			all = append(all, w.booked(t))
		}
		target := w.openTime(t)
		next := make(chan string, len(all))
		for _, a := range all {
			next <- a.ID
		}
		won := 0
		for _, response := range together(len(all), func() *harness.Response {
			return w.AsBackend(t, post, "/v1/appointments/"+<-next+"/reschedule", slotBody(target, nil))
		}) {
			if response.Status == http.StatusOK {
				won++
				continue
			}
			response.Refuses(t, 400, "SLOT_TAKEN")
		}
		if won != 1 {
			t.Errorf("%d got the time", won)
		}
		starts := map[string]bool{}
		for _, a := range all {
			var read bookedTime
			w.AsBackend(t, get, "/v1/appointments/"+a.ID, nil).Want(t, 200).Into(t, &read)
			starts[fmt.Sprint(read.StartsAt)] = true
		}
		if len(starts) != len(all) {
			t.Errorf("two share a time: %v", starts)
		}
	})
}
