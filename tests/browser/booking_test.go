package browser

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"sundry/tests/harness"
)

func TestAnAppointmentIsBookedWithoutAMouse(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	session := s.sell(s.single, nil)
	b := tabIn(t, newYork)
	b.open(session["checkoutUrl"].(string))
	b.shown()
	active := func() string {
		return eval[string](
			b,
			`document.activeElement.dataset.day || document.activeElement.dataset.start || document.activeElement.id`,
		)
	}
	reach := func(what string, there func(string) bool) {
		t.Helper()
		for range 30 {
			b.press(kb.Tab)
			if there(active()) {
				return
			}
		}
		t.Fatalf("the Tab key does not reach %s", what)
	}
	isDay := func(at string) bool { return len(at) == len("2026-03-08") }
	reach("a day", isDay)
	first := active()
	move := func(key string, want string) {
		t.Helper()
		b.press(key)
		b.wait(`document.activeElement.dataset.day === "` + want + `"`)
	}
	day, err := time.Parse(time.DateOnly, first)
	if err != nil {
		t.Fatal(err)
	}
	on := func(days int) string { return day.AddDate(0, 0, days).Format(time.DateOnly) }
	move(kb.ArrowRight, on(1))
	move(kb.ArrowDown, on(8))
	move(kb.ArrowUp, on(1))
	move(kb.ArrowLeft, first)
	b.press(kb.PageDown)
	later := sameDayNextMonth(day)
	b.wait(`document.activeElement.dataset.day === "` + later.Format(time.DateOnly) + `"`)
	if heading := eval[string](b, `document.querySelector("#month[aria-live=polite]").textContent`); heading != later.Format("January 2006") {
		t.Errorf("the month is announced as %q", heading)
	}
	b.press(kb.Home)
	start := active()
	b.press(kb.End)
	if end, err := time.Parse(time.DateOnly, active()); err != nil ||
		!strings.HasPrefix(end.AddDate(0, 0, -6).Format(time.DateOnly), start) {
		t.Errorf("the week goes from %s to %s", start, active())
	}
	b.wait(`document.querySelector("#days[aria-busy=false]")`)
	chosen := active()
	if stops := eval[int](b, `document.querySelectorAll("#days [tabindex='0']").length`); stops != 1 {
		t.Errorf("%d days take part in the order of the Tab key", stops)
	}
	b.press(" ")
	b.wait(`document.querySelector('#days [data-day="` + chosen + `"][aria-selected=true]')`)
	b.wait(`document.getElementById("status").textContent.startsWith("8 available times on ")`)
	reach("a time", func(at string) bool { return strings.HasSuffix(at, "Z") })
	b.press(kb.ArrowRight)
	b.press(kb.ArrowDown)
	b.press(kb.ArrowLeft)
	at := active()
	b.press(kb.Enter)
	b.wait(`document.querySelector('[role=option][aria-selected=true]').dataset.start === "` + at + `"`)
	b.wait(`document.getElementById("status").textContent.endsWith("selected.")`)
	reach("the way on", func(id string) bool { return id == "confirm" })
	b.press(kb.Enter)
	b.ready()
	b.sees("Your appointment")
	for _, step := range [][2]string{{"email", "ada@example.com"}, {"cardNumber", harness.CardSucceeds},
		{"expiry", "1234"}, {"cvc", "123"}, {"country", "Irel"}} {
		reach(step[0], func(id string) bool { return id == step[0] })
		b.press(step[1])
	}
	reach("submit", func(id string) bool { return id == "submit" })
	b.press(kb.Enter)
	b.sees("Payment complete")
	b.sees("https://meet.example/ada")
	booked := s.booked(session)
	if len(booked) != 1 || booked[0]["startsAt"] != at || booked[0]["timezone"] != newYork {
		t.Errorf("booked %v, chosen %s", booked, at)
	}
	if n := b.cookies(); n != 0 {
		t.Errorf("%d cookies", n)
	}
}

// sameDayNextMonth returns that day, or the last day of a month that has no such day.
func sameDayNextMonth(day time.Time) time.Time {
	last := time.Date(day.Year(), day.Month()+2, 0, 0, 0, 0, 0, time.UTC)
	if day.Day() > last.Day() {
		return last
	}
	return time.Date(day.Year(), day.Month()+1, day.Day(), 0, 0, 0, 0, time.UTC)
}

// TestTheClocksMayChangeBetweenTheTimesOfAPack goes to both changes of a year: the day that lacks an hour, and the one
// that has an hour twice.
func TestTheClocksMayChangeBetweenTheTimesOfAPack(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	s.opens("00:00", "05:00")
	for range 2 {
		_, change := s.now().Add(96 * time.Hour).In(mustZone(t)).ZoneBounds()
		s.advanceTo(change.Add(-72 * time.Hour))
		s.packOver(t, change)
	}
}

