package booking_test

import (
	"strings"
	"testing"

	"sundry/adapters/gormstore/booking"
	"sundry/tests/testdb"
)

// TestTheCalendarsReadDoesNotGrowWithThePast reads the plan over a creator with five thousand past sessions: both
// ends of the interval bound the index.
func TestTheCalendarsReadDoesNotGrowWithThePast(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		db, explain := testdb.OpenToExplain(t, engine)
		const numbers = "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 5000) "
		for _, statement := range []string{
			`INSERT INTO reservations ` + numbers + `SELECT 'clm_' || n, 'crt_1', 'lst_1', 'var_1', 'cs_' || n, 0, 'confirmed',
				n * hour, n * hour + 1, n * hour, n * hour + 1, 'UTC', 'virtual', 0, 1 FROM n, (SELECT CAST(3600000 AS BIGINT) AS hour) AS unit`,
			"ANALYZE reservations",
		} {
			if _, err := db.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		query := booking.LiveReservationsSQL
		for _, value := range []string{"'crt_1'", "17800000000", "18000000000", "17900000000"} {
			query = strings.Replace(query, "?", value, 1)
		}
		plan := testdb.PlanOf(t, db, explain+query)
		want := "Index Cond: ((creator_id = 'crt_1'::text) AND (blocked_from > '17800000000'::bigint) AND (blocked_from < '18000000000'::bigint))"
		if engine.Name == testdb.SQLite.Name {
			want = "SEARCH reservations USING INDEX reservations_live (creator_id=? AND blocked_from>? AND blocked_from<?)"
		}
		if !strings.Contains(plan, want) || !strings.Contains(plan, "reservations_live") {
			t.Errorf("the plan is\n%s", plan)
		}
	})
}
