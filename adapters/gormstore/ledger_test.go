package gormstore_test

import (
	"strings"
	"testing"

	"sundry/tests/testdb"
)

// TestPostgresRefusesAPostingThatDoesNotBalance goes around the program: the database checks every INSERT itself, each
// posting and each currency of it.
func TestPostgresRefusesAPostingThatDoesNotBalance(t *testing.T) {
	t.Parallel()
	db, _ := testdb.OpenToExplain(t, testdb.Postgres)
	entry := func(id, posting, kind, account, currency, amount string) string {
		return "('" + strings.Join([]string{id, posting, "crt_1", "payment", "pay_1", kind, account, currency}, "', '") +
			"', " + amount + ", 1)"
	}
	for name, c := range map[string]struct {
		entries  []string
		balanced bool
	}{
		"one entry alone": {entries: []string{entry("a1", "p", "k1", "cash", "eur", "5")}},
		"two that differ": {entries: []string{entry("b1", "p", "k2", "cash", "eur", "5"),
			entry("b2", "p", "k2", "fees", "eur", "-4")}},
		"two postings that balance each other": {
			entries: []string{entry("c1", "p", "k3", "cash", "eur", "5"), entry("c2", "q", "k4", "fees", "eur", "-5")},
		},
		"two currencies": {entries: []string{entry("d1", "p", "k5", "cash", "eur", "5"),
			entry("d2", "p", "k5", "fees", "usd", "-5")}},
		"two postings, each balanced": {balanced: true, entries: []string{
			entry("e1", "p", "k6", "cash", "eur", "5"), entry("e2", "p", "k6", "fees", "eur", "-5"),
			entry("e3", "q", "k7", "cash", "eur", "7"), entry("e4", "q", "k7", "fees", "eur", "-7"),
		}},
	} {
		_, err := db.ExecContext(t.Context(), "INSERT INTO ledger_entries VALUES "+strings.Join(c.entries, ", "))
		if refused := err != nil && strings.Contains(err.Error(), "does not sum to zero"); refused == c.balanced ||
			(c.balanced && err != nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var stored int
	if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM ledger_entries").Scan(&stored); err != nil ||
		stored != 4 {
		t.Errorf("%d entries are stored, %v; want those of the balanced INSERT alone", stored, err)
	}
}
