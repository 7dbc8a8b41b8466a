package listing

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"sundry/core/fault"
	"sundry/core/period"
	"sundry/core/plan"
	"sundry/core/text"
)

// Metadata is what a listing contains beyond its title and price: the members its type allows, each a string, an int64 or
// a []string, as the creator gave them. Members that were not given read as their default.
type Metadata map[string]any

// The members that rules read.
const (
	DownloadURL         = "downloadUrl"
	ImageURL            = "imageUrl"
	Interval            = "interval"
	IntervalCount       = "intervalCount"
	TrialDays           = "trialDays"
	Features            = "features"
	DeliveryMethod      = "deliveryMethod"
	SlotIntervalMinutes = "slotIntervalMinutes"
	BufferBefore        = "bufferBeforeMinutes"
	BufferAfter         = "bufferAfterMinutes"
	MinimumNotice       = "minimumNoticeMinutes"
	HorizonDays         = "horizonDays"
	DailyCap            = "dailyCap"
	WeeklyCap           = "weeklyCap"
	InPersonAddress     = "inPersonAddress"
	FullRefundHours     = "fullRefundHours"
)

// member is the rule of one metadata member.
type member struct {
	check func(f *fault.Violations, field string, value any) any
	// standard is what an absent member means; nil when its absence means nothing.
	standard any
}

const maxURL = 2048

var schemas = map[Type]map[string]member{
	Digital: {
		ImageURL:     {check: link},
		DownloadURL:  {check: link},
		"fileFormat": {check: stringUpTo(50)},
		"fileSize":   {check: number(0, 1<<50)},
		"previewUrl": {check: link},
		"pageCount":  {check: number(0, 1_000_000)},
	},
	Service: {
		ImageURL:          {check: link},
		"durationMinutes": {check: number(1, 525_600)},
		"deliveryDays":    {check: number(0, 3650)},
		"revisions":       {check: number(0, 1000)},
		"calendarUrl":     {check: link},
	},
	Subscription: {
		ImageURL:      {check: link},
		Interval:      {check: oneOf("day", "week", "month", "year"), standard: "month"},
		IntervalCount: {check: number(1, 1095), standard: int64(1)},
		TrialDays:     {check: number(0, plan.MaxTrialDays), standard: int64(0)},
		Features:      {check: features},
	},
	Appointment: {
		ImageURL:            {check: link},
		DeliveryMethod:      {check: oneOf("virtual", "in_person", "hybrid"), standard: "virtual"},
		BufferBefore:        {check: number(0, 1440), standard: int64(0)},
		BufferAfter:         {check: number(0, 1440), standard: int64(0)},
		MinimumNotice:       {check: number(0, 525_600), standard: int64(0)},
		HorizonDays:         {check: number(1, 730), standard: int64(60)},
		SlotIntervalMinutes: {check: number(5, 720)}, // absent: the variant's duration
		DailyCap:            {check: number(1, 1440)},
		WeeklyCap:           {check: number(1, 10_080)},
		InPersonAddress:     {check: stringUpTo(500)},
		FullRefundHours:     {check: number(0, 8760)}, // absent: a buyer who cancels has no claim to a refund
	},
}

// Text is a string member, or its default, or "".
func (s State) Text(name string) string { return read[string](s, name) }

// Number is an integer member, or its default, or 0.
func (s State) Number(name string) int64 { return read[int64](s, name) }

func read[T any](s State, name string) T {
	value, ok := s.Metadata[name].(T)
	if !ok {
		value, _ = schemas[s.Type][name].standard.(T)
	}
	return value
}

// parseMetadata checks every member against the schema of the type and leaves out those that are null.
func parseMetadata(f *fault.Violations, kind Type, raw map[string]any) Metadata {
	schema, known := schemas[kind]
	if !known {
		return nil // the type itself is refused, or not known here: no schema applies
	}
	out := Metadata{}
	at := f.Nest("metadata")
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		rule, ok := schema[name]
		switch {
		case !ok:
			at.Addf(label(name), fault.DetailUnknownMember, "The metadata of a listing of type %s has no such member.", kind)
		case raw[name] != nil:
			out[name] = rule.check(at, name, raw[name]) // nil with a fault, of which nothing is kept
		}
	}
	checkTogether(at, kind, out)
	return out
}

// checkTogether holds the rules that concern two members.
func checkTogether(f *fault.Violations, kind Type, m Metadata) {
	s := State{Type: kind, Metadata: m} // only a subscription has an interval, and only an interval has a limit
	plan.CheckCount(f, IntervalCount, period.Interval(s.Text(Interval)), int(s.Number(IntervalCount)))
}

// merge lays the members of a PATCH over the present ones: null takes one away, absent ones stay.
func (m Metadata) merge(patch map[string]any) map[string]any {
	merged := map[string]any{}
	maps.Copy(merged, m)
	maps.Copy(merged, patch)
	return merged
}

// Without is a copy that lacks one member.
func (m Metadata) Without(name string) Metadata {
	out := maps.Clone(m)
	delete(out, name)
	return out
}

// UnmarshalJSON reads what the store wrote, integers as int64.
func (m *Metadata) UnmarshalJSON(raw []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var members map[string]any
	if err := decoder.Decode(&members); err != nil {
		return err
	}
	*m = Metadata{}
	for name, value := range members {
		switch v := value.(type) {
		case string:
			(*m)[name] = v
		case json.Number:
			n, err := v.Int64()
			if err != nil {
				return fmt.Errorf("metadata %s: %w", name, err)
			}
			(*m)[name] = n
		case []any:
			list := make([]string, len(v))
			for i, item := range v {
				list[i], _ = item.(string)
			}
			(*m)[name] = list
		default:
			return fmt.Errorf("metadata %s: unexpected %T", name, value)
		}
	}
	return nil
}

// label is a caller's member name cut to what a response may repeat.
func label(name string) string {
	const most = 64
	if utf8.RuneCountInString(name) <= most {
		return name
	}
	return string([]rune(name)[:most]) + "…"
}

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
