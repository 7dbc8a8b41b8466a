package intake_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"sundry/core/fault"
	"sundry/core/intake"
)

func parsed(t *testing.T, raw string) any {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

// faults are the fields and codes of what is wrong.
func faults(err error) string {
	f, ok := err.(*fault.Error) //nolint:errorlint // Violations.Err returns it unwrapped
	if !ok {
		return ""
	}
	var all []string
	for _, d := range f.Details {
		all = append(all, d.Field+" "+d.Code)
	}
	return strings.Join(all, ", ")
}

func TestQuestionsAreCheckedWhole(t *testing.T) {
	t.Parallel()
	valid := `{"key":"goal","label":"Your goal?","type":"text","required":true}`
	for name, c := range map[string]struct{ raw, want string }{
		"all kinds": {`[` + valid + `,{"key":"size","label":"Size","type":"select","options":["S","M"]}]`, ""},
		"none":      {`[]`, ""},
		"no list":   {`{}`, "q wrong_type"},
		"too many":  {`[` + strings.TrimSuffix(strings.Repeat(valid+",", 11), ",") + `]`, "q too_long"},
		"no object": {`["a"]`, "q[0] wrong_type"},
		"twice":     {`[` + valid + `,` + valid + `]`, "q[1].key duplicate"},
		"everything": {
			`[{"key":"A b","label":" ","type":"color","required":1,"options":["x"],"size":1}]`,
			"q[0].size unknown_member, q[0].required wrong_type, q[0].key invalid, q[0].label required, " +
				"q[0].type not_allowed, q[0].options not_allowed",
		},
		"no options": {`[{"key":"a","label":"A","type":"select"}]`, "q[0].options required"},
		"options": {
			`[{"key":"a","label":"A","type":"select","options":["x","x","",3]}]`,
			"q[0].options[1] duplicate, q[0].options[2] required, q[0].options[3] wrong_type",
		},
		"too many options": {
			`[{"key":"a","label":"A","type":"select","options":[` + strings.Repeat(`"x",`, 50) + `"y"]}]`,
			"q[0].options out_of_range",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var f fault.Violations
			got := intake.CheckQuestions(&f, "q", parsed(t, c.raw))
			if found := strings.ToLower(faults(f.Err())); found != c.want {
				t.Errorf("faults %q, want %q", found, c.want)
			}
			if (got == nil) != (c.want != "") {
				t.Errorf("returns %v", got)
			}
			var again fault.Violations
			if got != nil && !reflect.DeepEqual(intake.CheckQuestions(&again, "q", got), got) {
				t.Error("what was read is not taken again")
			}
		})
	}
}

var form = intake.Form{MaxGuests: 2, Questions: []intake.Question{
	{Key: "goal", Label: "Goal", Type: intake.Line, Required: true},
	{Key: "more", Label: "More", Type: intake.LongText},
	{Key: "size", Label: "Size", Type: intake.Select, Options: []string{"S", "M"}},
	{Key: "terms", Label: "Terms", Type: intake.Checkbox, Required: true},
	{Key: "phone", Label: "Phone", Type: intake.Phone},
}}

func TestAnswersAreChecked(t *testing.T) {
	t.Parallel()
	note, long := " By the door. ", strings.Repeat("n", intake.MaxNotes+1)
	for name, c := range map[string]struct {
		given intake.Given
		final bool
		want  string
	}{
		"nothing yet": {intake.Given{}, false, ""},
		"an unknown question of many letters": {
			intake.Given{Answers: map[string]string{"a" + strings.Repeat("ü", 30): "x"}}, false,
			"answers.a" + strings.Repeat("ü", 19) + " unknown_member",
		},
		"nothing in the end": {intake.Given{}, true, "answers.goal required, answers.terms required"},
		"a box left open": {
			intake.Given{Answers: map[string]string{"goal": "x", "terms": "false"}}, true, "answers.terms required",
		},
		"everything": {
			intake.Given{
				Answers: map[string]string{"goal": "a\nb", "size": "L", "terms": "yes", "phone": "call me", "no": ""},
				Notes:   &long, Guests: &[]string{"a@example.com", "A@example.com"},
			}, false,
			"notes too_long, guests[1] duplicate, answers.no unknown_member, answers.goal invalid, answers.size not_allowed, " +
				"answers.terms not_allowed, answers.phone invalid",
		},
		"too many guests": {intake.Given{Guests: &[]string{"a", "b", "c"}}, false, "guests too_long"},
		"no address":      {intake.Given{Guests: &[]string{"a@example.com", " b@example.com"}}, false, "guests[1] invalid"},
		"all": {
			intake.Given{
				Answers: map[string]string{
					"goal": " Portfolio ", "more": "a\nb", "size": "M", "terms": "true", "phone": "+353 (1) 234-5678",
				},
				Notes: &note, Guests: &[]string{"a@example.com"},
			}, true, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var f fault.Violations
			form.Apply(&f, intake.Response{}, c.given, c.final)
			if found := strings.ToLower(faults(f.Err())); found != c.want {
				t.Errorf("faults %q, want %q", found, c.want)
			}
		})
	}
}

func TestAnswersAreLaidOverThoseBefore(t *testing.T) {
	t.Parallel()
	var f fault.Violations
	note, none := "Hello", ""
	first := form.Apply(&f, intake.Response{}, intake.Given{
		Answers: map[string]string{"more": "m", "goal": "g", "terms": "true"}, Notes: &note, Guests: &[]string{"a@example.com"},
	}, false)
	after := form.Apply(&f, first, intake.Given{Answers: map[string]string{"more": "", "size": "S"}, Notes: &none}, true)
	want := "Goal: g\nSize: S\nTerms: true"
	if err := f.Err(); err != nil || after.Lines() != want || after.Value("goal") != "g" || after.Value("more") != "" ||
		len(after.Guests) != 1 {
		t.Errorf("%v, %+v", err, after)
	}
	if lines := first.Lines(); lines != "Goal: g\nMore: m\nTerms: true\nHello" {
		t.Errorf("lines %q", lines)
	}
	if first.IsZero() || !(intake.Response{}).IsZero() || !(intake.Given{}).IsZero() || (intake.Given{Notes: &none}).IsZero() {
		t.Error("IsZero is wrong")
	}
	var refused fault.Violations
	intake.Form{}.Apply(&refused, intake.Response{}, intake.Given{Guests: &[]string{"a@example.com"}}, false)
	if found := strings.ToLower(faults(refused.Err())); found != "guests not_allowed" {
		t.Errorf("a form without guests: %q", found)
	}
}
