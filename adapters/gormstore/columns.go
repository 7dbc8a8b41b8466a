package gormstore

import (
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"sundry/ports"
)

// millis stores an instant as milliseconds since 1970 UTC; the zero time is NULL.
type millis time.Time

// Value implements driver.Valuer.
func (m millis) Value() (driver.Value, error) {
	if time.Time(m).IsZero() {
		return nil, nil
	}
	return time.Time(m).UnixMilli(), nil
}

// Scan implements sql.Scanner.
func (m *millis) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*m = millis{}
	case int64:
		*m = millis(time.UnixMilli(v).UTC())
	default:
		return fmt.Errorf("cannot read %T as milliseconds", src)
	}
	return nil
}

// jsonOf stores a value as JSON.
type jsonOf[T any] struct{ V T }

// Value implements driver.Valuer.
func (j jsonOf[T]) Value() (driver.Value, error) {
	raw, err := json.Marshal(j.V)
	return string(raw), err
}

// Scan implements sql.Scanner.
func (j *jsonOf[T]) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		return nil
	case string:
		return json.Unmarshal([]byte(v), &j.V)
	case []byte:
		return json.Unmarshal(v, &j.V)
	}
	return fmt.Errorf("cannot read %T as JSON", src)
}

// failure turns a driver error into one of the ports' errors, saying what was being done.
func (t table) failure(doing string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, gorm.ErrRecordNotFound), errors.Is(err, sql.ErrNoRows):
		return fmt.Errorf("%s: %w", doing, ports.ErrNotFound)
	}
	if index := t.dialect.uniqueIndex(err); index != "" {
		return fmt.Errorf("%s: %w", doing, &ports.DuplicateError{Index: index})
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// insert writes a new row.
func (t table) insert(doing string, row any) error {
	return t.failure(doing, t.db.Create(row).Error)
}

// update writes every column of a row whose revision was raised by one since it was loaded. ErrStale when somebody
// else wrote it in between.
func (t table) update(doing string, row any, id string, revision int64) error {
	res := t.db.Model(row).Where("id = ? AND revision = ?", id, revision-1).Select("*").Omit("id").Updates(row)
	if res.Error == nil && res.RowsAffected == 0 {
		return fmt.Errorf("%s: %w", doing, ports.ErrStale)
	}
	return t.failure(doing, res.Error)
}

// locking makes reads lock their rows until the transaction ends (SQLite's single writer is lock enough).
func (t table) locking() table {
	return table{db: t.db.Clauses(clause.Locking{Strength: clause.LockingStrengthUpdate}), dialect: t.dialect, pipeline: t.pipeline}
}

// first loads one row by condition. ErrNotFound when there is none.
func first[R any](t table, doing, where string, args ...any) (R, error) {
	var row R
	err := t.db.Where(where, args...).Take(&row).Error
	return row, t.failure(doing, err)
}

// ids runs a query for at most so many ids as its last argument says.
func (t table) ids(doing, query string, args ...any) ([]string, error) {
	var ids []string
	err := t.db.Raw(query, args...).Scan(&ids).Error
	return ids, t.failure(doing, err)
}

// scan reads the one row of a query without gorm's reflection.
func scan(query *gorm.DB, into ...any) error {
	row := query.Row()
	if row == nil { // the query was not run
		return query.Error
	}
	return row.Scan(into...)
}

// newest loads one page of rows, newest id first, and converts them.
func newest[R, T any](t table, doing string, query *gorm.DB, page ports.Page, convert func(R) T, idOf func(R) string) (ports.List[T], error) {
	if page.After.ID != "" {
		query = query.Where("id < ?", page.After.ID)
	}
	var rows []R
	if err := query.Order("id DESC").Limit(page.Limit + 1).Find(&rows).Error; err != nil {
		return ports.List[T]{}, t.failure(doing, err)
	}
	return paged(rows, page.Limit, convert, func(row R) ports.Cursor { return ports.Cursor{ID: idOf(row)} }), nil
}

// paged converts up to limit rows; one more among them says that another page begins after the last.
func paged[R, T any](rows []R, limit int, convert func(R) T, position func(R) ports.Cursor) ports.List[T] {
	list := ports.List[T]{Items: make([]T, 0, min(len(rows), limit))}
	for i, row := range rows {
		if i == limit {
			list.Next = position(rows[i-1])
			break
		}
		list.Items = append(list.Items, convert(row))
	}
	return list
}
