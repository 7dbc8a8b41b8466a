package appointment

import (
	"bytes"
	"testing"
	"time"

	"sundry/adapters/web/layout/layouttest"
	"sundry/core/civil"
	"sundry/core/locale"
)

func appointmentSample(state string) page {
	zone, err := civil.ParseZone("America/St_Johns")
	if err != nil {
		panic(err)
	}
	starts := time.Date(2026, 6, 15, 8, 30, 0, 0, time.UTC)
	target := newSpan(locale.Default, zone, starts.Add(time.Hour), starts.Add(2*time.Hour))
	return page{
		reader: locale.Default,
		Path:   "/a/secret", State: state, Title: "Coaching", Seller: "Ada's Workshop",
		Span:    newSpan(locale.Default, zone, starts, starts.Add(time.Hour)),
		Address: "1 Rue de Rivoli\nParis", Target: &target, Later: "/a/secret/reschedule?from=2026-06-29",
		Days: []day{
			{
				Name:  "Monday, 15 June 2026",
				Times: []openTime{{Clock: "07:00", StartsAt: starts, Href: "/a/secret/reschedule?to=x"}},
			},
		},
	}
}

func newTestRoutes(t *testing.T) *Routes {
	t.Helper()
	r, err := New(layouttest.New(t, true), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestEveryPageOfAnAppointmentRendersInTheBuyersZone(t *testing.T) {
	t.Parallel()
	pages := newTestRoutes(t)
	for template, want := range map[string][]string{
		"appointment.html": {
			"Monday, June 15, 2026, 6:00 AM–7:00 AM", "America/St_Johns, UTC−2:30", "1 Rue de Rivoli\nParis",
			"Add to calendar",
		},
		"appointment_times.html": {"Currently: Monday, June 15, 2026, 6:00 AM–7:00 AM", ">07:00<", "Later days"},
		"appointment_confirm.html": {
			"7:00 AM–8:00 AM", `method="post" action="/a/secret/reschedule"`, `value="2026-06-15T09:30:00.000Z"`,
		},
		"appointment_cancel.html": {`method="post" action="/a/secret/cancel"`, "Keep appointment"},
	} {
		html, err := pages.render(template, "apt.move.title", appointmentSample("confirmed"))
		if err != nil {
			t.Fatal(err)
		}
		for _, words := range want {
			if !bytes.Contains(html, []byte(words)) {
				t.Errorf("%s lacks %q", template, words)
			}
		}
		layouttest.CheckMarkup(t, html)
		if bytes.Contains(html, []byte("<script")) {
			t.Errorf("%s has a script", template)
		}
	}
}

func TestAnAppointmentWithoutAPlaceSaysSo(t *testing.T) {
	t.Parallel()
	p := appointmentSample("confirmed")
	p.Address = ""
	html, err := newTestRoutes(t).render("appointment.html", "apt.move.title", p)
	if err != nil || !bytes.Contains(html, []byte("To be confirmed")) || bytes.Contains(html, []byte("<dd></dd>")) {
		t.Errorf("%v %s", err, html)
	}
}

func TestWordsOnAnAppointmentCannotBecomeMarkup(t *testing.T) {
	t.Parallel()
	attack := `"><script>alert(1)</script>`
	for _, state := range []string{"confirmed", "begun", "canceled"} {
		p := appointmentSample(state)
		p.Title, p.Seller, p.Address, p.Reason, p.Problem = attack, attack, attack, attack, attack
		p.MeetingURL = "javascript:alert(1)"
		for _, template := range []string{"appointment.html", "appointment_times.html", "appointment_confirm.html",
			"appointment_cancel.html"} {
			html, err := newTestRoutes(t).render(template, "apt.move.title", p)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(html, []byte("<script")) || bytes.Contains(html, []byte(`href="javascript:`)) {
				t.Errorf("%s: untrusted words came through", template)
			}
		}
	}
}

func TestThePageNamesTheDayOnWhichAnAppointmentEnds(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 6, 15, 8, 30, 0, 0, time.UTC)
	if got, want := newSpan(locale.Default, time.UTC, at, at.Add(24*time.Hour)).Clock,
		"8:30 AM–Tuesday, June 16, 2026, 8:30 AM"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
