package civil

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // the rules of every zone ship with the program: a bare container has none

	"sundry/core/fault"
)

// maxZoneName is well above the longest IANA name (America/Argentina/ComodRivadavia, 32).
const maxZoneName = 64

// notZones are names that systems keep beside the IANA zones: this machine's own zone, and zones that count leap
// seconds.
var notZones = []string{"Local", "localtime", "posixrules", "Factory", "posix/", "right/"}

// loaded keeps the zones already read: reading one opens a file. Only existing zones get in, so it stays small.
var loaded sync.Map // string → *time.Location

// ParseZone finds a time zone by its IANA name. INVALID_TIMEZONE for anything else: unknown names, offsets, "Local",
// "".
func ParseZone(name string) (*time.Location, error) {
	if known, ok := loaded.Load(name); ok {
		zone, _ := known.(*time.Location)
		return zone, nil
	}
	if zoneName(name) {
		if zone, err := time.LoadLocation(name); err == nil {
			loaded.Store(name, zone)
			return zone, nil
		}
	}
	return nil, fault.New(fault.InvalidTimezone, expectedZone)
}

const (
	expectedZone = "Expected the IANA name of a time zone, such as Europe/Paris."
	zoneField    = "timezone"
)

// CheckZone finds the zone of the request's member timezone below f, recording a fault for what is none.
func CheckZone(f *fault.Violations, name string) *time.Location {
	zone, err := ParseZone(name)
	if f.Check(name != "", zoneField, fault.DetailRequired, expectedZone) {
		f.Check(err == nil, zoneField, fault.DetailInvalid, expectedZone)
	}
	return zone
}

// AsInvalidTimezone turns a VALIDATION_FAILED into INVALID_TIMEZONE when names that are no zones are all that is wrong.
// Every other error stays as it is: that a member is missing, doubled or a number has nothing to do with zones.
func AsInvalidTimezone(err error) error {
	var refused *fault.Error
	if !errors.As(err, &refused) || len(refused.Details) == 0 {
		return err
	}
	for _, d := range refused.Details {
		if d.Code != fault.DetailInvalid || d.Field != zoneField && !strings.HasSuffix(d.Field, "."+zoneField) {
			return err
		}
	}
	only := fault.New(fault.InvalidTimezone, refused.Message)
	only.Details = refused.Details
	return only
}

func zoneName(name string) bool {
	if name == "" || len(name) > maxZoneName || !letter(rune(name[0])) || strings.Contains(name, "//") ||
		strings.HasSuffix(name, "/") {
		return false
	}
	for _, not := range notZones {
		if name == not || strings.HasSuffix(not, "/") && strings.HasPrefix(name, not) {
			return false
		}
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return !letter(r) && (r < '0' || r > '9') && !strings.ContainsRune("/_+-", r)
	})
}

