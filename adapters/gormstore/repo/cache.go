package repo

import (
	"reflect"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Cache keeps rows that one transaction has read, each until the transaction writes to the row's table: several
// subscribers of an event ask for the same account and the same customer. Slots say which rows.
type Cache struct {
	rows map[any]cached
	// written counts the writes to each table, and under "" those whose table is not known.
	written map[string]int
}

// cached is a value and what written was when it was asked for.
type cached struct {
	value   any
	err     error // nil or ErrNotFound
	written int
}

// NewCache returns an empty cache.
func NewCache() *Cache { return &Cache{rows: map[any]cached{}, written: map[string]int{}} }

// Wrote drops what was read from the table that a statement writes to, or everything when that is unclear.
func (c *Cache) Wrote(query string) {
	var words [3]string
	n := 0
	for word := range strings.FieldsSeq(query) {
		words[n] = word
		if n++; n == len(words) {
			break
		}
	}
	if n < len(words) {
		return
	}
	switch strings.ToUpper(words[0]) {
	case "SELECT", "SET", "(SELECT", "BEGIN", "COMMIT":
	case "UPDATE":
		c.WroteTo(words[1])
	case "INSERT", "DELETE": // INTO, FROM
		c.WroteTo(words[2])
	default:
		c.WroteTo("")
	}
}

// WroteTo drops what was read from a table; "" drops everything.
func (c *Cache) WroteTo(table string) { c.written[strings.Trim(table, `"`)]++ }

// writes counts the statements that may have written to a table.
func (c *Cache) writes(table string) int { return c.written[table] + c.written[""] }

// Slot is a kind of cached row: a T, read from one table by a key.
type Slot[T any] struct{ table string }

// NewSlot returns a slot for what is read from a table.
func NewSlot[T any](table string) *Slot[T] { return &Slot[T]{table} }

type slotKey[T any] struct {
	slot *Slot[T]
	key  string
}

// Get returns the cached value of a key, or what read returns and caches that. A row that is not there is cached too.
func (s *Slot[T]) Get(b *Base, key string, read func() (T, error)) (T, error) {
	return s.GetPut(b, key, func() (T, error) {
		value, err := read()
		if b.Cache != nil && (err == nil || IsNotFound(err)) {
			b.Cache.rows[slotKey[T]{s, key}] = cached{value, err, b.Cache.writes(s.table)}
		}
		return value, err
	})
}

// GetPut returns the value that was Put for a key, or else what read returns, which it does not cache.
func (s *Slot[T]) GetPut(b *Base, key string, read func() (T, error)) (T, error) {
	if known, ok := s.cached(b, key); ok {
		return known.value.(T), known.err //nolint:forcetypeassert,errcheck // its slot is of T
	}
	return read()
}

// Put caches a value that was written, or that was read or locked in another way.
func (s *Slot[T]) Put(b *Base, key string, value T) {
	if b.Cache != nil {
		b.Cache.rows[slotKey[T]{s, key}] = cached{value: value, written: b.Cache.writes(s.table)}
	}
}

// Preload reads rows right after the next statement that is waited for, in its round trip; keep puts values into the
// slot. args are strings. It does nothing where round trips cost nothing.
func (s *Slot[T]) Preload(b *Base, op, query string, args []any,
	read func(rows pgx.Rows, keep func(key string, value T)) error) {
	if b.Pipeline != nil {
		b.Pipeline.Preload(op, Numbered(query), args, s.keeping(b, read))
	}
}

// Enqueue is Preload that goes right before the next statement that is waited for: it can lock its rows.
func (s *Slot[T]) Enqueue(b *Base, op, query string, args []any,
	read func(rows pgx.Rows, keep func(key string, value T)) error) error {
	if b.Pipeline == nil {
		return nil
	}
	return b.Failure(op, b.Pipeline.EnqueueQuery(op, Numbered(query), args, s.keeping(b, read)))
}

// keeping reads rows into the slot, unless their table is written to before that.
func (s *Slot[T]) keeping(b *Base, read func(rows pgx.Rows,
	keep func(key string, value T)) error) func(pgx.Rows) error {
	written := b.Cache.writes(s.table)
	return func(rows pgx.Rows) error {
		return read(rows, func(key string, value T) {
			b.Cache.rows[slotKey[T]{s, key}] = cached{value: value, written: written}
		})
	}
}

// Has reports whether the value of a key is cached.
func (s *Slot[T]) Has(b *Base, key string) bool {
	_, ok := s.cached(b, key)
	return ok
}

// cached returns what is known of a key and true, or false if nothing is since the last write to the table.
func (s *Slot[T]) cached(b *Base, key string) (cached, bool) {
	if b.Cache == nil {
		return cached{}, false
	}
	known, ok := b.Cache.rows[slotKey[T]{s, key}]
	return known, ok && known.written == b.Cache.writes(s.table)
}

// PreloadRow is Preload of the one row, if there is any, that a query selects of gorm's mapping R.
func PreloadRow[R, T any](b *Base, s *Slot[T], op, query string, args []any, convert func(R) T, keyOf func(R) string) {
	s.Preload(b, op, WithColumns[R](b, query), args, func(rows pgx.Rows, keep func(string, T)) error {
		all, err := CollectRows[R](b, rows)
		for _, row := range all {
			keep(keyOf(row), convert(row))
		}
		return err
	})
}

// PreloadList is Preload of a list of rows. The query selects the list's key as owner, beside the columns of R, which
// are NULL for an empty list.
func PreloadList[R Row, T any](b *Base, s *Slot[[]T], op, query string, args []any, convert func(R) T) {
	type ownedRow struct {
		Owner string
		Row   R `gorm:"embedded"`
	}
	s.Preload(b, op, WithColumns[R](b, query), args, func(rows pgx.Rows, keep func(string, []T)) error {
		all, err := CollectRows[ownedRow](b, rows)
		if err != nil || len(all) == 0 {
			return err
		}
		list := make([]T, 0, len(all))
		for _, row := range all {
			if id, _ := row.Row.Identity(); id != "" {
				list = append(list, convert(row.Row))
			}
		}
		keep(all[0].Owner, list)
		return nil
	})
}

// CollectRows reads all rows of a query that selects the columns of R.
func CollectRows[R any](b *Base, rows pgx.Rows) ([]R, error) {
	of, err := schemaOf(b.DB, reflect.TypeFor[R]())
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, rowOf[R](of))
}
