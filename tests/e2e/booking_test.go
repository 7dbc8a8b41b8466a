package e2e_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"sundry/tests/harness"
)

// studio is an account that meets buyers every day from 09:00 to 17:00 in Paris, both ways.
type studio struct {
	*harness.Account
	// day is a date far enough ahead, on which nothing is booked.
	day string
}

func newStudio(t *testing.T, app *harness.App) *studio {
	t.Helper()
	s := &studio{Account: app.NewAccount(t), day: time.Now().AddDate(0, 0, 10).Format(time.DateOnly)}
	s.AsCreator(t, put, "/v1/scheduling/availability", everyDay("Europe/Paris", "09:00", "17:00")).Want(t, 200)
	s.AsCreator(t, put, "/v1/scheduling/meeting-settings", harness.JSON{
		"virtual":  harness.JSON{"provider": "static", "url": "https://meet.example/ada"},
		"inPerson": harness.JSON{"address": "1 Rue de Rivoli, Paris"},
	}).Want(t, 200)
	return s
}

// sells publishes an appointment listing of the delivery method.
func (s *studio) sells(t *testing.T, method string, over harness.JSON) harness.Listing {
	t.Helper()
	metadata := harness.JSON{"deliveryMethod": method}
	maps.Copy(metadata, over)
	return s.Published(t, harness.JSON{"type": "APPOINTMENT", "metadata": metadata})
}

// pack gives a listing a variant of several sessions.
func (s *studio) pack(t *testing.T, l harness.Listing, sessions, price int) (variantID string) {
	t.Helper()
	var made struct{ VariantID string }
	s.AsCreator(t, post, "/v1/listings/"+l.ID+"/variants",
		harness.JSON{"durationMinutes": 60, "sessionCount": sessions, "priceInCents": price}).
		Want(t, 201).Into(t, &made)
	return made.VariantID
}

// open are the starts that the calendar shows on a day.
func (s *studio) open(t *testing.T, l harness.Listing, variantID string) (starts []string) {
	t.Helper()
	query := []string{"date", s.day}
	if variantID != "" {
		query = append(query, "variantId", variantID)
	}
	for _, slot := range askCalendar(t, s.App, l.ID, "slots", query...).Slots {
		starts = append(starts, slot.StartsAt)
	}
	return starts
}

func slotsAt(starts []string, i ...int) []harness.JSON {
	times := []harness.JSON{}
	for _, n := range i {
		times = append(times, harness.JSON{"startsAt": starts[n], "timezone": "Asia/Tokyo"})
	}
	return times
}

// session is the body of a session for a listing by id.
func (s *studio) session(l harness.Listing, over harness.JSON) harness.JSON {
	body := harness.JSON{
		"listingId": l.ID, "externalCustomerId": "user-1", "successUrl": "https://shop.example/thanks",
		"cancelUrl": "https://shop.example/calendar",
	}
	maps.Copy(body, over)
	return body
}

// opens makes a session that nothing is wrong with.
func (s *studio) opens(t *testing.T, body harness.JSON) (made harness.Session) {
	t.Helper()
	s.create(t, body).Want(t, 201).Into(t, &made)
	return made
}

func (s *studio) create(t *testing.T, body harness.JSON) *harness.Response {
	t.Helper()
	return s.AsBackend(t, post, "/v1/checkout-sessions", body)
}

// undecided is a session whose buyer has yet to choose, and a choice that it takes.
func (w *fixture) undecided(t *testing.T) (secret string, choice harness.JSON) {
	t.Helper()
	l := w.bookableListing(t)
	var session harness.Session
	w.AsBackend(t, post, "/v1/checkout-sessions",
		harness.JSON{"listingId": l.ID, "successUrl": "https://shop.example/thanks"}).Want(t, 201).Into(t, &session)
	day := w.now(t).AddDate(0, 0, 2).Format(time.DateOnly)
	slot := askCalendar(t, w.App, l.ID, "slots", "date", day).Slots[0]
	return session.Secret(), harness.JSON{
		"appointmentSlots": []harness.JSON{
			{"startsAt": slot.StartsAt, "timezone": "Asia/Tokyo", "deliveryMode": "virtual"},
		},
	}
}

