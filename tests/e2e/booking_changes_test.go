package e2e_test

import (
	"maps"
	"strings"
	"testing"

	"sundry/tests/harness"
)

func TestARefusedPaymentLeavesItsTimesToOthers(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		s := newStudio(t, app)
		l := s.sells(t, "virtual", nil)
		starts := s.open(t, l, "")
		var session harness.Session
		s.create(t, s.session(l, nil)).Want(t, 201).Into(t, &session)
		pay := "/v1/sandbox/checkout-sessions/" + session.ID + "/pay"
		for name, c := range map[string]struct {
			over  harness.JSON
			field string
		}{
			"no card":        {harness.JSON{"cardNumber": nil}, "cardNumber"},
			"a real card":    {harness.JSON{"cardNumber": "4929123456789016"}, "cardNumber"},
			"no address":     {harness.JSON{"email": "grace"}, "email"},
			"a country lost": {harness.JSON{"country": "Ireland"}, "country"},
		} {
			body := harness.JSON{"cardNumber": harness.CardSucceeds, "appointmentSlots": slotsAt(starts, 0)}
			maps.Copy(body, c.over)
			t.Log(name)
			s.AsBackend(t, post, pay, body).Refuses(t, 400, "VALIDATION_FAILED", c.field)
			if now := s.open(t, l, ""); len(now) != len(starts) {
				t.Errorf("%s: the calendar shows %v of %v", name, now, starts)
			}
		}
		s.AsBackend(t, post, pay, harness.JSON{"cardNumber": harness.CardSucceeds,
			"appointmentSlots": slotsAt(starts, 0)}).Want(t, 200)
		s.AsBackend(t, post, pay, harness.JSON{"cardNumber": "1", "appointmentSlots": slotsAt(starts, 1)}).Refuses(
			t, 409, "SESSION_ALREADY_PAID",
		)
		verified(t, app)
	})
}

func TestWhatIsNotOfferedAnyMoreCannotBeBooked(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		s := newStudio(t, app)
		l := s.sells(t, "virtual", nil)
		long, starts := s.pack(t, l, 1, 9000), s.open(t, l, "")
		var chosen, undecided harness.Session
		s.create(t, s.session(l, harness.JSON{"variantId": long, "appointmentSlots": slotsAt(starts, 0)})).
			Want(t, 201).Into(t, &chosen)
		s.create(t, s.session(l, harness.JSON{"variantId": long})).Want(t, 201).Into(t, &undecided)
		s.AsCreator(t, "DELETE", "/v1/listings/"+l.ID+"/variants/"+long, nil).Want(t, 200)
		page := "/c/" + undecided.Secret()
		app.Ask(t, harness.Request{Method: post, Path: page + "/slots",
			Body: harness.JSON{"appointmentSlots": slotsAt(starts, 1)}}).
			Refuses(t, 400, "NOT_BOOKABLE", "variant")
		app.Ask(t, harness.Request{Method: get, Path: page}).Want(t, 200)
		if now := s.open(t, l, ""); len(now) != len(starts)-1 {
			t.Errorf("a refused choice holds time: the calendar shows %v", now)
		}
		s.Pay(t, chosen, harness.CardSucceeds).Want(t, 200) // it was chosen while it was offered
		var link struct{ URL string }
		s.AsCreator(t, post, "/v1/payment-links", harness.JSON{"listingId": l.ID, "active": true}).Want(t, 201).Into(t, &link)
		hours := s.AsCreator(t, get, "/v1/scheduling/availability", nil).Want(t, 200).Map(t)
		s.AsCreator(t, put, "/v1/scheduling/availability",
			harness.JSON{"timezone": "Europe/Paris", "weekly": []any{}}).Want(t, 200)
		path := link.URL[len(app.URL):]
		if gone := app.Ask(t, harness.Request{Method: get, Path: path}).Want(t, 409); !gone.IsHTML() {
			t.Errorf("a link to what cannot be booked responds with %s", gone.Body)
		}
		s.AsCreator(t, put, "/v1/scheduling/availability", hours).Want(t, 200)
		app.Ask(t, harness.Request{Method: get, Path: path}).Want(t, 303)
		verified(t, app)
	})
}

func TestHolderCanChooseAgainOnAFullDay(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		s := newStudio(t, app)
		l := s.sells(t, "virtual", harness.JSON{"dailyCap": 1})
		starts := s.open(t, l, "")
		var session harness.Session
		s.create(t, s.session(l, harness.JSON{"appointmentSlots": slotsAt(starts, 0)})).Want(t, 201).Into(t, &session)
		if now := s.open(t, l, ""); len(now) > 0 {
			t.Fatalf("on the full day the public calendar shows %v", now)
		}
		page := "/c/" + session.Secret()
		shown := string(app.Ask(t, harness.Request{Method: get, Path: page + "?change=1"}).Want(t, 200).Body)
		for _, at := range starts {
			if !strings.Contains(shown, `{"startsAt":"`+at+`"`) {
				t.Errorf("the page of the holder does not offer %s", at)
			}
		}
		app.Ask(t, harness.Request{Method: post, Path: page + "/slots",
			Body: harness.JSON{"appointmentSlots": slotsAt(starts, 1)}}).Want(t, 200)
		verified(t, app)
	})
}
