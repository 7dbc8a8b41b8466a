package intake

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sundry/core/email"
	"sundry/core/fault"
	"sundry/core/text"
)

// Limits of a response, in characters.
const (
	maxLine     = 200
	maxLongText = 2000
	// MaxNotes bounds the note of a buyer.
	MaxNotes = 2000
)

// Given is the input of a request. A nil member leaves the stored one unchanged.
type Given struct {
	// Answers are by the key of their question. A checkbox is true or false, in words; "" takes an answer back.
	Answers map[string]string
	Notes   *string
	Guests  *[]string
}

// IsZero reports whether nothing is given.
func (g Given) IsZero() bool { return g.Answers == nil && g.Notes == nil && g.Guests == nil }

// Answer is an answer with its question as it was asked.
type Answer struct {
	Key   string `json:"key"`
	Label string `json:"label"`
	Type  Kind   `json:"type"`
	Value string `json:"value"`
}

// Response holds a buyer's answers, note and guests.
type Response struct {
	// Answers are in the order of the questions.
	Answers []Answer `json:"answers,omitempty"`
	Notes   string   `json:"notes,omitempty"`
	// Guests are the addresses of those whom the buyer invites.
	Guests []string `json:"guests,omitempty"`
}

// IsZero reports whether the buyer has said nothing.
func (r Response) IsZero() bool { return len(r.Answers) == 0 && r.Notes == "" && len(r.Guests) == 0 }

// Lines returns the answers and the note as a text of several lines, each answer behind its question.
func (r Response) Lines() string {
	var lines []string
	for _, a := range r.Answers {
		lines = append(lines, a.Label+": "+a.Value)
	}
	if r.Notes != "" {
		lines = append(lines, r.Notes)
	}
	return strings.Join(lines, "\n")
}

var phoneShape = regexp.MustCompile(`^\+?[0-9][0-9 ()./-]{4,28}$`)

// Apply lays what is given over what the buyer has said before and returns the whole. It adds every fault of what is
// given to f. With final it also asks for what is required.
func (form Form) Apply(f *fault.Violations, before Response, g Given, final bool) Response {
	after := Response{Notes: before.Notes, Guests: before.Guests}
	if g.Notes != nil {
		after.Notes = strings.TrimSpace(*g.Notes)
		text.CheckLines(f, "notes", after.Notes, MaxNotes)
	}
	if g.Guests != nil {
		after.Guests = form.guests(f, *g.Guests)
	}
	at := f.Nest("answers")
	for _, key := range slices.Sorted(maps.Keys(g.Answers)) {
		if !slices.ContainsFunc(form.Questions, func(q Question) bool { return q.Key == key }) {
			shown := strings.ToValidUTF8(key[:min(len(key), maxKey)], "")
			at.Add(shown, fault.DetailUnknownMember, "The listing has no such question.")
		}
	}
	for _, q := range form.Questions {
		value, given := g.Answers[q.Key]
		if value = strings.TrimSpace(value); !given {
			value = before.answer(q.Key)
		}
		if given || final {
			q.check(at, value, final)
		}
		if value != "" {
			after.Answers = append(after.Answers, Answer{Key: q.Key, Label: q.Label, Type: q.Type, Value: value})
		}
	}
	return after
}

func (r Response) answer(key string) string {
	for _, a := range r.Answers {
		if a.Key == key {
			return a.Value
		}
	}
	return ""
}

// Value returns the answer to a question; "" for none.
func (r Response) Value(key string) string { return r.answer(key) }

// check adds what is wrong with an answer.
func (q Question) check(f *fault.Violations, value string, final bool) {
	if value == "" || q.Type == Checkbox && value == "false" {
		f.Check(!final || !q.Required, q.Key, fault.DetailRequired, "Answer this question.")
		return
	}
	switch q.Type {
	case Line:
		text.CheckLine(f, q.Key, value, maxLine)
	case LongText:
		text.CheckLines(f, q.Key, value, maxLongText)
	case Select:
		f.Check(slices.Contains(q.Options, value), q.Key, fault.DetailNotAllowed, "Choose one of the options.")
	case Checkbox:
		f.Check(value == "true", q.Key, fault.DetailNotAllowed, "Expected true or false.")
	case Phone:
		f.Check(phoneShape.MatchString(value), q.Key, fault.DetailInvalid, "Give a phone number such as +353 1 234 5678.")
	}
}

// guests checks the addresses of a buyer's guests.
func (form Form) guests(f *fault.Violations, addresses []string) (guests []string) {
	if form.MaxGuests == 0 {
		f.Check(len(addresses) == 0, "guests", fault.DetailNotAllowed, "This listing takes no guests.")
		return nil
	}
	if !f.Check(len(addresses) <= form.MaxGuests, "guests", fault.DetailTooLong, "Expected at most "+
		strconv.Itoa(form.MaxGuests)+" guests.") {
		return nil
	}
	for i, address := range addresses {
		at := f.Item("guests", i)
		_, ok := email.Parse(address)
		at.Check(ok && strings.TrimSpace(address) == address, "", fault.DetailInvalid,
			"Give an email address such as ada@example.com, at most 254 characters.")
		at.Check(!slices.ContainsFunc(guests, func(g string) bool { return strings.EqualFold(g, address) }), "",
			fault.DetailDuplicate, "This guest is listed twice.")
		guests = append(guests, address)
	}
	return guests
}
