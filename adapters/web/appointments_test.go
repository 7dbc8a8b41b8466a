package web

import (
	"bytes"
	"testing"
	"time"

	"sundry/core/civil"
)

func appointmentSample(state string) AppointmentPage {
	zone, err := civil.ParseZone("America/St_Johns")
	if err != nil {
		panic(err)
	}
	starts := time.Date(2026, 6, 15, 8, 30, 0, 0, time.UTC)
	target := spanIn(zone, starts.Add(time.Hour), starts.Add(2*time.Hour))
	return AppointmentPage{
		Path: "/a/secret", State: state, Title: "Coaching", Seller: "Ada's Workshop", Span: spanIn(zone, starts, starts.Add(time.Hour)),
		Address: "1 Rue de Rivoli\nParis", Target: &target, Later: "/a/secret/reschedule?from=2026-06-29",
		Days: []AppointmentDay{{Name: "Monday, 15 June 2026", Times: []AppointmentTime{{Clock: "07:00", StartsAt: starts, Href: "/a/secret/reschedule?to=x"}}}},
	}
}

func TestEveryPageOfAnAppointmentRendersInTheBuyersZone(t *testing.T) {
	t.Parallel()
	pages := newTestPages(t, true)
	for template, want := range map[string][]string{
		"appointment.html":         {"Monday, 15 June 2026, 06:00–07:00", "America/St_Johns, UTC−2:30", "1 Rue de Rivoli\nParis", "Add to calendar"},
		"appointment_times.html":   {"At present: Monday, 15 June 2026, 06:00–07:00", ">07:00<", "Later days"},
		"appointment_confirm.html": {"07:00–08:00", `method="post" action="/a/secret/reschedule"`, `value="2026-06-15T09:30:00.000Z"`},
		"appointment_cancel.html":  {`method="post" action="/a/secret/cancel"`, "No, keep it"},
	} {
		html, err := pages.AppointmentHTML(template, "apt.move.title", appointmentSample("confirmed"))
		if err != nil {
			t.Fatal(err)
		}
		for _, words := range want {
			if !bytes.Contains(html, []byte(words)) {
				t.Errorf("%s lacks %q", template, words)
			}
		}
		checkMarkup(t, html)
		if bytes.Contains(html, []byte("<script")) {
			t.Errorf("%s has a script", template)
		}
	}
}

func TestAnAppointmentWithoutAPlaceSaysSo(t *testing.T) {
	t.Parallel()
	page := appointmentSample("confirmed")
	page.Address = ""
	html, err := newTestPages(t, true).AppointmentHTML("appointment.html", "apt.move.title", page)
	if err != nil || !bytes.Contains(html, []byte("Not said yet")) || bytes.Contains(html, []byte("<dd></dd>")) {
		t.Errorf("%v %s", err, html)
	}
}

func TestWordsOnAnAppointmentCannotBecomeMarkup(t *testing.T) {
	t.Parallel()
	attack := `"><script>alert(1)</script>`
	for _, state := range []string{"confirmed", "begun", "canceled"} {
		page := appointmentSample(state)
		page.Title, page.Seller, page.Address, page.Reason, page.Problem = attack, attack, attack, attack, attack
		page.MeetingURL = "javascript:alert(1)"
		for _, template := range []string{"appointment.html", "appointment_times.html", "appointment_confirm.html", "appointment_cancel.html"} {
			html, err := newTestPages(t, true).AppointmentHTML(template, "apt.move.title", page)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(html, []byte("<script")) || bytes.Contains(html, []byte(`href="javascript:`)) {
				t.Errorf("%s: foreign words came through", template)
			}
		}
	}
}
