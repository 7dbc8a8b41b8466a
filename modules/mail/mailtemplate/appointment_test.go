package mailtemplate

import (
	"strings"
	"testing"
	"time"

	"sundry/core/appointment"
)

func TestMailAboutAnAppointmentSaysWhenInTheReadersZone(t *testing.T) {
	t.Parallel()
	a := Appointment{
		ID: "apt_1", Title: "Coaching\nand more", Reader: "Grace", Other: "Ada's Workshop",
		StartsAt: time.Date(2026, 6, 15, 18, 30, 0, 0, time.UTC),
		EndsAt:   time.Date(2026, 6, 15, 19, 30, 0, 0, time.UTC), Timezone: "Asia/Kathmandu",
		MeetingURL: "https://meet.example.com/ada",
	}
	const manage = "https://pay.example.com/a/secret-of-apt_1"
	for kind, words := range map[Kind]string{
		KindAppointmentBooked:      "Confirmed: Coaching and more on Tuesday, June 16, 2026 at 12:15 AM",
		KindAppointmentRescheduled: "New time: ",
		KindAppointmentCanceled:    "Canceled: ", KindAppointmentReminder: "Reminder: ",
		KindCreatorBooked: "New booking: ", KindCreatorRescheduled: "Moved: ",
		KindCreatorCanceled: "Canceled: ",
	} {
		l := write(t, kind, live(), a)
		if !strings.HasPrefix(l.Subject, words) {
			t.Errorf("%s: subject %q", kind, l.Subject)
		}
		for _, part := range []string{"Tuesday, June 16, 2026, 12:15 AM–1:15 AM", "Asia/Kathmandu, UTC+5:45"} {
			if !strings.Contains(l.Text, part) {
				t.Errorf("%s lacks %q:\n%s", kind, part, l.Text)
			}
		}
		if toBuyer := !strings.HasPrefix(string(kind), "creator."); strings.Contains(l.Text, manage) != toBuyer ||
			strings.Contains(l.HTML, manage) != toBuyer {
			t.Errorf("%s: the buyer's link is for the buyer only:\n%s", kind, l.Text)
		}
		canceled := kind == KindAppointmentCanceled || kind == KindCreatorCanceled
		if strings.Contains(l.Text, a.MeetingURL) == canceled {
			t.Errorf("%s: names the meeting: %v\n%s", kind, !canceled, l.Text)
		}
		if joins := strings.Contains(l.Text, "Join meeting"); joins == canceled {
			t.Errorf("%s: leads into the meeting: %v", kind, joins)
		}
		if canceled && strings.Contains(l.Text, "move or cancel") {
			t.Errorf("%s offers to move what is canceled:\n%s", kind, l.Text)
		}
	}
	a.MeetingURL, a.Address, a.Reason, a.Other, a.Timezone = "", "1 Rue de Rivoli\nParis", "A <b>cold</b>", "",
		"Mars/Olympus"
	a.PreviousStartsAt = a.StartsAt.Add(-24 * time.Hour)
	l := write(t, KindCreatorCanceled, live(), a)
	for _, part := range []string{"A <b>cold</b>", "a buyer", "Monday, June 15, 2026, 6:30 PM–7:30 PM",
		"Sunday, June 14, 2026, 6:30 PM", "https://pay.example.com/dashboard/bookings/" + a.ID} {
		if !strings.Contains(l.Text, part) {
			t.Errorf("%q is missing from\n%s", part, l.Text)
		}
	}
	if strings.Contains(l.HTML, "<b>cold") {
		t.Error("what a person wrote became markup")
	}
	if !strings.Contains(l.HTML, "6:30\u00a0PM–7:30\u00a0PM") {
		t.Error("a time may break before its PM")
	}
	if l := write(t, KindCreatorBooked, live(), a); !strings.Contains(l.Text, "1 Rue de Rivoli\n        Paris\n") {
		t.Errorf("the address has lost its lines:\n%s", l.Text)
	}
	a.Address = "" // the creator took the place away before the buyer had paid
	if l := write(t, KindAppointmentBooked, live(), a); !strings.Contains(l.Text, "To be confirmed") {
		t.Errorf("nobody knows where, and the mail does not mention it:\n%s", l.Text)
	}
}

func TestMailNamesTheDayOnWhichAnAppointmentEnds(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 6, 15, 18, 30, 0, 0, time.UTC)
	a := Appointment{ID: "apt_1", Title: "Retreat", StartsAt: at, EndsAt: at.Add(24 * time.Hour), Timezone: "UTC"}
	want := "Monday, June 15, 2026, 6:30 PM–Tuesday, June 16, 2026, 6:30 PM"
	if l := write(t, KindAppointmentBooked, live(), a); !strings.Contains(l.Text, want) {
		t.Errorf("no %q in\n%s", want, l.Text)
	}
}

func TestASentenceBeginsWithABuyerWhoLeftNoName(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 6, 15, 18, 30, 0, 0, time.UTC)
	a := Appointment{
		ID: "apt_1", Title: "Coaching", StartsAt: at, EndsAt: at.Add(time.Hour), Timezone: "UTC", ByBuyer: true,
		Money: CanceledMoney{Decision: appointment.NoRefundPolicy},
	}
	l := write(t, KindCreatorCanceled, live(), a)
	for _, want := range []string{"\nA buyer canceled the appointment.", "\nA buyer gets no refund."} {
		if !strings.Contains(l.Text, want) {
			t.Errorf("no %q in\n%s", want, l.Text)
		}
	}
	if l := write(t, KindCreatorBooked, live(), a); !strings.Contains(l.Text, "a new appointment with a buyer.") {
		t.Errorf("inside a sentence:\n%s", l.Text)
	}
}

func TestOneMailConfirmsAWholePack(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 6, 15, 18, 30, 0, 0, time.UTC)
	one := func(id string, days int) Appointment {
		return Appointment{
			ID: id, Title: "Coaching", Other: "Ada", StartsAt: at.AddDate(0, 0, days),
			EndsAt: at.AddDate(0, 0, days).Add(time.Hour), Timezone: "UTC",
		}
	}
	a := one("apt_1", 0)
	a.More = []Appointment{one("apt_2", 7), one("apt_3", 14)}
	l := write(t, KindAppointmentBooked, live(), a)
	if l.Subject != "Confirmed: 3 appointments for Coaching" {
		t.Errorf("subject %q", l.Subject)
	}
	for _, part := range []string{"June 15, 2026, 6:30 PM", "June 22, 2026, 6:30 PM", "June 29, 2026, 6:30 PM",
		"secret-of-apt_1", "secret-of-apt_3", "Manage appointment 3"} {
		if !strings.Contains(l.Text, part) {
			t.Errorf("no %q in\n%s", part, l.Text)
		}
	}
	inBuyersOrder := one("apt_1", 7)
	inBuyersOrder.More = []Appointment{one("apt_2", 14), one("apt_3", 0)}
	for _, pack := range []Appointment{a, inBuyersOrder} {
		html := write(t, KindAppointmentBooked, live(), pack).HTML
		if want := "The first is on Monday, June 15, 2026 at 6:30 PM"; !strings.Contains(html, want) {
			t.Errorf("no %q in\n%s", want, html)
		}
	}
	l = write(t, KindCreatorBooked, live(), a)
	if l.Subject != "New booking: 3 appointments for Coaching" ||
		!strings.Contains(l.Text, "You have 3 new appointments with Ada.") {
		t.Errorf("to the creator: %q\n%s", l.Subject, l.Text)
	}
}
