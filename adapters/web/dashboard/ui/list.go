package ui

import (
	"context"
	"encoding/base64"
	"encoding/csv"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	coretext "sundry/core/text"
	"sundry/ports"
)

const (
	// PageSize is the least number of lines on a page of a list, if there are as many.
	PageSize = 25
	// scanPages bounds how much of a list is read for one page of a filter that the database does not know.
	scanPages = 20
	// maxExport bounds the lines of a CSV file.
	maxExport = 10_000
	// maxFilter bounds the length of a filter's value.
	maxFilter = 200
	// csvLanguage is the language of files: programs read their heads.
	csvLanguage = "en"
	// maxCursor bounds the length of a page's cursor.
	maxCursor = 2_000
)

// List is a list of things of the account with filters, pages and a CSV file of the same.
type List[T any] struct {
	Path     string // of its page
	FileName string // of its file
	Filters  []Filter
	Columns  []Column[T]
	// read loads a page of what the filters ask for, as far as the database knows them.
	Read func(ctx context.Context, q Query, page ports.Page) (ports.List[T], error)
	// Summary shows what the filters find as a whole, above the lines, where the database knows all of them; nil for
	// none, an empty part for nothing to show. The page has the totals of Read.
	Summary func(ctx context.Context, q Query, page ports.List[T]) (Part, error)
	// Match applies the filters that Read cannot; nil for none.
	Match func(q Query, one T) bool
	Empty Empty
	// Bulk offers actions on chosen lines; nil for none.
	Bulk *Bulk[T]
	// Saved are the filters that the reader keeps; nil where none can be kept.
	Saved *Saved
}

// Bulk leads from chosen lines to a page that asks before it does something with all of them.
type Bulk[T any] struct {
	// Action is the address of that page, which gets the lines as "id" and takes the answer as a form.
	Action string
	Label  Words
	// ID returns the id of a line, "" for one that can't be chosen, and Name names it for those who can't see it.
	ID, Name func(T) string
}

// bulkForm is the id of the form that the boxes of a list belong to.
const bulkForm = "bulk"

// Filter is a field above a list: a select with Options, or a search.
type Filter struct {
	Name        string
	Label       Words
	Options     []Option // the first one means all
	Placeholder Words
	// Date makes it a field for a day, such as 2026-11-26.
	Date bool
	// Matched is set where Match applies it, and the database does not know it.
	Matched bool
}

// Column is a column of a list and of its CSV file.
type Column[T any] struct {
	Label Words
	Num   bool
	// Cell renders the column on the page; nil for a column that only files have.
	Cell func(T) Cell
	// csv is the exact value; "" column labels are left out of files. nil = the cell's text.
	CSV func(T) string
	// Sort is the value that the list can be sorted by (ports.Sort), with a minus where it is sorted descending first;
	// "" for none.
	Sort string
}

// Query holds what the filters of a list were set to, by their names.
type Query map[string]string

