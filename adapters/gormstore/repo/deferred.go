package repo

import (
	"context"
	"database/sql"
	"reflect"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"gorm.io/gorm"

	"sundry/ports"
)

// Pipeline gathers the statements of a transaction whose results are not needed yet, and sends them in one round trip
// with the next one whose result is needed.
type Pipeline interface {
	// Enqueue keeps a statement, its parameters written as ?; the one row of its response is read into the rest.
	Enqueue(doing, query string, args []any, into ...any) error
	// EnqueueChecked keeps an INSERT, UPDATE or DELETE that must meet a row: when it meets none the transaction fails with
	// missed.
	EnqueueChecked(doing, query string, args []any, missed error) error
	// Query sends what waits together with a query, its parameters written as $1, and reads its rows.
	Query(ctx context.Context, doing, query string, args []any, read func(rows pgx.Rows) error) error
	// EnqueueQuery keeps a query, its parameters written as $1, whose rows are read with the next round trip.
	EnqueueQuery(doing, query string, args []any, read func(rows pgx.Rows) error) error
	// ReadingAhead reports whether what is asked is only asked ahead (ports.Store).
	ReadingAhead() bool
	// Remember keeps the result that a statement asked ahead is going to have; isNew is false for one that was asked ahead
	// already.
	Remember(query string, args []any, result any) (isNew bool)
	// Peek shows the result of a statement that was asked ahead, once it is there.
	Peek(query string, args []any) (result any, read bool)
	// Recall takes back, once, the result of a statement that was asked ahead. It is there after Await.
	Recall(query string, args []any) (result any, known bool)
	// Await sends what waits unless everything that was asked ahead has its result.
	Await(ctx context.Context) error
	// Flush sends what waits and returns how many rows the last of it changed.
	Flush(ctx context.Context) (changed int64, err error)
}

// InsertRowDeferred writes a new row, given as a pointer; conflict is the rest of the INSERT. In a pipeline the error of a
// refused row may come with a later statement, so a caller that wants to know of a duplicate uses InsertRow.
func (b Base) InsertRowDeferred(doing string, row any, conflict string) error {
	query, values, err := b.insertInto(row)
	if err != nil {
		return b.Failure(doing, err)
	}
	return b.ExecDeferred(doing, query+conflict, values...)
}

// InsertRowChecked writes a new row unless one like it exists: then missed is the error, which in a pipeline may come
// with a later statement.
func (b Base) InsertRowChecked(doing string, row any, missed error) error {
	query, values, err := b.insertInto(row)
	if err != nil {
		return b.Failure(doing, err)
	}
	return b.ExecChanged(doing, missed, query+"ON CONFLICT DO NOTHING", values...)
}

// InsertRowFlush is InsertRowDeferred that goes with everything that waits, and returns how many rows it wrote; args are
// of conflict.
func (b Base) InsertRowFlush(doing string, row any, conflict string, args ...any) (written int64, err error) {
	query, values, err := b.insertInto(row)
	if err != nil {
		return 0, b.Failure(doing, err)
	}
	values = append(values, args...)
	if b.Pipeline == nil {
		done := b.DB.Exec(query+conflict, values...)
		return done.RowsAffected, b.Failure(doing, done.Error)
	}
	if b.Pipeline.ReadingAhead() {
		return 0, nil
	}
	if err = b.Pipeline.Enqueue(doing, query+conflict, values); err == nil {
		written, err = b.Pipeline.Flush(b.DB.Statement.Context)
	}
	return written, b.Failure(doing, err)
}

// ExecDeferred runs a statement whose count of rows does not matter.
func (b Base) ExecDeferred(doing, query string, args ...any) error {
	if b.Pipeline == nil {
		return b.Exec(doing, query, args...)
	}
	if b.Pipeline.ReadingAhead() {
		if !b.Pipeline.Remember(query, args, nil) {
			return nil
		}
	} else if _, sent := b.Pipeline.Recall(query, args); sent {
		return nil
	}
	return b.Failure(doing, b.Pipeline.Enqueue(doing, query, args))
}

