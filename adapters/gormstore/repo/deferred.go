package repo

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"sundry/ports"
)

// Pipeline gathers the statements of a transaction whose results are not needed yet, and sends them in one round trip
// with the next one whose result is needed.
type Pipeline interface {
	// Enqueue keeps a statement, its parameters written as ?; the one row of its response is read into the rest.
	Enqueue(op, query string, args []any, into ...any) error
	// EnqueueNew keeps an INSERT that nothing can refuse, because its only unique key is a new id.
	EnqueueNew(op, query string, args []any) error
	// EnqueueChecked keeps an INSERT, UPDATE, DELETE or SELECT that must meet a row: when it meets none the transaction
	// fails with errIfNoRows.
	EnqueueChecked(op, query string, args []any, errIfNoRows error) error
	// EnqueueGuard is EnqueueChecked of a SELECT whose failure is the whole transaction's: no part of it is told
	// separately.
	EnqueueGuard(op, query string, args []any, errIfNoRows error) error
	// Query sends what waits together with a query, its parameters written as $1, and reads its rows.
	Query(ctx context.Context, op, query string, args []any, read func(rows pgx.Rows) error) error
	// EnqueueQuery keeps a query, its parameters written as $1, whose rows are read with the next statement that is waited
	// for.
	EnqueueQuery(op, query string, args []any, read func(rows pgx.Rows) error) error
	// Preload keeps a query, its parameters written as $1 and of the driver's own types, for right after the next
	// statement that is waited for.
	Preload(op, query string, args []any, read func(rows pgx.Rows) error)
	// Flush sends what waits and returns how many rows the last of it changed.
	Flush(ctx context.Context) (changed int64, err error)
}

var numbered Memo[string, string]

// Numbered writes the parameters of a statement, written as ?, as PostgreSQL's own protocol wants them.
func Numbered(query string) string {
	text, _ := numbered.Get(query, func() (string, error) {
		var b strings.Builder
		rest := query
		for n := 1; ; n++ {
			before, after, found := strings.Cut(rest, "?")
			b.WriteString(before)
			if !found {
				return b.String(), nil
			}
			b.WriteString("$" + strconv.Itoa(n))
			rest = after
		}
	})
	return text
}

// InsertRowDeferred writes a new row, given as a pointer; conflict is the rest of the INSERT. In a pipeline the error
// of a refused row may come with a later statement, so a caller that wants to know of a duplicate uses InsertRow.
func (b *Base) InsertRowDeferred(op string, row any, conflict string) error {
	return b.InsertRowsDeferred(op, []any{row}, conflict)
}

// InsertRowsDeferred is InsertRowDeferred for several rows of a kind in one statement.
func (b *Base) InsertRowsDeferred(op string, rows []any, conflict string) error {
	query, values, err := b.insertInto(conflict, rows...)
	if err != nil {
		return b.Failure(op, err)
	}
	return b.ExecDeferred(op, query, values...)
}

// WriteRuns writes items in their order, as many together as go together: joins reports whether an item can be written
// with a run of those right before it.
func WriteRuns[T any](all []T, joins func(one T, run []T) bool, write func(run []T) error) error {
	for begin, end := 0, 0; begin < len(all); begin = end {
		for end = begin + 1; end < len(all) && joins(all[end], all[begin:end]); {
			end++
		}
		if err := write(all[begin:end]); err != nil {
			return err
		}
	}
	return nil
}

// OrNothing is the conflict of a row that is left out where one like it exists.
const OrNothing = "ON CONFLICT DO NOTHING"

// InsertRowChecked writes a new row unless conflict and its args leave it out: then errIfNoRows is the error, which in
// a pipeline may come with a later statement.
func (b *Base) InsertRowChecked(op string, row any, errIfNoRows error, conflict string, args ...any) error {
	query, values, err := b.insertInto(conflict, row)
	if err != nil {
		return b.Failure(op, err)
	}
	return b.ExecChanged(op, errIfNoRows, query, append(values, args...)...)
}

// ExecDeferred runs a statement whose count of rows does not matter.
func (b *Base) ExecDeferred(op, query string, args ...any) error {
	if b.Pipeline == nil {
		return b.Exec(op, query, args...)
	}
	return b.Failure(op, b.Pipeline.Enqueue(op, query, args))
}

