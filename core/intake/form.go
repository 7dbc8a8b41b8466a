// Package intake has the rules of the form that buyers of appointments fill in beside the time: questions, a note and
// guests.
package intake

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sundry/core/fault"
	"sundry/core/text"
)

// Kind specifies how a question is answered.
type Kind string

// The kinds of questions.
const (
	Line     Kind = "text"
	LongText Kind = "long_text"
	Select   Kind = "select"
	Checkbox Kind = "checkbox"
	Phone    Kind = "phone"
)

// Kinds lists the kinds in the order in which forms offer them.
func Kinds() []string {
	return []string{string(Line), string(LongText), string(Select), string(Checkbox), string(Phone)}
}

// Limits of a form; texts are in characters.
const (
	maxQuestions = 10
	MaxGuests    = 10
	maxKey       = 40
	maxLabel     = 200
	maxOptions   = 50
	maxOption    = 100
)

// Question is one question of a form.
type Question struct {
	// Key names it in requests and responses.
	Key      string `json:"key"`
	Label    string `json:"label"`
	Type     Kind   `json:"type"`
	Required bool   `json:"required"`
	// Options are the answers to choose from; only a question of kind select has any.
	Options []string `json:"options,omitempty"`
}

// Form holds the questions to buyers of a listing. Buyers may always leave a note.
type Form struct {
	Questions []Question `json:"questions,omitempty"`
	// MaxGuests is the number of people whom a buyer may invite by e-mail.
	MaxGuests int `json:"maxGuests,omitempty"`
}

var keyShape = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,39}$`)

// CheckQuestions reads the questions of a request, or takes those that were read before: an array of at most ten
// objects. It adds what is wrong to f, below field, and returns nil with a fault.
func CheckQuestions(f *fault.Violations, field string, value any) any {
	if stored, ok := value.([]Question); ok {
		return stored // they were checked when they came
	}
	items, ok := value.([]any)
	if !f.Check(ok, field, fault.DetailWrongType, "Expected an array of objects.") ||
		!f.Check(len(items) <= maxQuestions, field, fault.DetailTooLong, "Expected at most "+
			strconv.Itoa(maxQuestions)+" questions.") {
		return nil
	}
	var found fault.Violations
	questions := make([]Question, 0, len(items))
	for i, item := range items {
		at := found.Item(field, i)
		members, ok := item.(map[string]any)
		if !at.Check(ok, "", fault.DetailWrongType, "Expected an object.") {
			continue
		}
		q := readQuestion(at, members)
		at.Check(q.Key == "" || !slices.ContainsFunc(questions, func(o Question) bool { return o.Key == q.Key }), "key",
			fault.DetailDuplicate, "Another question has this key.")
		questions = append(questions, q)
	}
	if found.Err() != nil {
		_ = f.Merge(found.Err()) // it has nothing but faults of the request
		return nil
	}
	return questions
}

// readQuestion reads the members of a question.
func readQuestion(f *fault.Violations, members map[string]any) (q Question) {
	q = Question{Key: readText(f, members, "key"), Label: readText(f, members, "label"),
		Type: Kind(readText(f, members, "type"))}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		switch name {
		case "key", "label", "type", "required", "options":
		default:
			f.Add(name[:min(len(name), maxKey)], fault.DetailUnknownMember, "A question has no such member.")
		}
	}
	if members["required"] != nil {
		required, ok := members["required"].(bool)
		f.Check(ok, "required", fault.DetailWrongType, "Expected true or false.")
		q.Required = required
	}
	f.Check(keyShape.MatchString(q.Key), "key", fault.DetailInvalid, "Expected 1 to 40 lower-case letters, digits, "+
		"hyphens and underscores, the first a letter or a digit.")
	if f.Check(strings.TrimSpace(q.Label) != "", "label", fault.DetailRequired, "Enter the question.") {
		text.CheckLine(f, "label", q.Label, maxLabel)
	}
	f.OneOf("type", string(q.Type), Kinds()...)
	q.Options = readOptions(f, members["options"])
	if q.Type == Select {
		f.Check(len(q.Options) > 0 || members["options"] != nil, "options", fault.DetailRequired,
			"Expected the answers to choose from.")
	} else {
		f.Check(len(q.Options) == 0, "options", fault.DetailNotAllowed, "Only a question of type select has options.")
	}
	return q
}

func readText(f *fault.Violations, members map[string]any, name string) string {
	s, ok := members[name].(string)
	f.Check(ok || members[name] == nil, name, fault.DetailWrongType, "Expected a string.")
	return s
}

func readOptions(f *fault.Violations, value any) (options []string) {
	if value == nil {
		return nil
	}
	items, ok := value.([]any)
	if !f.Check(ok, "options", fault.DetailWrongType, "Expected an array of strings.") ||
		!f.Check(len(items) > 0 && len(items) <= maxOptions, "options", fault.DetailOutOfRange, "Expected 1 to 50 options.") {
		return nil
	}
	for i, item := range items {
		at := f.Item("options", i)
		s, ok := item.(string)
		switch {
		case !ok:
			at.Add("", fault.DetailWrongType, "Expected a string.")
		case slices.Contains(options, s):
			at.Add("", fault.DetailDuplicate, "The option is listed twice.")
		case strings.TrimSpace(s) == "":
			at.Add("", fault.DetailRequired, "Enter an option.")
		default:
			text.CheckLine(at, "", s, maxOption)
		}
		options = append(options, s)
	}
	return options
}
