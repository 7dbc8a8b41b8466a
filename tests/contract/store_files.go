package contract

import (
	"context"
	"slices"
	"testing"
	"time"

	"sundry/core/file"
	"sundry/ports"
)

// fileState is a file with every member set.
func fileState(id, creatorID string) file.State {
	return file.State{
		ID: "file_" + id, CreatorID: creatorID, ListingID: "lst_1", DisputeID: "dsp_1", Name: "a.pdf", ContentType: "application/pdf",
		Size: 5_000_000_000, Version: 2, DownloadLimit: 3, Status: file.Ready, CreatedAt: catalogTime, Revision: 1,
	}
}

func filesKept() aggregate[file.State] {
	return aggregate[file.State]{
		make:   fileState,
		change: func(s *file.State) { s.Version, s.Status = 3, file.Uploading },
		key:    func(s *file.State) (string, *int64) { return s.ID, &s.Revision },
		insert: func(ctx context.Context, r ports.Repos, s file.State) error { return r.Files.Insert(ctx, s) },
		get: func(ctx context.Context, r ports.Repos, s file.State) (file.State, error) {
			return r.Files.Get(ctx, s.CreatorID, s.ID)
		},
		update: func(ctx context.Context, r ports.Repos, s file.State) error { return r.Files.Update(ctx, s) },
	}
}

func fileCases() storeCases {
	return storeCases{
		"files are listed by listing":               filesAreListed,
		"parts are counted once":                    partsAreCountedOnce,
		"downloads are counted by purchase":         downloadsAreCounted,
		"old uploads are found, the rest stay":      oldUploadsAreFound,
		"files of a customer's disputes are listed": filesOfDisputesAreListed,
		"downloads are listed by purchase":          downloadsAreListed,
	}
}

func insertFiles(t *testing.T, store StoreAdapter, all ...file.State) {
	t.Helper()
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		for _, s := range all {
			if err := r.Files.Insert(ctx, s); err != nil {
				return err
			}
		}
		return nil
	})
}

func idsOf(all []file.State) (ids []string) {
	for _, s := range all {
		ids = append(ids, s.ID)
	}
	return ids
}

func filesAreListed(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	another, deleted, elsewhere := fileState("2", creator), fileState("3", creator), fileState("4", creator)
	deleted.Status, elsewhere.ListingID = file.Deleted, "lst_2"
	insertFiles(t, store, fileState("1", creator), another, deleted, elsewhere, fileState("5", "crt_2"))
	r := store.Read(t.Context())
	all, err := r.Files.ListByListing(t.Context(), creator, "lst_1")
	if got, want := idsOf(all), []string{"file_2", "file_1"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("listed %v, %v, want %v", got, err, want)
	}
	if sum, err := r.Files.TotalSize(t.Context(), creator); err != nil || sum != 20_000_000_000 {
		t.Errorf("together %d bytes, %v", sum, err) // what is deleted still takes its place
	}
	if found, err := r.Files.Find(t.Context(), "file_5"); err != nil || found.CreatorID != "crt_2" {
		t.Errorf("found %+v, %v", found, err)
	}
	atomically(t, store, func(ctx context.Context, r ports.Repos) error { return r.Files.Delete(ctx, creator, "file_3") })
	atomically(t, store, func(ctx context.Context, r ports.Repos) error { return r.Files.Delete(ctx, creator, "file_5") })
	_, err = r.Files.Find(t.Context(), "file_3")
	wantError(t, "a file that is gone", err, ports.ErrNotFound)
	if _, err := r.Files.Find(t.Context(), "file_5"); err != nil {
		t.Errorf("another account's file: %v", err)
	}
}

func partsAreCountedOnce(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	for _, number := range []int{2, 1, 2} {
		atomically(t, store, func(ctx context.Context, r ports.Repos) error {
			return r.Files.UpsertPart(ctx, "file_1", number)
		})
	}
	parts, err := store.Read(t.Context()).Files.ListParts(t.Context(), "file_1")
	if want := []int{1, 2}; err != nil || !slices.Equal(parts, want) {
		t.Errorf("parts %v, %v, want %v", parts, err, want)
	}
}