// packOver books the hours before and after a change of clocks, and one on the day after.
func (s *studio) packOver(t *testing.T, change time.Time) {
	t.Helper()
	day := change.Format(time.DateOnly)
	open := s.open(s.single, day)
	picked := []string{
		stamp(change.Add(-time.Hour)), stamp(change),
		s.open(s.single, change.AddDate(0, 0, 1).Format(time.DateOnly))[0],
	}
	session := s.sell(s.single, harness.JSON{"variantId": s.pack})
	b := tabIn(t, newYork)
	b.open(session["checkoutUrl"].(string))
	b.shown()
	b.sees("Choose 3 times")
	b.pickDay(day)
	labels := eval[[]string](
		b, `[...document.querySelectorAll("[role=option]")].map(o => o.dataset.start + " " + o.textContent)`,
	)
	if len(labels) != len(open) || (len(open) != 4 && len(open) != 6) {
		t.Fatalf("a day with a change of clocks shows %v of %v", labels, open)
	}
	for i, label := range labels {
		at, words, _ := strings.Cut(label, " ")
		want := "EST (UTC−5)"
		if parse(t, at).In(change.Location()).IsDST() {
			want = "EDT (UTC−4)"
		}
		if at != open[i] || !strings.HasSuffix(words, want) {
			t.Errorf("%s is shown as %q, want %s", at, words, want)
		}
	}
	b.sees("The clocks change on this day.")
	b.pickTime(picked[0])
	b.pickTime(picked[1])
	b.sees("2 of 3 selected")
	b.click("#confirm") // one is missing: nothing happens
	b.pickDay(change.AddDate(0, 0, 1).Format(time.DateOnly))
	b.pickTime(picked[2])
	b.sees("3 of 3 selected")
	if barred := eval[int](
		b, `document.querySelectorAll("[role=option][aria-selected=false][aria-disabled=false]").length`,
	); barred != 0 {
		t.Errorf("a full pack still offers %d times", barred)
	}
	clocks := eval[[]string](b, `[...document.querySelectorAll("#chosen .clock")].map(c => c.textContent)`)
	if all := strings.Join(clocks, "|"); len(clocks) != 3 || !strings.Contains(all, "EDT (UTC−4)") ||
		!strings.Contains(all, "EST (UTC−5)") {
		t.Errorf("chosen: %s", all)
	}
	b.accessible("a pack that is complete")
	b.click("#confirm")
	b.ready()
	if shown := eval[[]string](b, `[...document.querySelectorAll(".held .clock")].map(c => c.textContent)`); !slices.Equal(shown, clocks) {
		t.Errorf("before paying %q, chosen %q", shown, clocks)
	}
	b.payHere()
	b.press(kb.Shift)
	if shown := eval[[]string](b, `[...document.querySelectorAll(".held .clock")].map(c => c.textContent)`); !slices.Equal(shown, clocks) {
		t.Errorf("paid %q, chosen %q", shown, clocks)
	}
	var booked []string
	for _, a := range s.booked(session) {
		booked = append(booked, a["startsAt"].(string))
	}
	if !slices.Equal(booked, picked) {
		t.Errorf("booked %v, chosen %v", booked, picked)
	}
}

func TestAHybridListingAsksWhereBeforeWhen(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	session := s.sell(s.hybrid, nil)
	b := tabIn(t, "Asia/Tokyo")
	b.open(session["checkoutUrl"].(string))
	b.wait(`document.querySelector("#modes:not(:disabled)")`)
	if eval[bool](b, `document.getElementById("calendar").checkVisibility()`) {
		t.Error("times are shown before the place is known")
	}
	b.accessible("choice of the place")
	b.click(`.mode:has([value="in_person"])`)
	b.shown()
	b.do("find a zone by its city", chromedp.Focus(chromedp.CSS("#zone")))
	b.press("Paris")
	b.wait(`document.querySelector("#zone-options [role=option]")?.textContent.startsWith("Paris, France · UTC+")`)
	b.accessible("search for a time zone")
	b.press(kb.Enter)
	b.wait(`document.getElementById("day-zone").textContent.startsWith("Paris, CE")`)
	b.pickDay(s.fullDay())
	at := eval[string](b, `document.querySelectorAll("[role=option]")[2].dataset.start`)
	b.pickTime(at)
	b.accessible("choice of the time")
	b.click("#confirm")
	b.ready()
	b.sees("In person")
	b.accessible("payment of an appointment")
	b.payHere()
	b.press(kb.Shift)
	b.sees("In person: 7 Bridge Street, Brooklyn")
	b.accessible("paid appointment")
	if booked := s.booked(session); len(booked) != 1 || booked[0]["startsAt"] != at ||
		booked[0]["deliveryMode"] != "in_person" || booked[0]["timezone"] != "Europe/Paris" {
		t.Errorf("booked %v", booked)
	}
	manage := eval[string](b, `document.querySelector(".manage").href`)
	b.click("#receipt")
	b.sees("Print or save as PDF")
	b.sees("In person: 7 Bridge Street, Brooklyn")
	b.accessible("receipt of an appointment")
	b.open(manage)
	b.sees("Press lesson")
}

