package contract

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sundry/adapters/gormstore"
	"sundry/ports"
	"sundry/tests/testdb"
)

// laneBefore is the lane of a subject such as "lane/name"; others are in none.
func laneBefore(subject string) string {
	lane, _, found := strings.Cut(subject, "/")
	if !found {
		return ""
	}
	return lane
}

func inLanes(store *gormstore.Store) {
	store.LaneBy(func(_, subject string) string { return laneBefore(subject) })
}

// fill schedules n tasks of a lane, all due at the same time.
func fill(t *testing.T, store *gormstore.Store, lane string, n int, due time.Time) {
	t.Helper()
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		var all []error
		for i := range n {
			all = append(all, r.Tasks.Schedule(ctx, "test.run", fmt.Sprintf("%s/%04d", lane, i), "", due))
		}
		return errors.Join(all...)
	})
}

func hold(t *testing.T, store *gormstore.Store, lane string, until time.Time) {
	t.Helper()
	atomically(t, store, func(ctx context.Context, r ports.Repos) error { return r.Tasks.Hold(ctx, lane, "", until) })
}

// perLane counts claimed tasks.
func perLane(tasks []ports.Task) map[string]int {
	counts := map[string]int{}
	for _, task := range tasks {
		counts[laneBefore(task.Subject)]++
	}
	return counts
}

func TestALaneNeverHasMoreThanItsWidthUnderWay(t *testing.T) {
	t.Parallel()
	testdb.EachStore(t, func(t *testing.T, store *gormstore.Store) {
		inLanes(store)
		now := realNow()
		fill(t, store, "busy", 100, now.Add(-time.Hour))
		fill(t, store, "quiet", 3, now)
		schedule(t, store, "test.run", "alone", "", now)
		running := claim(t, store, now, 64)
		if got := perLane(running); got["busy"] != ports.LaneWidth || got["quiet"] != 3 || got[""] != 1 {
			t.Fatalf("claimed %v, want no more of the busy lane than its width, and all of the rest", got)
		}
		claimNone(t, store, now)
		for i, task := range running[:5] {
			if task.Subject != fmt.Sprintf("busy/%04d", i) {
				t.Fatalf("the lane's %d. claim is %s, want the oldest first", i, task.Subject)
			}
			if err := done(t, store, task); err != nil {
				t.Fatal(err)
			}
		}
		if got := perLane(claim(t, store, now, 64)); got["busy"] != 5 {
			t.Errorf("after five were done claimed %v, want five more", got)
		}
		if got := perLane(claim(t, store, now.Add(lease), 64)); got["busy"] != ports.LaneWidth || got["quiet"] != 3 {
			t.Errorf("after the leases ended claimed %v, want what was lost", got)
		}
	})
}

func TestALittleRoomGoesToTheLanesThatHaveLeast(t *testing.T) {
	t.Parallel()
	testdb.EachStore(t, func(t *testing.T, store *gormstore.Store) {
		inLanes(store)
		now := realNow()
		fill(t, store, "a", 50, now.Add(-2*time.Hour))
		fill(t, store, "b", 50, now.Add(-time.Hour))
		if got := perLane(claim(t, store, now, 8)); got["a"] != 4 || got["b"] != 4 {
			t.Fatalf("claimed %v, want the same of each", got)
		}
		fill(t, store, "c", 50, now)
		if got := perLane(claim(t, store, now, 4)); got["c"] != 4 {
			t.Errorf("claimed %v, want the lane that has nothing under way", got)
		}
	})
}

func TestALaneIsClaimedNoFasterThanItsRate(t *testing.T) {
	t.Parallel()
	testdb.EachStore(t, func(t *testing.T, store *gormstore.Store) {
		inLanes(store)
		now := realNow()
		fill(t, store, "fast", 3*ports.LaneRate, now)
		drain := func(at time.Time) (n int) {
			for {
				claimed := claim(t, store, at, 64)
				if len(claimed) == 0 {
					return n
				}
				atomically(t, store, func(ctx context.Context, r ports.Repos) error {
					var all []error
					for _, task := range claimed {
						all = append(all, r.Tasks.Done(ctx, task))
					}
					return errors.Join(all...)
				})
				n += len(claimed)
			}
		}
		if n := drain(now); n != ports.LaneRate {
			t.Fatalf("claimed %d at once, want what a second saves up", n)
		}
		if n := drain(now.Add(100 * time.Millisecond)); n != ports.LaneRate/10 {
			t.Errorf("claimed %d a tenth of a second later, want %d", n, ports.LaneRate/10)
		}
		if n := drain(now.Add(time.Hour)); n != ports.LaneRate {
			t.Errorf("claimed %d an hour later, want no more than a second saves up", n)
		}
	})
}

func TestAHeldLaneWaitsAndIsThenTriedOneAtATime(t *testing.T) {
	t.Parallel()
	testdb.EachStore(t, func(t *testing.T, store *gormstore.Store) {
		inLanes(store)
		now := realNow()
		fill(t, store, "down", 40, now.Add(-time.Minute))
		fill(t, store, "up", 2, now)
		hold(t, store, "down", now.Add(time.Hour))
		running := claim(t, store, now, 64)
		if got := perLane(running); got["down"] != 0 || got["up"] != 2 {
			t.Fatalf("claimed %v, want the lane that is not held", got)
		}
		backlog, err := store.Backlog(t.Context(), now)
		if err != nil || len(backlog) != 1 || backlog[0].Due != 2 || backlog[0].Held != 40 || !backlog[0].Oldest.Equal(now) {
			t.Errorf("backlog %+v, %v; want 2 due since now and 40 held", backlog, err)
		}
		hold(t, store, "down", now.Add(time.Minute))
		for _, task := range running {
			if err := done(t, store, task); err != nil {
				t.Fatal(err)
			}
		}
		later := now.Add(time.Minute)
		probe := claimOne(t, store, later)
		claimNone(t, store, later)
		if err := done(t, store, probe); err != nil {
			t.Fatal(err)
		}
		claimOne(t, store, later)
		hold(t, store, "down", time.Time{})
		if got := perLane(claim(t, store, later, 64)); got["down"] != ports.LaneWidth-1 {
			t.Errorf("let go: claimed %v, want up to the width", got)
		}
	})
}

func TestRivalProcessesKeepToALanesLimitTogether(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		address := engine.URL(t)
		stores := make([]*gormstore.Store, 3)
		for i := range stores {
			store, err := gormstore.Open(t.Context(), address)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = store.Close() })
			inLanes(store)
			stores[i] = store
			if engine.Name == testdb.SQLite.Name {
				stores = stores[:1] // one process is all there is
				break
			}
		}
		now := realNow()
		fill(t, stores[0], "busy", 200, now)
		var mu sync.Mutex
		var seen []string
		var rivalry sync.WaitGroup
		for i := range 12 {
			rivalry.Go(func() {
				claimed, err := stores[i%len(stores)].Claim(t.Context(), ports.OtherTasks, now, lease, 64)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				for _, task := range claimed {
					seen = append(seen, task.ID)
				}
			})
		}
		rivalry.Wait()
		slices.Sort(seen)
		if len(seen) != ports.LaneWidth || len(slices.Compact(seen)) != ports.LaneWidth {
			t.Errorf("together they claimed %d tasks of one lane, want %d", len(seen), ports.LaneWidth)
		}
	})
}
