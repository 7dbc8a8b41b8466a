package gormstore_test

import (
	"fmt"
	"strings"
	"testing"

	"sundry/tests/testdb"
)

// TestThePostingsOfADatabaseSumToZero goes around the program: the database checks every posting itself.
func TestThePostingsOfADatabaseSumToZero(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		db, _ := testdb.OpenToExplain(t, engine)
		for i, c := range []struct {
			cash, tax, available int64
			balanced             bool
		}{
			{5, -5, 0, true}, {5, -3, -2, true}, {5, 0, 0, false}, {5, -4, 0, false}, {5, -5, 1, false},
		} {
			_, err := db.ExecContext(t.Context(), fmt.Sprintf(`INSERT INTO ledger_postings VALUES ('led_%d', 'crt_1', 'payment',
				'pay_%[1]d', 'sale', 'eur', %[2]d, 0, 0, %[3]d, 0, 0, %[4]d, 0, 0, 1)`, i, c.cash, c.tax, c.available))
			if refused := err != nil && strings.Contains(err.Error(), "ledger_postings_sum_to_zero"); refused == c.balanced ||
				(c.balanced && err != nil) {
				t.Errorf("%+v: %v", c, err)
			}
		}
		var stored int
		if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM ledger_postings").Scan(&stored); err != nil ||
			stored != 2 {
			t.Errorf("%d postings are stored, %v; want the balanced ones", stored, err)
		}
	})
}
