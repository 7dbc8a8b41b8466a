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

	"sundry/ports"
)

// keyBefore is the key of a subject such as "key/name"; others are in none.
func keyBefore(subject string) string {
	key, _, found := strings.Cut(subject, "/")
	if !found {
		return ""
	}
	return key
}

// withKeys opens a store whose tasks have the keys that their subjects name.
func withKeys(t *testing.T, db Database) StoreAdapter {
	t.Helper()
	return db.Open(t, StoreOptions{KeyOf: func(_, subject, _ string) string { return keyBefore(subject) }})
}

// fill schedules n tasks of a key, all due at the same time.
func fill(t *testing.T, store StoreAdapter, key string, n int, due time.Time) {
	t.Helper()
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		var all []error
		for i := range n {
			all = append(all, r.Tasks.Schedule(ctx, "test.run", fmt.Sprintf("%s/%04d", key, i), "", due))
		}
		return errors.Join(all...)
	})
}

func hold(t *testing.T, store StoreAdapter, key string, until time.Time) {
	t.Helper()
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		if until.IsZero() {
			return r.Tasks.ResumeKey(ctx, key)
		}
		return r.Tasks.PauseKey(ctx, key, "", until)
	})
}

// perKey counts claimed tasks.
func perKey(tasks []ports.Task) map[string]int {
	counts := map[string]int{}
	for _, task := range tasks {
		counts[keyBefore(task.Subject)]++
	}
	return counts
}

func aKeyNeverHasMoreRunningThanItMay(t *testing.T, db Database) {
	store := withKeys(t, db)
	now := realNow()
	fill(t, store, "busy", 100, now.Add(-time.Hour))
	fill(t, store, "quiet", 3, now)
	schedule(t, store, "test.run", "alone", "", now)
	running := claim(t, store, now, 64)
	if got := perKey(running); got["busy"] != ports.MaxPerKey || got["quiet"] != 3 || got[""] != 1 {
		t.Fatalf("claimed %v, want no more of the busy key than its width, and all of the rest", got)
	}
	claimNone(t, store, now)
	ofBusy := slices.DeleteFunc(running, func(task ports.Task) bool { return keyBefore(task.Subject) != "busy" })
	for i, task := range ofBusy[:5] {
		if task.Subject != fmt.Sprintf("busy/%04d", i) {
			t.Fatalf("the key's %d. claim is %s, want the oldest first", i, task.Subject)
		}
		if err := done(t, store, task); err != nil {
			t.Fatal(err)
		}
	}
	if got := perKey(claim(t, store, now, 64)); got["busy"] != 5 {
		t.Errorf("after five were done claimed %v, want five more", got)
	}
	if got := perKey(claim(t, store, now.Add(lease), 64)); got["busy"] != ports.MaxPerKey || got["quiet"] != 3 {
		t.Errorf("after the leases ended claimed %v, want what was lost", got)
	}
}

func littleCapacityGoesToTheKeysThatHaveLeast(t *testing.T, db Database) {
	store := withKeys(t, db)
	now := realNow()
	fill(t, store, "a", 50, now.Add(-2*time.Hour))
	fill(t, store, "b", 50, now.Add(-time.Hour))
	if got := perKey(claim(t, store, now, 8)); got["a"] != 4 || got["b"] != 4 {
		t.Fatalf("claimed %v, want the same of each", got)
	}
	fill(t, store, "c", 50, now)
	if got := perKey(claim(t, store, now, 4)); got["c"] != 4 {
		t.Errorf("claimed %v, want the key that has nothing under way", got)
	}
}

func whatIsClaimedTogetherBeginsKeyByKey(t *testing.T, db Database) {
	store := withKeys(t, db)
	now := realNow()
	fill(t, store, "busy", 3, now.Add(-time.Hour))
	fill(t, store, "quiet", 1, now)
	fill(t, store, "calm", 2, now.Add(-time.Minute))
	var got []string
	for _, task := range claim(t, store, now, 64) {
		got = append(got, task.Subject)
	}
	want := []string{"busy/0000", "calm/0000", "quiet/0000", "busy/0001", "calm/0001", "busy/0002"}
	if !slices.Equal(got, want) {
		t.Errorf("claimed %v, want %v", got, want)
	}
}