// ExecChanged runs a statement that must meet a row: missed is the error when it met none, which in a pipeline may come
// with a later statement.
func (b Base) ExecChanged(doing string, missed error, query string, args ...any) error {
	if b.Pipeline == nil {
		return b.Changed(doing, b.DB.Exec(query, args...), missed)
	}
	if b.Pipeline.ReadingAhead() {
		return nil
	}
	return b.Failure(doing, b.Pipeline.EnqueueChecked(doing, query, args, missed))
}

// updates remembers the UPDATE of each kind of row.
var updates sync.Map // *schema.Schema → string

// updateRowDeferred is UpdateRow in a pipeline.
func (b Base) updateRowDeferred(doing string, row any, id string, revision int64) error {
	parsed := &gorm.Statement{DB: b.DB}
	if err := parsed.Parse(row); err != nil {
		return b.Failure(doing, err)
	}
	of := reflect.Indirect(reflect.ValueOf(row))
	var columns []string
	var values []any
	for _, name := range parsed.Schema.DBNames {
		if name == "id" {
			continue
		}
		value, _ := parsed.Schema.FieldsByDBName[name].ValueOf(context.Background(), of)
		columns, values = append(columns, name), append(values, value)
	}
	query, known := updates.Load(parsed.Schema)
	if !known {
		query = `UPDATE "` + parsed.Schema.Table + `" SET "` + strings.Join(columns, `" = ?, "`) + `" = ? WHERE id = ? AND revision = ?`
		updates.Store(parsed.Schema, query)
	}
	return b.ExecChanged(doing, ports.ErrStale, query.(string), append(values, id, revision-1)...) //nolint:forcetypeassert,errcheck // it is only written above
}

// queryPipelined reads the rows of a query with everything that waits. prepared is the query as gorm would run it.
func queryPipelined[R any](b Base, doing string, prepared *gorm.DB) (found []R, err error) {
	return readPipelined(b, doing, prepared, func(rows pgx.Rows) (row R, err error) {
		err = scanInto(prepared.Statement, rows, &row)
		return row, err
	})
}

// readPipelined is queryPipelined with a function that reads one row.
func readPipelined[R any](b Base, doing string, prepared *gorm.DB, scan func(rows pgx.Rows) (R, error)) (found []R, err error) {
	statement := prepared.Statement
	if prepared.Error != nil {
		return nil, prepared.Error
	}
	query, pipe, ctx := statement.SQL.String(), b.Pipeline, b.DB.Statement.Context
	result := new([]R)
	read := func(rows pgx.Rows) error {
		for rows.Next() {
			row, err := scan(rows)
			if err != nil {
				return err
			}
			*result = append(*result, row)
		}
		return rows.Err()
	}
	if pipe.ReadingAhead() {
		if known, ok := pipe.Peek(query, statement.Vars); ok {
			return *known.(*[]R), nil //nolint:forcetypeassert,errcheck // the same statement is read into the same rows
		}
		if pipe.Remember(query, statement.Vars, result) {
			err = pipe.EnqueueQuery(doing, query, statement.Vars, read)
		}
		return nil, err
	}
	if known, ok := pipe.Recall(query, statement.Vars); ok {
		err = pipe.Await(ctx)
		return *known.(*[]R), err //nolint:forcetypeassert,errcheck // the same statement is read into the same rows
	}
	err = pipe.Query(ctx, doing, query, statement.Vars, read)
	return *result, err
}

