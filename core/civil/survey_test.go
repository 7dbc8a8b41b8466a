package civil

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"sundry/core/fault"
	"sundry/core/fault/faulttest"
)

func at(t *testing.T, text string) int64 {
	t.Helper()
	instant, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return instant.UnixMilli()
}

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	location, err := ParseZone(name)
	if err != nil {
		t.Fatal(err)
	}
	return location
}

// Reading a zone opens a file, so nothing that cannot be the name of one gets that far.
func TestOnlyWhatLooksLikeAZoneIsLookedFor(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"Europe/Paris": true, "Etc/GMT+10": true, "Etc/GMT-9": true, "Zulu": true, "Etc/a_z": true,
		strings.Repeat("a", 64): true, "Localsville": true,
		strings.Repeat("a", 65): false, "Europe/": false, "a//b": false, "/a": false, "+a": false, "5a": false, "a.b": false,
		"a:b": false, "a@b": false, "a[b": false,
		"a`b": false, "a{b": false, "a b": false, "right/a": false, "posix/a": false, "é": false,
	} {
		if zoneName(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
	if first, again := zone(t, "Europe/Paris"), zone(t, "Europe/Paris"); first != again {
		t.Error("a zone is read twice")
	}
}

func TestAZoneThatIsNoneIsAFaultOfItsMember(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"Europe/Paris": "", "": "slot.timezone REQUIRED",
		"Europe/Atlantis": "slot.timezone INVALID"} {
		var f fault.Violations
		found := CheckZone(f.Nest("slot"), name)
		if got := strings.Join(faulttest.Lines(t, f.Err()), ", "); got != want || (found != nil) != (want == "") {
			t.Errorf("%q: %v, %s", name, found, got)
		}
	}
}

func TestOnlyWrongZonesHaveACodeOfTheirOwn(t *testing.T) {
	t.Parallel()
	wrong := fault.Detail{Field: "timezone", Code: fault.DetailInvalid, Message: "m"}
	nested, other, missing := wrong, wrong, wrong
	nested.Field, other.Field, missing.Code = "slots[0].timezone", "mytimezone", fault.DetailRequired
	for name, c := range map[string]struct {
		err  error
		want fault.Code
	}{
		"none":                      {nil, ""},
		"another error":             {io.EOF, fault.Internal},
		"without details":           {fault.New(fault.ValidationFailed, "m"), fault.ValidationFailed},
		"a zone":                    {fault.Invalid(wrong), fault.InvalidTimezone},
		"two zones":                 {fault.Invalid(wrong, nested), fault.InvalidTimezone},
		"a zone that is missing":    {fault.Invalid(missing), fault.ValidationFailed},
		"a member of another name":  {fault.Invalid(other), fault.ValidationFailed},
		"a zone and something else": {fault.Invalid(wrong, other), fault.ValidationFailed},
	} {
		got := AsInvalidTimezone(c.err)
		if fault.CodeOf(got) != c.want || c.want != fault.InvalidTimezone && !errors.Is(got, c.err) {
			t.Errorf("%s: %v", name, got)
		}
		before, _ := errors.AsType[*fault.Error](c.err)
		if after, ok := errors.AsType[*fault.Error](got); ok && (len(after.Details) != len(before.Details) ||
			after.Message != before.Message) {
			t.Errorf("%s: %+v", name, after)
		}
	}
}

