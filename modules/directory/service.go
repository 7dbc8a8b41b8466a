// Package directory keeps the names that people choose unique over all cells of a deployment, and finds the cell of
// what this one does not know.
package directory

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/identity"
	"sundry/core/listing"
	"sundry/ports"
)

// SettleTask is the kind of the task that gives up what an owner has claimed and does not use. Its subject is the kind
// of names and the owner.
const SettleTask = "directory.settle"

const (
	// settleAfter is longer than any transaction lasts that uses a name: by then a claim is used, or never will be.
	settleAfter = 10 * time.Minute
	// knownFor is the time for which the list of cells is not read again.
	knownFor = 30 * time.Second
	// fillPage is the number of accounts that Fill reads at a time.
	fillPage = 100
)

// Deps holds the dependencies of the module.
type Deps struct {
	Store ports.Store
	Clock ports.Clock
	// Directory is nil where there is one cell.
	Directory ports.Directory
	Cell      id.Cell
	Log       *slog.Logger
}

// Service is the module.
type Service struct {
	deps Deps

	mu     sync.Mutex
	cells  map[id.Cell]bool
	readAt time.Time
}

var _ ports.UniqueNames = (*Service)(nil)

// New returns the module.
func New(d Deps) *Service { return &Service{deps: d} }

// Claim implements ports.UniqueNames. The task that gives up what is not used is written first: a process that dies at
// any time after it leaves no name that nobody has and nobody can get.
func (s *Service) Claim(ctx context.Context, kind ports.NameKind, owner string, names ...string) error {
	if s.deps.Directory == nil || len(names) == 0 {
		return nil
	}
	err := s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		return r.Tasks.Schedule(ctx, SettleTask, string(kind)+":"+owner, "", s.deps.Clock.Real().Add(settleAfter))
	})
	if err != nil {
		return err
	}
	return s.deps.Directory.Claim(ctx, kind, owner, names...)
}

// Release implements ports.UniqueNames. What cannot be given up now is given up by the task.
func (s *Service) Release(ctx context.Context, kind ports.NameKind, owner string) {
	if s.deps.Directory == nil {
		return
	}
	if err := s.deps.Directory.Settle(ctx, kind, owner, nil, 0); err != nil {
		s.deps.Log.WarnContext(ctx, "a claimed name is given up later", slog.Any("error", err))
	}
}

// Settle runs SettleTask.
func (s *Service) Settle(ctx context.Context, t ports.Task) error {
	kind, owner, _ := strings.Cut(t.Subject, ":")
	if s.deps.Directory == nil {
		return errors.New("names are waiting to be settled, and DIRECTORY_URL is not set")
	}
	used, err := s.used(ctx, ports.NameKind(kind), owner)
	if err != nil {
		return err
	}
	if err := s.deps.Directory.Settle(ctx, ports.NameKind(kind), owner, used, settleAfter); err != nil {
		return err
	}
	return ports.EndTask(ctx, s.deps.Store, t)
}

// used lists the names that an owner has in this cell.
func (s *Service) used(ctx context.Context, kind ports.NameKind, owner string) ([]string, error) {
	r := s.deps.Store.Read(ctx)
	if kind == ports.CreatorEmails && identity.IsMember(owner) {
		member, err := r.Identity.Members.Get(ctx, owner)
		if errors.Is(err, ports.ErrNotFound) || err == nil && !member.Joined() {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		return []string{member.State().Email}, nil
	}
	if kind == ports.CreatorEmails {
		creator, err := r.Identity.Creators.Get(ctx, owner)
		if errors.Is(err, ports.ErrNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		return []string{creator.State().Email}, nil
	}
	listings, err := ports.AllPages(func(page ports.Page) (ports.List[listing.State], error) {
		return r.Catalog.Listings.List(ctx, owner, page)
	})
	slugs := make([]string, len(listings))
	for i, l := range listings {
		slugs[i] = l.Slug
	}
	return slugs, err
}

// Elsewhere implements ports.UniqueNames. A directory that is away changes no response.
func (s *Service) Elsewhere(ctx context.Context, kind ports.NameKind, name string) error {
	if s.deps.Directory == nil {
		return nil
	}
	cell, ok, err := s.deps.Directory.Find(ctx, kind, name)
	if err != nil {
		s.deps.Log.WarnContext(ctx, "the directory does not respond", slog.Any("error", err))
		return nil
	}
	if !ok || cell == s.deps.Cell {
		return nil
	}
	return fault.Elsewhere(cell)
}

// MadeElsewhere implements ports.UniqueNames.
func (s *Service) MadeElsewhere(ctx context.Context, objectID string) error {
	if cell, ok := id.CellOf(objectID); ok && s.IsOther(ctx, cell) {
		return fault.Elsewhere(cell)
	}
	return nil
}

// IsOther reports whether there is another cell of this number. What was made before there were cells has any number,
// mostly of no cell at all.
func (s *Service) IsOther(ctx context.Context, cell id.Cell) bool {
	if s.deps.Directory == nil || cell == s.deps.Cell {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.deps.Clock.Real(); now.Sub(s.readAt) >= knownFor {
		s.readAt = now // also after a failure: the list that was read last is good
		if all, err := s.deps.Directory.Cells(ctx); err == nil {
			s.cells = map[id.Cell]bool{}
			for _, one := range all {
				s.cells[one] = true
			}
		}
	}
	return s.cells[cell]
}

// Fill claims every name of this cell, as when the directory is new. report gets a line for each that somebody else
// has.
func (s *Service) Fill(ctx context.Context, report func(line string)) error {
	if s.deps.Directory == nil {
		return errors.New("DIRECTORY_URL is not set")
	}
	for after := ""; ; {
		accounts, err := s.deps.Store.Read(ctx).Identity.Creators.After(ctx, after, fillPage)
		if err != nil || len(accounts) == 0 {
			return err
		}
		for _, creatorID := range accounts {
			for _, kind := range []ports.NameKind{ports.CreatorEmails, ports.ListingSlugs} {
				if err := s.fill(ctx, kind, creatorID, report); err != nil {
					return err
				}
			}
			if err := s.fillMembers(ctx, creatorID, report); err != nil {
				return err
			}
		}
		after = accounts[len(accounts)-1]
	}
}

// fillMembers claims the addresses of an account's members.
func (s *Service) fillMembers(ctx context.Context, creatorID string, report func(line string)) error {
	members, err := ports.AllPages(func(page ports.Page) (ports.List[*identity.Member], error) {
		return s.deps.Store.Read(ctx).Identity.Members.List(ctx, creatorID, page)
	})
	if err != nil {
		return err
	}
	for _, m := range members {
		if err := s.fill(ctx, ports.CreatorEmails, m.State().ID, report); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) fill(ctx context.Context, kind ports.NameKind, owner string, report func(line string)) error {
	names, err := s.used(ctx, kind, owner)
	if err != nil {
		return err
	}
	for _, name := range names {
		err := s.deps.Directory.Claim(ctx, kind, owner, name)
		switch {
		case errors.Is(err, ports.ErrDuplicate):
			report(fmt.Sprintf("%s of %s is another account's in the directory: %s", kind, owner, name))
		case err != nil:
			return err
		}
	}
	return nil
}
