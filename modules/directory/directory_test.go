package directory_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"sundry/adapters/gormstore"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/identity"
	"sundry/modules/directory"
	"sundry/ports"
	"sundry/tests/fakes"
	"sundry/tests/testdb"
)

// shared is a directory in memory. It notes the names that a settlement keeps.
type shared struct {
	owners map[string]string
	kept   []string
	away   bool
}

var errAway = errors.New("the directory is away")

func (d *shared) Claim(_ context.Context, kind ports.NameKind, owner string, names ...string) error {
	if d.away {
		return errAway
	}
	for _, name := range names {
		if other, taken := d.owners[string(kind)+name]; taken && other != owner {
			return &ports.DuplicateError{Index: "directory"}
		}
		d.owners[string(kind)+name] = owner
	}
	return nil
}

func (d *shared) Settle(_ context.Context, kind ports.NameKind, owner string, keep []string, _ time.Duration) error {
	if d.away {
		return errAway
	}
	d.kept = keep
	for key, has := range d.owners {
		if has == owner && !slices.Contains(keep, key[len(kind):]) {
			delete(d.owners, key)
		}
	}
	return nil
}

func (d *shared) Find(context.Context, ports.NameKind, string) (id.Cell, bool, error) {
	if d.away {
		return 0, false, errAway
	}
	return 2, true, nil
}

func (d *shared) Cells(context.Context) ([]id.Cell, error) { return []id.Cell{1, 2}, nil }

type world struct {
	*directory.Service
	store *gormstore.Store
	clock *testdb.Clock
	names *shared
}

func each(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	testdb.EachStore(t, func(t *testing.T, store *gormstore.Store) {
		w := &world{store: store, clock: testdb.NewClock(time.Now()), names: &shared{owners: map[string]string{}}}
		w.Service = directory.New(directory.Deps{
			Store: store, Clock: w.clock, Directory: w.names, Cell: 1, Log: slog.New(slog.DiscardHandler),
		})
		test(t, w)
	})
}

// settle runs the task that is due after a claim.
func (w *world) settle(t *testing.T) {
	t.Helper()
	w.clock.Advance(11 * time.Minute)
	task, ok := fakes.NextTask(t, w.store, "", w.clock.Real())
	if !ok || task.Kind != directory.SettleTask {
		t.Fatalf("the task %q is due, %t", task.Kind, ok)
	}
	if err := w.Settle(t.Context(), task); err != nil {
		t.Fatal(err)
	}
}

func TestAClaimThatIsNotUsedIsGivenUp(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		if err := w.Claim(ctx, ports.CreatorEmails, "crt_gone", "ada@example.com"); err != nil {
			t.Fatal(err)
		}
		// The process dies here. Until the task runs, nobody gets the name.
		err := w.Claim(ctx, ports.CreatorEmails, "crt_next", "ada@example.com")
		if !errors.Is(err, ports.ErrDuplicate) {
			t.Errorf("a second claim: %v, want ErrDuplicate", err)
		}
		w.settle(t)
		w.settle(t)
		if err := w.Claim(ctx, ports.CreatorEmails, "crt_next", "ada@example.com"); err != nil {
			t.Errorf("after the task: %v", err)
		}
	})
}

func TestAClaimThatIsUsedStays(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		r := identity.Registration{Email: "ada@example.com", Password: "correct horse", DisplayName: "Ada"}
		if err := w.Claim(t.Context(), ports.CreatorEmails, "crt_1", r.Email); err != nil {
			t.Fatal(err)
		}
		err := w.store.Atomically(t.Context(), func(ctx context.Context, repos ports.Repos) error {
			return repos.Identity.Creators.Insert(ctx, identity.Register("crt_1", r, "hash", w.clock.Real()))
		})
		if err != nil {
			t.Fatal(err)
		}
		w.settle(t)
		if !slices.Equal(w.names.kept, []string{r.Email}) || len(w.names.owners) != 1 {
			t.Errorf("kept %q, the directory has %v", w.names.kept, w.names.owners)
		}
		if err := w.Fill(t.Context(), func(line string) { t.Errorf("taken: %s", line) }); err != nil {
			t.Errorf("fill: %v", err)
		}
		w.names.owners["email"+r.Email] = "crt_other"
		lines := 0
		if err := w.Fill(t.Context(), func(string) { lines++ }); err != nil || lines != 1 {
			t.Errorf("fill where the name is another's: %d lines, %v", lines, err)
		}
	})
}

func TestNothingIsClaimedBeforeItsTaskIsWritten(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.names.away = true
		if err := w.Claim(t.Context(), ports.CreatorEmails, "crt_1", "x"); !errors.Is(err, errAway) {
			t.Fatalf("%v, want the directory's error", err)
		}
		w.names.away = false
		w.settle(t)
	})
}

func TestOnlyCellsThatExistAreOthers(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		for cell, want := range map[id.Cell]bool{0: false, 1: false, 2: true, 700: false} {
			if got := w.IsOther(ctx, cell); got != want {
				t.Errorf("cell %d: %t, want %t", cell, got, want)
			}
		}
		if err := w.Elsewhere(ctx, ports.ListingSlugs, "poster"); !fault.Is(err, fault.Misdirected) {
			t.Errorf("a name of cell 2: %v, want MISDIRECTED", err)
		}
		w.names.away = true
		if err := w.Elsewhere(ctx, ports.ListingSlugs, "poster"); err != nil {
			t.Errorf("a directory that is away changes the response: %v", err)
		}
	})
}

func TestWithoutADirectoryThereIsOneCell(t *testing.T) {
	t.Parallel()
	names := directory.New(directory.Deps{})
	ctx := t.Context()
	names.Release(ctx, ports.ListingSlugs, "crt_1")
	if err := errors.Join(names.Claim(ctx, ports.ListingSlugs, "crt_1", "x"),
		names.Elsewhere(ctx, ports.ListingSlugs, "x"), names.MadeElsewhere(ctx, "lst_01hzzzzzzz01zzzzzzzzzzzzzz")); err != nil {
		t.Error(err)
	}
}