// aLateKeyHasItsTurnBesideAnyNumberOfBusyOnes has a task fall due after all of ten keys that are never empty meanwhile,
// with capacity for one task at a time. It is left to chance to (10/11)¹⁵⁰, once in a million and a half.
func aLateKeyHasItsTurnBesideAnyNumberOfBusyOnes(t *testing.T, db Database) {
	const busy, each = 10, 20
	store := withKeys(t, db)
	now := realNow()
	for i := range busy {
		fill(t, store, fmt.Sprintf("busy-%d", i), each, now.Add(-time.Hour))
	}
	fill(t, store, "late", 1, now)
	for n := 1; n <= busy*each*3/4; n++ {
		task := claim(t, store, now, 1)[0]
		if keyBefore(task.Subject) == "late" {
			return
		}
		if err := done(t, store, task); err != nil {
			t.Fatal(err)
		}
	}
	t.Error("the key that fell due last waited until most tasks of the others were done")
}

func aKeyIsClaimedNoFasterThanItsRate(t *testing.T, db Database) {
	store := withKeys(t, db)
	now := realNow()
	const rate = 250
	fill(t, store, "fast", 3*rate, now)
	limit(t, store, "fast", ports.KeyLimit{PerSecond: rate, MaxRunning: ports.HighestPerKey})
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
	if n := drain(now); n != rate {
		t.Fatalf("claimed %d at once, want what a second saves up", n)
	}
	if n := drain(now.Add(100 * time.Millisecond)); n != rate/10 {
		t.Errorf("claimed %d a tenth of a second later, want %d", n, rate/10)
	}
	if n := drain(now.Add(time.Hour)); n != rate {
		t.Errorf("claimed %d an hour later, want no more than a second saves up", n)
	}
	limit(t, store, "fast", ports.KeyLimit{})
	if n := drain(now.Add(time.Hour)); n != 3*rate-2*rate-rate/10 {
		t.Errorf("claimed %d without a limit, want all that is left", n)
	}
}

func aKeyMayHaveItsOwnLimit(t *testing.T, db Database) {
	store := withKeys(t, db)
	now := realNow()
	for _, key := range []string{"narrow", "wide", "usual"} {
		fill(t, store, key, 2*ports.MaxPerKey, now.Add(-time.Minute))
	}
	limit(t, store, "narrow", ports.KeyLimit{MaxRunning: 2})
	limit(t, store, "wide", ports.KeyLimit{MaxRunning: ports.MaxPerKey + 5})
	counts := map[string]int{}
	for range 20 {
		for key, n := range perKey(claim(t, store, now, 16)) {
			counts[key] += n
		}
	}
	if counts["narrow"] != 2 || counts["wide"] != ports.MaxPerKey+5 || counts["usual"] != ports.MaxPerKey {
		t.Errorf("under way: %v", counts)
	}
}

func limit(t *testing.T, store StoreAdapter, key string, l ports.KeyLimit) {
	t.Helper()
	atomically(t, store, func(ctx context.Context, r ports.Repos) error { return r.Tasks.LimitKey(ctx, key, l) })
}

func aPausedKeyWaitsAndIsThenTriedOneAtATime(t *testing.T, db Database) {
	store := withKeys(t, db)
	now := realNow()
	fill(t, store, "down", 40, now.Add(-time.Minute))
	fill(t, store, "up", 2, now)
	hold(t, store, "down", now.Add(time.Hour))
	running := claim(t, store, now, 64)
	if got := perKey(running); got["down"] != 0 || got["up"] != 2 {
		t.Fatalf("claimed %v, want the key that is not held", got)
	}
	backlog, err := store.Backlog(t.Context(), now)
	if err != nil || len(backlog) != 1 || backlog[0].Due != 2 || backlog[0].Paused != 40 || !backlog[0].Oldest.Equal(now) {
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
	if got := perKey(claim(t, store, later, 64)); got["down"] != ports.MaxPerKey-1 {
		t.Errorf("let go: claimed %v, want up to the width", got)
	}
}

func processesKeepToAKeysLimitTogether(t *testing.T, db Database) {
	stores := make([]StoreAdapter, 3)
	if db.OneProcess {
		stores = stores[:1]
	}
	for i := range stores {
		stores[i] = withKeys(t, db)
	}
	now := realNow()
	fill(t, stores[0], "busy", 200, now)
	var mu sync.Mutex
	var seen []string
	var rivalry sync.WaitGroup
	for i := range 12 {
		rivalry.Go(func() {
			claimed, err := stores[i%len(stores)].Claim(t.Context(), ports.DefaultTasks, now, lease, 64)
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
	if len(seen) != ports.MaxPerKey || len(slices.Compact(seen)) != ports.MaxPerKey {
		t.Errorf("together they claimed %d tasks of one key, want %d", len(seen), ports.MaxPerKey)
	}
}
