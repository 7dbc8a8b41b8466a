package files_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sundry/adapters/filestore"
	"sundry/adapters/gormstore"
	"sundry/adapters/memratelimit"
	"sundry/adapters/system"
	"sundry/core/fault"
	"sundry/core/file"
	"sundry/core/id"
	"sundry/core/listing"
	"sundry/core/money"
	"sundry/core/secret"
	"sundry/modules/files"
	"sundry/ports"
	"sundry/tests/testdb"
)

const (
	creatorID = "crt_1"
	listingID = "lst_1"
)

var noon = time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)

// storage is a folder that can be away.
type storage struct {
	*filestore.Folder
	dir  string
	away atomic.Bool
	// meanwhile runs before a part is stored; nil for nothing.
	meanwhile func()
}

var errAway = errors.New("the storage is away")

// Put implements ports.FileStorage.
func (s *storage) Put(ctx context.Context, key string, part []byte) error {
	if s.away.Load() {
		return errAway
	}
	if s.meanwhile != nil {
		s.meanwhile()
	}
	return s.Folder.Put(ctx, key, part)
}

// Delete implements ports.FileStorage.
func (s *storage) Delete(ctx context.Context, key string) error {
	if s.away.Load() {
		return errAway
	}
	return s.Folder.Delete(ctx, key)
}

// AccessOf implements ports.PurchasedAccess: every purchase opens the listing.
func (s *storage) AccessOf(context.Context, ports.Repos, string, string) ([]string, error) {
	return []string{listingID}, nil
}

// world is the module over a real store and a real folder.
type world struct {
	*files.Service
	t       *testing.T
	store   *gormstore.Store
	clock   *testdb.Clock
	storage *storage
}

func forEachEngine(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	testdb.EachStore(t, func(t *testing.T, store *gormstore.Store) {
		dir := filepath.Join(t.TempDir(), "files")
		w := &world{
			t: t, store: store, clock: testdb.NewClock(noon), storage: &storage{Folder: filestore.NewFolder(dir), dir: dir},
		}
		w.Service = files.New(files.Config{
			MaxFile: 3 * file.PartSize, MaxAccount: 5 * file.PartSize,
			LinkKeys: secret.Fixed([]byte("0123456789abcdef0123456789abcdef")),
		}, files.Deps{
			Store: store, Clock: w.clock, IDs: system.NewIDs(), Storage: w.storage, Access: w.storage,
			Limiter: memratelimit.New(w.clock.Real),
		})
		w.atomically(func(ctx context.Context, r ports.Repos) error {
			return r.Catalog.Listings.Insert(ctx, listing.State{
				ID: listingID, CreatorID: creatorID, Type: listing.Digital, Title: "Specimens", Slug: "a", CatalogKey: "a",
				Price: money.Amount{Minor: 1, Currency: "eur"}, Status: listing.Active, CreatedAt: noon, UpdatedAt: noon, Revision: 1,
			})
		})
		test(t, w)
	})
}

func (w *world) atomically(fn func(ctx context.Context, r ports.Repos) error) {
	w.t.Helper()
	if err := w.store.Atomically(w.t.Context(), fn); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) upload(name, content string) file.State {
	w.t.Helper()
	f, err := w.Upload(w.t.Context(), creatorID, listingID, file.Proposal{Name: name}, []byte(content))
	if err != nil {
		w.t.Fatal(err)
	}
	return f
}

// deletes returns the tasks that are due.
func (w *world) deletes() []ports.Task {
	w.t.Helper()
	due, err := w.store.Claim(w.t.Context(), ports.DefaultTasks, time.Now().Add(time.Minute), time.Minute, 10)
	if err != nil {
		w.t.Fatal(err)
	}
	return due
}

// stored counts the parts on the disk.
func (w *world) stored() int {
	w.t.Helper()
	parts, err := filepath.Glob(filepath.Join(w.storage.dir, "*", "*"))
	if err != nil {
		w.t.Fatal(err)
	}
	return len(parts)
}

func (w *world) hasFiles() bool {
	w.t.Helper()
	l, err := w.store.Read(w.t.Context()).Catalog.Listings.Get(w.t.Context(), listingID)
	if err != nil {
		w.t.Fatal(err)
	}
	return l.HasFiles
}

