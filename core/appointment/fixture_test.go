package appointment

import (
	"testing"
	"time"

	"sundry/core/listing"
	"sundry/core/slot"
)

func instant(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// hours are every day from 09:00 to 17:00 in Paris.
func hours() slot.Settings {
	s := slot.Settings{Timezone: "Europe/Paris"}
	for _, day := range []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"} {
		s.Weekly = append(s.Weekly, slot.WeeklyHours{Weekday: day, Hours: slot.Hours{Start: "09:00", End: "17:00"}})
	}
	return s
}

// bookable is a ready listing sold in packs of so many hours.
func bookable(sessions int, metadata listing.Metadata) Bookable {
	return Bookable{
		Listing: listing.State{
			ID: "lst_1", CreatorID: "crt_1", Type: listing.Appointment, Status: listing.Active, Title: "Coaching",
			Metadata: metadata,
		},
		Variant: listing.Variant{ID: "var_1", DurationMinutes: 60, SessionCount: sessions},
		Setup: Setup{Hours: hours(), Meetings: MeetingSettings{
			Virtual:  &VirtualMeeting{Provider: Static, URL: "https://meet.example.com/ada"},
			InPerson: &Place{Address: "1 Rue de Rivoli"},
		}},
	}
}
