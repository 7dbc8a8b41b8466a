package mailtemplate

import (
	"strings"
	"testing"
	"time"
)

func TestMailsAreInTheLanguageOfTheirReader(t *testing.T) {
	t.Parallel()
	a := Appointment{
		ID: "apt_1", Title: "Press lesson", Other: "Ada", StartsAt: time.Date(2026, 6, 1, 16, 0, 0, 0, time.UTC),
		EndsAt:   time.Date(2026, 6, 1, 17, 0, 0, 0, time.UTC),
		Timezone: "Europe/Berlin", MeetingURL: "https://meet.example/a",
	}
	for name, c := range map[string]struct {
		kind    Kind
		locale  string
		byBuyer bool
		want    []string
	}{
		"German": {
			KindAppointmentBooked, "de-DE-u-hc-h23", false,
			[]string{"Dein Termin ist bestätigt", "Montag, 1. Juni 2026, 18:00 CEST (UTC+2)", "Termin verwalten"},
		},
		"French with 12 hours": {
			KindAppointmentReminder, "fr-u-hc-h12", false,
			[]string{"Votre rendez-vous approche", "lundi 1er juin 2026, 6:00 PM"},
		},
		"American with 24 hours": {
			KindAppointmentBooked, "en-US-u-hc-h23", false, []string{"Monday, June 1, 2026, 18:00 CEST"},
		},
		"nobody knows":           {KindAppointmentBooked, "", false, []string{"6:00 PM"}},
		"canceled by the seller": {KindAppointmentCanceled, "en-US", false, []string{"Ada canceled the appointment"}},
		"canceled by the buyer": {
			KindAppointmentCanceled, "en-US", true, []string{"You canceled your appointment with Ada"},
		},
		"to the creator: canceled": {
			KindCreatorCanceled, "", true, []string{"Ada canceled the appointment. The time can be booked again."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := a
			a.Locale, a.ByBuyer = c.locale, c.byBuyer
			l := write(t, c.kind, live(), a)
			for _, words := range c.want {
				if !strings.Contains(l.Text, words) {
					t.Errorf("the mail lacks %q:\n%s", words, l.Text)
				}
			}
			if strings.Contains(string(c.kind), "canceled") && strings.Contains(l.Text, "meet.example") {
				t.Error("a canceled appointment has a link to join")
			}
		})
	}
}
