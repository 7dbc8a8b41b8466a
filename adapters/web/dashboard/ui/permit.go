package ui

import "slices"

// May reports whether the reader of a page may use an address with a method.
type May func(method, address string) bool

// Permitter is the data of a part that has addresses of its own kind.
type Permitter interface {
	// Permit returns the data with what the reader may use.
	Permit(may May) any
}

// Permit takes from the page what its reader may not use: buttons, forms, and what leads to such pages.
func (p *Page) Permit(may May) {
	p.Actions = Permitted(p.Actions, may)
	if p.Up != nil && !may("GET", p.Up.Href) {
		p.Up = nil
	}
	p.Parts, p.Aside = permitParts(p.Parts, may), permitParts(p.Aside, may)
}

func permitParts(parts []Part, may May) []Part {
	var kept []Part
	for _, part := range parts {
		if part, ok := part.permit(may); ok {
			kept = append(kept, part)
		}
	}
	return kept
}

// permit returns the part without what the reader may not use; ok is false when nothing is left.
func (p Part) permit(may May) (_ Part, ok bool) {
	p.Actions = Permitted(p.Actions, may)
	switch data := p.Data.(type) {
	case Permitter:
		p.Data = data.Permit(may)
	case Form:
		method := "POST"
		if data.Get {
			method = "GET"
		}
		return p, may(method, data.Action)
	case Note:
		return p, data.Action == nil || data.Action.permitted(may)
	case Table:
		p.Data = data.permit(may)
	case listView:
		data.Table = data.Table.permit(may)
		if data.Bulk != nil && !data.Bulk.permitted(may) {
			data.Bulk = nil
			for _, row := range data.Table.Rows { // they are copies
				row.Cells[0].Pick = nil
			}
		}
		p.Data = data
	case []Fact:
		facts := slices.Clone(data)
		for i := range facts {
			facts[i].Value = facts[i].Value.permit(may)
		}
		p.Data = facts
	case []Stat:
		stats := slices.Clone(data)
		for i := range stats {
			if stats[i].Href != "" && !may("GET", stats[i].Href) {
				stats[i].Href = ""
			}
		}
		p.Data = stats
	case []Check:
		checks := slices.DeleteFunc(slices.Clone(data), func(c Check) bool {
			return c.Href != "" && !may("GET", c.Href) || c.Do != nil && !c.Do.permitted(may)
		})
		p.Data = checks
		return p, len(checks) > 0
	}
	return p, true
}

// permit returns the table without buttons and links that the reader may not use.
func (t Table) permit(may May) Table {
	rows := make([]Row, len(t.Rows))
	for i, row := range t.Rows {
		cells := slices.Clone(row.Cells)
		for j := range cells {
			cells[j] = cells[j].permit(may)
		}
		rows[i] = Row{Cells: cells}
	}
	t.Rows = rows
	if t.Empty != nil && t.Empty.Action != nil && !t.Empty.Action.permitted(may) {
		empty := *t.Empty
		empty.Action, t.Empty = nil, &empty
	}
	return t
}

func (c Cell) permit(may May) Cell {
	c.Actions = Permitted(c.Actions, may)
	if c.Href != "" && !may("GET", c.Href) {
		c.Href = ""
	}
	return c
}

// Permitted returns the actions that the reader may use.
func Permitted(actions []Action, may May) []Action {
	var kept []Action
	for _, a := range actions {
		if a.permitted(may) {
			kept = append(kept, a)
		}
	}
	return kept
}

func (a Action) permitted(may May) bool {
	if a.Post != "" {
		return may("POST", a.Post)
	}
	return may("GET", a.Href)
}
