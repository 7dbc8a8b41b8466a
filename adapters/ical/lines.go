package ical

import (
	"bytes"
	"errors"
	"strings"
)

// maxLine bounds a line after unfolding. Nothing that describes when somebody is busy is longer; what is longer is left
// out.
const maxLine = 8 << 10

// line is one property of a calendar: NAME;PARAM=value:value.
type line struct {
	name   string
	params map[string]string
	value  string
}

// errNoCalendar reports that what was read is something else.
var errNoCalendar = errors.New("the response is not an iCalendar file")

// lines unfolds a calendar and hands over each line that can be read, in one pass and without keeping any: an untrusted
// party wrote it. The parsers of libraries are generous with the memory and the time that one hostile line can take.
func lines(raw []byte, each func(line)) error {
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	if begin := bytes.TrimSpace(raw[:min(len(raw), 256)]); !bytes.HasPrefix(bytes.ToUpper(begin),
		[]byte("BEGIN:VCALENDAR")) {
		return errNoCalendar
	}
	var whole []byte
	flush := func() {
		if l, ok := parseLine(string(whole)); ok {
			each(l)
		}
		whole = whole[:0]
	}
	for physical := range bytes.Lines(raw) {
		physical = bytes.TrimRight(physical, "\r\n")
		if len(physical) > 0 && (physical[0] == ' ' || physical[0] == '\t') {
			physical = physical[1:]
		} else {
			flush()
		}
		if len(whole) <= maxLine {
			whole = append(whole, physical[:min(len(physical), maxLine+1)]...)
		}
	}
	flush()
	return nil
}

func parseLine(text string) (l line, ok bool) {
	if len(text) > maxLine {
		return l, false
	}
	end := strings.IndexAny(text, ";:")
	if end <= 0 {
		return l, false
	}
	l.name, l.params = strings.ToUpper(text[:end]), map[string]string{}
	for rest := text[end:]; rest != ""; {
		if rest[0] == ':' {
			l.value = rest[1:]
			return l, true
		}
		name, after, found := strings.Cut(rest[1:], "=")
		if !found {
			return l, false
		}
		var value string
		if quoted, isQuoted := strings.CutPrefix(after, `"`); isQuoted {
			if value, rest, found = strings.Cut(quoted, `"`); !found {
				return l, false
			}
			if next := strings.IndexAny(rest, ";:"); next >= 0 { // other values of the same parameter
				rest = rest[next:]
			}
		} else {
			next := strings.IndexAny(after, ";:")
			if next < 0 {
				return l, false
			}
			value, rest = after[:next], after[next:]
		}
		if rest != "" && rest[0] != ';' && rest[0] != ':' {
			return l, false
		}
		l.params[strings.ToUpper(name)] = value
	}
	return l, false
}
