package booking_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/adapters/gormstore/booking"
	"sundry/core/slot"
	"sundry/tests/testdb"
)

// TestTheCalendarsReadDoesNotGrowWithThePast reads the plan over a creator with five thousand past sessions: both ends
// of the interval bound the index, before the engine has statistics of the table and with them.
func TestTheCalendarsReadDoesNotGrowWithThePast(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		db, explain := testdb.OpenToExplain(t, engine)
		db.SetMaxOpenConns(1) // a statement is prepared on one connection
		exec := func(statement string) {
			if _, err := db.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		postgres := engine.Name != testdb.SQLite.Name
		query, args := booking.LiveReservationsSQL(postgres, "crt_1", slot.Interval{From: time.UnixMilli(17_900_000_000),
			Until: time.UnixMilli(18_000_000_000)})
		bounded := []string{"SEARCH reservations USING INDEX reservations_live (creator_id=? AND blocked_from>? AND " +
			"blocked_from<?)"}
		if postgres {
			bounded = []string{
				"Index Cond: ((creator_id = $1) AND (int8range(blocked_from, blocked_until) && int8range($5, $6)))",
				"Index Cond: ((creator_id = $1) AND (blocked_from > $2) AND (blocked_from < $3))",
			}
			exec("SET plan_cache_mode = force_generic_plan")
			for i := range args {
				query = strings.Replace(query, "?", fmt.Sprint("$", i+1), 1)
			}
			exec("PREPARE live AS " + query)
			query = fmt.Sprintf("EXECUTE live ('%s', %d, %d, %d, %d, %d)", args...)
		} else {
			query = fmt.Sprintf(strings.NewReplacer("creator_id = ?", "creator_id = '%s'", "?", "%d").Replace(query), args...)
		}
		check := func(when string) {
			plan := testdb.PlanOf(t, db, explain+query)
			if !slices.ContainsFunc(bounded, func(by string) bool { return strings.Contains(plan, by) }) {
				t.Errorf("%s: the plan is\n%s", when, plan)
			}
		}
		check("empty")
		exec(`INSERT INTO reservations (id, creator_id, listing_id, variant_id, checkout_id, position, status, starts_at, ends_at,
				blocked_from, blocked_until, timezone, delivery_mode, created_at, revision) WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 5000)
			SELECT 'clm_' || n, 'crt_1', 'lst_1', 'var_1', 'cs_' || n, 0, 'confirmed',
				n * hour, n * hour + 1, n * hour, n * hour + 1, 'UTC', 'virtual', 0, 1
				FROM n, (SELECT CAST(3600000 AS BIGINT) AS hour) AS unit`)
		check("without statistics")
		exec("ANALYZE reservations")
		check("with statistics")
	})
}