func TestAPartThatWasNotStoredIsMissing(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *world) {
		begun, err := w.Begin(t.Context(), creatorID, listingID, file.Proposal{Name: "a", Size: 3})
		if err != nil {
			t.Fatal(err)
		}
		w.storage.away.Store(true)
		if err := w.PutPart(t.Context(), creatorID, begun.ID, 1, []byte("abc")); !errors.Is(err, errAway) {
			t.Errorf("a part that cannot be stored: %v", err)
		}
		if _, err := w.Complete(t.Context(), creatorID, begun.ID); !fault.Is(err, fault.ValidationFailed) || w.hasFiles() {
			t.Errorf("completed without it: %v", err)
		}
		w.storage.away.Store(false)
		if err := w.PutPart(t.Context(), creatorID, begun.ID, 1, []byte("abc")); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Complete(t.Context(), creatorID, begun.ID); err != nil || !w.hasFiles() {
			t.Errorf("completed with it: %v", err)
		}
	})
}

func TestDeletedBytesGoWhenTheStorageIsBack(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *world) {
		f := w.upload("a", "abc")
		if _, err := w.Delete(t.Context(), creatorID, f.ID); err != nil || w.hasFiles() {
			t.Fatalf("deleted: %v", err)
		}
		due := w.deletes()
		if len(due) != 1 || due[0].Kind != files.TaskDelete || due[0].Subject != f.ID {
			t.Fatalf("due: %+v", due)
		}
		w.storage.away.Store(true)
		if err := w.DeleteBytes(t.Context(), due[0]); !errors.Is(err, errAway) || w.stored() != 1 {
			t.Errorf("while the storage is away: %v, %d parts", err, w.stored())
		}
		w.storage.away.Store(false)
		if err := w.DeleteBytes(t.Context(), due[0]); err != nil || w.stored() != 0 {
			t.Errorf("when it is back: %v, %d parts", err, w.stored())
		}
		if _, err := w.store.Read(t.Context()).Files.Find(t.Context(), f.ID); !errors.Is(err, ports.ErrNotFound) {
			t.Errorf("the file: %v", err)
		}
	})
}

// A part may be on its way while its upload is deleted or completed by another request.
func TestPutPart_BesideAnotherRequest(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *world) {
		deletion := func(fileID string) {
			if _, err := w.Delete(t.Context(), creatorID, fileID); err != nil {
				t.Fatal(err)
			}
		}
		deleteBytes := func() {
			for _, task := range w.deletes() {
				if err := w.DeleteBytes(t.Context(), task); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, c := range []struct {
			name      string
			meanwhile func(fileID string)
			code      fault.Code
			stored    int
		}{
			{"deleted", deletion, fault.NotFoundCode, 0},
			{"deleted with its bytes", func(fileID string) { deletion(fileID); deleteBytes() }, fault.NotFoundCode, 0},
			{"complete", func(fileID string) {
				if _, err := w.Complete(t.Context(), creatorID, fileID); err != nil {
					t.Fatal(err)
				}
			}, fault.StateConflict, 1},
		} {
			begun, err := w.Begin(t.Context(), creatorID, listingID, file.Proposal{Name: "a", Size: 3})
			if err != nil {
				t.Fatal(err)
			}
			put := func() error { return w.PutPart(t.Context(), creatorID, begun.ID, 1, []byte("abc")) }
			if err := put(); err != nil {
				t.Fatal(err)
			}
			w.storage.meanwhile = func() { c.meanwhile(begun.ID) }
			if err := put(); !fault.Is(err, c.code) {
				t.Errorf("%s: %v, want %s", c.name, err, c.code)
			}
			w.storage.meanwhile = nil
			deleteBytes()
			parts, err := w.store.Read(t.Context()).Files.ListParts(t.Context(), begun.ID)
			if n := w.stored(); n != c.stored || len(parts) != c.stored || err != nil {
				t.Errorf("%s: %d parts are stored and %v noted, want %d; %v", c.name, n, parts, c.stored, err)
			}
		}
	})
}