// TestASurveyAnswersOutsideItsStretchToo asks one of a summer about the decade around it, and one that has no start.
func TestASurveyAnswersOutsideItsStretchToo(t *testing.T) {
	t.Parallel()
	for _, name := range odd {
		location := zone(t, name)
		z := ZoneBetween(location, at(t, "2026-06-01T00:00:00Z"), at(t, "2026-06-30T00:00:00Z"))
		for instant := at(t, "2022-01-01T00:00:00Z"); instant < at(t, "2030-01-01T00:00:00Z"); instant += 7*dayMs + hourMs {
			want := DateTime(instant + offsetByTime(location, instant))
			if got := z.DateTime(instant); got != want || DateIn(location, time.UnixMilli(instant)) != want.Date() {
				t.Fatalf("%s: %d shows %d, want %d", name, instant, got, want)
			}
			if got, want := z.Instant(want), Instant(location, want).UnixMilli(); got != want {
				t.Fatalf("%s: an instant of %d, want %d", name, got, want)
			}
		}
		for _, edge := range []int64{z.spans[0].from, z.spans[len(z.spans)-1].until} {
			for r := edge - 30*hourMs; r < edge+30*hourMs && r > at(t, "1900-01-01T00:00:00Z") &&
				r < at(t, "2100-01-01T00:00:00Z"); r += hourMs / 2 {
				if got, want := z.Instant(DateTime(r)), Instant(location, DateTime(r)).UnixMilli(); got != want {
					t.Fatalf("%s: at its edge %d is %d, want %d", name, r, got, want)
				}
			}
		}
		for _, early := range []string{"1969-07-20T16:17:00Z", "1967-01-15T12:00:00Z"} {
			if got := Instant(location, DateTime(at(t, early))).UnixMilli(); got+offsetByTime(location, got) != at(t, early) {
				t.Errorf("%s: %s is %d", name, early, got)
			}
		}
		if _, change := time.UnixMilli(at(t, "2026-01-15T00:00:00Z")).In(location).ZoneBounds(); !change.IsZero() {
			r := change.UnixMilli() - maxUTCOffset // where the margin ends with the stretch
			if got := Instant(location, DateTime(r)).UnixMilli(); got+offsetByTime(location, got) != r {
				t.Errorf("%s: the reading a margin before a change is %d", name, got)
			}
		}
	}
}

func TestSurveyOfTheYearAfterALeapYear(t *testing.T) {
	t.Parallel()
	location := zone(t, "America/New_York")
	z := ZoneBetween(location, at(t, "2041-01-02T00:00:00Z")-dayMs, at(t, "2042-02-01T00:00:00Z"))
	for instant := at(t, "2040-12-31T00:00:00Z"); instant < at(t, "2042-02-01T00:00:00Z"); instant += 6 * hourMs {
		if got, want := int64(z.DateTime(instant)), instant+offsetByTime(location, instant); got != want {
			t.Fatalf("%d shows %d, want %d", instant, got, want)
		}
	}
}

func TestDaysBeginAndEndWhereTheirClocksShowMidnight(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ zone, first, last, from, until string }{
		"a day": {"Europe/Paris", "2026-06-15", "2026-06-15", "2026-06-14T22:00:00Z",
			"2026-06-15T22:00:00Z"},
		"two days": {"Europe/Paris", "2026-06-15", "2026-06-16", "2026-06-14T22:00:00Z",
			"2026-06-16T22:00:00Z"},
		"a day of 23 hours": {"Europe/Paris", "2026-03-29", "2026-03-29", "2026-03-28T23:00:00Z",
			"2026-03-29T22:00:00Z"},
		"a day of 25 hours": {"Europe/Paris", "2026-10-25", "2026-10-25", "2026-10-24T22:00:00Z",
			"2026-10-25T23:00:00Z"},
		"a midnight that is skipped": {"Africa/Cairo", "2026-04-24", "2026-04-24", "2026-04-23T22:00:00Z",
			"2026-04-24T21:00:00Z"},
		"a day that is shown once more": {"America/St_Johns", "2010-11-06", "2010-11-06", "2010-11-06T02:30:00Z",
			"2010-11-07T03:30:00Z"},
		"clocks that go back to the midnight": {"America/Havana", "2026-10-31", "2026-10-31", "2026-10-31T04:00:00Z",
			"2026-11-01T04:00:00Z"},
	} {
		first, _ := ParseDate(c.first)
		last, _ := ParseDate(c.last)
		if _, from, until := ZoneForDays(zone(t, c.zone), first, last); from != at(t, c.from) || until != at(t, c.until) {
			t.Errorf("%s: %s to %s", name, time.UnixMilli(from).UTC(), time.UnixMilli(until).UTC())
		}
	}
}
