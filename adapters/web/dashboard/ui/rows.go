package ui

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/gofiber/fiber/v2"
)

const (
	// fewestRows is the number of rows that a list without entries has, all of them empty.
	fewestRows = 3
	// mostRows bounds the rows that are read. No list of a request may have as many entries.
	mostRows = 250
)

// RowList is a list of a request whose entries are rows of a form. The fields of a row are named after the list, the
// row's number and their member: tiers0.upTo. A row in which all of Typed are empty is no entry. A violation of a whole
// entry belongs to the first field of its row.
type RowList struct {
	Name  string
	Typed []string
}

// FieldRow are the fields of an entry, each named by its member; so are the paths in Also.
type FieldRow struct {
	Title  Words
	Fields []Field
}

// Rows are the rows of a field of the type rows.
type Rows struct {
	list RowList
	row  func(i int) FieldRow
	// Shown are the rows of the form. The last one is empty, for the script to add others like it.
	Shown []FieldRow
	// Add is the label of the script's button.
	Add Words
}

// Input begins the names of what the rows send.
func (r *Rows) Input() string { return r.list.Name }

// Field returns the rows of count entries and empty ones behind them. row returns the fields of entry i, and empty ones
// where there is no such entry.
func (l RowList) Field(label, add Words, count int, row func(i int) FieldRow) Field {
	entries := make([]int, count)
	for i := range entries {
		entries[i] = i
	}
	rows := &Rows{list: l, row: row, Add: add}
	rows.show(entries)
	return Field{Name: l.Name, Label: label, Type: "rows", List: rows}
}

// Read returns how the names of the fields of each entry that was sent begin: "tiers0.".
func (l RowList) Read(in *Input) []string {
	var all []string
	for _, i := range l.entries(in.c) {
		all = append(all, l.prefix(i))
	}
	return all
}

// Path returns the path of a member of entry i.
func (l RowList) Path(i int, member string) string {
	return fmt.Sprintf("%s[%d].%s", l.Name, i, member)
}

func (l RowList) prefix(i int) string { return l.Name + strconv.Itoa(i) + "." }

// entries returns the numbers of the rows that were filled in.
func (l RowList) entries(c *fiber.Ctx) []int {
	var filled []int
	in := ReadInput(c)
	for i := range mostRows {
		if slices.ContainsFunc(l.Typed, func(member string) bool { return in.Text(l.prefix(i)+member) != "" }) {
			filled = append(filled, i)
		}
	}
	return filled
}

// show makes the rows up to the last entry and an empty one behind it. A violation of entry k belongs to the row that
// it was read from, entries[k].
func (r *Rows) show(entries []int) {
	count := max(fewestRows, len(r.Shown))
	if len(entries) > 0 {
		count = max(count, entries[len(entries)-1]+2)
	}
	r.Shown = nil
	for i := range count {
		row := r.row(i)
		k := slices.Index(entries, i)
		for j := range row.Fields {
			at := &row.Fields[j]
			members := append([]string{at.Name}, at.Also...)
			at.Name, at.Also, at.InRow = r.list.prefix(i)+at.Name, nil, true
			if k < 0 {
				continue
			}
			for _, member := range members {
				at.Also = append(at.Also, r.list.Path(k, member))
			}
			if j == 0 {
				at.Also = append(at.Also, fmt.Sprintf("%s[%d]", r.list.Name, k))
			}
		}
		r.Shown = append(r.Shown, row)
	}
}

// refill shows the rows that were sent.
func (r *Rows) refill(c *fiber.Ctx) {
	r.show(r.list.entries(c))
	for _, row := range r.Shown {
		for i := range row.Fields {
			row.Fields[i].refill(c)
		}
	}
}

// fieldFor returns the field of a row that a path belongs to; nil for none.
func (r *Rows) fieldFor(path string) *Field {
	for _, row := range r.Shown {
		for i := range row.Fields {
			if row.Fields[i].isOf(path) {
				return &row.Fields[i]
			}
		}
	}
	return nil
}
