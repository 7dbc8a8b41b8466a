package e2e_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/tests/harness"
)

// questions are one of each kind. Those that need no answer leave required out.
func questions() []harness.JSON {
	ask := func(key, label, kind string, required bool) harness.JSON {
		question := harness.JSON{"key": key, "label": label, "type": kind}
		if required {
			question["required"] = true
		}
		return question
	}
	size := ask("size", "Size", "select", false)
	size["options"] = []string{"S", "M"}
	return []harness.JSON{
		ask("goal", "What is your goal?", "text", true), ask("story", "Your story", "long_text", false), size,
		ask("terms", "I come on time", "checkbox", true), ask("phone", "Phone", "phone", false),
	}
}

func TestABuyersAnswersReachTheSeller(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		s := newStudio(t, app)
		l := s.sells(t, "virtual", harness.JSON{"questions": questions(), "maxGuests": 3})
		starts := s.open(t, l, "")
		s.AsCreator(t, "PATCH", "/v1/listings/"+l.ID, harness.JSON{"metadata": harness.JSON{
			"questions": []harness.JSON{{"key": "a", "label": "", "type": "color", "required": true}}, "maxGuests": 11,
		}}).Refuses(t, 400, "VALIDATION_FAILED", "metadata.maxGuests", "metadata.questions[0].label", "metadata.questions[0].type")
		s.create(t, s.session(l, harness.JSON{
			"appointmentSlots": slotsAt(starts, 0), "answers": harness.JSON{"goal": "x\ny", "size": "L", "color": "red"},
			"guests": []string{"nobody"},
		})).Refuses(t, 400, "VALIDATION_FAILED", "answers.color", "answers.goal", "answers.size", "guests[0]")

		buyer, guest := harness.Unique("grace")+"@example.com", harness.Unique("guest")+"@example.com"
		secret := harness.Unique("secret")
		session := s.opens(t, s.session(l, harness.JSON{
			"appointmentSlots": slotsAt(starts, 0), "customer": harness.JSON{"name": "Grace Hopper"},
			"answers": harness.JSON{"goal": "Ship it, " + secret}, "guests": []string{guest, strings.ToUpper(buyer)},
		}))
		pay := "/v1/sandbox/checkout-sessions/" + session.ID + "/pay"
		s.AsBackend(t, post, pay, harness.JSON{"cardNumber": "4111", "answers": harness.JSON{"phone": "none"}}).
			Refuses(t, 400, "VALIDATION_FAILED", "answers.terms", "answers.phone", "cardNumber")
		s.AsBackend(t, post, pay, harness.JSON{
			"cardNumber": harness.CardSucceeds, "email": buyer, "notes": "Ring twice.",
			"answers": harness.JSON{"terms": "true", "size": "M"},
		}).Want(t, 200)
		workOff(t, s.Account)
		id := text(t, s.Receipt(t, session)["appointments"].([]any)[0].(map[string]any)["id"])
		a := s.AsBackend(t, get, "/v1/appointments/"+id, nil).Want(t, 200).Map(t)
		want := fmt.Sprintf(`[{"key":"goal","label":"What is your goal?","type":"text","value":"Ship it, %s"},`+
			`{"key":"size","label":"Size","type":"select","value":"M"},`+
			`{"key":"terms","label":"I come on time","type":"checkbox","value":"true"}]`, secret)
		if got := asJSON(t, a["answers"]); got != want || a["notes"] != "Ring twice." || asJSON(t, a["guests"]) != asJSON(t,
			[]string{guest, strings.ToUpper(buyer)}) {
			t.Errorf("the appointment has %s, %v, %v", got, a["notes"], a["guests"])
		}
		var events struct{ Data []struct{ Data harness.JSON } }
		s.AsBackend(t, get, "/v1/events?type=appointment.booked", nil).Want(t, 200).Into(t, &events)
		if got := asJSON(t, events.Data[0].Data["answers"]); got != want {
			t.Errorf("the event has %s", got)
		}
		notice := about(t, app, s.Email, "New booking: ")
		if len(notice) != 1 || !strings.Contains(notice[0].Parts["text/plain"], secret) ||
			!strings.Contains(notice[0].Parts["text/plain"], "Ring twice.") {
			t.Errorf("the creator's mails: %+v", notice)
		}
		confirmed := about(t, app, buyer, "Confirmed: ")
		if len(confirmed) != 1 || !strings.Contains(unfolded(confirmed[0].Files["invite.ics"]), "Ring twice.") {
			t.Errorf("the buyer's mails: %+v", confirmed)
		}
		s.wantGuest(t, guest, "Invitation: ", "REQUEST", secret)
		day := s.Visit(t).Open(t, "/dashboard/bookings/"+text(t, a["id"]))
		if !strings.Contains(day.Body, secret) || !strings.Contains(day.Body, guest) {
			t.Error("the dashboard does not show what the buyer said")
		}
		manage, err := url.Parse(text(t, a["manageUrl"]))
		if err != nil {
			t.Fatal(err)
		}
		if page := app.AskUnjudged(t, harness.Request{Method: get, Path: manage.Path}); !strings.Contains(string(page.Body), secret) {
			t.Error("the buyer's page does not show what they said")
		}
		s.AsBackend(t, post, "/v1/appointments/"+text(t, a["id"])+"/reschedule", slotBody(starts[2], harness.JSON{})).Want(t, 200)
		workOff(t, s.Account)
		s.wantGuest(t, guest, "New time: ", "REQUEST", secret)
		s.AsBackend(t, post, "/v1/appointments/"+text(t, a["id"])+"/cancel", nil).Want(t, 200)
		workOff(t, s.Account)
		s.wantGuest(t, guest, "Canceled: ", "CANCEL", secret)
		if invited := mailsTo(t, app, strings.ToUpper(buyer)); len(invited) != 0 {
			t.Errorf("the buyer is their own guest: %+v", invited)
		}
		advance(t, s.Account, time.Minute)
		s.AsBackend(t, post, "/v1/customers/"+text(t, s.Receipt(t, session)["customerId"])+"/erase", nil).Want(t, 200)
		for _, word := range []string{secret, guest, "Ring twice."} {
			for _, table := range app.TablesWith(t, word) {
				if !slices.Contains(legalRecords, table) {
					t.Errorf("%q is in %s after the erasure", word, table)
				}
			}
		}
		verified(t, app)
	})
}

