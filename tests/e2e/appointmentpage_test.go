package e2e_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"sundry/tests/harness"
)

// page is a page of an appointment below its address, as a buyer's browser asks for it.
func (w *fixture) page(t *testing.T, a bookedTime, path string) *harness.Response {
	t.Helper()
	return w.Ask(t, harness.Request{Method: get, Path: strings.TrimPrefix(a.ManageURL, w.URL) + path})
}

// send sends a form of such a page.
func (w *fixture) send(t *testing.T, a bookedTime, path string, form url.Values) *harness.Response {
	t.Helper()
	return w.Ask(t, harness.Request{
		Method: post, Path: strings.TrimPrefix(a.ManageURL, w.URL) + path, Body: form.Encode(),
		Headers: map[string]string{"Content-Type": "application/x-www-form-urlencoded"},
	})
}

func (w *fixture) read(t *testing.T, a bookedTime) (now bookedTime) {
	t.Helper()
	w.AsBackend(t, get, "/v1/appointments/"+a.ID, nil).Want(t, 200).Into(t, &now)
	return now
}

func wantWords(t *testing.T, page *harness.Response, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(string(page.Body), word) {
			t.Errorf("the page lacks %q", word)
		}
	}
}

var openTimeLink = regexp.MustCompile(`href="/a/[^"?]+/reschedule(\?to=[^"]+)"`)

func TestABuyerMovesTheAppointmentByItsLink(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		a, taken := w.booked(t), w.booked(t)
		shown := w.page(t, a, "").Want(t, 200)
		wantWords(
			t, shown, "Asia/Kathmandu, UTC&#43;5:45", "Join meeting", *a.MeetingURL, "Choose another time",
			`<time datetime="`+a.StartsAt+`"`,
		)
		for name, want := range map[string]string{
			"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY",
			"X-Content-Type-Options": "nosniff", "Set-Cookie": "",
		} {
			if got := shown.Header.Get(name); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
		if policy := shown.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "script-src 'none'") ||
			!strings.Contains(policy, "form-action 'self'") || !strings.Contains(policy, "frame-ancestors 'none'") {
			t.Errorf("policy %q", policy)
		}
		times := w.page(t, a, "/reschedule").Want(t, 200)
		links := openTimeLink.FindAllStringSubmatch(string(times.Body), -1)
		if len(links) < 10 || strings.Contains(string(times.Body), url.QueryEscape(taken.StartsAt)) ||
			strings.Contains(string(times.Body), url.QueryEscape(a.StartsAt)) {
			t.Fatalf("%d times, or one that is not free", len(links))
		}
		wantWords(t, w.page(t, a, "/reschedule"+links[3][1]).Want(t, 200), "Move your appointment?")
		query, err := url.ParseQuery(links[3][1][1:])
		if err != nil {
			t.Fatal(err)
		}
		target := query.Get("to")
		refused := w.send(t, a, "/reschedule", url.Values{"startsAt": {taken.StartsAt}}).Want(t, 409)
		wantWords(t, refused, "was just taken", "Days to choose from")
		if moved := w.send(t, a, "/reschedule", url.Values{"startsAt": {target}}).
			Want(t, 303).Header.Get("Location"); !strings.HasSuffix(moved, "?done=moved") {
			t.Errorf("moved and led to %s", moved)
		}
		w.send(t, a, "/reschedule", url.Values{"startsAt": {target}}).Want(t, 303) // pressed twice
		wantWords(
			t, w.page(t, a, "?done=moved").Want(t, 200), "Your appointment was moved", `<time datetime="`+target+`"`,
		)
		if now := w.read(t, a); now.StartsAt != target || now.Timezone != "Asia/Kathmandu" ||
			*now.MeetingURL != *a.MeetingURL {
			t.Errorf("%+v", now)
		}
		if got, want := w.changesOf(t, a.ID), "rescheduled from "+a.StartsAt+", booked"; got != want {
			t.Errorf("published %s, want %s", got, want)
		}
		for _, garbage := range []string{"", "soon", "2026", "%00"} {
			w.send(t, a, "/reschedule", url.Values{"startsAt": {garbage}}).Want(t, 303)
		}
		w.page(t, a, "/reschedule?from=9999-12-31&to=x").Want(t, 200)
		w.page(t, a, "/reschedule?from=nonsense").Want(t, 200)
	})
}

func TestThePageSaysThatABuyerHasMovedTooOften(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		a := w.booked(t)
		links := openTimeLink.FindAllStringSubmatch(string(w.page(t, a, "/reschedule").Want(t, 200).Body), -1)
		var targets []string
		for _, link := range links[:2] {
			query, err := url.ParseQuery(link[1][1:])
			if err != nil {
				t.Fatal(err)
			}
			targets = append(targets, query.Get("to"))
		}
		move := func(n int) *harness.Response {
			return w.send(t, a, "/reschedule", url.Values{"startsAt": {targets[n%2]}})
		}
		for n := range 10 {
			move(n).Want(t, 303)
		}
		refused := move(10).Want(t, 409)
		wantWords(t, refused, "moved this appointment 10 times. Ask Ada&#39;s Workshop to move it again.")
		if strings.Contains(string(refused.Body), "no longer active") {
			t.Errorf("the page of an appointment that is still to come says that it has ended: %s", refused.Body)
		}
	})
}

