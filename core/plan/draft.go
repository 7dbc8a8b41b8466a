package plan

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"

	"sundry/core/fault"
	"sundry/core/text"
)

const (
	maxName     = 200
	maxUnit     = 50
	maxText     = 500
	maxTerms    = 100
	maxQuantity = 1_000_000_000_000_000 // below 2^53, so that every JSON reader keeps it exactly
)

// The keys that integrators write into their code: plan keys look like slugs. Keys of entitlements and credits and
// names of meter events also allow the notations that are common there (max_projects, api.calls, maxSeats).
var (
	planKey = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,99}$`)
	termKey = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.:-]{0,99}$`)
)

// EntitlementDraft is an entitlement as a request writes it. Value is what its JSON held: bool, json.Number or string.
type EntitlementDraft struct {
	Key   string `json:"key"`
	Type  string `json:"type"`
	Value any    `json:"value"`
	// PerSeat makes a limit one of each seat.
	PerSeat bool `json:"perSeat,omitempty"`
}

// Draft is a plan as a request writes it. Key comes from the path, where it is called planKey.
type Draft struct {
	Key          string
	Name         string
	IsDefault    bool
	TrialDays    int
	Prices       []PriceDraft
	Entitlements []EntitlementDraft
	Credits      []Credit
	Meters       []Meter
	UsageCredits []UsageCredit
}

// Check lists everything that is wrong with the draft, as one VALIDATION_FAILED error.
func (d Draft) Check() error {
	_, err := d.parse()
	return err
}

// parse turns the draft into the part of a plan that a request decides.
func (d Draft) parse() (State, error) {
	var f fault.Violations
	f.Check(planKey.MatchString(d.Key), "planKey", fault.DetailInvalid,
		"Expected 1 to 100 lower-case letters, digits, hyphens or underscores, starting with a letter or digit.")
	text.CheckName(&f, "name", d.Name, maxName)
	checkTrialDays(&f, "trialDays", d.TrialDays)
	s := State{
		Key: d.Key, Name: d.Name, IsDefault: d.IsDefault, TrialDays: d.TrialDays,
		Prices: parsePrices(&f, d.Prices),
		Terms: Terms{
			Entitlements: ParseEntitlements(&f, "entitlements", d.Entitlements),
			Credits:      CheckCredits(&f, "credits", d.Credits),
			Meters:       checkMeters(&f, "meters", d.Meters),
		},
	}
	intervals := slices.ContainsFunc(d.Prices, func(p PriceDraft) bool { return p.Interval != nil })
	s.Terms.UsageCredits = checkUsageCredits(&f, d.UsageCredits, intervals)
	f.Check(d.TrialDays <= 0 || len(d.Prices) == 0 || intervals, "trialDays", fault.DetailNotAllowed,
		"A trial needs a price with an interval.")
	return s, f.Err()
}

// ParseEntitlements checks entitlements as a plan or a manual grant lists them, recording faults below field.
func ParseEntitlements(f *fault.Violations, field string, drafts []EntitlementDraft) []Entitlement {
	list := newList(f, field, len(drafts))
	out := make([]Entitlement, 0, len(drafts))
	for i, d := range drafts {
		at := list.item(i, "key", d.Key)
		out = append(out, d.parse(at))
	}
	return out
}

func (d EntitlementDraft) parse(f *fault.Violations) Entitlement {
	e := Entitlement{Key: d.Key, Type: EntitlementType(d.Type), PerSeat: d.PerSeat}
	f.Check(!d.PerSeat || e.Type == Limit, "perSeat", fault.DetailNotAllowed, "Only a limit can be one of each seat.")
	ok := false
	expected := ""
	switch e.Type {
	case Boolean:
		e.Bool, ok = d.Value.(bool)
		expected = "Expected true or false."
	case Limit:
		e.Limit, ok = integer(d.Value)
		expected = "Expected an integer from 0 to 1000000000000000."
		f.Check(!ok || e.Limit >= 0 && e.Limit <= maxQuantity, "value", fault.DetailOutOfRange, expected)
	case Text:
		e.Text, ok = d.Value.(string)
		expected = "Expected a string."
		text.CheckLines(f, "value", e.Text, maxText)
	default:
		f.OneOf("type", d.Type, string(Boolean), string(Limit), string(Text))
		return e
	}
	if d.Value == nil {
		f.Add("value", fault.DetailRequired, expected)
	} else {
		f.Check(ok, "value", fault.DetailWrongType, expected)
	}
	return e
}

func integer(v any) (int64, bool) {
	number, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(string(number), 10, 64)
	return n, err == nil
}

// CheckCredits checks credits as a plan or a manual grant lists them, recording faults below field.
func CheckCredits(f *fault.Violations, field string, credits []Credit) []Credit {
	list := newList(f, field, len(credits))
	for i, c := range credits {
		at := list.item(i, "key", c.Key)
		at.Check(c.Unit != "", "unit", fault.DetailRequired, "Expected the unit that is counted, such as image.")
		text.CheckLine(at, "unit", c.Unit, maxUnit)
		at.Check(c.Amount >= 1 && c.Amount <= maxQuantity, "amount", fault.DetailOutOfRange, "Expected an integer from 1 "+
			"to 1000000000000000.")
	}
	return append([]Credit{}, credits...)
}

func checkMeters(f *fault.Violations, field string, meters []Meter) []Meter {
	list := newList(f, field, len(meters))
	for i, m := range meters {
		at := list.item(i, "eventName", m.EventName)
		at.Check(m.Included >= 0 && m.Included <= maxQuantity, "included", fault.DetailOutOfRange,
			"Expected an integer from 0 to 1000000000000000.")
	}
	return append([]Meter{}, meters...)
}

// list validates the common rules of the lists in terms: their length, and keys that are well formed and differ.
type list struct {
	faults *fault.Violations
	field  string
	seen   map[string]bool
}

func newList(f *fault.Violations, field string, length int) list {
	f.Check(length <= maxTerms, field, fault.DetailTooLong, "Expected at most 100 entries.")
	return list{f, field, map[string]bool{}}
}

func (l list) item(i int, member, key string) *fault.Violations {
	at := l.faults.Item(l.field, i)
	switch {
	case key == "":
		at.Add(member, fault.DetailRequired, "Expected a key of 1 to 100 characters.")
	case !termKey.MatchString(key):
		at.Add(member, fault.DetailInvalid, "Expected 1 to 100 letters, digits, hyphens, underscores, dots or colons, "+
			"starting with a letter or digit.")
	case l.seen[key]:
		at.Add(member, fault.DetailDuplicate, "Another entry of the list has this key.")
	}
	l.seen[key] = true
	return at
}
