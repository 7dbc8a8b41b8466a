package gormstore

import (
	"context"
	"reflect"
	"strings"
	"sync"

	"gorm.io/gorm"
)

// The writes and reads of a transaction that need not make a journey of their own: on PostgreSQL they go through its
// pipeline, elsewhere they are made at once.

// put writes a new row; conflict is the rest of the INSERT. The error of a refused row may come with a later statement, so
// a caller that wants to know of a duplicate uses insert.
func (t table) put(doing string, row any, conflict string) error {
	query, values, err := t.insertInto(row)
	if err != nil {
		return t.failure(doing, err)
	}
	return t.exec(doing, query+conflict, values...)
}

// putNow is put that goes with everything that waits, and tells how many rows it wrote; args are of conflict.
func (t table) putNow(doing string, row any, conflict string, args ...any) (written int64, err error) {
	query, values, err := t.insertInto(row)
	if err != nil {
		return 0, t.failure(doing, err)
	}
	if t.pipeline == nil {
		done := t.db.Exec(query+conflict, append(values, args...)...)
		return done.RowsAffected, t.failure(doing, done.Error)
	}
	if err = t.pipeline.take(doing, query+conflict, append(values, args...)); err == nil {
		written, err = t.pipeline.flush(t.db.Statement.Context)
	}
	return written, t.failure(doing, err)
}

// exec runs a statement whose count of rows does not matter.
func (t table) exec(doing, query string, args ...any) error {
	if t.pipeline == nil {
		return t.failure(doing, t.db.Exec(query, args...).Error)
	}
	return t.failure(doing, t.pipeline.take(doing, query, args))
}

// rowQuery asks for one row.
type rowQuery struct {
	sql  string
	args []any
	into []any
}

// scanNow reads the one row of a query, with everything that waits. beside are more such queries for the same journey.
func (t table) scanNow(doing string, query rowQuery, beside ...rowQuery) error {
	for _, q := range append([]rowQuery{query}, beside...) {
		var err error
		if t.pipeline == nil {
			err = scan(t.db.Raw(q.sql, q.args...), q.into...)
		} else {
			err = t.pipeline.take(doing, q.sql, q.args, q.into...)
		}
		if err != nil {
			return t.failure(doing, err)
		}
	}
	_, err := t.pipeline.flush(t.db.Statement.Context)
	return t.failure(doing, err)
}

// inserts remembers the INSERT of each kind of row.
var inserts sync.Map // *schema.Schema → string

// insertInto is the INSERT of a row, up to what happens on a conflict, and its values.
func (t table) insertInto(row any) (query string, values []any, err error) {
	parsed := &gorm.Statement{DB: t.db}
	if err := parsed.Parse(row); err != nil {
		return "", nil, err
	}
	columns, of := parsed.Schema.DBNames, reflect.Indirect(reflect.ValueOf(row))
	values = make([]any, len(columns))
	for i, name := range columns {
		values[i], _ = parsed.Schema.FieldsByDBName[name].ValueOf(context.Background(), of)
	}
	if known, ok := inserts.Load(parsed.Schema); ok {
		return known.(string), values, nil //nolint:forcetypeassert,errcheck // it is only written below
	}
	query = `INSERT INTO "` + parsed.Schema.Table + `" ("` + strings.Join(columns, `", "`) +
		`") VALUES (?` + strings.Repeat(", ?", len(columns)-1) + ") "
	inserts.Store(parsed.Schema, query)
	return query, values, nil
}