// unfolded is a calendar file with its long lines whole.
func unfolded(file string) string { return strings.ReplaceAll(file, "\r\n ", "") }

// wantGuest checks the one mail of a kind to a guest, in which nothing is the buyer's alone.
func (s *studio) wantGuest(t *testing.T, guest, subject, method, secret string) {
	t.Helper()
	mails := about(t, s.App, guest, subject)
	if len(mails) != 1 {
		t.Fatalf("%d mails %q to the guest", len(mails), subject)
	}
	whole := mails[0].Parts["text/plain"] + mails[0].Parts["text/html"] + unfolded(mails[0].Files["invite.ics"])
	for _, never := range []string{"/a/", secret, "Ring twice."} {
		if strings.Contains(whole, never) {
			t.Errorf("the guest reads %q", never)
		}
	}
	for _, part := range []string{"Grace Hopper", "METHOD:" + method, "mailto:" + guest} {
		if !strings.Contains(whole, part) {
			t.Errorf("%s lacks %q", subject, part)
		}
	}
}

func TestTheNumberOfGuestsIsTheSellersChoice(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		s := newStudio(t, app)
		open, closed := s.sells(t, "virtual", nil), s.sells(t, "virtual", harness.JSON{"maxGuests": 0})
		guests := make([]string, 11)
		for i := range guests {
			guests[i] = fmt.Sprintf("guest%d@example.com", i)
		}
		s.create(t, s.session(open, harness.JSON{"guests": guests})).Refuses(t, 400, "VALIDATION_FAILED", "guests")
		s.opens(t, s.session(open, harness.JSON{"guests": guests[:10]}))
		s.create(t, s.session(closed, harness.JSON{"guests": guests[:1]})).Refuses(t, 400, "VALIDATION_FAILED", "guests")
		s.create(t, s.session(s.Published(t, nil), harness.JSON{"notes": "x", "guests": guests[:1]})).
			Refuses(t, 400, "VALIDATION_FAILED", "guests", "notes")
	})
}
