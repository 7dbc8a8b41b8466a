// Package text holds what every name, title and description of a request has to satisfy, because people read them in
// pages, mails, calendars and spreadsheets beside words that are ours.
package text

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"sundry/core/fault"
)

// CheckName lists the faults of a name or title: required, one line, at most so many characters, something to see,
// nothing that makes two names look alike, and nothing that turns the direction of what is written after it.
func CheckName(f *fault.Violations, field, value string, most int) {
	noun := "name"
	if field == "title" || field == "description" {
		noun = field
	}
	if f.Check(strings.TrimSpace(value) != "", field, fault.DetailRequired, "Enter a "+noun+".") {
		CheckLine(f, field, value, most)
	}
}

// CheckLine is CheckName for a text that may be left out.
func CheckLine(f *fault.Violations, field, value string, most int) {
	check(f, field, value, most, oneLine(value))
	f.Check(!strings.ContainsFunc(value, visible) || !hidesCharacter(value), field, fault.DetailInvalid,
		"Characters that nobody sees, such as U+200B, are not allowed.")
}

// CheckLines is CheckLine for a text that may have several lines.
func CheckLines(f *fault.Violations, field, value string, most int) {
	check(f, field, value, most, !strings.ContainsFunc(value, func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t'
	}))
}

func check(f *fault.Violations, field, value string, most int, controlsAllowed bool) {
	if utf8.RuneCountInString(value) > most {
		f.Addf(field, fault.DetailTooLong, "Expected at most %d characters.", most)
	}
	f.Check(controlsAllowed, field, fault.DetailInvalid, "Control characters are not allowed.")
	f.Check(!strings.ContainsFunc(value, turnsDirection), field, fault.DetailInvalid,
		"Characters that change the direction of the text around them (U+202A–U+202E, U+2066–U+2069) are not allowed.")
	f.Check(value == "" || strings.ContainsFunc(value, visible), field, fault.DetailInvalid,
		"Expected at least one visible character.")
}

// oneLine reports whether a text has no control character and no separator of lines: either would reach headers of
// mail.
func oneLine(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' })
}

// turnsDirection reports the embeddings, overrides and isolates of the bidirectional algorithm (UAX #9). A name that
// holds one shows the rest of its line, such as an amount or an address, in another order. The plain marks U+200E and
// U+200F have no such effect and are needed to write Hebrew and Arabic.
func turnsDirection(r rune) bool {
	return r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
}

// hidesCharacter reports whether a text holds a character that leaves no trace, with which one name can be written like
// another. The joiners stand where scripts and emoji need them: behind a character that is not Latin, Greek or
// Cyrillic. The plain marks of direction stand in texts with letters from right to left.
func hidesCharacter(s string) bool {
	var before rune
	for _, r := range s {
		switch {
		case r == '\u00ad', r == '\u034f', r == '\u180e', r == '\u200b', r >= '\u2060' && r <= '\u2064',
			r >= '\u206a' && r <= '\u206f', r == '\ufeff', r >= '\ufff9' && r <= '\ufffb':
			return true
		case r == '\u200c' || r == '\u200d':
			if before <= unicode.MaxLatin1 || unicode.In(before, unicode.Latin, unicode.Greek, unicode.Cyrillic) {
				return true
			}
		case r == '\u200e' || r == '\u200f':
			if !strings.ContainsFunc(s, fromRightToLeft) {
				return true
			}
		}
		before = r
	}
	return false
}

func fromRightToLeft(r rune) bool {
	return unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko)
}

// visible reports whether a character leaves ink. Letters that are blank by definition do not.
func visible(r rune) bool {
	switch r {
	case '\u115f', '\u1160', '\u3164', '\uffa0', '\u2800': // Hangul fillers, the empty Braille pattern
		return false
	}
	return unicode.IsOneOf([]*unicode.RangeTable{unicode.L, unicode.N, unicode.P, unicode.S}, r)
}

// CSVCell keeps spreadsheets from running what somebody typed as a formula. Numbers stay as they are. Where a comma is
// written in numbers, as in German and French, spreadsheets take semicolons for the ends of cells, and lines for those
// of rows, inside the quotes of a file with commas, too.
func CSVCell(value string) string {
	if _, err := strconv.ParseFloat(value, 64); err == nil || !strings.ContainsAny(value, "=+-@\t\r") {
		return value
	}
	var cell strings.Builder
	for i, formula := 0, "=+-@\t\r"; i < len(value); i++ {
		if strings.IndexByte(formula, value[i]) >= 0 {
			cell.WriteByte('\'')
		}
		cell.WriteByte(value[i])
		if formula = ""; strings.IndexByte(";\r\n", value[i]) >= 0 {
			formula = "=+-@"
		}
	}
	return cell.String()
}
