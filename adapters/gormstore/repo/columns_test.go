package repo

import (
	"reflect"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

type details struct {
	Name string            `json:"name"`
	At   time.Time         `json:"at,omitzero"`
	More map[string]string `json:"more,omitempty"`
}

// TestAColumnIsReadAsItWasWritten reads each value as both drivers do: database/sql makes a text of the column, and pgx
// lends its bytes.
func TestAColumnIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	for name, written := range map[string]details{
		"nothing":     {},
		"a name":      {Name: "Ada"},
		"all members": {Name: "Ada", At: time.Unix(1, 0).UTC(), More: map[string]string{"a": "b"}},
	} {
		for range 2 { // a value of nothing but zeros is remembered
			value, err := JSON(written).Value()
			text, _ := value.(string)
			if err != nil || text == "" {
				t.Fatalf("%s: %v, %v", name, value, err)
			}
			var bySQL, byPgx JSONColumn[details]
			if err := bySQL.Scan(value); err != nil || !reflect.DeepEqual(bySQL.V, written) {
				t.Errorf("%s by database/sql: %+v, %v", name, bySQL.V, err)
			}
			if err := byPgx.ScanBytes([]byte(text)); err != nil || !reflect.DeepEqual(byPgx.V, written) {
				t.Errorf("%s by pgx: %+v, %v", name, byPgx.V, err)
			}
		}
	}
	if value, err := JSON[*details](nil).Value(); err != nil || value != "null" {
		t.Errorf("no details: %v, %v", value, err)
	}
	var column JSONColumn[details]
	if err := column.ScanBytes([]byte("")); err == nil {
		t.Error("an empty text is no JSON")
	}
}

func TestAnInstantIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		written time.Time
		read    pgtype.Int8
	}{
		"an instant": {time.UnixMilli(1_700_000_000_123).UTC(), pgtype.Int8{Int64: 1_700_000_000_123, Valid: true}},
		"none":       {time.Time{}, pgtype.Int8{}},
	} {
		value, err := UnixMillis(c.written).Value()
		if err != nil {
			t.Fatal(err)
		}
		bySQL, byPgx := UnixMillis(time.Now()), UnixMillis(time.Now())
		if err := bySQL.Scan(value); err != nil || !time.Time(bySQL).Equal(c.written) {
			t.Errorf("%s by database/sql: %v, %v", name, time.Time(bySQL), err)
		}
		if err := byPgx.ScanInt64(c.read); err != nil || !time.Time(byPgx).Equal(c.written) {
			t.Errorf("%s by pgx: %v, %v", name, time.Time(byPgx), err)
		}
	}
}
