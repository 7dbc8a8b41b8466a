package dashboard

import (
	"html/template"
	"time"
)

// part is a piece of a page. Kind names the template that renders Data.
type part struct {
	Kind, Title, Lead string
	// Actions stand beside the title.
	Actions []action
	Data    any
	// Anchor is the part's id on the page, for links to it.
	Anchor string
}

// action leads to a page, or changes something when Post is set.
type action struct {
	Label string
	Href  string
	// Post is the target of a form of its own, Token its proof, Values what it sends.
	Post   string
	Token  string
	Values []field
	// Tone is primary, danger or "".
	Tone string
	// Ask is what is asked before; "" for nothing.
	Ask string
}

// cell is one value of a table or of facts.
type cell struct {
	Text, Href string
	// Sub is a smaller line below.
	Sub  string
	Tone string // of a badge: ok, wait, bad, mute; "" for plain text
	Num  bool
	Mono bool
	Copy bool // shows a button that copies Text
	// At is a moment that scripts may show in the reader's zone; zero for none.
	At time.Time
	// Actions are the buttons of a row.
	Actions []action
}

func text(s string) cell         { return cell{Text: s} }
func mono(s string) cell         { return cell{Text: s, Mono: true} }
func copied(s string) cell       { return cell{Text: s, Mono: true, Copy: true} }
func to(label, href string) cell { return cell{Text: label, Href: href} }
func badge(label, tone string) cell {
	return cell{Text: label, Tone: tone}
}

// row is one line of a table.
type row struct{ Cells []cell }

// table is a list, or a part of one.
type table struct {
	// Label names the table for those who cannot see it.
	Label string
	Heads []head
	Rows  []row
	Empty *empty
}

type head struct {
	Label string
	Num   bool
}

// empty is what a list shows instead of nothing: what belongs here, and how it comes about.
type empty struct {
	Title, Text string
	Action      *action
	// Code is a command to try; "" for none.
	Code string
}

// fact is one line of a list of facts.
type fact struct {
	Label string
	Value cell
}

// stat is a number at the top of a page.
type stat struct {
	Label, Value, Note, Href string
}

// step is a line of a timeline.
type step struct {
	Title, Text string
	At          string
	Tone        string
	Href        string
}

// note is a paragraph that stands out.
type note struct {
	Tone, Text string
	Action     *action
}

// code is text to read and copy.
type code struct{ ID, Text string }

// check is a line of a checklist, or of things to choose from, which have an Icon.
type check struct {
	Done bool
	// Next marks the step to do now.
	Next        bool
	Title, Text string
	Href, Label string
	Icon        string
}

func facts(title string, all ...fact) part { return part{Kind: "facts", Title: title, Data: all} }

func formPart(f form) part { return part{Kind: "form", Title: f.Title, Lead: f.Lead, Data: f} }

func tablePart(title string, t table) part { return part{Kind: "table", Title: title, Data: t} }

func notePart(tone, text string) part { return part{Kind: "note", Data: note{Tone: tone, Text: text}} }

func codePart(title, id, text string) part {
	return part{Kind: "code", Title: title, Data: code{id, text}}
}

// drawing is an image that we drew ourselves.
type drawing struct {
	SVG   template.HTML
	Label string
}
