package directory

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"sundry/core/id"
	"sundry/ports"
	"sundry/tests/testdb"
)

// open opens one directory as two cells.
func open(t *testing.T) (_, _ *Directory) {
	t.Helper()
	address := testdb.Postgres.EmptyURL(t) + "&search_path=directory"
	both := make([]*Directory, 2)
	var opening sync.WaitGroup
	for i := range both {
		opening.Go(func() {
			var err error
			if both[i], err = Open(t.Context(), address, id.Cell(i+1)); err != nil {
				t.Errorf("open as cell %d: %v", i+1, err)
			}
		})
	}
	opening.Wait()
	if t.Failed() {
		t.FailNow()
	}
	t.Cleanup(func() { _, _ = both[0].Close(), both[1].Close() })
	return both[0], both[1]
}

func TestANameHasOneOwner(t *testing.T) {
	t.Parallel()
	one, two := open(t)
	ctx := context.Background()
	if err := one.Claim(ctx, ports.ListingSlugs, "crt_a", "poster", "print", "poster"); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"another cell":             two.Claim(ctx, ports.ListingSlugs, "crt_a", "poster"),
		"another owner":            one.Claim(ctx, ports.ListingSlugs, "crt_b", "poster"),
		"another owner, of a part": two.Claim(ctx, ports.ListingSlugs, "crt_b", "free", "print"),
	} {
		if !errors.Is(err, ports.ErrDuplicate) {
			t.Errorf("%s: %v, want ErrDuplicate", what, err)
		}
	}
	for what, err := range map[string]error{
		"again":                one.Claim(ctx, ports.ListingSlugs, "crt_a", "print"),
		"of another kind":      two.Claim(ctx, ports.CreatorEmails, "crt_b", "poster"),
		"after a part refused": two.Claim(ctx, ports.ListingSlugs, "crt_c", "free"),
	} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	if cell, ok, err := two.Find(ctx, ports.ListingSlugs, "poster"); cell != 1 || !ok || err != nil {
		t.Errorf("the slug is in cell %d, %v, %v; want 1", cell, ok, err)
	}
	if cells, err := one.Cells(ctx); err != nil || !slices.Contains(cells, 1) || !slices.Contains(cells, 2) {
		t.Errorf("cells %v, %v", cells, err)
	}
}

func TestSettleGivesUpWhatIsNotUsed(t *testing.T) {
	t.Parallel()
	one, two := open(t)
	ctx := context.Background()
	if err := one.Claim(ctx, ports.ListingSlugs, "crt_a", "used", "unused"); err != nil {
		t.Fatal(err)
	}
	settle := func(d *Directory, owner string, age time.Duration) {
		t.Helper()
		if err := d.Settle(ctx, ports.ListingSlugs, owner, []string{"used"}, age); err != nil {
			t.Fatal(err)
		}
	}
	settle(one, "crt_a", time.Hour)
	settle(one, "crt_b", 0)
	settle(two, "crt_a", 0)
	for _, name := range []string{"used", "unused"} {
		if _, ok, err := one.Find(ctx, ports.ListingSlugs, name); !ok || err != nil {
			t.Errorf("%s was given up too early or by another: %v", name, err)
		}
	}
	settle(one, "crt_a", 0)
	if err := two.Claim(ctx, ports.ListingSlugs, "crt_b", "unused"); err != nil {
		t.Errorf("what nobody uses is not free: %v", err)
	}
	if err := two.Claim(ctx, ports.ListingSlugs, "crt_b", "used"); !errors.Is(err, ports.ErrDuplicate) {
		t.Errorf("what is used is free: %v", err)
	}
}

func TestADirectoryThatIsAwayIsBusy(t *testing.T) {
	t.Parallel()
	one, _ := open(t)
	_ = one.Close()
	if err := one.Claim(context.Background(), ports.ListingSlugs, "crt_a", "x"); !errors.Is(err, ports.ErrDatabaseBusy) {
		t.Errorf("%v, want ErrDatabaseBusy", err)
	}
}
