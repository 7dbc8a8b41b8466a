package httpapi

import (
	"encoding/base64"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"sundry/core/apiformat"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/ports"
)

const (
	defaultLimit = 20
	maxLimit     = 100
	// maxCursorID is longer than any id: a task's holds an integrator's own id of a customer.
	maxCursorID = 2048
)

// ListView is the body of every response with a list.
type ListView[V any] struct {
	Data       []V     `json:"data"`
	HasMore    bool    `json:"hasMore"`
	NextCursor *string `json:"nextCursor"`
}

// NewListView renders a page of a list.
func NewListView[T, V any](l ports.List[T], view func(T) V) ListView[V] {
	out := ListView[V]{Data: make([]V, len(l.Items))}
	for i, item := range l.Items {
		out.Data[i] = view(item)
	}
	if l.Next.ID != "" {
		out.HasMore, out.NextCursor = true, FormatCursor(l.Next)
	}
	return out
}

// noItem is a cursor's id where a list that is read on from later has no item yet: it sorts before every id.
const noItem = "-"

// NewTailView renders a page of a list that grows at its end: nextCursor is never null, and reading on from it later
// misses nothing.
func NewTailView[T, V any](l ports.List[T], view func(T) V) ListView[V] {
	out := NewListView(l, view)
	if out.NextCursor == nil {
		last := l.Last
		if last.ID == "" {
			last.ID = noItem
		}
		out.NextCursor = FormatCursor(last)
	}
	return out
}

// SortedList marks the next cursor of a list with how the list is sorted, for ReadSortedPage.
func SortedList[T any](l ports.List[T], sort string) ports.List[T] {
	l.Next.Text = sort
	return l
}

// FormatCursor renders a position for ReadCursor.
func FormatCursor(c ports.Cursor) *string {
	plain := strconv.FormatInt(c.Value, 10) + "|" + c.ID
	if c.Text != "" {
		plain = c.Text + ":" + plain
	}
	text := base64.RawURLEncoding.EncodeToString([]byte(plain))
	return &text
}

// QueryPage is ReadPage of a list that is queried for nothing else.
func QueryPage(c *fiber.Ctx, of id.Prefix) (ports.Page, error) {
	var f fault.Violations
	page := ReadPage(c, &f, of)
	return page, f.Err()
}

// ReadPage reads ?limit= and ?cursor= of a list of objects whose ids have a prefix, "" for any, and adds their faults
// to f. The cursor of another list is one: its page would skip or repeat items.
func ReadPage(c *fiber.Ctx, f *fault.Violations, of id.Prefix) ports.Page {
	return ReadSortedPage(c, f, of, "")
}

// ReadSortedPage is ReadPage of a list whose cursors SortedList marks with its sort. Another sort's cursor is a fault.
func ReadSortedPage(c *fiber.Ctx, f *fault.Violations, of id.Prefix, sort string) ports.Page {
	p := ports.Page{Limit: defaultLimit}
	if c.Context().QueryArgs().Has("limit") {
		limit, err := strconv.ParseUint(c.Query("limit"), 10, 16) // digits only: no sign
		if err != nil || limit < 1 || limit > maxLimit {
			f.Add("limit", fault.DetailOutOfRange, "Expected a whole number from 1 to 100.")
		}
		p.Limit = int(limit)
	}
	p.After = ReadCursor(f, c.Query("cursor"), of)
	f.Check(p.After.ID == "" || p.After.Text == sort, "cursor", fault.DetailInvalid,
		"The cursor belongs to another sort. Keep the sort of its page, or begin without a cursor.")
	return p
}

// ReadCursor reads the cursor of a request, which may be empty, in a list of objects whose ids have a prefix, "" for
// any, and adds its fault to f.
func ReadCursor(f *fault.Violations, raw string, of id.Prefix) ports.Cursor {
	if raw == "" {
		return ports.Cursor{}
	}
	cursor, ok := parseCursor(raw)
	if !ok {
		f.Add("cursor", fault.DetailInvalid, "Expected the nextCursor of an earlier page.")
		return ports.Cursor{}
	}
	if of != "" && cursor.ID != noItem && !strings.HasPrefix(cursor.ID, string(of)+"_") {
		f.Add("cursor", fault.DetailInvalid, "The cursor belongs to another list. Expected the nextCursor of an earlier "+
			"page of this one.")
		return ports.Cursor{}
	}
	return cursor
}

func parseCursor(raw string) (ports.Cursor, bool) {
	plain, err := base64.RawURLEncoding.DecodeString(raw)
	if err != nil {
		return ports.Cursor{}, false
	}
	value, id, ok := strings.Cut(string(plain), "|")
	if !ok || id == "" || len(id) > maxCursorID || !Storable(id) {
		return ports.Cursor{}, false
	}
	sort, number, sorted := strings.Cut(value, ":")
	if !sorted {
		sort, number = "", value
	}
	n, err := strconv.ParseInt(number, 10, 64)
	return ports.Cursor{Value: n, Text: sort, ID: id}, err == nil
}

// QueryCreated reads ?createdFrom= and ?createdTo=.
func QueryCreated(c *fiber.Ctx, f *fault.Violations) ports.Created {
	created := ports.Created{From: QueryTime(c, f, "createdFrom"), To: QueryTime(c, f, "createdTo")}
	f.Check(
		created.From.IsZero() || created.To.IsZero() || created.From.Before(created.To), "createdTo",
		fault.DetailOutOfRange, "Expected a time after createdFrom.",
	)
	return created
}

// QueryTime reads an optional RFC 3339 time.
func QueryTime(c *fiber.Ctx, f *fault.Violations, name string) time.Time {
	return ReadTime(f, name, apiformat.Text(c.Query(name)))
}

// QueryOneOf reads an optional value of an enumeration.
func QueryOneOf[T ~string](c *fiber.Ctx, f *fault.Violations, name string, allowed ...T) T {
	value := T(c.Query(name))
	if value == "" {
		return ""
	}
	texts := make([]string, len(allowed))
	for i, a := range allowed {
		texts[i] = string(a)
	}
	f.OneOf(name, string(value), texts...)
	return value
}

// QueryID reads an optional id of the given kind.
func QueryID(c *fiber.Ctx, f *fault.Violations, name string, prefix id.Prefix) string {
	value := c.Query(name)
	f.Check(
		value == "" || id.Valid(prefix, value), name, fault.DetailInvalid,
		"Expected an id that begins with "+string(prefix)+"_.",
	)
	return value
}

// Storable reports whether a text can be compared with stored ones: neither engine holds any other.
func Storable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

// QueryText reads an optional text that a database can be queried for.
func QueryText(c *fiber.Ctx, f *fault.Violations, name string) string {
	text := c.Query(name)
	f.Check(
		utf8.ValidString(text) && !strings.ContainsRune(text, 0), name, fault.DetailMalformed,
		"Expected UTF-8 text without NUL.",
	)
	return text
}