func letter(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' }

// Instant returns the instant at which the clocks of a zone first show a reading, or a later one: of a repeated hour
// the first pass, of a skipped hour the instant at which the clocks jump over it.
func Instant(zone *time.Location, r DateTime) time.Time {
	return time.UnixMilli(ZoneBetween(zone, int64(r), int64(r)).Instant(r)).UTC()
}

// Zone is a time zone surveyed over a stretch of time: it is read many times without asking the zone's rules again.
type Zone struct {
	location *time.Location
	spans    []span // in order and without gaps
}

// span is a stretch, [from, until) in milliseconds since 1970 UTC, in which the clocks are ahead of UTC by offset.
type span struct{ from, until, offset int64 }

// maxUTCOffset is more than any clock is ahead of or behind UTC.
const maxUTCOffset = 26 * hourMs

// ZoneBetween prepares a zone for questions about [from, until], in milliseconds since 1970 UTC. Others are possible
// too, only slower.
func ZoneBetween(location *time.Location, from, until int64) *Zone {
	z := &Zone{location: location, spans: make([]span, 0, 4)}
	from, until = from-maxUTCOffset, until+maxUTCOffset
	for at := from; ; {
		start, end, offset := bounds(location, at)
		if last := len(z.spans) - 1; last >= 0 && z.spans[last].offset == offset {
			z.spans[last].until = end // only the name changed
		} else {
			z.spans = append(z.spans, span{start, end, offset})
		}
		if end > until {
			return z
		}
		at = end
	}
}

// bounds is the stretch of one offset that an instant lies in; the first and the last have no end.
func bounds(location *time.Location, at int64) (from, until, offset int64) {
	t := time.UnixMilli(at).In(location)
	start, end := t.ZoneBounds()
	from, until = -1<<62, 1<<62
	if !start.IsZero() {
		from = start.UnixMilli()
	}
	if !end.IsZero() {
		until = end.UnixMilli()
	}
	if until <= at { // where only rules are left, the standard library counts 365 days to every year
		until = time.Date(t.UTC().Year()+1, time.January, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	}
	_, seconds := t.Zone()
	return from, until, int64(seconds) * 1000
}

// DateTime returns the reading of the zone's clocks at an instant, in milliseconds since 1970 UTC.
func (z *Zone) DateTime(at int64) DateTime {
	for i := range z.spans {
		if s := &z.spans[i]; s.from <= at && at < s.until {
			return DateTime(at + s.offset)
		}
	}
	return dateTimeIn(z.location, at)
}

func dateTimeIn(location *time.Location, at int64) DateTime {
	_, seconds := time.UnixMilli(at).In(location).Zone()
	return DateTime(at + int64(seconds)*1000)
}

// Instant returns the result of the function Instant in milliseconds since 1970 UTC.
func (z *Zone) Instant(r DateTime) int64 {
	wall := int64(r)
	if first, last := z.spans[0], z.spans[len(z.spans)-1]; wall-maxUTCOffset < first.from ||
		wall+maxUTCOffset >= last.until {
		return ZoneBetween(z.location, wall, wall).Instant(r)
	}
	// Before the first span no clock showed r yet; within one they show it at r − offset, or have shown it already
	// when the span begins.
	for i := range z.spans {
		if s := &z.spans[i]; wall-s.offset < s.until {
			return max(wall-s.offset, s.from)
		}
	}
	panic("civil: a survey ends before its own margin") // the condition above excludes it
}

// ZoneForDays surveys a zone over the days from first to last, both included, and returns between which instants,
// [from, until), its clocks show them. Where clocks go back over a midnight, other days are shown in between too.
func ZoneForDays(location *time.Location, first, last Date) (z *Zone, from, until int64) {
	begin, end := first.At(0), (last + 1).At(0)
	z = ZoneBetween(location, int64(begin)-maxUTCOffset, int64(end)+maxUTCOffset)
	from, until = z.Instant(begin), z.Instant(end)
	for _, s := range z.spans {
		if s.from > until && s.from+s.offset < int64(end) { // the clocks went back and show the last day once more
			until = min(int64(end)-s.offset, s.until)
		}
	}
	return z, from, until
}

// ZoneLabel names a zone and describes how its clocks stand to UTC at an instant, once where both are the same:
// "Asia/Kathmandu, UTC+5:45", "UTC".
func ZoneLabel(at time.Time, zone *time.Location) string {
	name, offset := CurrentZoneName(zone.String()), Offset(at, zone)
	if strings.TrimPrefix(name, "Etc/") == offset {
		return offset
	}
	return name + ", " + offset
}

// Offset specifies how a zone's clocks stand to UTC at an instant: "UTC+5:45", "UTC−3", "UTC".
func Offset(at time.Time, zone *time.Location) string {
	_, seconds := at.In(zone).Zone()
	sign := "+"
	if seconds < 0 {
		sign, seconds = "−", -seconds
	}
	switch hours, minutes := seconds/3600, seconds/60%60; {
	case hours == 0 && minutes == 0:
		return "UTC"
	case minutes == 0:
		return fmt.Sprintf("UTC%s%d", sign, hours)
	default:
		return fmt.Sprintf("UTC%s%d:%02d", sign, hours, minutes)
	}
}