func downloadsAreCounted(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	insertFiles(t, store, fileState("1", creator), fileState("2", creator))
	for _, c := range []struct {
		checkoutID string
		want       int
	}{{"cs_1", 1}, {"cs_1", 2}, {"cs_2", 1}} {
		atomically(t, store, func(ctx context.Context, r ports.Repos) error {
			count, err := r.Files.CountDownload(ctx, ports.FileDownload{
				CreatorID: creator, FileID: "file_1", CheckoutID: c.checkoutID, At: catalogTime,
			})
			if count != c.want {
				t.Errorf("%s has %d downloads, want %d", c.checkoutID, count, c.want)
			}
			return err
		})
	}
	counts, err := store.Read(t.Context()).Files.Downloads(t.Context(), creator, "lst_1")
	if err != nil || len(counts) != 1 || counts["file_1"] != 3 {
		t.Errorf("counted %v, %v", counts, err)
	}
}

func oldUploadsAreFound(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	old, young, ready := fileState("1", creator), fileState("2", creator), fileState("3", creator)
	old.Status, young.Status, young.CreatedAt = file.Uploading, file.Uploading, catalogTime.Add(time.Hour)
	insertFiles(t, store, old, young, ready)
	found, err := store.Read(t.Context()).Files.ListUploadsBefore(t.Context(), catalogTime.Add(time.Minute), 10)
	if got := idsOf(found); err != nil || !slices.Equal(got, []string{"file_1"}) {
		t.Errorf("found %v, %v", got, err)
	}
}

func filesOfDisputesAreListed(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	of := func(id, disputeID string, status file.Status) file.State {
		s := fileState(id, creator)
		s.ListingID, s.DisputeID, s.Status = "", disputeID, status
		return s
	}
	insertFiles(t, store, of("1", "dsp_1", file.Ready), of("2", "dsp_1", file.Uploading), of("3", "dsp_1", file.Deleted),
		of("4", "dsp_2", file.Ready), of("5", "", file.Ready))
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		for id, customerID := range map[string]string{"1": "cus_1", "2": "cus_2"} {
			d := disputeState(id, creator)
			d.CustomerID = customerID
			if err := r.Payments.Disputes.Insert(ctx, d); err != nil {
				return err
			}
		}
		return nil
	})
	for customerID, want := range map[string][]string{"cus_1": {"file_2", "file_1"}, "cus_2": {"file_4"}, "cus_3": nil} {
		all, err := store.Read(t.Context()).Files.ListByDisputesOf(t.Context(), creator, customerID)
		if got := idsOf(all); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v, want %v", customerID, got, err, want)
		}
	}
	if all, err := store.Read(t.Context()).Files.ListByDisputesOf(t.Context(), "crt_2", "cus_1"); err != nil ||
		len(all) > 0 {
		t.Errorf("another account: %v, %v", idsOf(all), err)
	}
}

func downloadsAreListed(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	insertFiles(t, store, fileState("1", creator), fileState("2", creator))
	for n, d := range []ports.FileDownload{
		{CreatorID: creator, FileID: "file_1", CheckoutID: "cs_1"},
		{CreatorID: creator, FileID: "file_1", CheckoutID: "cs_1"},
		{CreatorID: creator, FileID: "file_1", CheckoutID: "cs_2"},
		{CreatorID: creator, FileID: "file_2", CheckoutID: "cs_1"},
	} {
		d.At = catalogTime.Add(time.Duration(n) * time.Minute)
		atomically(t, store, func(ctx context.Context, r ports.Repos) error {
			_, err := r.Files.CountDownload(ctx, d)
			return err
		})
	}
	list := func(creatorID, checkoutID string, limit int) []ports.CountedDownloads {
		all, err := store.Read(t.Context()).Files.ListDownloads(t.Context(), creatorID, checkoutID, limit)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	all := list(creator, "cs_1", 10)
	if len(all) != 2 || all[0].Count != 1 || !all[0].LastAt.Equal(catalogTime.Add(3*time.Minute)) || all[1].Count != 2 ||
		all[1].Name != "a.pdf" {
		t.Errorf("listed %+v", all)
	}
	if first := list(creator, "cs_1", 1); len(first) != 1 || first[0] != all[0] {
		t.Errorf("the latest: %+v", first)
	}
	if others := list("crt_2", "cs_1", 10); len(others) > 0 {
		t.Errorf("another account: %+v", others)
	}
}
