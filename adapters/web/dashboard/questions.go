package dashboard

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"sundry/adapters/web/dashboard/ui"
	"sundry/core/intake"
	"sundry/core/listing"
)

var questionRows = ui.RowList{Name: "metadata." + listing.Questions, Typed: []string{"label", "options"}}

// questionFields are the rows of what buyers of an appointment are asked.
func (v *visit) questionFields(l listing.State) ui.Field {
	asked := l.Intake().Questions
	f := questionRows.Field("Questions for the buyer", "Add a question", len(asked), func(i int) ui.FieldRow {
		var q intake.Question
		if i < len(asked) {
			q = asked[i]
		}
		return ui.FieldRow{Title: v.say("Question %d", i+1), Fields: []ui.Field{
			{Name: "label", Label: "Question", Value: q.Label, Half: true, Also: []string{"key"}},
			{
				Name: "type", Label: "Answer", Type: "select", Half: true,
				Options: ui.Choices(string(q.Type), string(intake.Line), "Short text", string(intake.LongText), "Long text",
					string(intake.Select), "A choice of options", string(intake.Checkbox), "Checkbox",
					string(intake.Phone), "Phone number"),
			},
			{
				Name: "options", Label: "Options", Type: "textarea", Rows: 2, Half: true,
				Value: strings.Join(q.Options, "\n"), Hint: "Of a choice, one per line.",
			},
			{Name: "required", Label: "An answer is required", Type: "checkbox", Checked: q.Required, Half: true},
			ui.Hidden("key", q.Key),
		}}
	})
	f.Hint = "Clear a question and its options to remove it."
	return f
}

// readQuestions reads the rows as metadata of a request; nil for none.
func readQuestions(in *ui.Input) any {
	var asked []any
	var keys []string
	for _, row := range questionRows.Read(in) {
		label, key := in.Text(row+"label"), in.Text(row+"key")
		if key == "" {
			key = questionKey(label, keys)
		}
		keys = append(keys, key)
		q := map[string]any{
			"key": key, "label": label, "type": in.Text(row + "type"), "required": in.Checked(row + "required"),
		}
		if lines := in.Lines(row + "options"); len(lines) > 0 {
			var options []any
			for _, line := range lines {
				options = append(options, line)
			}
			q["options"] = options
		}
		asked = append(asked, q)
	}
	if asked == nil {
		return nil
	}
	return asked
}

// questionKey makes a key of a question that no other one has.
func questionKey(label string, others []string) string {
	const longest = 30
	key := cmp.Or(latin(label, longest), "question")
	unique := key
	for n := 2; slices.Contains(others, unique); n++ {
		unique = key + "-" + strconv.Itoa(n)
	}
	return unique
}
