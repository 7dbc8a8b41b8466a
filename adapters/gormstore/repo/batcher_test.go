package repo_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sundry/adapters/gormstore/repo"
)

// recorder is a batch writer that takes a second and remembers what it wrote.
type recorder struct {
	mu      sync.Mutex
	batches []string
}

var errOdd = errors.New("odd")

// write refuses the items that end in an odd digit.
func (r *recorder) write(ctx context.Context, batch []string) []error {
	results := make([]error, len(batch))
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		for i := range results {
			results[i] = ctx.Err()
		}
		return results
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.batches = append(r.batches, strings.Join(slices.Sorted(slices.Values(batch)), " "))
	for i, item := range batch {
		if (item[len(item)-1]-'0')%2 == 1 {
			results[i] = errOdd
		}
	}
	return results
}

func (r *recorder) config() repo.BatchConfig[string] {
	return repo.BatchConfig[string]{MaxBatch: 3, Timeout: 10 * time.Second, Capacity: 6, Write: r.write}
}

// do writes items at once, after they have all been given, and returns their results by item.
func do(t *testing.T, b *repo.Batcher[string], items ...string) map[string]error {
	t.Helper()
	results := make([]error, len(items))
	var waiting sync.WaitGroup
	for i, item := range items {
		waiting.Go(func() { results[i] = b.Do(t.Context(), item) })
		synctest.Wait()
	}
	waiting.Wait()
	byItem := map[string]error{}
	for i, item := range items {
		byItem[item] = results[i]
	}
	return byItem
}

func TestBatcherReturnsEachItemItsOwnResult(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var r recorder
		began := time.Now()
		results := do(t, repo.NewBatcher(r.config()), "a0", "b1", "c2", "d3", "e4")
		if want := []string{"a0", "b1 c2 d3", "e4"}; !slices.Equal(r.batches, want) {
			t.Errorf("batches %q, want %q", r.batches, want)
		}
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("three batches took %v", took)
		}
		for item, err := range results {
			if odd := item == "b1" || item == "d3"; odd != errors.Is(err, errOdd) {
				t.Errorf("%s received %v", item, err)
			}
		}
	})
}

func TestWithoutLoadNobodyWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var r recorder
		b := repo.NewBatcher(r.config())
		for i := range 3 {
			began := time.Now()
			if err := b.Do(t.Context(), strconv.Itoa(2*i)); err != nil || time.Since(began) != time.Second {
				t.Errorf("write %d took %v, %v", i, time.Since(began), err)
			}
		}
	})
}

func TestAQueueThatIsFullReportsIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var r recorder
		b := repo.NewBatcher(r.config())
		var all []string
		for i := range 8 { // one is being written, six wait, and one is too many
			all = append(all, fmt.Sprintf("%c0", 'a'+i))
		}
		results := do(t, b, all...)
		for i, item := range all {
			if full := i == 7; full != errors.Is(results[item], repo.ErrQueueFull) {
				t.Errorf("%s received %v", item, results[item])
			}
		}
		if err := b.Do(t.Context(), "z0"); err != nil {
			t.Errorf("once the queue was written: %v", err)
		}
		if written := strings.Join(r.batches, " "); strings.Contains(written, "h0") {
			t.Errorf("what was refused was written: %s", written)
		}
	})
}

func TestItemsOfOneKeyNeverShareABatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var r recorder
		config := r.config()
		config.Key = func(item string) string { return item[:1] }
		do(t, repo.NewBatcher(config), "a0", "b0", "b2", "c0", "b4")
		if want := []string{"a0", "b0 c0", "b2", "b4"}; !slices.Equal(r.batches, want) {
			t.Errorf("batches %q, want %q", r.batches, want)
		}
	})
}

func TestABatchIsBoundedInTimeAndACallersEndIsNotItsOwn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var r recorder
		config := r.config()
		config.Timeout = 100 * time.Millisecond
		if err := repo.NewBatcher(config).Do(t.Context(), "a0"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a write that takes too long: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := repo.NewBatcher(r.config()).Do(ctx, "a0"); err != nil || len(r.batches) != 1 {
			t.Errorf("a write of somebody who left: %v, %q", err, r.batches)
		}
	})
}
