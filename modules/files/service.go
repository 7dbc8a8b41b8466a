// Package files takes the files that creators upload for their listings, and gives them to those who have bought them,
// for as long as they have access.
//
// A file is stored part by part outside of any transaction, and exists for its buyers from the commit that completes
// it. Whatever is left behind by a crash is an upload that a sweep deletes a day later. Files of disputes are stored
// the same way.
package files

import (
	"context"
	"errors"
	"fmt"

	"sundry/core/fault"
	"sundry/core/file"
	"sundry/core/id"
	"sundry/core/listing"
	"sundry/core/secret"
	"sundry/ports"
)

// TaskDelete deletes the bytes of a deleted file. Its subject is the file.
const TaskDelete = "file.delete"

var errArchived = fault.New(fault.StateConflict, "An archived listing takes no more files.")

// Config bounds what is kept.
type Config struct {
	BaseURL string
	// MaxFile is the size of the largest file, MaxAccount that of all files of an account, in bytes.
	MaxFile, MaxAccount int64
	// LinkKeys derive the links to bytes.
	LinkKeys secret.Keys
}

// Deps holds what the module depends on.
type Deps struct {
	Store   ports.Store
	Clock   ports.Clock
	IDs     ports.IDs
	Storage ports.FileStorage
	Access  ports.PurchasedAccess
	Limiter ports.RateLimiter
}

// Service is the module.
type Service struct {
	cfg  Config
	deps Deps
}

// New returns the module over its ports.
func New(cfg Config, d Deps) *Service { return &Service{cfg: cfg, deps: d} }

// Begin starts the upload of a file for one of the account's listings. VALIDATION_FAILED with every fault, NOT_FOUND,
// STATE_CONFLICT for an archived listing, LIMIT_REACHED.
func (s *Service) Begin(ctx context.Context, creatorID, listingID string, p file.Proposal) (file.State, error) {
	begun, err := file.Begin(p, file.Origin{
		ID: s.deps.IDs.New(id.File), CreatorID: creatorID, ListingID: listingID, MaxSize: s.cfg.MaxFile,
	}, s.deps.Clock.Real())
	if err != nil {
		return file.State{}, err
	}
	state := begun.State()
	return state, s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		l, err := ownListing(ctx, r, creatorID, listingID)
		if err != nil {
			return err
		}
		if l.Status == listing.Archived {
			return errArchived
		}
		if err := r.Files.Lock(ctx, creatorID); err != nil {
			return err
		}
		all, err := r.Files.ListByListing(ctx, creatorID, listingID)
		if err != nil {
			return err
		}
		if len(all) >= file.MaxPerListing {
			return fault.Newf(
				fault.LimitReached, "A listing has at most %d files, former versions included. Delete one first.",
				file.MaxPerListing,
			)
		}
		return s.insert(ctx, r, state)
	})
}

// insert writes a new upload where the account has space for it. The caller has the lock of its files. LIMIT_REACHED.
func (s *Service) insert(ctx context.Context, r ports.Repos, state file.State) error {
	used, err := r.Files.TotalSize(ctx, state.CreatorID)
	if err != nil {
		return err
	}
	if used+state.Size > s.cfg.MaxAccount {
		return fault.Newf(
			fault.LimitReached, "The files of an account may have %d bytes together. Delete some first.", s.cfg.MaxAccount,
		)
	}
	return r.Files.Insert(ctx, state)
}

// PutPart stores a part of an upload, by its number from 1; again, it replaces it. NOT_FOUND, VALIDATION_FAILED,
// STATE_CONFLICT once the file is complete. Of a file that is deleted meanwhile nothing stays in the storage.
func (s *Service) PutPart(ctx context.Context, creatorID, fileID string, number int, part []byte) error {
	state, err := own(ctx, s.deps.Store.Read(ctx), creatorID, fileID)
	if err != nil {
		return err
	}
	if err := file.Restore(state).CheckPart(number, len(part)); err != nil {
		return err
	}
	return s.store(ctx, state, number, part, own)
}

