package listingtype

import (
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"sundry/core/fault"
	"sundry/core/text"
)

// Member is the rule of one member of a listing's metadata.
type Member struct {
	// Check adds what is wrong with a value to f, below field, and returns the value as it is stored: a string, an int64,
	// a bool, a []string or a []intake.Question; nil with a fault.
	Check func(f *fault.Violations, field string, value any) any
	// Default is the value of a member that was not given. It is nil where absence means nothing.
	Default any
}

const maxURL = 2048

func number(least, most int64) func(*fault.Violations, string, any) any {
	return func(f *fault.Violations, field string, value any) any {
		n, ok := value.(int64) // as stored
		if written, isNumber := value.(json.Number); isNumber {
			parsed, err := strconv.ParseInt(string(written), 10, 64)
			n, ok = parsed, err == nil || errors.Is(err, strconv.ErrRange) // then n is the nearest int64, out of range below
		}
		if !f.Check(ok, field, fault.DetailWrongType, "Expected an integer.") {
			return nil
		}
		if n < least || n > most {
			f.Addf(field, fault.DetailOutOfRange, "Expected %d to %d.", least, most)
			return nil
		}
		return n
	}
}

func stringUpTo(most int) func(*fault.Violations, string, any) any {
	return func(f *fault.Violations, field string, value any) any {
		s, ok := value.(string)
		if !f.Check(ok, field, fault.DetailWrongType, "Expected a string.") {
			return nil
		}
		text.CheckLines(f, field, s, most)
		return s
	}
}

func oneOf(allowed ...string) func(*fault.Violations, string, any) any {
	return func(f *fault.Violations, field string, value any) any {
		s, ok := value.(string)
		if !f.Check(ok, field, fault.DetailWrongType, "Expected a string.") {
			return nil
		}
		if !f.OneOf(field, s, allowed...) {
			return nil
		}
		return s
	}
}

func boolean(f *fault.Violations, field string, value any) any {
	b, ok := value.(bool)
	if !f.Check(ok, field, fault.DetailWrongType, "Expected true or false.") {
		return nil
	}
	return b
}

// link takes web addresses only: pages and mails show them as links, where javascript: and data: would run.
func link(f *fault.Violations, field string, value any) any {
	s, ok := value.(string)
	if !f.Check(ok, field, fault.DetailWrongType, "Expected a string.") {
		return nil
	}
	u, err := url.Parse(s)
	valid := err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != "" && u.User == nil &&
		!strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f })
	if !f.Check(valid, field, fault.DetailInvalid, "Expected an absolute http or https address without user name.") ||
		!f.Check(len(s) <= maxURL, field, fault.DetailTooLong, "Expected at most 2048 characters.") {
		return nil
	}
	return s
}

// features become keys of entitlements, so they are short, not empty and differ.
func features(f *fault.Violations, field string, value any) any {
	items, ok := value.([]any)
	if stored, isStored := value.([]string); isStored {
		items, ok = nil, true
		for _, s := range stored {
			items = append(items, s)
		}
	}
	if !f.Check(ok, field, fault.DetailWrongType, "Expected an array of strings.") ||
		!f.Check(len(items) <= 100, field, fault.DetailTooLong, "Expected at most 100 features.") {
		return nil
	}
	out := make([]string, 0, len(items))
	for i, item := range items {
		at := f.Item(field, i)
		s, ok := item.(string)
		switch {
		case !ok:
			at.Add("", fault.DetailWrongType, "Expected a string.")
		case strings.TrimSpace(s) == "":
			at.Add("", fault.DetailRequired, "Expected the name of a feature.")
		case slices.Contains(out, s):
			at.Add("", fault.DetailDuplicate, "The feature is listed twice.")
		default:
			text.CheckLine(at, "", s, 100)
			out = append(out, s)
		}
	}
	return out
}