// verified fails for what contradicts itself, in everything or in what is a few seconds old.
func verified(t *testing.T, app *harness.App) {
	t.Helper()
	lines, err := app.Program.Verify(t.Context())
	recent, failed := app.Program.VerifySince(t.Context(), time.Now().Add(-2*time.Second))
	if err := errors.Join(err, failed); err != nil {
		t.Fatal(err)
	}
	for _, line := range append(lines, recent...) {
		t.Error(line)
	}
}

func TestATimeChosenBeforehandIsBookedByPaying(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		s := newStudio(t, app)
		l := s.sells(t, "hybrid", nil)
		starts := s.open(t, l, "")
		if len(starts) != 8 {
			t.Fatalf("the day has %v", starts)
		}
		slot := harness.JSON{"startsAt": starts[2], "timezone": "America/New_York", "deliveryMode": "in_person"}
		var session struct {
			harness.Session
			ExpiresAt, CreatedAt time.Time
			VariantID            string
			AppointmentSlots     []struct{ StartsAt, Timezone, DeliveryMode string }
		}
		s.create(t, s.session(l, harness.JSON{"appointmentSlot": slot})).Want(t, 201).Into(t, &session)
		if session.ExpiresAt.Sub(session.CreatedAt) != 30*time.Minute || len(session.AppointmentSlots) != 1 ||
			session.AppointmentSlots[0].StartsAt != starts[2] ||
			session.AppointmentSlots[0].DeliveryMode != "in_person" || !strings.HasPrefix(session.VariantID, "var_") {
			t.Fatalf("session %+v", session)
		}
		if now := s.open(t, l, ""); len(now) != 7 {
			t.Errorf("while the time is held the calendar shows %v", now)
		}
		receipt := s.Pay(t, session.Session, harness.CardSucceeds).Want(t, 200).Map(t)
		booked, _ := receipt["appointments"].([]any)
		if receipt["status"] != "paid" || len(booked) != 1 {
			t.Fatalf("receipt %v", receipt)
		}
		appointment, _ := booked[0].(map[string]any)
		if appointment["status"] != "confirmed" || appointment["address"] != "1 Rue de Rivoli, Paris" ||
			appointment["meetingUrl"] != nil || appointment["startsAt"] != starts[2] ||
			appointment["timezone"] != "America/New_York" {
			t.Errorf("appointment %v", appointment)
		}
		var events struct{ Data []struct{ Type string } }
		s.AsBackend(t, get, "/v1/events", nil).Want(t, 200).Into(t, &events)
		var kinds []string
		for _, e := range events.Data {
			if !strings.HasPrefix(e.Type, "customer.") { // that follows when it is due
				kinds = append(kinds, e.Type)
			}
		}
		if fmt.Sprint(kinds) != "[appointment.booked payment.completed]" { // newest first
			t.Errorf("events %v", kinds)
		}
		plans, _ := s.Access(t, "user-1")["activePlans"].([]any)
		if len(plans) != 1 || plans[0].(map[string]any)["source"] != "appointment" {
			t.Errorf("access %v", plans)
		}
		s.create(t, s.session(l, harness.JSON{"appointmentSlot": slot})).Refuses(t, 400, "SLOT_TAKEN")
	})
}

