package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"sundry/core/fault"
	"sundry/core/file"
	"sundry/ports"
)

const (
	// maxStarted bounds the downloads that one network may start within the window.
	maxStarted = 120
	window     = 10 * time.Minute
	// partTimeout bounds the reading of one part from the storage.
	partTimeout = 30 * time.Second
)

// Purchased lists what the buyer of a checkout session may download now, by name; none once opens is false: the
// purchase gives no access any more.
func (s *Service) Purchased(
	ctx context.Context, creatorID, checkoutID string,
) (newest []file.State, opens bool, err error) {
	return s.purchased(ctx, s.deps.Store.Read(ctx), creatorID, checkoutID)
}

func (s *Service) purchased(
	ctx context.Context, r ports.Repos, creatorID, checkoutID string,
) (newest []file.State, opens bool, err error) {
	listings, err := s.deps.Access.AccessOf(ctx, r, creatorID, checkoutID)
	if err != nil {
		return nil, false, fmt.Errorf("downloads of %s: %w", checkoutID, err)
	}
	for _, listingID := range listings {
		all, err := r.Files.ListByListing(ctx, creatorID, listingID)
		if err != nil {
			return nil, false, err
		}
		newest = append(newest, file.Newest(all)...)
	}
	return newest, len(listings) > 0, nil
}

// Start counts a download of a purchase and returns the address of the file's bytes, which opens for
// file.LinkLifetime. NOT_FOUND for what the purchase does not give now, LIMIT_REACHED when it was downloaded as often
// as its creator allows, RATE_LIMITED.
func (s *Service) Start(ctx context.Context, creatorID, checkoutID, fileID, network string) (url string, err error) {
	err = ports.Admit(ctx, s.deps.Limiter, ports.Attempt{
		Key: "files.start:" + network, Limit: maxStarted, Window: window,
		Message: "Too many downloads were started from your network. Wait a few minutes.",
	})
	if err != nil {
		return "", err
	}
	now := s.deps.Clock.Real()
	err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		state, err := s.find(ctx, r, creatorID, checkoutID, fileID)
		if err != nil {
			return err
		}
		count, err := r.Files.CountDownload(ctx, ports.FileDownload{
			CreatorID: creatorID, FileID: fileID, CheckoutID: checkoutID, At: now,
		})
		if err == nil && state.DownloadLimit > 0 && count > state.DownloadLimit {
			err = fault.Newf(
				fault.LimitReached, "You've downloaded this file %d times, which is as often as the seller allows.",
				state.DownloadLimit,
			)
		}
		return err
	})
	if err != nil {
		return "", err
	}
	d := file.Download{FileID: fileID, CheckoutID: checkoutID, Until: now.Add(file.LinkLifetime)}
	return s.cfg.BaseURL + d.Path(s.cfg.LinkKeys), nil
}

// Find returns a file that the buyer of a checkout session may download now, and counts nothing. NOT_FOUND.
func (s *Service) Find(ctx context.Context, creatorID, checkoutID, fileID string) (file.State, error) {
	return s.find(ctx, s.deps.Store.Read(ctx), creatorID, checkoutID, fileID)
}

func (s *Service) find(ctx context.Context, r ports.Repos, creatorID, checkoutID, fileID string) (file.State, error) {
	all, _, err := s.purchased(ctx, r, creatorID, checkoutID)
	if err != nil {
		return file.State{}, err
	}
	at := slices.IndexFunc(all, func(f file.State) bool { return f.ID == fileID })
	if at < 0 {
		return file.State{}, fault.NotFound("file")
	}
	return all[at], nil
}

// Open returns the file behind an address of Start. NOT_FOUND for any other address, after its end, and once the
// purchase gives no access any more.
func (s *Service) Open(ctx context.Context, until, checkoutID, token string) (file.State, error) {
	d, ok := file.ParseDownload(s.cfg.LinkKeys, until, checkoutID, token, s.deps.Clock.Real())
	if !ok {
		return file.State{}, fault.NotFound("download")
	}
	r := s.deps.Store.Read(ctx)
	state, err := r.Files.Find(ctx, d.FileID)
	if errors.Is(err, ports.ErrNotFound) || err == nil && state.Status != file.Ready {
		return state, fault.NotFound("download")
	}
	if err != nil {
		return state, err
	}
	// A version that was replaced meanwhile is still read to its end.
	listings, err := s.deps.Access.AccessOf(ctx, r, state.CreatorID, checkoutID)
	if err == nil && !slices.Contains(listings, state.ListingID) {
		err = fault.NotFound("download")
	}
	return state, err
}

// OpenOwn returns one of the account's own files. NOT_FOUND, also while it is uploaded.
func (s *Service) OpenOwn(ctx context.Context, creatorID, fileID string) (file.State, error) {
	state, err := own(ctx, s.deps.Store.Read(ctx), creatorID, fileID)
	if err == nil && state.Status != file.Ready {
		err = fault.NotFound("file")
	}
	return state, err
}

// Bytes reads a range of a file, one part in memory at a time.
func (s *Service) Bytes(ctx context.Context, state file.State, r file.Range) io.Reader {
	return &reader{ctx: context.WithoutCancel(ctx), storage: s.deps.Storage, file: state, at: r.First, end: r.Last + 1}
}

// reader is a range of a file.
type reader struct {
	ctx     context.Context //nolint:containedctx // io.Reader has none
	storage ports.FileStorage
	file    file.State
	at, end int64
	part    []byte // what is left of the part that was read last
}

// Read implements io.Reader.
func (r *reader) Read(into []byte) (n int, err error) {
	if r.at >= r.end {
		return 0, io.EOF
	}
	if len(r.part) == 0 {
		if err := r.load(); err != nil {
			return 0, err
		}
	}
	n = copy(into, r.part)
	r.part, r.at = r.part[n:], r.at+int64(n)
	return n, nil
}

// load reads the part of the next byte.
func (r *reader) load() error {
	ctx, cancel := context.WithTimeout(r.ctx, partTimeout)
	defer cancel()
	number := int(r.at/file.PartSize) + 1
	part, err := r.storage.Get(ctx, r.file.Key(number))
	if err != nil {
		return fmt.Errorf("part %d of %s: %w", number, r.file.ID, err)
	}
	if want := r.file.PartLen(number); len(part) != want {
		return fmt.Errorf("part %d of %s has %d bytes, want %d", number, r.file.ID, len(part), want)
	}
	first := int64(number-1) * file.PartSize
	r.part = part[r.at-first : min(int64(len(part)), r.end-first)]
	return nil
}
