package ui

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"sundry/core/fault"
)

// storedField is the member of a form that replaces what is stored: the digest of the values that it was made with.
const storedField = "stored"

// OfStored returns a form that shows what is stored and replaces it. It carries a digest of its values, by which
// CheckStored tells whether something else was saved meanwhile.
func (f Form) OfStored() Form {
	f.Stored = f.digest()
	return f
}

// KeepStored sets the digest to the one that was sent, for a form that is shown again before it is checked.
func (f *Form) KeepStored(c *fiber.Ctx) { f.Stored = c.FormValue(storedField) }

// CheckStored refuses to save a form that was made of other values than those stored now, which f has: saving it would
// undo another change without a word. It accepts a form whose values are stored already, because it was sent twice, and
// one without a digest, because an earlier version of the program made its page. STATE_CONFLICT.
func (f Form) CheckStored(c *fiber.Ctx) error {
	sent := f
	sent.Fields = slices.Clone(f.Fields)
	for i := range sent.Fields {
		sent.Fields[i].refill(c)
	}
	return f.CheckReplaced(c, sent)
}

// CheckReplaced is CheckStored for a form with hours, which Refill leaves alone; sent has the values that were sent.
func (f Form) CheckReplaced(c *fiber.Ctx, sent Form) error {
	shown := c.FormValue(storedField)
	if shown == "" || shown == f.Stored || sent.digest() == f.Stored {
		return nil
	}
	return fault.New(fault.StateConflict, "This was changed after you opened the page, so nothing is saved yet. What you "+
		"entered is still here: save again to replace the change, or open the page in another tab to see it first.")
}

// digest returns a short digest of what the form sends.
func (f Form) digest() string {
	var sent [][]string
	for _, field := range f.Fields {
		sent = field.appendSent(sent)
	}
	text, err := json.Marshal(sent)
	if err != nil {
		panic("dashboard: " + err.Error()) // of texts there is no such error
	}
	const size = 12 // the form's user knows what it is of
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:size])
}

// appendSent appends what the field sends as it is shown, each value behind its name. Empty values are left out, and so
// are labels and choices, which change with the language and with other objects.
func (f Field) appendSent(to [][]string) [][]string {
	values := []string{f.Name}
	switch f.Type {
	case "password", "file", "heading":
	case "checkbox":
		if f.Checked {
			values = append(values, "yes")
		}
	case "select":
		values = append(values, f.chosen())
	case "boxes":
		values = append(values, selectedValues(f.Options)...)
		for _, group := range f.Groups {
			values = append(values, selectedValues(group.Options)...)
		}
	case "day":
		values = append(values, f.Day.sent()...)
	case "rows":
		return f.List.appendSent(to)
	default:
		values = append(values, strings.TrimSpace(strings.ReplaceAll(f.Value, "\r\n", "\n")))
	}
	if values = slices.DeleteFunc(values, func(value string) bool { return value == "" }); len(values) < 2 {
		return to
	}
	return append(to, values)
}

// chosen returns the option of a select that is sent: the first one where none is selected.
func (f Field) chosen() string {
	for _, o := range f.Options {
		if o.Selected {
			return o.Value
		}
	}
	if len(f.Options) > 0 {
		return f.Options[0].Value
	}
	return ""
}

func selectedValues(options []Option) (all []string) {
	for _, o := range options {
		if o.Selected {
			all = append(all, o.Value)
		}
	}
	return all
}

// sent returns what a row of hours says; nothing for an exception without a date.
func (d *Day) sent() []string {
	if d.Dated && d.Date == "" || !d.Dated && !d.Open {
		return nil
	}
	all := []string{d.Date, "open"}
	for _, one := range d.Ranges {
		if from := (Field{Options: one.From}).chosen(); from != "" {
			all = append(all, from+"-"+(Field{Options: one.To}).chosen())
		}
	}
	return all
}

// appendSent appends what the entries send. Rows that are none are left out: their fields show what is usual.
func (r *Rows) appendSent(to [][]string) [][]string {
	for i, row := range r.Shown {
		var sent [][]string
		for _, field := range row.Fields {
			sent = field.appendSent(sent)
		}
		if slices.ContainsFunc(sent, func(values []string) bool {
			return slices.Contains(r.list.Typed, strings.TrimPrefix(values[0], r.list.prefix(i)))
		}) {
			to = append(to, sent...)
		}
	}
	return to
}
