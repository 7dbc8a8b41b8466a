package dashboard

import (
	"context"
	"encoding/csv"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/layout"
	coretext "sundry/core/text"
	"sundry/ports"
)

const (
	// pageSize is how many lines a page of a list has at least, if there are as many.
	pageSize = 25
	// scanPages bounds how much of a list is read for one page of a filter that the database does not know.
	scanPages = 20
	// maxExport is how many lines a CSV file has at most.
	maxExport = 10_000
	// maxFilter is how long what is searched for may be.
	maxFilter = 200
)

// list is a list of things of the account with filters, pages and a CSV file of the same.
type list[T any] struct {
	path    string // of its page
	name    string // of its file
	filters []filter
	columns []column[T]
	// read loads a page of what the filters ask for, newest first, as far as the database knows them.
	read func(ctx context.Context, q query, page ports.Page) (ports.List[T], error)
	// match is what is left of the filters; nil for nothing.
	match func(q query, one T) bool
	empty empty
}

// filter is a field above a list: a select with Options, or a search.
type filter struct {
	Name, Label string
	Options     []option // the first one means all
	Placeholder string
}

// column is a column of a list and of its CSV file.
type column[T any] struct {
	label string
	num   bool
	// cell is what the page shows; nil for a column that only files have.
	cell func(T) cell
	// csv is the exact value; "" column labels are left out of files. nil = the cell's text.
	csv func(T) string
}

// query is what the filters of a list were set to.
type query map[string]string

// has reports whether one of the texts contains what is searched for, whatever the case.
func (q query) has(name string, texts ...string) bool {
	want := strings.ToLower(q[name])
	if want == "" {
		return true
	}
	for _, text := range texts {
		if strings.Contains(strings.ToLower(text), want) {
			return true
		}
	}
	return false
}

// is reports whether a filter is off, or set to the value.
func (q query) is(name, value string) bool { return q[name] == "" || q[name] == value }

// listView is a list as its page shows it.
type listView struct {
	Path    string
	Filters []filterView
	Active  bool // some filter is set
	Table   table
	First   string // "" on the first page
	Next    string // "" on the last one
	CSV     string
}

type filterView struct {
	filter
	Value string
}

// ask reads the filters of a request. Values that no select offers are left out.
func (l *list[T]) ask(c *fiber.Ctx) query {
	q := query{}
	for _, f := range l.filters {
		value := strings.TrimSpace(c.Query(f.Name))
		if value == "" || len(value) > maxFilter || f.Options != nil && !offers(f.Options, value) {
			continue
		}
		q[f.Name] = value
	}
	return q
}

func offers(options []option, value string) bool {
	for _, o := range options {
		if o.Value == value {
			return true
		}
	}
	return false
}

// page reads what fills a page, and where the next begins. A page of what the database cannot filter ends early when
// little matches, and the next one goes on from there.
func (l *list[T]) page(ctx context.Context, q query, after ports.Cursor) (found []T, next ports.Cursor, err error) {
	for range scanPages {
		some, err := l.read(ctx, q, ports.Page{Limit: pageSize, After: after})
		if err != nil {
			return nil, next, err
		}
		for _, one := range some.Items {
			if l.match == nil || l.match(q, one) {
				found = append(found, one)
			}
		}
		next, after = some.Next, some.Next
		if next == (ports.Cursor{}) || len(found) >= pageSize {
			break
		}
	}
	return found, next, nil
}

// part shows the list.
func (l *list[T]) part(c *fiber.Ctx, title string) (part, error) {
	q := l.ask(c)
	after := readCursor(c.Query("cursor"))
	found, next, err := l.page(c.UserContext(), q, after)
	if err != nil {
		return part{}, err
	}
	view := listView{Path: l.path, Active: len(q) > 0, Table: l.table(found), CSV: l.address(q, "format", "csv")}
	view.Table.Label = title
	for _, f := range l.filters {
		for i := range f.Options {
			f.Options[i].Selected = f.Options[i].Value == q[f.Name]
		}
		view.Filters = append(view.Filters, filterView{f, q[f.Name]})
	}
	if after != (ports.Cursor{}) {
		view.First = l.address(q)
	}
	if next != (ports.Cursor{}) {
		view.Next = l.address(q, "cursor", writeCursor(next))
	}
	if len(found) == 0 {
		nothing := l.empty
		if view.Active || view.First != "" {
			nothing = empty{Title: "Nothing matches", Text: "Try another filter.", Action: &action{Label: "Clear filters", Href: l.path}}
		}
		view.Table.Empty = &nothing
	}
	return part{Kind: "list", Data: view}, nil
}

