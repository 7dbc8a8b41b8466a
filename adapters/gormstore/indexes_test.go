package gormstore_test

import (
	"testing"

	"sundry/tests/testdb"
)

// TestNoIndexLeavesOutEmptyTexts guards the plans of prepared statements, which are made without the parameters:
// whether a parameter is empty is not known then, so an index that leaves out empty texts is used only where the
// statement repeats the condition. Those that may are unique, or their readers do so, which
// TestLargeTablesAreNotScanned shows.
func TestNoIndexLeavesOutEmptyTexts(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		if engine.Name == testdb.SQLite.Name {
			return // its plans are made for each statement
		}
		db, _ := testdb.OpenToExplain(t, engine)
		found := testdb.PlanOf(t, db, `SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
			WHERE NOT i.indisunique AND pg_get_expr(i.indpred, i.indrelid) LIKE '%<> ''''%' AND c.relname NOT IN
				('tasks_creator_failed', 'usage_rollups_unsettled', 'usage_rollups_never_billed', 'sessions_opened_by',
				'sessions_reference_id', 'payments_customer', 'subscriptions_trial_card', 'events_customer_id',
				'events_external_customer_id', 'appointments_group')`)
		if found != "" {
			t.Errorf("these leave out empty texts:\n%s", found)
		}
	})
}
