package listing

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"sundry/core/fault"
	"sundry/core/intake"
	"sundry/core/period"
	"sundry/core/plan"
)

// Metadata contains a listing's members beyond its title and price: those its type allows, each a string, an int64, a
// bool, a []string or a []intake.Question, as the creator gave them. Members that were not given read as their default.
type Metadata map[string]any

// The members that rules read.
const (
	DownloadURL         = "downloadUrl"
	ImageURL            = "imageUrl"
	Interval            = "interval"
	IntervalCount       = "intervalCount"
	TrialDays           = "trialDays"
	Features            = "features"
	CustomersMayPause   = "customersMayPause"
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
	Questions           = "questions"
	MaxGuests           = "maxGuests"
)

// Text returns a string member, or its default, or "".
func (s State) Text(name string) string { return read[string](s, name) }

// Number returns an integer member, or its default, or 0.
func (s State) Number(name string) int64 { return read[int64](s, name) }

// Intake returns what buyers of appointments are asked beside the time.
func (s State) Intake() intake.Form {
	if !s.Type.Bookable() {
		return intake.Form{}
	}
	return intake.Form{Questions: read[[]intake.Question](s, Questions), MaxGuests: int(s.Number(MaxGuests))}
}

// Flag returns a boolean member, or its default, or false.
func (s State) Flag(name string) bool { return read[bool](s, name) }

func read[T any](s State, name string) T {
	value, ok := s.Metadata[name].(T)
	if !ok {
		value, _ = s.Type.Metadata()[name].Default.(T)
	}
	return value
}

// parseMetadata checks every member against the schema of the type and leaves out those that are null.
func parseMetadata(f *fault.Violations, kind Type, raw map[string]any) Metadata {
	schema := kind.Metadata()
	if schema == nil {
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
			out[name] = rule.Check(at, name, raw[name]) // nil with a fault, of which nothing is kept
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

// Without returns a copy that lacks one member.
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
	if _, asks := members[Questions]; asks {
		delete(members, Questions)
		var stored struct {
			Questions []intake.Question `json:"questions"`
		}
		if err := json.Unmarshal(raw, &stored); err != nil {
			return fmt.Errorf("metadata %s: %w", Questions, err)
		}
		(*m)[Questions] = stored.Questions
	}
	for name, value := range members {
		switch v := value.(type) {
		case string, bool:
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
