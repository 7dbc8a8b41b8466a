package appointment

import (
	"net/url"
	"testing"
	"time"
)

func TestCalendarLinks_AreInUTC(t *testing.T) {
	t.Parallel()
	starts := instant(t, "2026-06-15T10:00:00+09:00")
	got := NewCalendarLinks("Coaching & more", "1 Rue de Rivoli", starts, starts.Add(time.Hour), "https://pay.example/a.ics")
	if got.File != "https://pay.example/a.ics" {
		t.Errorf("the file is %s", got.File)
	}
	for link, want := range map[string]url.Values{
		got.Google: {
			"action": {"TEMPLATE"}, "text": {"Coaching & more"}, "location": {"1 Rue de Rivoli"},
			"dates": {"20260615T010000Z/20260615T020000Z"},
		},
		got.Outlook: {
			"path": {"/calendar/action/compose"}, "rru": {"addevent"}, "subject": {"Coaching & more"},
			"location": {"1 Rue de Rivoli"}, "startdt": {"2026-06-15T01:00:00Z"}, "enddt": {"2026-06-15T02:00:00Z"},
		},
	} {
		u, err := url.Parse(link)
		if err != nil || u.Scheme != "https" || u.Query().Encode() != want.Encode() {
			t.Errorf("%s: %v, want %v", link, err, want)
		}
	}
}
