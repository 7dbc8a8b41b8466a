package repo

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"sundry/core/money"
)

// UnixMillis stores an instant as milliseconds since 1970 UTC; the zero time is NULL.
type UnixMillis time.Time

// Value implements driver.Valuer.
func (m UnixMillis) Value() (driver.Value, error) {
	if time.Time(m).IsZero() {
		return nil, nil
	}
	return time.Time(m).UnixMilli(), nil
}

// Scan implements sql.Scanner.
func (m *UnixMillis) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*m = UnixMillis{}
	case int64:
		*m = UnixMillis(time.UnixMilli(v).UTC())
	default:
		return fmt.Errorf("cannot read %T as milliseconds", src)
	}
	return nil
}

// ScanInt64 implements pgtype.Int64Scanner: pgx need not make a value of any type for Scan.
func (m *UnixMillis) ScanInt64(v pgtype.Int8) error {
	*m = UnixMillis{}
	if v.Valid {
		*m = UnixMillis(time.UnixMilli(v.Int64).UTC())
	}
	return nil
}

// JSONColumn stores a value as JSON.
type JSONColumn[T any] struct{ V T }

// JSON makes a column of a value.
func JSON[T any](v T) JSONColumn[T] { return JSONColumn[T]{v} }

// zeros are the JSON of each type's zero value, which most columns have.
var zeros Memo[reflect.Type, driver.Value]

// Value implements driver.Valuer.
func (j JSONColumn[T]) Value() (driver.Value, error) { return j.text() }

// jsonColumn is a column of JSON in its row, of which Value would be a copy.
type jsonColumn interface{ text() (driver.Value, error) }

func (j *JSONColumn[T]) text() (driver.Value, error) {
	marshal := func() (driver.Value, error) {
		raw, err := json.Marshal(&j.V)
		return string(raw), err
	}
	if of := reflect.ValueOf(&j.V).Elem(); of.IsZero() {
		return zeros.Get(of.Type(), marshal)
	}
	return marshal()
}

// Scan implements sql.Scanner.
func (j *JSONColumn[T]) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		return nil
	case string:
		return j.ScanBytes([]byte(v))
	case []byte:
		return j.ScanBytes(v)
	}
	return fmt.Errorf("cannot read %T as JSON", src)
}

// ScanBytes implements pgtype.BytesScanner: pgx need not make a text of the column first. NULL is nil.
func (j *JSONColumn[T]) ScanBytes(raw []byte) error {
	if raw == nil || string(raw) == "null" { // as many are
		return nil
	}
	return json.Unmarshal(raw, &j.V)
}

// OptionalJSON stores a value as JSON, and NULL where there is none.
type OptionalJSON[T any] struct{ V *T }

// Value implements driver.Valuer.
func (j OptionalJSON[T]) Value() (driver.Value, error) {
	if j.V == nil {
		return nil, nil
	}
	return JSON(j.V).Value()
}

// Scan implements sql.Scanner.
func (j *OptionalJSON[T]) Scan(src any) error { return (*JSONColumn[*T])(j).Scan(src) }

// ScanBytes implements pgtype.BytesScanner.
func (j *OptionalJSON[T]) ScanBytes(raw []byte) error { return (*JSONColumn[*T])(j).ScanBytes(raw) }

// Amount converts the columns of an amount and its currency.
func Amount(minor int64, currency string) money.Amount {
	return money.Amount{Minor: minor, Currency: money.Currency(currency)}
}