func TestAPackIsChosenOnThePage(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		s := newStudio(t, app)
		l := s.sells(t, "virtual", nil)
		variant := s.pack(t, l, 3, 30000)
		starts := s.open(t, l, variant)
		session := s.opens(t, s.session(l, harness.JSON{"variantId": variant}))
		page := "/c/" + session.Secret()
		state := func() map[string]any {
			return app.Ask(t, harness.Request{Method: get, Path: page + "/state"}).Want(t, 200).Map(t)
		}
		if now := state(); now["state"] != "choose_time" ||
			fmt.Sprintf("%v %v", now["sessionCount"], now["totalInCents"]) != "3 30000" {
			t.Fatalf("page %v", now)
		}
		s.Pay(t, session, harness.CardSucceeds).Refuses(t, 400, "SLOT_COUNT_MISMATCH", "appointmentSlots")
		attach := func(slots []harness.JSON) *harness.Response {
			return app.Ask(t, harness.Request{
				Method: post, Path: page + "/slots", Body: harness.JSON{"appointmentSlots": slots},
			})
		}
		attach(slotsAt(starts, 0, 1)).Refuses(t, 400, "SLOT_COUNT_MISMATCH")
		attach(slotsAt(starts, 0, 0, 1)).Refuses(t, 400, "SLOTS_OVERLAP")
		if len(s.open(t, l, variant)) != 8 {
			t.Fatal("a refused choice holds time")
		}
		attach(slotsAt(starts, 5, 0, 3)).Want(t, 200)
		attach(slotsAt(starts, 7, 0, 1)).Want(t, 200) // thought better of it
		if now := s.open(t, l, variant); len(now) != 5 || now[0] != starts[2] {
			t.Errorf("the calendar shows %v", now)
		}
		if now := state(); now["state"] != "pay" || len(now["appointmentSlots"].([]any)) != 3 {
			t.Fatalf("page %v", now)
		}
		app.Ask(t, harness.Request{Method: post, Path: page + "/pay",
			Body: harness.JSON{"cardNumber": harness.CardSucceeds, "email": "grace@example.com"}}).Want(t, 200)
		booked, _ := s.Receipt(t, session)["appointments"].([]any)
		if len(booked) != 3 || booked[0].(map[string]any)["startsAt"] != starts[7] ||
			booked[0].(map[string]any)["meetingUrl"] != "https://meet.example/ada" {
			t.Errorf("booked %v", booked)
		}
		attach(slotsAt(starts, 2, 3, 4)).Refuses(t, 409, "SESSION_ALREADY_PAID")
	})
}

func TestEveryBadChoiceHasItsRefusal(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		s := newStudio(t, app)
		hybrid, virtual := s.sells(t, "hybrid", nil), s.sells(t, "virtual", nil)
		variant := s.pack(t, virtual, 2, 5000)
		starts := s.open(t, virtual, "")
		one := func(over harness.JSON) harness.JSON {
			slot := harness.JSON{"startsAt": starts[0], "timezone": "Europe/Paris"}
			maps.Copy(slot, over)
			return harness.JSON{"appointmentSlot": slot}
		}
		for name, c := range map[string]struct {
			listing harness.Listing
			over    harness.JSON
			code    string
			fields  []string
		}{
			"no choice of a hybrid": {
				hybrid, one(nil), "VALIDATION_FAILED", []string{"appointmentSlot.deliveryMode"},
			},
			"a place that it has not": {
				virtual, one(harness.JSON{"deliveryMode": "in_person"}), "VALIDATION_FAILED",
				[]string{"appointmentSlot.deliveryMode"},
			},
			"by pigeon": {
				virtual, one(harness.JSON{"deliveryMode": "pigeon"}), "VALIDATION_FAILED",
				[]string{"appointmentSlot.deliveryMode"},
			},
			"no zone": {
				virtual, one(harness.JSON{"timezone": nil}), "VALIDATION_FAILED", []string{"appointmentSlot.timezone"},
			},
			"a zone nobody has": {
				virtual, one(harness.JSON{"timezone": "Mars/Olympus"}), "INVALID_TIMEZONE", nil,
			},
			"no time": {
				virtual, one(harness.JSON{"startsAt": nil}), "VALIDATION_FAILED", []string{"appointmentSlot.startsAt"},
			},
			"a time that is none": {
				virtual, one(harness.JSON{"startsAt": "soon"}), "VALIDATION_FAILED",
				[]string{"appointmentSlot.startsAt"},
			},
			"a time of the past": {
				virtual, one(harness.JSON{"startsAt": "2020-01-01T09:00:00Z"}), "SLOT_IN_PAST",
				[]string{"appointmentSlot.startsAt"},
			},
			"a time off the grid": {
				virtual, one(harness.JSON{"startsAt": s.day + "T08:17:00Z"}), "SLOT_NOT_OFFERED",
				[]string{"appointmentSlot.startsAt"},
			},
			"the night": {
				virtual, one(harness.JSON{"startsAt": s.day + "T01:00:00Z"}), "SLOT_NOT_OFFERED",
				[]string{"appointmentSlot.startsAt"},
			},
			"two for a single session": {
				virtual, harness.JSON{"appointmentSlots": slotsAt(starts, 0, 1)}, "SLOT_COUNT_MISMATCH",
				[]string{"appointmentSlots"},
			},
			"none, explicitly": {
				virtual, harness.JSON{"appointmentSlots": []any{}}, "SLOT_COUNT_MISMATCH", []string{"appointmentSlots"},
			},
			"one for a pack": {
				virtual, harness.JSON{"variantId": variant, "appointmentSlots": slotsAt(starts, 0)},
				"SLOT_COUNT_MISMATCH", []string{"appointmentSlots"},
			},
			"one time for a pack": {
				virtual, harness.JSON{"variantId": variant, "appointmentSlot": slotsAt(starts, 0)[0]},
				"SLOT_COUNT_MISMATCH", []string{"appointmentSlot"},
			},
			"the same twice": {
				virtual, harness.JSON{"variantId": variant, "appointmentSlots": slotsAt(starts, 0, 0)}, "SLOTS_OVERLAP",
				[]string{"appointmentSlots[1].startsAt"},
			},
			"both members": {
				virtual, harness.JSON{"appointmentSlot": slotsAt(starts, 0)[0], "appointmentSlots": slotsAt(starts, 0)},
				"VALIDATION_FAILED", []string{"appointmentSlots"},
			},
			"faults of request and times": {
				virtual, harness.JSON{"email": "x", "appointmentSlot": harness.JSON{"startsAt": 5}},
				"VALIDATION_FAILED", []string{"email", "appointmentSlot.startsAt", "appointmentSlot.timezone"},
			},
		} {
			response := s.create(t, s.session(c.listing, c.over))
			if response.Status != 400 {
				t.Errorf("%s: %d %s", name, response.Status, response.Body)
				continue
			}
			response.Refuses(t, 400, c.code, c.fields...)
		}
		if now := s.open(t, virtual, ""); len(now) != 8 {
			t.Errorf("refused choices hold time: the calendar shows %v", now)
		}
	})
}

