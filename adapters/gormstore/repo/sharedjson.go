package repo

import (
	"database/sql/driver"
	"encoding/binary"
	"encoding/json"
	"sync"

	"github.com/jackc/pgx/v5"
)

// SharedJSON stores a value as JSON, as JSONColumn does, that many rows have alike: what a plan gives, say, is in each
// of its sessions, grants and subscriptions. Equal texts are decoded once and share what they decode to, so nobody may
// change a value that was read in place.
type SharedJSON[T any] struct{ V T }

// Shared makes a column of a value.
func Shared[T any](v T) SharedJSON[T] { return SharedJSON[T]{v} }

// Value implements driver.Valuer.
func (j SharedJSON[T]) Value() (driver.Value, error) { return j.text() }

func (j *SharedJSON[T]) text() (driver.Value, error) { return (*JSONColumn[T])(j).text() }

// Scan implements sql.Scanner.
func (j *SharedJSON[T]) Scan(src any) error {
	if raw, ok := src.(string); ok {
		return j.ScanBytes([]byte(raw))
	}
	return (*JSONColumn[T])(j).Scan(src)
}

// ScanBytes implements pgtype.BytesScanner. A text that is remembered is not copied.
func (j *SharedJSON[T]) ScanBytes(raw []byte) (err error) {
	if raw == nil || len(raw) > maxSharedText {
		return (*JSONColumn[T])(j).ScanBytes(raw)
	}
	j.V, err = sharedOf[T]().get(raw, func() (v T, err error) {
		err = json.Unmarshal(raw, &v)
		return v, err
	})
	return err
}

// QueryShared is QueryRows for rows that are mostly like those that were read before: equal rows are decoded once, as
// equal texts of SharedJSON are. A T is of one query.
func QueryShared[T any](b *Base, op, query string, args []any, scan func(row Scanner) (T, error)) ([]T, error) {
	if b.Pipeline == nil {
		return QueryRows(b, op, query, args, scan)
	}
	known := sharedOf[T]()
	found, err := readPipelined(b, op, Numbered(query), args, func(row pgx.CollectableRow) (T, error) {
		raw := make([]byte, 0, 1<<10)
		for _, value := range row.RawValues() {
			length := int64(len(value))
			if value == nil { // NULL
				length = -1
			}
			raw = append(binary.AppendVarint(raw, length), value...)
		}
		decode := func() (T, error) { return scan(row) }
		if len(raw) > maxSharedText {
			return decode()
		}
		return known.get(raw, decode)
	})
	return found, b.Failure(op, err)
}

const (
	// maxSharedText is the longest text that is remembered.
	maxSharedText = 8 << 10
	// maxSharedTexts bounds the bytes of text remembered for one type of value. When they are used up, all is forgotten.
	maxSharedTexts = 256 << 10
)

// shared keeps what texts or rows decode to.
type shared[T any] struct {
	mu     sync.RWMutex
	values map[string]T
	held   int
}

// sharedByType has one shared[T] for each T, under (*T)(nil).
var sharedByType sync.Map

func sharedOf[T any]() *shared[T] {
	known, ok := sharedByType.Load((*T)(nil))
	if !ok {
		known, _ = sharedByType.LoadOrStore((*T)(nil), &shared[T]{values: map[string]T{}})
	}
	return known.(*shared[T]) //nolint:forcetypeassert,errcheck // it is only written above
}

func (s *shared[T]) get(raw []byte, decode func() (T, error)) (v T, err error) {
	s.mu.RLock()
	v, known := s.values[string(raw)]
	s.mu.RUnlock()
	if known {
		return v, nil
	}
	if v, err = decode(); err != nil {
		return v, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held += len(raw); s.held > maxSharedTexts {
		s.values, s.held = map[string]T{}, len(raw)
	}
	s.values[string(raw)] = v
	return v, nil
}
