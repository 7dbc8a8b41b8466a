package repo

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"time"

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

// JSONColumn stores a value as JSON.
type JSONColumn[T any] struct{ V T }

// JSON makes a column of a value.
func JSON[T any](v T) JSONColumn[T] { return JSONColumn[T]{v} }

// Value implements driver.Valuer.
func (j JSONColumn[T]) Value() (driver.Value, error) {
	raw, err := json.Marshal(j.V)
	return string(raw), err
}

// Scan implements sql.Scanner.
func (j *JSONColumn[T]) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		return nil
	case string:
		if v == "null" { // as many are
			return nil
		}
		return json.Unmarshal([]byte(v), &j.V)
	case []byte:
		return json.Unmarshal(v, &j.V)
	}
	return fmt.Errorf("cannot read %T as JSON", src)
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

// Amount converts the columns of an amount and its currency.
func Amount(minor int64, currency string) money.Amount {
	return money.Amount{Minor: minor, Currency: money.Currency(currency)}
}
