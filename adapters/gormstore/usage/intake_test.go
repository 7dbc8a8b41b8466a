package usage_test

import (
	"strings"
	"testing"

	"sundry/adapters/gormstore/usage"
	"sundry/tests/testdb"
)

// TestAWriteOfReportsDoesNotCompareEachWithEach reads the plan that all executions share: the planner expects a few
// reports in a write, which may have tens of thousands.
func TestAWriteOfReportsDoesNotCompareEachWithEach(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		if engine.Name == testdb.SQLite.Name {
			return // it writes one by one
		}
		db, _ := testdb.OpenToExplain(t, engine)
		db.SetMaxOpenConns(1) // the statement is prepared on one connection
		for _, statement := range []string{"SET plan_cache_mode = force_generic_plan", "PREPARE accept AS " +
			usage.AcceptSQL} {
			if _, err := db.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		plan := testdb.PlanOf(t, db, "EXPLAIN (VERBOSE, COSTS OFF) EXECUTE accept("+strings.Repeat("NULL, ", 14)+"NULL)")
		// The accounts whose clock has moved, the written keys of unique values and of all, and the values that count.
		if strings.Count(plan, "hashed SubPlan") != 4 {
			t.Errorf("the plan is\n%s", plan)
		}
	})
}
