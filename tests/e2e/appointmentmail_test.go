package e2e_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	ics "github.com/arran4/golang-ical"

	"sundry/tests/contract"
	"sundry/tests/harness"
)

// bookedBy buys a time of the account's listing for a buyer with the given address.
func (w *fixture) bookedBy(t *testing.T, email, startsAt string) (a bookedTime) {
	t.Helper()
	var session harness.Session
	w.AsBackend(t, post, "/v1/checkout-sessions", JSON{
		"listingId": w.sessionHours(t).ID, "successUrl": "https://shop.example/thanks",
		"customer":        JSON{"name": "Grace O'Hopper"},
		"appointmentSlot": JSON{"startsAt": startsAt, "timezone": "Asia/Kathmandu", "deliveryMode": "virtual"},
	}).Want(t, 201).Into(t, &session)
	var receipt struct{ Appointments []struct{ ID string } }
	w.AsBackend(t, post, "/v1/sandbox/checkout-sessions/"+session.ID+"/pay",
		JSON{"cardNumber": harness.CardSucceeds, "email": email}).
		Want(t, 200).Into(t, &receipt)
	w.AsBackend(t, get, "/v1/appointments/"+receipt.Appointments[0].ID, nil).Want(t, 200).Into(t, &a)
	return a
}

// about are the mails to an address whose subjects begin so.
func about(t *testing.T, app *harness.App, address, subject string) []contract.ReceivedMail {
	t.Helper()
	return slices.DeleteFunc(mailsTo(t, app, address), func(m contract.ReceivedMail) bool {
		return !strings.HasPrefix(m.Subject, "[Test] "+subject)
	})
}

// wantInvitation compares the calendar of a mail with the appointment.
func wantInvitation(t *testing.T, m contract.ReceivedMail, a bookedTime, method, status, sequence string) {
	t.Helper()
	raw := m.Parts["text/calendar; method="+method]
	if raw == "" || m.Files["invite.ics"] == "" {
		t.Fatalf("%s: parts %v, files %v", m.Subject, m.Parts, m.Files)
	}
	calendar, err := ics.ParseCalendar(strings.NewReader(m.Files["invite.ics"]))
	if err != nil {
		t.Fatalf("%v in %s", err, m.Files["invite.ics"])
	}
	event := calendar.Events()[0]
	starts, err := event.GetStartAt()
	if err != nil {
		t.Fatal(err)
	}
	of := func(name string) string { return event.GetProperty(ics.ComponentProperty(name)).Value }
	if got := starts.UTC().Format("2006-01-02T15:04:05.000Z"); got != a.StartsAt ||
		!strings.Contains(m.Files["invite.ics"], "\r\nMETHOD:"+method+"\r\n") || of("STATUS") != status ||
		of("SEQUENCE") != sequence || !strings.HasPrefix(of("UID"), a.ID+"@") || !strings.HasSuffix(of("UID"), ".sundry") ||
		strings.Contains(m.Files["invite.ics"], "BEGIN:VALARM") != (method == "REQUEST") ||
		of("ATTENDEE") != "mailto:"+m.To.Address || of("ORGANIZER") != "mailto:"+m.From.Address {
		t.Errorf("%s, %+v", got, event.Properties)
	}
}

func TestMailFollowsAnAppointmentToItsEnd(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w, buyer := newFixture(t, app), harness.Unique("grace")+"@example.com"
		a := w.bookedBy(t, buyer, w.openTime(t))
		workOff(t, w.Account)
		only := func(address, subject string, want int) contract.ReceivedMail {
			t.Helper()
			mails := about(t, app, address, subject)
			if len(mails) != want {
				t.Fatalf("%d mails %q to %s, want %d", len(mails), subject, address, want)
			}
			if want == 0 {
				return contract.ReceivedMail{}
			}
			return mails[want-1]
		}
		confirmed := only(buyer, "Confirmed: ", 1)
		wantInvitation(t, confirmed, a, "REQUEST", "CONFIRMED", "0")
		for _, part := range []string{a.ManageURL, *a.MeetingURL, "Asia/Kathmandu, UTC+5:45", "Ada's Workshop"} {
			if !strings.Contains(confirmed.Parts["text/plain"], part) {
				t.Errorf("the text lacks %s:\n%s", part, confirmed.Parts["text/plain"])
			}
		}
		notice := only(w.Email, "New booking: ", 1)
		if text := notice.Parts["text/plain"]; !strings.Contains(text, "America/New_York, UTC−") ||
			strings.Contains(text, "/a/") || !strings.Contains(text, "Grace O'Hopper") {
			t.Errorf("the creator's mail is\n%s", text)
		}
		var moved bookedTime
		target := w.openTime(t)
		w.AsBackend(t, post, "/v1/appointments/"+a.ID+"/reschedule",
			slotBody(target, JSON{"timezone": "Asia/Kathmandu"})).Want(t, 200).Into(t, &moved)
		workOff(t, w.Account)
		wantInvitation(t, only(buyer, "New time: ", 1), moved, "REQUEST", "CONFIRMED", "1")
		only(w.Email, "Moved: ", 1)
		starts, err := time.Parse(time.RFC3339, target)
		if err != nil {
			t.Fatal(err)
		}
		advance := func(before time.Duration) {
			t.Helper()
			w.AsBackend(t, post, "/v1/sandbox/clock/advance", JSON{"to": starts.Add(-before).Format(time.RFC3339)}).Want(t, 200)
			workOff(t, w.Account) // what fell due at the last moment
		}
		advance(24*time.Hour + time.Minute)
		only(buyer, "Reminder: ", 0)
		advance(24 * time.Hour)
		only(buyer, "Reminder: ", 1)
		advance(time.Hour)
		only(buyer, "Reminder: ", 2)
		advance(-48 * time.Hour)
		only(buyer, "Reminder: ", 2)
		if all := mailsTo(t, app, buyer); len(all) != 5 { // with the receipt
			t.Errorf("%d mails in all", len(all))
		}
	})
}

// One advance of the clock sends every reminder in order, and none of a canceled appointment.
func TestClockAdvanceSendsRemindersInOrder(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w, kept, canceled := newFixture(t, app), harness.Unique("grace")+"@example.com", harness.Unique("alan")+"@example.com"
		w.bookedBy(t, kept, w.openTime(t))
		b := w.bookedBy(t, canceled, w.openTime(t))
		w.send(t, b, "/cancel", nil).Want(t, 303)
		w.AsBackend(t, post, "/v1/sandbox/clock/advance", JSON{"seconds": 5 * 24 * 3600}).Want(t, 200)
		if got := len(about(t, app, kept, "Reminder: ")); got != 2 {
			t.Errorf("%d reminders of what takes place", got)
		}
		b = w.read(t, b)
		if mails := about(t, app, canceled, "Canceled: "); len(mails) != 1 ||
			len(about(t, app, canceled, "Reminder: ")) != 0 {
			t.Errorf("%d mails of the cancellation", len(mails))
		} else {
			wantInvitation(t, mails[0], b, "CANCEL", "CANCELLED", "1")
		}
		if got := len(about(t, app, w.Email, "Canceled: ")); got != 1 {
			t.Errorf("the creator was notified %d times", got)
		}
	})
}
