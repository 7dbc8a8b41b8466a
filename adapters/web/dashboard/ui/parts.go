package ui

import (
	"html/template"
	"time"
)

// Part is a piece of a page. Kind names the template that renders Data.
type Part struct {
	Kind        string
	Title, Lead Words
	// Actions are shown beside the title.
	Actions []Action
	Data    any
	// Anchor is the part's id on the page, for links to it.
	Anchor string
	// Lang is the language of a part that is not in the reader's; "" for all others.
	Lang string
}

// Action links to a page, or changes something when Post is set.
type Action struct {
	Label Words
	Href  string
	// Post is the target of a form of its own, Token its CSRF token, and Values its fields.
	Post   string
	Token  string
	Values []Field
	// Tone is primary, danger or "".
	Tone string
	// Ask is the question to confirm first; "" for none.
	Ask Words
}

// Primary makes an action stand out.
func (a Action) Primary() Action { a.Tone = "primary"; return a }

// Confirm makes an action that cannot be undone ask first.
func (a Action) Confirm(question Words) Action { a.Tone, a.Ask = "danger", question; return a }

// Link returns an action that leads somewhere.
func Link(label Words, href string) Action { return Action{Label: label, Href: href} }

// Cell is one value of a table or of facts.
type Cell struct {
	Text Words
	Href string
	// Sub is a smaller line below.
	Sub  Words
	Tone string // of a badge: ok, wait, bad, mute; "" for plain text
	Num  bool
	Mono bool
	Copy bool // shows a button that copies Text
	// At is a moment that scripts may show in the reader's zone; zero for none.
	At time.Time
	// Actions are the buttons of a row.
	Actions []Action
	// Pick chooses the row for what is done with many at once; nil where it can't be chosen.
	Pick *Pick
}

// Pick is the box that chooses a row.
type Pick struct{ Form, Value, Name string }

// Text returns a cell of what people or programs wrote.
func Text(s string) Cell { return Cell{Text: Data(s)} }

// Label returns a cell of words of the dashboard.
func Label(w Words) Cell { return Cell{Text: w} }

// Number returns a cell of a number or an amount.
func Number(s string) Cell { return Cell{Text: Data(s), Num: true} }

// Mono returns a cell of a name or an id.
func Mono(s string) Cell { return Cell{Text: Data(s), Mono: true} }

// Copyable returns a cell of an id with a button that copies it; of "" a dash.
func Copyable(s string) Cell {
	if s == "" {
		return Text("–")
	}
	return Cell{Text: Data(s), Mono: true, Copy: true}
}

// TextLink returns a cell that leads somewhere.
func TextLink(text, href string) Cell { return Cell{Text: Data(text), Href: href} }

// Badge returns a cell of a state; tone is ok, wait, bad or mute.
func Badge(label Words, tone string) Cell {
	return Cell{Text: label, Tone: tone}
}

// Row is one line of a table.
type Row struct{ Cells []Cell }

// Table is a list, or a part of one.
type Table struct {
	// Label names the table for those who cannot see it.
	Label Words
	Heads []Head
	Rows  []Row
	Empty *Empty
}

// Head is the head of a table's column.
type Head struct {
	Label Words
	Num   bool
	// Href sorts the list by the column, or turns its order; "" where it can't be sorted by it.
	Href string
	// Sorted is ascending or descending where the list is sorted by the column.
	Sorted string
}

// Empty explains a list without lines: what belongs here, and how to make the first.
type Empty struct {
	Title, Text Words
	Action      *Action
	// Code is a command to try; "" for none.
	Code string
}

// Fact is one line of a list of facts.
type Fact struct {
	Label Words
	Value Cell
}

// Stat is a number at the top of a page.
type Stat struct {
	Label       Words
	Value, Href string
	Note        Words
}

// Step is a line of a timeline.
type Step struct {
	Title, Text Words
	At          string
	Tone        string
	Href        string
}

// Note is a paragraph that stands out.
type Note struct {
	Tone   string
	Text   Words
	Action *Action
}

// Code is text to read and copy.
type Code struct{ ID, Text string }

// Check is a line of a checklist, or of things to choose from, which have an Icon.
type Check struct {
	Done bool
	// Next marks the step to do now.
	Next        bool
	Title, Text Words
	Href        string
	Label       Words
	// Do changes something, in place of Href.
	Do   *Action
	Icon string
}

// Facts returns a list of facts.
func Facts(title Words, all ...Fact) Part { return Part{Kind: "facts", Title: title, Data: all} }

// FormPart shows a form.
func FormPart(f Form) Part { return Part{Kind: "form", Title: f.Title, Lead: f.Lead, Data: f} }

// TablePart shows a table.
func TablePart(title Words, t Table) Part { return Part{Kind: "table", Title: title, Data: t} }

// NotePart shows a note.
func NotePart(tone string, text Words) Part {
	return Part{Kind: "note", Data: Note{Tone: tone, Text: text}}
}

// TextPart shows a paragraph, or several.
func TextPart(title, text Words) Part { return Part{Kind: "text", Title: title, Data: text} }

// CodePart shows code; id is unique on the page.
func CodePart(title Words, id, text string) Part {
	return Part{Kind: "code", Title: title, Data: Code{id, text}}
}

// Drawing is an image that we drew ourselves.
type Drawing struct {
	SVG   template.HTML
	Label Words
}