// store stores a part and notes it. find loads the file again afterwards: it may have been deleted or completed
// meanwhile, and the task that deletes its bytes may have passed this part.
func (s *Service) store(
	ctx context.Context, state file.State, number int, part []byte,
	find func(ctx context.Context, r ports.Repos, creatorID, fileID string) (file.State, error),
) error {
	if err := s.deps.Storage.Put(ctx, state.Key(number), part); err != nil {
		return fmt.Errorf("store part %d of %s: %w", number, state.ID, err)
	}
	err := s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		if err := r.Files.Lock(ctx, state.CreatorID); err != nil {
			return err
		}
		now, err := find(ctx, r, state.CreatorID, state.ID)
		if err != nil {
			return err
		}
		if err := file.Restore(now).CheckPart(number, len(part)); err != nil {
			return err
		}
		return r.Files.UpsertPart(ctx, state.ID, number)
	})
	if !fault.Is(err, fault.NotFoundCode) {
		return err
	}
	if err := s.deps.Storage.Delete(ctx, state.Key(number)); err != nil {
		return fmt.Errorf("delete part %d of %s: %w", number, state.ID, err)
	}
	return err
}

// Complete gives an uploaded file to the buyers of its listing, in the place of an earlier one of its name. NOT_FOUND,
// VALIDATION_FAILED naming the parts that are missing, STATE_CONFLICT once it is deleted or its listing archived.
func (s *Service) Complete(ctx context.Context, creatorID, fileID string) (file.State, error) {
	return s.change(ctx, creatorID, fileID, func(ctx context.Context, r ports.Repos, f *file.File) (bool, error) {
		parts, err := r.Files.ListParts(ctx, fileID)
		if err != nil {
			return false, err
		}
		all, err := r.Files.ListByListing(ctx, creatorID, f.State().ListingID)
		if err != nil {
			return false, err
		}
		return f.Complete(parts, file.NextVersion(all, f.State().Name))
	})
}

// change changes one of the account's files, and notes on its listing whether buyers have files. The listing is loaded
// first and saved by its revision, so that two changes of one listing's files follow each other.
func (s *Service) change(
	ctx context.Context, creatorID, fileID string,
	transition func(ctx context.Context, r ports.Repos, f *file.File) (changed bool, err error),
) (state file.State, err error) {
	err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		if state, err = own(ctx, r, creatorID, fileID); err != nil {
			return err
		}
		l, err := ownListing(ctx, r, creatorID, state.ListingID)
		if err != nil {
			return err
		}
		f := file.Restore(state)
		changed, err := transition(ctx, r, f)
		if err != nil || !changed {
			return err
		}
		state = f.State()
		if state.Status == file.Ready && l.Status == listing.Archived {
			return errArchived
		}
		if err := r.Files.Update(ctx, state); err != nil {
			return err
		}
		all, err := r.Files.ListByListing(ctx, creatorID, state.ListingID)
		if err != nil {
			return err
		}
		now, err := r.Clock.Now(ctx, creatorID)
		if err != nil {
			return err
		}
		of := listing.Restore(l)
		if err := of.NoteFiles(len(file.Newest(all)) > 0, now); err != nil {
			return err
		}
		return r.Catalog.Listings.Update(ctx, of.State())
	})
	return state, err
}

// Upload stores a whole file that is small enough for one part. See Begin.
func (s *Service) Upload(
	ctx context.Context, creatorID, listingID string, p file.Proposal, content []byte,
) (file.State, error) {
	p.Size = int64(len(content))
	state, err := s.Begin(ctx, creatorID, listingID, p)
	if err != nil {
		return state, err
	}
	if err := s.PutPart(ctx, creatorID, state.ID, 1, content); err != nil {
		return state, err
	}
	return s.Complete(ctx, creatorID, state.ID)
}

