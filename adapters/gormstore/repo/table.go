package repo

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"gorm.io/gorm"

	"sundry/ports"
)

// Mapping specifies how the state S of an aggregate is kept in rows R, which have the column creator_id.
type Mapping[R Row, S any] struct {
	// Name is the row's name in errors: "listing".
	Name    string
	NewRow  func(S) R
	ToState func(R) S
	// Sorts are the columns that pages may be sorted by, beside the order of creation.
	Sorts Sorts
	// Currency and Amount are SQL of what the totals of a list add up; both are "" for rows that are only counted.
	Currency, Amount string
}

// On binds a mapping to a connection.
func (m *Mapping[R, S]) On(b *Base) Table[R, S] { return Table[R, S]{b, m} }

// Table is the repository of one kind of aggregate, to be embedded in one that adds its own queries.
type Table[R Row, S any] struct {
	*Base
	mapping *Mapping[R, S]
}

// Insert writes a new aggregate. ErrDuplicate names the unique index that refused it.
func (t Table[R, S]) Insert(_ context.Context, s S) error {
	row, op := t.row("insert", s)
	return t.InsertRow(op, &row)
}

// Update writes an aggregate whose revision was raised by one since it was loaded. ErrStale when it changed meanwhile.
func (t Table[R, S]) Update(_ context.Context, s S) error {
	row, op := t.row("update", s)
	id, revision := row.Identity()
	return t.UpdateRow(op, &row, id, revision)
}

// Get loads an aggregate of the account. ErrNotFound.
func (t Table[R, S]) Get(_ context.Context, creatorID, id string) (S, error) {
	return t.GetBy("get "+t.mapping.Name+" "+id, "creator_id = ? AND id = ?", creatorID, id)
}

// ByID is the repository of aggregates that are loaded by their ids alone, of whichever account they are.
type ByID[R Row, S any] struct{ Table[R, S] }

// ByID binds a mapping to a connection.
func (m *Mapping[R, S]) ByID(b *Base) ByID[R, S] { return ByID[R, S]{m.On(b)} }

// Get loads an aggregate of any account. ErrNotFound.
func (t ByID[R, S]) Get(_ context.Context, id string) (S, error) {
	return t.GetBy("get "+t.mapping.Name+" "+id, "id = ?", id)
}

// GetForUpdate is Get that locks the row until the transaction ends.
func (t ByID[R, S]) GetForUpdate(_ context.Context, id string) (S, error) {
	return t.mapping.On(t.ForUpdate()).GetBy("lock "+t.mapping.Name+" "+id, "id = ?", id)
}

// List loads one page of the account's aggregates, newest first.
func (t Table[R, S]) List(_ context.Context, creatorID string, page ports.Page) (ports.List[S], error) {
	return t.Page("list "+t.mapping.Name+"s of "+creatorID, t.Own(creatorID, nil, page.Sort), page)
}

// Own selects the rows of an account, for a list in some order that a search narrows (nil for none). Without one the
// account is a range, with which the order begins. Where one account has nearly all rows, PostgreSQL would otherwise
// follow the primary key through all of them to list those of an account that has few. An index of the order needs the
// account itself.
func (t Table[R, S]) Own(creatorID string, search any, by ports.Sort) *gorm.DB {
	narrowed := search != nil && !reflect.ValueOf(search).IsZero()
	if narrowed || t.mapping.Sorts[by.By].Indexed {
		return t.DB.Where("creator_id = ?", creatorID)
	}
	order := "creator_id DESC"
	if by.Ascending && !t.mapping.Sorts.Apply(by) {
		order = "creator_id"
	}
	return t.DB.Where("creator_id >= ? AND creator_id <= ?", creatorID, creatorID).Order(order)
}

// GetBy loads one aggregate by condition. ErrNotFound.
func (t Table[R, S]) GetBy(op, where string, args ...any) (s S, err error) {
	row, err := TakeOne[R](t.Base, op, where, args...)
	if err != nil {
		return s, err
	}
	return t.mapping.ToState(row), nil
}

// ListBy loads the aggregates of a query.
func (t Table[R, S]) ListBy(op string, query *gorm.DB) ([]S, error) {
	return ListBy(t.Base, op, query, t.mapping.ToState)
}

// FindBy loads the aggregates of a condition, newest first. On a hot path it costs less than ListBy.
func (t Table[R, S]) FindBy(op, where string, args ...any) ([]S, error) {
	if t.Pipeline == nil && t.Pool == nil {
		return t.ListBy(op, t.DB.Where(where, args...).Order("id DESC"))
	}
	rows, err := findWithoutGorm[R](t.Base, op, where+" ORDER BY id DESC", args)
	list := make([]S, len(rows))
	for i, row := range rows {
		list[i] = t.mapping.ToState(row)
	}
	return list, t.Failure(op, err)
}