// ExecChanged runs a statement that must meet a row: errIfNoRows is the error when it met none, which in a pipeline may
// come with a later statement.
func (b *Base) ExecChanged(op string, errIfNoRows error, query string, args ...any) error {
	if b.Pipeline == nil {
		return b.Changed(op, b.DB.Exec(query, args...), errIfNoRows)
	}
	return b.Failure(op, b.Pipeline.EnqueueChecked(op, query, args, errIfNoRows))
}

// Guard runs a SELECT that must meet a row: errIfNoRows is the error of the transaction when it met none, which in a
// pipeline comes with the next statement that is waited for.
func (b *Base) Guard(op string, errIfNoRows error, query string, args ...any) error {
	if b.Pipeline != nil {
		return b.Failure(op, b.Pipeline.EnqueueGuard(op, query, args, errIfNoRows))
	}
	err := b.QueryRow(op, query, args, new(int))
	if IsNotFound(err) {
		return fmt.Errorf("%s: %w", op, errIfNoRows)
	}
	return err
}

// updates are the UPDATE of each kind of row.
var updates Memo[*schema.Schema, string]

// updateRowDeferred is UpdateRow in a pipeline.
func (b *Base) updateRowDeferred(op string, row any, id string, revision int64) error {
	of := reflect.ValueOf(row).Elem()
	mapped, err := schemaOf(b.DB, of.Type())
	if err != nil {
		return b.Failure(op, err)
	}
	columns, values := make([]string, 0, len(mapped.DBNames)), make([]any, 0, len(mapped.DBNames)+1)
	for _, name := range mapped.DBNames {
		field := mapped.FieldsByDBName[name]
		if name == "id" || !field.Updatable {
			continue
		}
		value, err := valueOf(field, of)
		if err != nil {
			return b.Failure(op, err)
		}
		columns, values = append(columns, name), append(values, value)
	}
	query, _ := updates.Get(mapped, func() (string, error) {
		return `UPDATE "` + mapped.Table + `" SET "` + strings.Join(columns, `" = ?, "`) +
			`" = ? WHERE id = ? AND revision = ?`, nil
	})
	return b.ExecChanged(op, ports.ErrStale, query, append(values, id, revision-1)...)
}

// selects are the queries of rows by their conditions.
var selects Memo[listedQuery, string]

// findWithoutGorm reads the rows of a condition, which may end with an order: from the pool, or in a pipeline with
// everything that waits. gorm would spend as long on building the statement as PostgreSQL on running it.
func findWithoutGorm[R any](b *Base, op, where string, args []any) (found []R, err error) {
	row := reflect.TypeFor[R]()
	of, err := schemaOf(b.DB, row)
	if err != nil {
		return nil, err
	}
	query, _ := selects.Get(listedQuery{row, where}, func() (string, error) {
		return Numbered(WithColumns[R](b, `SELECT * FROM "`+of.Table+`" WHERE `+where)), nil
	})
	if b.Pipeline != nil {
		return readPipelined(b, op, query, args, rowOf[R](of))
	}
	rows, err := b.Pool.Query(b.DB.Statement.Context, query, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, rowOf[R](of))
}

// findPipelined reads the rows of a query with everything that waits. prepared is the query as gorm would run it.
func findPipelined[R any](b *Base, op string, prepared *gorm.DB) (found []R, err error) {
	if prepared.Error != nil {
		return nil, prepared.Error
	}
	statement := prepared.Statement
	return readPipelined(b, op, statement.SQL.String(), statement.Vars, rowOf[R](statement.Schema))
}

var schemas Memo[reflect.Type, *schema.Schema]

// schemaOf returns gorm's schema of a kind of row.
func schemaOf(db *gorm.DB, row reflect.Type) (*schema.Schema, error) {
	return schemas.Get(row, func() (*schema.Schema, error) {
		statement := &gorm.Statement{DB: db}
		err := statement.Parse(reflect.New(row).Interface())
		return statement.Schema, err
	})
}

// rowOf reads a row by the names of its columns.
func rowOf[R any](of *schema.Schema) func(row pgx.CollectableRow) (R, error) {
	return func(from pgx.CollectableRow) (row R, err error) {
		err = scanInto(of, from, &row)
		return row, err
	}
}

// readPipelined reads the rows of a query, its parameters written as $1, with everything that waits; scan reads one.
func readPipelined[R any](b *Base, op, query string, args []any, scan pgx.RowToFunc[R]) (found []R, err error) {
	err = b.Pipeline.Query(b.DB.Statement.Context, op, query, args, func(rows pgx.Rows) (err error) {
		found, err = pgx.CollectRows(rows, scan)
		return err
	})
	return found, err
}