func TestABuyerCancelsTheAppointmentByItsLink(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		a := w.booked(t)
		wantWords(
			t, w.page(t, a, "/cancel").Want(t, 200), "Cancel this appointment?", "This appointment isn’t refunded",
		)
		wantWords(
			t, w.send(t, a, "/cancel", url.Values{"reason": {strings.Repeat("x", 501)}}).Want(t, 400),
			"at most 500 characters",
		)
		if now := w.read(t, a); now.Status != "confirmed" {
			t.Errorf("refused and canceled: %+v", now)
		}
		w.send(t, a, "/cancel", url.Values{"reason": {"I am <b>ill</b>"}}).Want(t, 303)
		w.send(t, a, "/cancel", url.Values{}).Want(t, 303) // pressed twice
		wantWords(t, w.page(t, a, "").Want(t, 200), "You canceled this appointment", "This appointment isn’t refunded")
		wantWords(t, w.page(t, a, "").Want(t, 200), "I am &lt;b&gt;ill&lt;/b&gt;")
		for _, path := range []string{"/cancel", "/reschedule"} {
			w.page(t, a, path).Want(t, 303)
		}
		if now := w.read(t, a); now.Status != "canceled" || *now.CancelReason != "I am <b>ill</b>" {
			t.Errorf("%+v", now)
		}
		if got := w.changesOf(t, a.ID); got != "canceled, booked" {
			t.Errorf("published %s", got)
		}
		file := w.page(t, a, "/calendar.ics").Want(t, 200)
		if !strings.HasPrefix(file.Header.Get("Content-Type"), "text/calendar") ||
			!strings.Contains(string(file.Body), "STATUS:CANCELLED\r\n") ||
			!strings.Contains(string(file.Body), "SEQUENCE:1\r\n") {
			t.Errorf("%v %s", file.Header, file.Body)
		}
	})
}

func TestThePageOfAnAppointmentThatHasBegunSaysSo(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		a := w.booked(t)
		w.AsBackend(t, post, "/v1/sandbox/clock/advance", harness.JSON{"to": a.StartsAt}).Want(t, 200)
		page := w.page(t, a, "").Want(t, 200)
		wantWords(t, page, "has started or is over", "Join meeting")
		if strings.Contains(string(page.Body), "Choose another time") ||
			strings.Contains(string(page.Body), "Cancel appointment") {
			t.Error("the page offers what is not possible any more")
		}
		w.send(t, a, "/cancel", url.Values{}).Want(t, 303)
		if now := w.read(t, a); now.Status != "confirmed" {
			t.Errorf("%+v", now)
		}
	})
}

func TestALinkThatWasNotGivenOutOpensNothing(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		a := w.booked(t)
		forged := a
		forged.ManageURL = a.ManageURL[:len(a.ManageURL)-1] +
			map[bool]string{true: "1", false: "0"}[strings.HasSuffix(a.ManageURL, "0")]
		byID := a
		byID.ManageURL = w.URL + "/a/" + a.ID
		for _, bad := range []bookedTime{forged, byID} {
			for _, path := range []string{"", "/calendar.ics", "/reschedule", "/cancel"} {
				wantWords(t, w.page(t, bad, path).Want(t, 404), "Page not found")
			}
			w.send(t, bad, "/cancel", url.Values{}).Want(t, 404)
			w.send(t, bad, "/reschedule", url.Values{"startsAt": {a.StartsAt}}).Want(t, 404)
		}
		if now := w.read(t, a); now.Status != "confirmed" || now.StartsAt != a.StartsAt {
			t.Errorf("%+v", now)
		}
	})
}

// feed is the secret of the account's calendar address.
func (w *fixture) feed(t *testing.T) string {
	t.Helper()
	var feed struct{ URL string }
	w.AsCreator(t, get, "/v1/scheduling/feed", nil).Want(t, 200).Into(t, &feed)
	return strings.TrimSuffix(feed.URL[strings.LastIndexByte(feed.URL, '/')+1:], ".ics")
}

func TestACreatorSubscribesToTheirAppointments(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		a := w.booked(t)
		first := w.feed(t)
		read := func(secret string) *harness.Response {
			return w.Ask(t, harness.Request{Method: get, Path: "/calendar/" + secret + ".ics"})
		}
		calendar := read(first).Want(t, 200)
		if !strings.Contains(string(calendar.Body), "UID:"+a.ID+"@") ||
			calendar.Header.Get("Content-Type") != "text/calendar; charset=utf-8" ||
			calendar.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%v %s", calendar.Header, calendar.Body)
		}
		w.AsCreator(t, post, "/v1/scheduling/feed/rotate", nil).Want(t, 200)
		if second := w.feed(t); second == first {
			t.Error("the address was not replaced")
		} else {
			read(second).Want(t, 200)
		}
		read(first).Refuses(t, 404, "NOT_FOUND")
		read(a.ID).Refuses(t, 404, "NOT_FOUND")
	})
}