// An unpaid appointment expires after half an hour, and its page starts a new session.
func TestAnUnpaidAppointmentExpiresAndStartsAgain(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		s := newStudio(t, app)
		l := s.sells(t, "virtual", nil)
		starts := s.open(t, l, "")
		session := s.opens(t, s.session(l, harness.JSON{
			"appointmentSlots": slotsAt(starts, 0), "referenceId": "order-7",
		}))
		advance(t, s.Account, 30*time.Minute-time.Second)
		if now := s.open(t, l, ""); len(now) != 7 {
			t.Fatalf("a second before its end: %v", now)
		}
		advance(t, s.Account, time.Second)
		if now := s.open(t, l, ""); len(now) != 8 {
			t.Errorf("after its end: %v", now)
		}
		page := "/c/" + session.Secret()
		s.Pay(t, session, harness.CardSucceeds).Refuses(t, 410, "SESSION_EXPIRED")
		app.Ask(t, harness.Request{Method: post, Path: page + "/slots",
			Body: harness.JSON{"appointmentSlots": slotsAt(starts, 0)}}).Refuses(t, 410, "SESSION_EXPIRED")
		state := app.Ask(t, harness.Request{Method: get, Path: page + "/state"}).Want(t, 200).Map(t)
		if state["state"] != "expired" || state["listingUrl"] != app.URL+page+"/again" ||
			state["cancelUrl"] != "https://shop.example/calendar" {
			t.Fatalf("page %v", state)
		}
		fresh := app.Ask(t, harness.Request{Method: get, Path: page + "/again"}).Want(t, 303).Header.Get("Location")
		if fresh == session.CheckoutURL || !strings.HasPrefix(fresh, app.URL+"/c/") {
			t.Fatalf("again leads to %s", fresh)
		}
		again := app.Ask(t, harness.Request{Method: get, Path: strings.TrimPrefix(fresh, app.URL) + "/state"}).
			Want(t, 200).Map(t)
		if again["state"] != "choose_time" || again["cancelUrl"] != "https://shop.example/calendar" {
			t.Errorf("the fresh page %v", again)
		}
	})
}