func TestATimeTakenMeanwhileIsNamedAndTheOthersAreKept(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	l := s.Published(t, harness.JSON{
		"type": "APPOINTMENT", "metadata": harness.JSON{"deliveryMethod": "virtual", "slotIntervalMinutes": 30},
	})
	session := s.sell(l, harness.JSON{"variantId": s.packOf(l)})
	b := tabIn(t, newYork)
	b.open(session["checkoutUrl"].(string))
	b.shown()
	day := s.fullDay()
	b.pickDay(day)
	open := s.open(l, day)
	b.pickTime(open[0])
	b.wait(
		`document.querySelector('[role=option][data-start="` + open[1] + `"]').getAttribute("aria-disabled") === "true"`,
	)
	b.pickTime(open[1]) // it overlaps the first
	b.wait(`document.getElementById("status").textContent === "too close to another time you picked"`)
	b.sees("1 of 3 selected")
	b.pickTime(open[2])
	b.pickTime(open[4])
	s.take(l, open[2])
	b.click("#confirm")
	b.sees("That time was just taken")
	b.wait(`document.activeElement.id === "problem"`)
	gone := parse(t, open[2]).In(mustZone(t)).Format("3:04")
	if problem := eval[string](b, `document.getElementById("problem-text").textContent`); !strings.Contains(problem,
		gone) || !strings.Contains(problem, "still selected") {
		t.Errorf("%q does not mention that %s is gone", problem, gone)
	}
	kept := eval[[]string](b, `[...document.querySelectorAll("#chosen time")].map(t => t.dateTime)`)
	if !slices.Equal(kept, []string{open[0], open[4]}) ||
		eval[bool](b, `Boolean(document.querySelector('[role=option][data-start="`+open[2]+`"]'))`) {
		t.Errorf("kept %v of %v", kept, open)
	}
	if held := s.Session(t, session)["appointmentSlots"].([]any); len(held) != 0 {
		t.Errorf("held after the refusal: %v", held)
	}
	b.accessible("a time was taken")
	b.click(`#chosen li:nth-child(2) button`) // a change of mind
	b.wait(`document.activeElement === document.querySelector("#chosen button")`)
	b.pickTime(open[5])
	b.pickTime(open[8])
	b.click("#confirm")
	b.ready()
	shown := eval[[]string](b, `[...document.querySelectorAll(".held time")].map(t => t.dateTime)`)
	if !slices.Equal(shown, []string{open[0], open[5], open[8]}) {
		t.Errorf("on to the payment with %v of %v", shown, open)
	}
}

func TestTimesThatAreOpenOnlyOneByOneAreExplained(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	l := s.Published(t, harness.JSON{
		"type": "APPOINTMENT", "metadata": harness.JSON{"deliveryMethod": "virtual", "dailyCap": 2},
	})
	session := s.sell(l, harness.JSON{"variantId": s.packOf(l)})
	b := tabIn(t, newYork)
	b.open(session["checkoutUrl"].(string))
	b.shown()
	day := s.fullDay()
	b.pickDay(day)
	for _, at := range s.open(l, day)[:3] {
		b.pickTime(at)
	}
	b.click("#confirm")
	b.sees("These times can’t be booked together")
	b.wait(`document.activeElement.id === "problem" && document.querySelectorAll("#chosen time").length === 3`)
	if held := s.Session(t, session)["appointmentSlots"].([]any); len(held) != 0 {
		t.Errorf("held after the refusal: %v", held)
	}
	b.click("#chosen li:nth-child(3) button")
	b.pickDay(parse(t, day+"T00:00:00Z").AddDate(0, 0, 1).Format(time.DateOnly))
	b.click("[role=option]")
	b.click("#confirm")
	b.ready()
}

func TestChosenTimesCanBeChangedBeforePaying(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	b := tabIn(t, newYork)
	b.open(s.sell(s.single, nil)["checkoutUrl"].(string))
	b.shown()
	day := s.fullDay()
	b.pickDay(day)
	open := s.open(s.single, day)
	b.pickTime(open[0])
	b.click("#confirm")
	b.ready()
	b.fill("#email", "ada@buyer.example")
	b.fill("#notes", "I come by bike.")
	b.click("#change")
	b.shown()
	if chosen := eval[string](
		b, `document.querySelector("[role=option][aria-selected=true]").dataset.start`,
	); chosen != open[0] {
		t.Errorf("%s is chosen, want the time that is held, %s", chosen, open[0])
	}
	b.accessible("choosing again")
	b.click("#keep")
	b.ready()
	if got := eval[string](b, `document.getElementById("email").value + ", " + document.getElementById("notes").value`); got !=
		"ada@buyer.example, I come by bike." {
		t.Errorf("behind the calendar the form has %q", got)
	}
	b.click("#change")
	b.shown()
	b.pickTime(open[3])
	b.click("#confirm")
	b.ready()
	if shown := eval[string](b, `document.querySelector(".held time").dateTime`); shown != open[3] {
		t.Errorf("changed to %s, want %s", shown, open[3])
	}
	if now := s.open(s.single, day); !slices.Contains(now, open[0]) || slices.Contains(now, open[3]) {
		t.Errorf("open after the change: %v", now)
	}
	b.payHere()
}