func TestComplete_OfAnArchivedListing(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *world) {
		former := w.upload("a", "abc")
		begun, err := w.Begin(t.Context(), creatorID, listingID, file.Proposal{Name: "a", Size: 3})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.PutPart(t.Context(), creatorID, begun.ID, 1, []byte("xyz")); err != nil {
			t.Fatal(err)
		}
		w.atomically(func(ctx context.Context, r ports.Repos) error {
			l, err := r.Catalog.Listings.Get(ctx, listingID)
			if err != nil {
				return err
			}
			of := listing.Restore(l)
			of.Archive(noon)
			return r.Catalog.Listings.Update(ctx, of.State())
		})
		if _, err := w.Complete(t.Context(), creatorID, begun.ID); !fault.Is(err, fault.StateConflict) {
			t.Errorf("completed: %v, want %s", err, fault.StateConflict)
		}
		for _, fileID := range []string{begun.ID, former.ID} {
			if _, err := w.Delete(t.Context(), creatorID, fileID); err != nil {
				t.Errorf("deleted: %v", err)
			}
		}
	})
}

func TestUploadsEndAfterADay(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *world) {
		kept := w.upload("kept", "abc")
		begun, err := w.Begin(t.Context(), creatorID, listingID, file.Proposal{Name: "b", Size: 3})
		if err != nil {
			t.Fatal(err)
		}
		for _, after := range []time.Duration{file.UploadLifetime - time.Minute, 2 * time.Minute} {
			w.clock.Advance(after)
			if err := w.SweepUploads(t.Context()); err != nil {
				t.Fatal(err)
			}
			_, _, err := w.Get(t.Context(), creatorID, begun.ID)
			if gone := fault.Is(err, fault.NotFoundCode); gone != (after == 2*time.Minute) {
				t.Errorf("%v later: %v", after, err)
			}
		}
		if _, _, err := w.Get(t.Context(), creatorID, kept.ID); err != nil {
			t.Errorf("a complete file: %v", err)
		}
	})
}

func TestAnAccountKeepsSoMuch(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *world) {
		begin := func(size int64) error {
			_, err := w.Begin(t.Context(), creatorID, listingID, file.Proposal{Name: "a", Size: size})
			return err
		}
		for _, c := range []struct {
			size int64
			code fault.Code
		}{
			{3*file.PartSize + 1, fault.ValidationFailed}, {3 * file.PartSize, ""}, {2*file.PartSize + 1, fault.LimitReached},
			{2 * file.PartSize, ""}, {1, fault.LimitReached},
		} {
			if err := begin(c.size); c.code == "" && err != nil || c.code != "" && !fault.Is(err, c.code) {
				t.Errorf("%d bytes: %v, want %q", c.size, err, c.code)
			}
		}
	})
}

func TestUploadsAtOnceKeepWithinTheLimit(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *world) {
		const uploads = 20
		var begun, refused atomic.Int64
		var all sync.WaitGroup
		for range uploads {
			all.Go(func() {
				_, err := w.Begin(t.Context(), creatorID, listingID, file.Proposal{Name: "a", Size: file.PartSize})
				switch {
				case err == nil:
					begun.Add(1)
				case fault.Is(err, fault.LimitReached):
					refused.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		all.Wait()
		if begun.Load() != 5 || refused.Load() != uploads-5 {
			t.Errorf("%d uploads begun and %d refused, want 5 and %d", begun.Load(), refused.Load(), uploads-5)
		}
	})
}

func TestVersionsHaveNoGap(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *world) {
		var uploads sync.WaitGroup
		for range 6 {
			uploads.Go(func() { w.upload("a", "abc") })
		}
		uploads.Wait()
		all, _, err := w.List(t.Context(), creatorID, listingID)
		if err != nil {
			t.Fatal(err)
		}
		var versions []int
		for _, f := range all {
			versions = append(versions, f.Version)
		}
		slices.Sort(versions)
		if want := []int{1, 2, 3, 4, 5, 6}; !slices.Equal(versions, want) {
			t.Errorf("versions %v, want %v", versions, want)
		}
	})
}

func TestANetworkStartsSoManyDownloads(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *world) {
		f := w.upload("a", "abc")
		start := func(network string) error {
			_, err := w.Start(t.Context(), creatorID, id.New(id.CheckoutSession, [16]byte{1}), f.ID, network)
			return err
		}
		for n := range 120 {
			if err := start("192.0.2.1"); err != nil {
				t.Fatalf("download %d: %v", n+1, err)
			}
		}
		if err := start("192.0.2.1"); !fault.Is(err, fault.RateLimited) {
			t.Errorf("one more: %v", err)
		}
		if err := start("192.0.2.2"); err != nil {
			t.Errorf("another network: %v", err)
		}
	})
}