// Has reports whether one of the texts contains the filter's value, ignoring case.
func (q Query) Has(name string, texts ...string) bool {
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

// Days returns the time from the first instant of the day of one filter to the last of the day of another, in UTC; what
// is not set is open.
func (q Query) Days(from, until string) (between ports.Created) {
	if day, err := time.Parse(time.DateOnly, q[from]); err == nil {
		between.From = day
	}
	if day, err := time.Parse(time.DateOnly, q[until]); err == nil {
		between.To = day.AddDate(0, 0, 1)
	}
	return between
}

// Is reports whether a filter is off, or set to the value.
func (q Query) Is(name, value string) bool { return q[name] == "" || q[name] == value }

// listView shows a list on its page.
type listView struct {
	Path    string
	Filters []filterView
	Clear   string // the address without filters; "" when none is set
	Sort    string // of the address; "" for none
	Partial bool   // only the newest lines are sorted
	Table   Table
	First   string // "" on the first page
	Next    string // "" on the last one
	CSV     string
	Summary *Part
	Bulk    *Action // nil for none
	Saved   *Saved  // nil for none
}

type filterView struct {
	Filter
	Value string
}

// query reads the filters of a request. Values that no select offers are left out.
func (l *List[T]) query(c *fiber.Ctx) Query {
	q := Query{}
	for _, f := range l.Filters {
		value := strings.TrimSpace(c.Query(f.Name))
		if value == "" || len(value) > maxFilter || f.Options != nil && !offers(f.Options, value) {
			continue
		}
		if _, err := time.Parse(time.DateOnly, value); f.Date && err != nil {
			continue
		}
		q[f.Name] = value
	}
	if as := c.Query(sortField); l.sorts(as) {
		q[sortField] = as
	}
	return q
}

func offers(options []Option, value string) bool {
	for _, o := range options {
		if o.Value == value {
			return true
		}
	}
	return false
}

// ReadPage reads one page. A page with a filter that the database does not support ends early when few rows match; the
// next page continues from there.
func (l *List[T]) ReadPage(ctx context.Context, q Query, after ports.Cursor) (page ports.List[T], err error) {
	for n := range scanPages {
		some, err := l.Read(ctx, q, ports.Page{
			Limit: PageSize, After: after, Sort: q.sort(), Totals: n == 0 && l.summarizes(q),
		})
		if err != nil {
			return page, err
		}
		if n == 0 {
			page.Totals = some.Totals
		}
		for _, one := range some.Items {
			if l.Match == nil || l.Match(q, one) {
				page.Items = append(page.Items, one)
			}
		}
		page.Partial = page.Partial || some.Partial
		page.Next, after = some.Next, some.Next
		if page.Next == (ports.Cursor{}) || len(page.Items) >= PageSize {
			break
		}
	}
	return page, nil
}

// summarizes reports whether the list has a summary of what a query finds.
func (l *List[T]) summarizes(q Query) bool {
	isMatched := func(f Filter) bool { return f.Matched && q[f.Name] != "" }
	return l.Summary != nil && !slices.ContainsFunc(l.Filters, isMatched)
}

// Part shows the list.
func (l *List[T]) Part(c *fiber.Ctx, title Words) (Part, error) {
	q := l.query(c)
	after := readCursor(c.Query("cursor"))
	page, err := l.ReadPage(c.UserContext(), q, after)
	if err != nil {
		return Part{}, err
	}
	found := page.Items
	view := listView{
		Path: l.Path, Sort: q[sortField], Partial: page.Partial, Table: l.TableOf(found),
		CSV: l.address(q, "format", "csv"),
	}
	if q.filtered() {
		view.Clear = l.address(Query{}, sortField, view.Sort)
	}
	l.sortHeads(q, view.Table.Heads)
	view.Table.Label = title
	if l.Bulk != nil {
		l.pickable(&view, found)
	}
	for _, f := range l.Filters {
		for i := range f.Options {
			f.Options[i].Selected = f.Options[i].Value == q[f.Name]
		}
		view.Filters = append(view.Filters, filterView{f, q[f.Name]})
	}
	if l.Saved != nil {
		view.Saved = l.Saved.on(l.Path, l.address(q))
	}
	if l.summarizes(q) && len(found) > 0 {
		summary, err := l.Summary(c.UserContext(), q, page)
		if err != nil {
			return Part{}, err
		}
		if summary.Kind != "" {
			view.Summary = &summary
		}
	}
	if after != (ports.Cursor{}) {
		view.First = l.address(q)
	}
	if page.Next != (ports.Cursor{}) {
		view.Next = l.address(q, "cursor", writeCursor(page.Next))
	}
	if len(found) == 0 {
		view.Table.Empty = new(l.emptyOn(view))
	}
	return Part{Kind: "list", Data: view}, nil
}

// emptyOn says why a page has no lines: nothing is there, or what was searched does not match.
func (l *List[T]) emptyOn(view listView) Empty {
	switch {
	case view.Next != "":
		return Empty{
			Title: "Nothing matches so far", Text: "There is more to search on the next page.",
			Action: &Action{Label: "Next page", Href: view.Next},
		}
	case view.Clear != "" || view.First != "":
		return Empty{
			Title: "Nothing matches", Text: "Try another filter.",
			Action: &Action{Label: "Clear filters", Href: l.Path},
		}
	}
	return l.Empty
}

// pickable adds a box to each line that can be chosen, and what to do with those that are.
func (l *List[T]) pickable(view *listView, found []T) {
	for i, one := range found {
		if id := l.Bulk.ID(one); id != "" {
			view.Table.Rows[i].Cells[0].Pick = &Pick{bulkForm, id, l.Bulk.Name(one)}
			view.Bulk = &Action{Label: l.Bulk.Label, Post: l.Bulk.Action}
		}
	}
}

// TableOf shows things in the columns of the list.
func (l *List[T]) TableOf(found []T) Table {
	var t Table
	for _, col := range l.Columns {
		if col.Cell == nil {
			continue
		}
		t.Heads = append(t.Heads, Head{Label: col.Label, Num: col.Num})
	}
	for _, one := range found {
		var r Row
		for _, col := range l.Columns {
			if col.Cell == nil {
				continue
			}
			cell := col.Cell(one)
			cell.Num = cell.Num || col.Num
			r.Cells = append(r.Cells, cell)
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

// address returns the list's with filters, sort and further parameters, in turns; those that are "" are left out.
func (l *List[T]) address(q Query, more ...string) string {
	values := url.Values{}
	for name, value := range q {
		values.Set(name, value)
	}
	for i := 0; i+1 < len(more); i += 2 {
		if values.Del(more[i]); more[i+1] != "" {
			values.Set(more[i], more[i+1])
		}
	}
	if len(values) == 0 {
		return l.Path
	}
	return l.Path + "?" + values.Encode()
}

// Export responds with everything that the filters ask for, as CSV. A file that ends at maxExport says so by its name:
// programs read what is in it.
func (l *List[T]) Export(c *fiber.Ctx) error {
	var out strings.Builder
	w := csv.NewWriter(&out)
	line := make([]string, 0, len(l.Columns))
	for _, col := range l.Columns {
		if col.Label != "" {
			line = append(line, col.Label.In(csvLanguage))
		}
	}
	_ = w.Write(line) // into memory
	var after ports.Cursor
	q := l.query(c)
	for written := 0; written < maxExport; {
		some, err := l.Read(c.UserContext(), q, ports.Page{Limit: 100, After: after, Sort: q.sort()})
		if err != nil {
			return err
		}
		for _, one := range some.Items {
			if l.Match != nil && !l.Match(q, one) {
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
	name := l.FileName
	if after != (ports.Cursor{}) {
		name += "-first-" + strconv.Itoa(maxExport)
	}
	c.Set(fiber.HeaderContentType, "text/csv; charset=utf-8")
	c.Set(fiber.HeaderContentDisposition, `attachment; filename="`+name+`.csv"`)
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.SendString(out.String())
}

// record returns a line of the file.
func (l *List[T]) record(one T) []string {
	record := make([]string, 0, len(l.Columns))
	for _, col := range l.Columns {
		if col.Label == "" {
			continue
		}
		value := ""
		if col.CSV != nil {
			value = col.CSV(one)
		} else {
			value = col.Cell(one).Text.In(csvLanguage)
		}
		record = append(record, coretext.CSVCell(value))
	}
	return record
}

func writeCursor(at ports.Cursor) string {
	return strconv.FormatInt(at.Value, 36) + "." + at.ID + "." + base64.RawURLEncoding.EncodeToString([]byte(at.Text))
}

// readCursor parses a page's cursor. An invalid one means the first page.
func readCursor(text string) (at ports.Cursor) {
	value, rest, ok := strings.Cut(text, ".")
	id, encoded, _ := strings.Cut(rest, ".")
	number, err := strconv.ParseInt(value, 36, 64)
	sorted, notText := base64.RawURLEncoding.DecodeString(encoded)
	if !ok || err != nil || notText != nil || len(text) > maxCursor {
		return ports.Cursor{}
	}
	return ports.Cursor{Value: number, Text: string(sorted), ID: id}
}

// ExactTime writes an instant for files; "" for none.
func ExactTime(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}
