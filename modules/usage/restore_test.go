package usage_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"sundry/core/subscription"
	core "sundry/core/usage"
	"sundry/ports"
	"sundry/tests/testdb"
)

// TestReportsAfterARestoreAreBilled restores a backup of a server whose transactions are far ahead of those of the new
// one.
func TestReportsAfterARestoreAreBilled(t *testing.T) {
	t.Parallel()
	forEachEngine(t, core.Sum, func(t *testing.T, f *fixture) {
		ahead := "SELECT setval('usage_positions', 1000000000000)"
		if f.engine.Name == testdb.SQLite.Name {
			ahead = "INSERT INTO sqlite_sequence (name, seq) VALUES ('usage_events', 1000000000000)"
		}
		f.engine.Exec(t, f.url, ahead)
		for n := range 5 {
			f.report(draft(fmt.Sprint("before-", n), "1", time.Time{}))
		}
		f.countedAll(5)
		f.report(draft("not counted before", "1", time.Time{}))
		f.must(f.store.Close())
		f.url = f.engine.Copy(t, f.url)
		f.open()
		for n := range 7 {
			f.report(draft(fmt.Sprint("after-", n), "1", time.Time{}))
		}
		f.countedAll(13)
		f.clock.Advance(24*time.Hour + core.Grace)
		f.close()
		if got := f.billed(noon, noon); got != "13" {
			t.Errorf("billed %s, want 13", got)
		}
		f.wantSound()
	})
}

// TestLongTransactionsLoseNoUse has one run in another database of the server while the last invoice is made.
func TestLongTransactionsLoseNoUse(t *testing.T) {
	t.Parallel()
	forEachEngine(t, core.Sum, func(t *testing.T, f *fixture) {
		f.report(draft("in time", "3", time.Time{}))
		f.report(draft("is wrong", "5", time.Time{}))
		f.clock.Advance(24*time.Hour + core.Grace)
		f.close()
		if f.engine.Name == testdb.Postgres.Name {
			other, err := pgx.Connect(t.Context(), f.engine.URL(t))
			f.must(err)
			defer func() { f.must(other.Close(t.Context())) }()
			for _, statement := range []string{"BEGIN", "SELECT pg_current_xact_id()"} {
				_, err := other.Exec(t.Context(), statement)
				f.must(err)
			}
		}
		f.report(draft("late", "1000", noon))
		f.report(draft("of the last period", "7", time.Time{}))
		f.end()
		f.clock.Advance(core.Grace)
		f.close()
		last := noon.Add(24 * time.Hour)
		for start, want := range map[time.Time]string{noon: "1008", last: "7"} {
			if got := f.billed(last, start); got != want {
				t.Errorf("of %s the last invoice bills %s, want %s", start, got, want)
			}
		}
		f.wantSound()
	})
}

// TestLateUseIsInThePreview asks for it before the next count.
func TestLateUseIsInThePreview(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]string{"of a period with use": "3", "of a period without use": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forEachEngine(t, core.Sum, func(t *testing.T, f *fixture) {
				want := int64(10)
				if before != "" {
					f.report(draft("in time", before, time.Time{}))
				}
				f.clock.Advance(24*time.Hour + core.Grace)
				f.close()
				f.report(draft("late", "10", noon))
				preview, err := f.Preview(t.Context(), creator, f.plan.ID)
				f.must(err)
				if preview.TotalMinor() != want || len(preview.Lines) != 2 || !preview.Lines[1].Late {
					t.Errorf("got %+v, want late use of %d", preview.Lines, want)
				}
			})
		})
	}
}

// end cancels the subscription now.
func (f *fixture) end() {
	f.t.Helper()
	f.atomically(func(ctx context.Context, r ports.Repos) error {
		sub, err := r.Subscriptions.Subscriptions.Get(ctx, "sub_1")
		if err != nil {
			return err
		}
		sub.EndedAt = f.clock.Real()
		return f.OnSubscriptionCanceled(ctx, r, subscription.Canceled{State: sub})
	})
}