// QueryRows reads the rows of a query without gorm's reflection: scan reads one.
func QueryRows[T any](b *Base, op, query string, args []any, scan func(row Scanner) (T, error)) (found []T, err error) {
	if b.Pipeline == nil {
		rows, err := b.DB.Raw(query, args...).Rows()
		if err != nil {
			return nil, b.Failure(op, err)
		}
		defer func() { _ = rows.Close() }() // an error of it came out of the reading already
		for rows.Next() {
			one, err := scan(rows)
			if err != nil {
				return nil, b.Failure(op, err)
			}
			found = append(found, one)
		}
		return found, b.Failure(op, rows.Err())
	}
	found, err = readPipelined(b, op, Numbered(query), args, func(row pgx.CollectableRow) (T, error) { return scan(row) })
	return found, b.Failure(op, err)
}

// scanInto reads a row by the names of its columns. A NULL leaves what cannot hold it as it is.
func scanInto(mapped *schema.Schema, row pgx.CollectableRow, into any) error {
	of := reflect.Indirect(reflect.ValueOf(into))
	columns, raw := row.FieldDescriptions(), row.RawValues()
	targets := make([]any, len(columns))
	for i, column := range columns {
		field := mapped.LookUpField(column.Name)
		if field == nil {
			continue
		}
		value := field.ReflectValueOf(context.Background(), of).Addr()
		if _, scans := reflect.TypeAssert[sql.Scanner](value); raw[i] != nil || scans ||
			value.Elem().Kind() == reflect.Pointer {
			targets[i] = value.Interface()
		}
	}
	return row.Scan(targets...)
}

// QueryRow reads the one row of a query into the rest, without gorm's reflection. ErrNotFound when there is none.
func (b *Base) QueryRow(op, query string, args []any, into ...any) error {
	if b.Pipeline == nil {
		return b.Failure(op, ScanRow(b.DB.Raw(query, args...), into...))
	}
	err := b.Pipeline.Enqueue(op, query, args, into...)
	if err == nil {
		_, err = b.Pipeline.Flush(b.DB.Statement.Context)
	}
	return b.Failure(op, err)
}

// insertion is the INSERT of a number of rows of a kind.
type insertion struct {
	into     *schema.Schema
	rows     int
	conflict string
}

var inserts Memo[insertion, string]

func (i insertion) text() (string, error) {
	columns := i.into.DBNames
	row := "(?" + strings.Repeat(", ?", len(columns)-1) + ")"
	return `INSERT INTO "` + i.into.Table + `" ("` + strings.Join(columns, `", "`) + `") VALUES ` + row +
		strings.Repeat(", "+row, i.rows-1) + " " + i.conflict, nil
}

// insertInto is the INSERT of rows of a kind, with what happens on a conflict, and the values of the rows.
func (b *Base) insertInto(conflict string, rows ...any) (query string, values []any, err error) {
	mapped, err := schemaOf(b.DB, reflect.TypeOf(rows[0]).Elem())
	if err != nil {
		return "", nil, err
	}
	columns := mapped.DBNames
	values = make([]any, 0, len(rows)*len(columns))
	for _, row := range rows {
		of := reflect.ValueOf(row).Elem()
		for _, name := range columns {
			value, err := valueOf(mapped.FieldsByDBName[name], of)
			if err != nil {
				return "", nil, err
			}
			values = append(values, value)
		}
	}
	key := insertion{mapped, len(rows), conflict}
	query, err = inserts.Get(key, key.text)
	return query, values, err
}

// valueOf returns a column's value in an addressable row as drivers take it. gorm's ValueOf allocates for each column,
// even for an empty text.
func valueOf(field *schema.Field, row reflect.Value) (any, error) {
	value := field.ReflectValueOf(context.Background(), row)
	if column, ok := reflect.TypeAssert[jsonColumn](value.Addr()); ok {
		return column.text()
	}
	if valuer, ok := reflect.TypeAssert[driver.Valuer](value.Addr()); ok {
		return valuer.Value()
	}
	switch value.Kind() {
	case reflect.String:
		return value.String(), nil
	case reflect.Bool:
		return value.Bool(), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return value.Int(), nil
	default:
		return value.Interface(), nil
	}
}