// QueryRows reads the rows of a query without gorm's reflection: scan reads one. ReadAhead knows it like any other query.
func QueryRows[T any](b Base, doing, query string, args []any, scan func(row Scanner) (T, error)) (found []T, err error) {
	prepared := b.DB.Session(&gorm.Session{DryRun: b.Pipeline != nil}).Raw(query, args...)
	if b.Pipeline == nil {
		rows, err := prepared.Rows()
		if err != nil {
			return nil, b.Failure(doing, err)
		}
		defer func() { _ = rows.Close() }() // an error of it came out of the reading already
		for rows.Next() {
			one, err := scan(rows)
			if err != nil {
				return nil, b.Failure(doing, err)
			}
			found = append(found, one)
		}
		return found, b.Failure(doing, rows.Err())
	}
	found, err = readPipelined(b, doing, prepared, func(rows pgx.Rows) (T, error) { return scan(rows) })
	return found, b.Failure(doing, err)
}

// scanInto reads a row by the names of its columns. A NULL leaves what cannot hold it as it is.
func scanInto(statement *gorm.Statement, rows pgx.Rows, into any) error {
	of := reflect.Indirect(reflect.ValueOf(into))
	columns := rows.FieldDescriptions()
	targets := make([]any, len(columns))
	var optional []func()
	for i, column := range columns {
		field := statement.Schema.LookUpField(column.Name)
		if field == nil {
			continue
		}
		value := field.ReflectValueOf(context.Background(), of)
		if _, scans := reflect.TypeAssert[sql.Scanner](value.Addr()); scans || value.Kind() == reflect.Pointer {
			targets[i] = value.Addr().Interface()
			continue
		}
		holder := reflect.New(reflect.PointerTo(value.Type()))
		targets[i] = holder.Interface()
		optional = append(optional, func() {
			if !holder.Elem().IsNil() {
				value.Set(holder.Elem().Elem())
			}
		})
	}
	if err := rows.Scan(targets...); err != nil {
		return err
	}
	for _, set := range optional {
		set()
	}
	return nil
}

// RowQuery asks for one row.
type RowQuery struct {
	SQL  string
	Args []any
	Into []any
}

// QueryRowFlush reads the one row of a query, with everything that waits. beside are more such queries for the same round
// trip.
func (b Base) QueryRowFlush(doing string, query RowQuery, beside ...RowQuery) error {
	waits := false
	for _, q := range append([]RowQuery{query}, beside...) {
		var err error
		if b.Pipeline == nil {
			err = ScanRow(b.DB.Raw(q.SQL, q.Args...), q.Into...)
		} else {
			var enqueued bool
			enqueued, err = b.enqueueRow(doing, q)
			waits = waits || enqueued
		}
		if err != nil {
			return b.Failure(doing, err)
		}
	}
	if !waits {
		return nil
	}
	_, err := b.Pipeline.Flush(b.DB.Statement.Context)
	return b.Failure(doing, err)
}

// enqueueRow asks for one row in a pipeline. waits reports whether the caller waits for the next round trip: not for what
// is only asked ahead, and not for what was.
func (b Base) enqueueRow(doing string, q RowQuery) (waits bool, err error) {
	if b.Pipeline.ReadingAhead() {
		if b.Pipeline.Remember(q.SQL, q.Args, q.Into) {
			err = b.Pipeline.Enqueue(doing, q.SQL, q.Args, q.Into...)
		}
		return false, err
	}
	known, ok := b.Pipeline.Recall(q.SQL, q.Args)
	if !ok {
		return true, b.Pipeline.Enqueue(doing, q.SQL, q.Args, q.Into...)
	}
	if err = b.Pipeline.Await(b.DB.Statement.Context); err == nil {
		for i, value := range known.([]any) { //nolint:forcetypeassert,errcheck // remembered above
			reflect.ValueOf(q.Into[i]).Elem().Set(reflect.ValueOf(value).Elem())
		}
	}
	return false, err
}

// inserts remembers the INSERT of each kind of row.
var inserts sync.Map // *schema.Schema → string

// insertInto is the INSERT of a row, up to what happens on a conflict, and its values.
func (b Base) insertInto(row any) (query string, values []any, err error) {
	parsed := &gorm.Statement{DB: b.DB}
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
