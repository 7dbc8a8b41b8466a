package dashboard

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sundry/adapters/web/dashboard/ui"
	"sundry/core/intake"
	"sundry/core/listing"
)

// spareQuestions is the number of empty rows behind the questions that there are.
const spareQuestions = 2

// questionFields are the rows of what buyers of an appointment are asked.
func (v *visit) questionFields(l listing.State) []ui.Field {
	asked := l.Intake().Questions
	fields := []ui.Field{{Type: "heading", Name: "questions", Label: "Questions for the buyer"}}
	for i := range min(len(asked)+spareQuestions, intake.MaxQuestions) {
		var q intake.Question
		if i < len(asked) {
			q = asked[i]
		}
		row, path := questionRow(i), fmt.Sprintf("metadata.questions[%d]", i)
		fields = append(fields,
			ui.Hidden(row+"key", q.Key),
			ui.Field{
				Name: row + "label", Label: v.say("Question %d", i+1), Value: q.Label, Half: true,
				Also: []string{path, path + ".label", path + ".key"},
			},
			ui.Field{
				Name: row + "type", Label: "Answer", Type: "select", Half: true, Also: []string{path + ".type"},
				Options: ui.Choices(string(q.Type), string(intake.Line), "Short text", string(intake.LongText), "Long text",
					string(intake.Select), "A choice of options", string(intake.Checkbox), "Checkbox",
					string(intake.Phone), "Phone number"),
			},
			ui.Field{
				Name: row + "options", Label: "Options", Type: "textarea", Rows: 2, Half: true,
				Value: strings.Join(q.Options, "\n"), Also: optionPaths(path, len(q.Options)),
				Hint: "Of a choice, one per line.",
			},
			ui.Field{
				Name: row + "required", Label: "An answer is required", Type: "checkbox", Checked: q.Required, Half: true,
			})
		if i == 0 {
			fields[len(fields)-4].Hint = "Clear a question to remove it."
		}
	}
	return fields
}

func questionRow(i int) string { return "questions" + strconv.Itoa(i) + "." }

// optionPaths are the paths of what can be wrong with the options of a question.
func optionPaths(path string, count int) []string {
	paths := []string{path + ".options"}
	for i := range max(count, spareQuestions) {
		paths = append(paths, fmt.Sprintf("%s.options[%d]", path, i))
	}
	return paths
}

// readQuestions reads the rows as metadata of a request; nil for none.
func readQuestions(in *ui.Input) any {
	var asked []any
	var keys []string
	for i := range intake.MaxQuestions {
		row := questionRow(i)
		label := in.Text(row + "label")
		if label == "" {
			continue
		}
		key := in.Text(row + "key")
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
	key := strings.Trim(slugOf(label)[:min(len(slugOf(label)), longest)], "-")
	unique := key
	for n := 2; slices.Contains(others, unique); n++ {
		unique = key + "-" + strconv.Itoa(n)
	}
	return unique
}
