package letter

import (
	"strings"
	"testing"
	"time"
)

func TestMailAboutAnAppointmentSaysWhenInTheReadersZone(t *testing.T) {
	t.Parallel()
	a := Appointment{
		ID: "apt_1", Title: "Coaching\nand more", Reader: "Grace", Other: "Ada's Workshop", StartsAt: time.Date(2026, 6, 15, 18, 30, 0, 0, time.UTC),
		EndsAt: time.Date(2026, 6, 15, 19, 30, 0, 0, time.UTC), Timezone: "Asia/Kathmandu", MeetingURL: "https://meet.example.com/ada",
	}
	const manage = "https://pay.example.com/a/secret-of-apt_1"
	for kind, words := range map[Kind]string{
		KindAppointmentBooked: "Confirmed: Coaching and more on Tuesday, 16 June 2026 at 00:15", KindAppointmentRescheduled: "New time: ",
		KindAppointmentCanceled: "Canceled: ", KindAppointmentReminder: "Reminder: ", KindCreatorBooked: "Booked: ", KindCreatorRescheduled: "Moved: ",
		KindCreatorCanceled: "Canceled: ",
	} {
		l := write(t, kind, live(), a)
		if !strings.HasPrefix(l.Subject, words) {
			t.Errorf("%s: subject %q", kind, l.Subject)
		}
		for _, part := range []string{"Tuesday, 16 June 2026, 00:15–01:15", "Asia/Kathmandu, UTC+5:45", "https://meet.example.com/ada"} {
			if !strings.Contains(l.Text, part) {
				t.Errorf("%s lacks %q:\n%s", kind, part, l.Text)
			}
		}
		if toBuyer := !strings.HasPrefix(string(kind), "creator."); strings.Contains(l.Text, manage) != toBuyer || strings.Contains(l.HTML, manage) != toBuyer {
			t.Errorf("%s: the buyer's link is for the buyer only:\n%s", kind, l.Text)
		}
		canceled := kind == KindAppointmentCanceled || kind == KindCreatorCanceled
		if joins := strings.Contains(l.Text, "Open the meeting link"); joins == canceled {
			t.Errorf("%s: leads into the meeting: %v", kind, joins)
		}
		if canceled && strings.Contains(l.Text, "move or cancel") {
			t.Errorf("%s offers to move what is canceled:\n%s", kind, l.Text)
		}
	}
	a.MeetingURL, a.Address, a.Reason, a.Other, a.Timezone = "", "1 Rue de Rivoli\nParis", "A <b>cold</b>", "", "Mars/Olympus"
	a.PreviousStartsAt = a.StartsAt.Add(-24 * time.Hour)
	l := write(t, KindCreatorCanceled, live(), a)
	for _, part := range []string{"1 Rue de Rivoli Paris", "A <b>cold</b>", "a buyer", "Monday, 15 June 2026, 18:30–19:30", "Sunday, 14 June 2026, 18:30"} {
		if !strings.Contains(l.Text, part) {
			t.Errorf("%q is missing from\n%s", part, l.Text)
		}
	}
	if strings.Contains(l.HTML, "<b>cold") {
		t.Error("what a person wrote became markup")
	}
	a.Address = "" // the creator took the place away before the buyer had paid
	if l := write(t, KindAppointmentBooked, live(), a); !strings.Contains(l.Text, "Not said yet") {
		t.Errorf("nobody knows where, and the mail does not say so:\n%s", l.Text)
	}
}