func (l *list[T]) table(found []T) table {
	var t table
	for _, col := range l.columns {
		if col.cell == nil {
			continue
		}
		t.Heads = append(t.Heads, head{col.label, col.num})
	}
	for _, one := range found {
		var r row
		for _, col := range l.columns {
			if col.cell == nil {
				continue
			}
			cell := col.cell(one)
			cell.Num = cell.Num || col.num
			r.Cells = append(r.Cells, cell)
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

// address is the list's with filters and further parameters, in turns.
func (l *list[T]) address(q query, more ...string) string {
	values := url.Values{}
	for name, value := range q {
		values.Set(name, value)
	}
	for i := 0; i+1 < len(more); i += 2 {
		values.Set(more[i], more[i+1])
	}
	if len(values) == 0 {
		return l.path
	}
	return l.path + "?" + values.Encode()
}

// export responds with everything that the filters ask for, as CSV.
func (l *list[T]) export(c *fiber.Ctx) error {
	var out strings.Builder
	w := csv.NewWriter(&out)
	line := make([]string, 0, len(l.columns))
	for _, col := range l.columns {
		if col.label != "" {
			line = append(line, col.label)
		}
	}
	_ = w.Write(line) // into memory
	var after ports.Cursor
	for written := 0; written < maxExport; {
		some, err := l.read(c.UserContext(), l.ask(c), ports.Page{Limit: 100, After: after})
		if err != nil {
			return err
		}
		for _, one := range some.Items {
			if l.match != nil && !l.match(l.ask(c), one) {
				continue
			}
			_ = w.Write(l.record(one))
			written++
		}
		if after = some.Next; after == (ports.Cursor{}) {
			break
		}
	}
	w.Flush()
	c.Set(fiber.HeaderContentType, "text/csv; charset=utf-8")
	c.Set(fiber.HeaderContentDisposition, `attachment; filename="`+l.name+`.csv"`)
	c.Set(fiber.HeaderCacheControl, "no-store")
	c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	return c.SendString(out.String())
}

// record is one line of the file.
func (l *list[T]) record(one T) []string {
	record := make([]string, 0, len(l.columns))
	for _, col := range l.columns {
		if col.label == "" {
			continue
		}
		value := ""
		if col.csv != nil {
			value = col.csv(one)
		} else {
			value = col.cell(one).Text
		}
		record = append(record, coretext.CSVCell(value))
	}
	return record
}

// show responds with the list's page, or with its file.
func show[T any](r *Routes, c *fiber.Ctx, v *visit, l *list[T], p page) error {
	if c.Query("format") == "csv" {
		return l.export(c)
	}
	shown, err := l.part(c, p.Title)
	if err != nil {
		return err
	}
	if p.Nav == "" {
		p.Nav = l.path
	}
	p.Parts = append(p.Parts, shown)
	return r.send(c, v, p)
}

func writeCursor(at ports.Cursor) string { return strconv.FormatInt(at.Value, 36) + "." + at.ID }

// readCursor reads where a page begins; what is none begins at the beginning.
func readCursor(text string) (at ports.Cursor) {
	value, id, ok := strings.Cut(text, ".")
	number, err := strconv.ParseInt(value, 36, 64)
	if !ok || err != nil || len(id) > maxFilter {
		return ports.Cursor{}
	}
	return ports.Cursor{Value: number, ID: id}
}

// moment is a cell of an instant.
func (v *visit) moment(at time.Time) cell {
	if at.IsZero() {
		return cell{Text: "–"}
	}
	return cell{Text: v.when(at), At: at}
}

// when writes an instant shortly, in UTC as every page of the dashboard: Nov 28, 2026, 6:42 AM or 28 Nov 2026, 06:42.
func (v *visit) when(at time.Time) string {
	day, clock := "2 Jan 2006", v.reader.Clock(at.UTC())
	if v.reader.Hour12 {
		day = "Jan 2, 2006"
	}
	return at.UTC().Format(day) + ", " + clock
}

// exact is an instant in files.
func exact(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}

// price writes an amount for people.
func (v *visit) price(minor int64, currency string) string {
	return v.reader.Money(layout.Amount(minor, currency))
}