// List lists the files of one of the account's listings that are not deleted, uploads and former versions included,
// newest first, with the number of downloads of each. NOT_FOUND.
func (s *Service) List(
	ctx context.Context, creatorID, listingID string,
) (all []file.State, downloads map[string]int64, err error) {
	r := s.deps.Store.Read(ctx)
	if _, err := ownListing(ctx, r, creatorID, listingID); err != nil {
		return nil, nil, err
	}
	if all, err = r.Files.ListByListing(ctx, creatorID, listingID); err != nil {
		return nil, nil, err
	}
	downloads, err = r.Files.Downloads(ctx, creatorID, listingID)
	return all, downloads, err
}

// Get shows one of the account's files, with the numbers of its parts that are stored. NOT_FOUND.
func (s *Service) Get(ctx context.Context, creatorID, fileID string) (state file.State, parts []int, err error) {
	r := s.deps.Store.Read(ctx)
	if state, err = own(ctx, r, creatorID, fileID); err != nil {
		return state, nil, err
	}
	parts, err = r.Files.ListParts(ctx, fileID)
	return state, parts, err
}

// Delete takes a file away from buyers, who get the version before from then on where there is one. A task deletes its
// bytes. NOT_FOUND.
func (s *Service) Delete(ctx context.Context, creatorID, fileID string) (file.State, error) {
	return s.change(ctx, creatorID, fileID, func(ctx context.Context, r ports.Repos, f *file.File) (bool, error) {
		return f.Delete(), s.scheduleDeletion(ctx, r, f.State())
	})
}

func (s *Service) scheduleDeletion(ctx context.Context, r ports.Repos, state file.State) error {
	return ports.ScheduleIn(ctx, r, 0, TaskDelete, state.ID, state.CreatorID)
}

// DeleteBytes deletes the parts of a deleted file, and then what is known of it. Task TaskDelete.
func (s *Service) DeleteBytes(ctx context.Context, t ports.Task) error {
	r := s.deps.Store.Read(ctx)
	state, err := r.Files.Find(ctx, t.Subject)
	if err != nil && !errors.Is(err, ports.ErrNotFound) {
		return err
	}
	if err == nil {
		for number := 1; number <= state.Parts(); number++ {
			if err := s.deps.Storage.Delete(ctx, state.Key(number)); err != nil {
				return fmt.Errorf("delete part %d of %s: %w", number, state.ID, err)
			}
		}
	}
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		if err := r.Files.Lock(ctx, t.CreatorID); err != nil {
			return err
		}
		if err := r.Files.Delete(ctx, t.CreatorID, t.Subject); err != nil {
			return err
		}
		return r.Tasks.Done(ctx, t)
	})
}

// sweepBatch bounds the uploads that one transaction deletes.
const sweepBatch = 100

// SweepUploads deletes uploads that were not completed in time.
func (s *Service) SweepUploads(ctx context.Context) error {
	for n := sweepBatch; n == sweepBatch; {
		err := s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
			old, err := r.Files.ListUploadsBefore(ctx, s.deps.Clock.Real().Add(-file.UploadLifetime), sweepBatch)
			if err != nil {
				return err
			}
			n = len(old)
			for _, state := range old {
				f := file.Restore(state)
				f.Delete()
				if err := errors.Join(r.Files.Update(ctx, f.State()), s.scheduleDeletion(ctx, r, state)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("sweep uploads: %w", err)
		}
	}
	return nil
}

func own(ctx context.Context, r ports.Repos, creatorID, fileID string) (file.State, error) {
	state, err := r.Files.Get(ctx, creatorID, fileID)
	return ports.Visible(state, err, state.Status != file.Deleted && state.DisputeID == "", "file")
}

func ownListing(ctx context.Context, r ports.Repos, creatorID, listingID string) (listing.State, error) {
	l, err := r.Catalog.Listings.Get(ctx, listingID)
	return ports.Visible(l, err, l.CreatorID == creatorID, "listing")
}
