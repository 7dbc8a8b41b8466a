package ical

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
	"time"

	"sundry/core/civil"
)

const (
	// mostZones bounds the time zones of a calendar, mostObservances the parts of one, mostTransitions its changes.
	mostZones       = 200
	mostObservances = 100
	mostTransitions = 5000
)

// timezone contains the parts of a VTIMEZONE that are kept.
type timezone struct {
	location    string // X-LIC-LOCATION, the IANA name
	observances []observance
}

// observance is a STANDARD or DAYLIGHT part: when its offset begins, on the clock of the one before.
type observance struct {
	begins, from, to, rule string
	extra                  []string
}

func (z *timezone) set(depth int, l line) {
	if depth == 2 {
		if l.name == "X-LIC-LOCATION" {
			z.location = l.value
		}
		return
	}
	if len(z.observances) == 0 {
		return
	}
	o := &z.observances[len(z.observances)-1]
	switch l.name {
	case "DTSTART":
		o.begins = l.value
	case "TZOFFSETFROM":
		o.from = l.value
	case "TZOFFSETTO":
		o.to = l.value
	case "RRULE":
		o.rule = l.value
	case "RDATE":
		if len(o.extra) < mostObservances {
			o.extra = append(o.extra, strings.Split(l.value, ",")...)
		}
	}
}

// transition is a moment at which the offset from UTC becomes another one, in seconds.
type transition struct {
	at       int64
	from, to int
}

// load returns the zone up to the horizon, nil for one that says nothing.
func (b *busyReader) load(z timezone) (*time.Location, error) {
	if zone, err := civil.ParseZone(z.location); err == nil {
		return zone, nil
	}
	var all []transition
	for _, o := range z.observances {
		begins, err := time.Parse("20060102T150405", o.begins)
		from, known := offset(o.from)
		to, ends := offset(o.to)
		if err != nil || !known || !ends {
			continue
		}
		add := func(at time.Time) {
			if len(all) < mostTransitions {
				all = append(all, transition{at.Unix() - int64(from), from, to})
			}
		}
		for _, text := range o.extra {
			if at, err := time.Parse("20060102T150405", text); err == nil {
				add(at)
			}
		}
		if err := b.repeat(o.rule, begins, add); err != nil {
			return nil, err
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	slices.SortFunc(all, func(a, b transition) int { return cmp.Compare(a.at, b.at) })
	return time.LoadLocationFromTZData("", tzif(all))
}

// offset reads +HHMM or +HHMMSS as seconds.
func offset(text string) (seconds int, ok bool) {
	digits := strings.TrimLeft(text, "+-")
	n, err := strconv.Atoi(digits)
	if err != nil || len(text) != len(digits)+1 || len(digits) != 4 && len(digits) != 6 {
		return 0, false
	}
	if len(digits) == 4 {
		n *= 100
	}
	seconds = n/10000*3600 + n/100%100*60 + n%100
	if text[0] == '-' {
		seconds = -seconds
	}
	return seconds, seconds < 24*3600 && seconds > -24*3600
}

// tzif writes transitions as the file of a time zone (RFC 8536), version 2, whose block for version 1 is empty.
func tzif(all []transition) []byte {
	offsets := []int{all[0].from}
	var times, kinds, zones []byte
	for _, t := range all {
		kind := slices.Index(offsets, t.to)
		if kind < 0 {
			kind, offsets = len(offsets), append(offsets, t.to)
		}
		times = binary.BigEndian.AppendUint64(times, uint64(t.at)) //nolint:gosec // the format has two's complement
		kinds = append(kinds, byte(kind))                          //nolint:gosec // at most mostObservances + 1
	}
	for _, seconds := range offsets {
		zones = binary.BigEndian.AppendUint32(zones, uint32(seconds)) //nolint:gosec // as above
		zones = append(zones, 0, 0)                                   // as standard time, named by byte 0
	}
	header := append([]byte("TZif2"), make([]byte, 15)...)
	file := append(slices.Clone(header), make([]byte, 6*4)...)
	file = append(file, header...)
	for _, count := range []int{0, 0, 0, len(all), len(offsets), 1} {
		file = binary.BigEndian.AppendUint32(file, uint32(count)) //nolint:gosec // never negative
	}
	return slices.Concat(file, times, kinds, zones, []byte{0})
}
