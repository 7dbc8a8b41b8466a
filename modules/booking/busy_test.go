package booking_test

import (
	"context"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"sundry/core/fault"
	"sundry/modules/booking"
	"sundry/ports"
)

const (
	work = "https://calendar.example.com/work.ics"
	home = "https://calendar.example.com/home.ics"
)

func calendarText(events ...string) string {
	text := "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n"
	for _, e := range events {
		text += "BEGIN:VEVENT\r\n" + e + "\r\nEND:VEVENT\r\n"
	}
	return text + "END:VCALENDAR\r\n"
}

// respond sets what a calendar's address serves; "" is an address that refuses.
func (w *fixture) respond(url, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.calendars == nil {
		w.calendars = map[string]string{}
	}
	if w.calendars[url] = text; text == "" {
		delete(w.calendars, url)
	}
}

// work runs every task that is due, and returns how many ran.
func (w *fixture) work() (ran int) {
	w.t.Helper()
	for {
		tasks, err := w.store.Claim(w.t.Context(), ports.DefaultTasks, w.Real(), time.Minute, 10)
		w.must(err)
		if len(tasks) == 0 {
			return ran
		}
		for _, task := range tasks {
			if task.Kind != booking.TaskReadCalendar {
				w.t.Fatalf("%s %s", task.Kind, task.Subject)
			}
			ran++
			w.must(w.booking.ReadCalendar(w.t.Context(), task))
		}
	}
}

// readings summarizes the last read of each calendar: its address, the times and the failure.
func (w *fixture) readings() string {
	w.t.Helper()
	all, err := w.booking.BusyCalendars(w.t.Context(), creatorID)
	w.must(err)
	var words []string
	for _, c := range all {
		name := strings.TrimPrefix(c.URL, "https://calendar.example.com/")
		if !c.ReadAt.IsZero() {
			name += " read " + c.ReadAt.Format("15:04")
		}
		if !c.FailedAt.IsZero() {
			name += " failed " + c.FailedAt.Format("15:04") + " " + c.Failure
		}
		words = append(words, name)
	}
	return strings.Join(words, ", ")
}

func TestABusyCalendarTakesTimeAndKeepsIt(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		a := w.book("cs_1", "02 14:00")[0]
		// 10:30 in Paris; 14:00 over what is booked
		w.respond(
			work,
			calendarText(
				"DTSTART:20260602T103000\r\nDTEND:20260602T113000", "DTSTART:20260602T120000Z\r\nDURATION:PT1H",
			),
		)
		w.must(w.booking.SetHours(t.Context(), creatorID, hours(), work, home))
		if got := w.readings(); got != "work.ics, home.ics" {
			t.Errorf("before: %s", got)
		}
		if ran := w.work(); ran != 2 {
			t.Errorf("%d ran", ran)
		}
		if got, want := w.readings(), "work.ics read 10:00, home.ics failed 10:00 the connection was refused"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if got, want := w.open("02"), "09 12 13 15 16"; got != want {
			t.Errorf("open: %s, want %s", got, want)
		}
		wantCode(t, "a busy time", w.hold("cs_2", "02 10:00"), fault.SlotTaken)
		if read, err := w.booking.Appointment(t.Context(), creatorID, a.ID); err != nil || !reflect.DeepEqual(read, a) ||
			w.held("cs_1") != "confirmed 02 14:00" {
			t.Errorf("what is booked: %+v, %v", read, err)
		}
		if ran := w.work(); ran != 0 {
			t.Errorf("%d ran again at once", ran)
		}

		w.Advance(15 * time.Minute) // one fails now and keeps what is known, the other can be read
		w.respond(work, "")
		w.respond(home, calendarText("DTSTART:20260602T090000\r\nDURATION:PT1H"))
		w.work()
		if got, want := w.readings(), "work.ics read 10:00 failed 10:15 the connection was refused, home.ics read 10:15"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if got, want := w.open("02"), "12 13 15 16"; got != want {
			t.Errorf("open: %s, want %s", got, want)
		}
		w.Advance(15 * time.Minute)
		w.respond(work, "<html>sign in</html>")
		w.respond(home, calendarText())
		w.work()
		if got, want := w.readings(), "work.ics read 10:00 failed 10:30 the response is not an iCalendar file, home.ics read 10:30"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		// read again as soon as the settings change
		w.respond(work, calendarText("DTSTART:20260602T150000\r\nDURATION:PT1H"))
		w.must(w.booking.SetHours(t.Context(), creatorID, hours(), work))
		w.work()
		if got, want := w.open("02"), "09 10 11 12 13 16"; got != want || w.readings() != "work.ics read 10:30" {
			t.Errorf("open: %s, want %s; %s", got, want, w.readings())
		}
		w.must(w.booking.SetHours(t.Context(), creatorID, hours()))
		w.Advance(time.Hour)
		if ran := w.work(); ran != 0 || w.readings() != "" || w.open("02") != "09 10 11 12 13 15 16" {
			t.Errorf("without calendars: %d ran, %s, open %s", ran, w.readings(), w.open("02"))
		}
	})
}

func TestBusyCalendarsThatAreRefusedChangeNothing(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.must(w.booking.SetHours(t.Context(), creatorID, hours(), work))
		bad := hours()
		bad.Timezone = "UTC"
		for name, urls := range map[string][]string{
			"plain http": {"http://calendar.example.com/"}, "inside": {"https://10.0.0.1/"},
			"a name inside": {"https://localhost/a.ics"}, "twice": {home, home},
			"too many": {home, home + "1", home + "2", home + "3", home + "4", home + "5"}, "no address": {"calendar"},
			"another scheme": {"webcal://calendar.example.com/"},
		} {
			wantCode(t, name, w.booking.SetHours(t.Context(), creatorID, bad, urls...), fault.ValidationFailed)
		}
		if setup, err := w.booking.Setup(t.Context(), creatorID); err != nil || setup.Hours.Timezone != "Europe/Paris" ||
			w.readings() != "work.ics" {
			t.Errorf("%+v, %v, %s", setup, err, w.readings())
		}
	})
}

// TestReadingRacesTheSettings: a calendar that is taken off the list while it is read leaves nothing behind.
func TestReadingRacesTheSettings(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.respond(work, calendarText("DTSTART:20260602T090000\r\nDURATION:P1D"))
		for range 10 {
			w.must(w.booking.SetHours(t.Context(), creatorID, hours(), work))
			tasks, err := w.store.Claim(t.Context(), ports.DefaultTasks, w.Real(), time.Minute, 10)
			w.must(err)
			var race sync.WaitGroup
			for _, task := range tasks {
				race.Go(func() { _ = w.booking.ReadCalendar(context.Background(), task) }) // fenced, or gone
			}
			race.Go(func() { w.must(w.booking.SetHours(context.Background(), creatorID, hours())) })
			race.Wait()
			if got := w.open("02"); got != "09 10 11 12 13 14 15 16" || w.readings() != "" {
				t.Fatalf("open %s, %s", got, w.readings())
			}
		}
	})
}