// Page loads one page of a query, newest first or as its Sort asks.
func (t Table[R, S]) Page(op string, query *gorm.DB, page ports.Page) (found ports.List[S], err error) {
	query = query.Model(new(R)).Session(&gorm.Session{}) // it may be run more than once
	found, err = ListPage(t.Base, op, query, page, t.mapping.Sorts, t.mapping.ToState)
	if err == nil && page.Totals {
		found.Totals, err = t.totals(op, query)
	}
	return found, err
}

// totals counts and adds up the newest rows of a query.
func (t Table[R, S]) totals(op string, query *gorm.DB) (totals []ports.Total, err error) {
	newest := query.Select(cmp.Or(t.mapping.Currency, "''") + " AS currency, " + cmp.Or(t.mapping.Amount, "0") +
		" AS minor").Order("id DESC").Limit(ports.NewestRows)
	err = t.DB.Table("(?) newest", newest).Select("currency, COUNT(*) AS count, CAST(SUM(minor) AS BIGINT) AS minor").
		Group("currency").Order("currency").Scan(&totals).Error
	return totals, t.Failure("add up: "+op, err)
}

// CreatedIn narrows a query to what was created in a range of time.
func CreatedIn(query *gorm.DB, created ports.Created) *gorm.DB {
	if !created.From.IsZero() {
		query = query.Where("created_at >= ?", UnixMillis(created.From))
	}
	if !created.To.IsZero() {
		query = query.Where("created_at < ?", UnixMillis(created.To))
	}
	return query
}

// Equal narrows a query to the rows whose columns have the given values; an empty value narrows nothing. That a value
// is not empty is said to the database, whose indexes may leave empty ones out. The columns are sorted, so that the
// same columns make the same statement, which is prepared once.
func Equal(query *gorm.DB, columns map[string]string) *gorm.DB {
	for _, column := range slices.Sorted(maps.Keys(columns)) {
		if value := columns[column]; value != "" {
			query = query.Where(column+" = ? AND "+column+" <> ''", value)
		}
	}
	return query
}

// row makes the row of a state; op names the operation in errors.
func (t Table[R, S]) row(verb string, s S) (row R, op string) {
	row = t.mapping.NewRow(s)
	id, _ := row.Identity()
	return row, verb + " " + t.mapping.Name + " " + id
}

// InsertNew is Insert of a row that nothing can refuse, because its only unique key is a new id.
func (t Table[R, S]) InsertNew(ctx context.Context, s S) error {
	if t.Pipeline == nil {
		return t.Insert(ctx, s)
	}
	row, op := t.row("insert", s)
	query, values, err := t.insertInto("", &row)
	if err == nil {
		err = t.Pipeline.EnqueueNew(op, query, values)
	}
	return t.Failure(op, err)
}

// ListBy loads every row of a query and converts them.
func ListBy[R, T any](b *Base, op string, query *gorm.DB, convert func(R) T) ([]T, error) {
	var rows []R
	var err error
	if b.Pipeline != nil {
		rows, err = findPipelined[R](b, op, query.Session(&gorm.Session{DryRun: true}).Find(&rows))
	} else {
		err = query.Find(&rows).Error
	}
	if err != nil {
		return nil, b.Failure(op, err)
	}
	list := make([]T, len(rows))
	for i, row := range rows {
		list[i] = convert(row)
	}
	return list, nil
}

// ListByID loads one page of rows, newest id first or, in ascending order, oldest first, and converts them.
func ListByID[R Row, T any](b *Base, op string, query *gorm.DB, page ports.Page,
	convert func(R) T) (ports.List[T], error) {
	if by := page.Sort.By; by != "" && by != ports.SortCreated {
		return ports.List[T]{}, fmt.Errorf("%s: this list can't be sorted by %q", op, by)
	}
	behind, order := "id < ?", "id DESC"
	if page.Sort.Ascending {
		behind, order = "id > ?", "id"
	}
	if page.After.ID != "" {
		query = query.Where(behind, page.After.ID)
	}
	var rows []R
	if err := query.Order(order).Limit(page.Limit + 1).Find(&rows).Error; err != nil {
		return ports.List[T]{}, b.Failure(op, err)
	}
	return Paged(rows, page.Limit, convert, func(row R) ports.Cursor {
		id, _ := row.Identity()
		return ports.Cursor{ID: id}
	}), nil
}

// Paged converts up to limit rows; one more among them means that another page begins after the last.
func Paged[R, T any](rows []R, limit int, convert func(R) T, position func(R) ports.Cursor) ports.List[T] {
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
