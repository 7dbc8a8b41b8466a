package repo

import (
	"fmt"
	"strings"
	"testing"
)

func TestEqualTextsAreDecodedOnce(t *testing.T) {
	t.Parallel()
	type terms struct{ Names []string }
	read := func(raw any) terms {
		t.Helper()
		var column SharedJSON[terms]
		if err := column.Scan(raw); err != nil {
			t.Fatal(err)
		}
		return column.V
	}
	const text = `{"Names":["a","b"]}`
	if a, b := read(text), read(strings.Clone(text)); &a.Names[0] != &b.Names[0] || b.Names[1] != "b" {
		t.Errorf("%v and %v share nothing", a, b)
	}
	if c := read([]byte(text)); c.Names[0] != "a" {
		t.Errorf("bytes: %v", c)
	}
	if long := read(`{"Names":["` + strings.Repeat("x", maxSharedText) + `"]}`); len(long.Names) != 1 {
		t.Errorf("a long text: %v", long)
	}
	if none := read(nil); none.Names != nil {
		t.Errorf("NULL: %v", none)
	}
	var byPgx, null SharedJSON[terms]
	if err := byPgx.ScanBytes([]byte(text)); err != nil || &byPgx.V.Names[0] != &read(text).Names[0] {
		t.Errorf("as pgx reads it: %v, %v", byPgx.V, err)
	}
	if err := null.ScanBytes(nil); err != nil || null.V.Names != nil {
		t.Errorf("NULL as pgx reads it: %v, %v", null.V, err)
	}
	var column SharedJSON[terms]
	if err := column.Scan(`{"Names":`); err == nil {
		t.Error("half a text is no error")
	}
}

func TestRememberedTextsAreBounded(t *testing.T) {
	t.Parallel()
	type value struct{ N string }
	for i := range 2 * maxSharedTexts / 1000 {
		var column SharedJSON[value]
		if err := column.Scan(fmt.Sprintf(`{"N":"%01000d"}`, i)); err != nil ||
			!strings.HasSuffix(column.V.N, fmt.Sprint(i)) {
			t.Fatalf("%d: %+v, %v", i, column.V, err)
		}
	}
	s := sharedOf[value]()
	if s.held > maxSharedTexts || len(s.values) == 0 || len(s.values) > maxSharedTexts/1000 {
		t.Errorf("%d texts of %d bytes are remembered", len(s.values), s.held)
	}
}