func TestARepeatedRequestHoldsItsTimeOnce(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		s := newStudio(t, app)
		l := s.sells(t, "virtual", nil)
		starts := s.open(t, l, "")
		body := s.session(l, harness.JSON{"appointmentSlots": slotsAt(starts, 0)})
		var first, again harness.Session
		s.Once(t, "booking-1", post, "/v1/checkout-sessions", body).Want(t, 201).Into(t, &first)
		repeated := s.Once(t, "booking-1", post, "/v1/checkout-sessions", body).Want(t, 201)
		repeated.Into(t, &again)
		if first.ID != again.ID || repeated.Header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("the same request made %s and then %s", first.ID, again.ID)
		}
		s.Once(t, "booking-2", post, "/v1/checkout-sessions", body).Refuses(t, 400, "SLOT_TAKEN")
		s.AsBackend(t, post, "/v1/checkout-sessions/"+first.ID+"/expire", nil).Want(t, 200)
		s.Once(t, "booking-2", post, "/v1/checkout-sessions", body).Want(t, 201) // a conflict that is over is over
	})
}

func TestAnAppointmentIsSoldByCatalogKeyAndByLinkToo(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		s := newStudio(t, app)
		l := s.sells(t, "virtual", nil)
		starts := s.open(t, l, "")
		session := s.NewSession(t, l, "default", "user-1", harness.JSON{"appointmentSlots": slotsAt(starts, 0)})
		s.Pay(t, session, harness.CardSucceeds).Want(t, 200)

		var link struct{ URL string }
		s.AsCreator(t, post, "/v1/payment-links", harness.JSON{"listingId": l.ID,
			"variantId": s.pack(t, l, 2, 15000)}).Want(t, 201).Into(t, &link)
		page := app.Ask(t, harness.Request{Method: get, Path: strings.TrimPrefix(link.URL, app.URL)}).
			Want(t, 303).Header.Get("Location")
		state := app.Ask(t, harness.Request{Method: get, Path: strings.TrimPrefix(page, app.URL) + "/state"}).
			Want(t, 200).Map(t)
		if state["state"] != "choose_time" || fmt.Sprint(state["totalInCents"]) != "15000" ||
			fmt.Sprint(state["sessionCount"]) != "2" {
			t.Errorf("the link leads to %v", state)
		}
	})
}

func TestATimeThatBeginsBeforeItIsPaidForIsNotSold(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		s := newStudio(t, app)
		l := s.sells(t, "virtual", nil)
		starts := s.open(t, l, "")
		first, err := time.Parse(time.RFC3339, starts[0])
		if err != nil {
			t.Fatal(err)
		}
		s.AsBackend(t, post, "/v1/sandbox/clock/advance", harness.JSON{"to": first.Add(-10 * time.Minute)}).Want(t, 200)
		session := s.opens(t, s.session(l, harness.JSON{
			"appointmentSlots": slotsAt(starts, 0), "cancelUrl": "https://shop.example/calendar/{CHECKOUT_SESSION_ID}",
		}))
		advance(t, s.Account, 15*time.Minute)
		response := s.Pay(t, session, harness.CardSucceeds)
		response.Refuses(t, 409, "SLOT_UNAVAILABLE", "appointmentSlots[0].startsAt")
		if d := response.Refusal(t).Details; len(d) != 1 || d[0].Code != "PAST" {
			t.Errorf("the details are %v, want the time that is PAST", d)
		}
		refusal := response.Map(t)
		page := "/c/" + session.Secret()
		back := "https://shop.example/calendar/" + session.ID
		if refusal["listingUrl"] != app.URL+page+"/again" || refusal["cancelUrl"] != back {
			t.Errorf("the ways on are %v, want %s for cancelUrl", refusal, back)
		}
		state := app.Ask(t, harness.Request{Method: get, Path: page + "/state"}).Want(t, 200).Map(t)
		if state["state"] != "slot_unavailable" || state["listingUrl"] != refusal["listingUrl"] || state["cancelUrl"] != back {
			t.Errorf("page %v", state)
		}
		app.Ask(t, harness.Request{Method: post, Path: page + "/slots",
			Body: harness.JSON{"appointmentSlots": slotsAt(starts, 1)}}).Want(t, 200)
		s.Pay(t, session, harness.CardSucceeds).Want(t, 200)
		verified(t, app)
	})
}
