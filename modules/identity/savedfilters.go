package identity

import (
	"context"
	"slices"

	"sundry/core/fault"
	"sundry/core/identity"
	"sundry/ports"
)

// SaveFilter keeps a filter for a user, in place of that of the same list and name. VALIDATION_FAILED, LIMIT_REACHED;
// NOT_FOUND for a member who was removed after they asked.
func (s *Service) SaveFilter(ctx context.Context, u identity.User, f identity.SavedFilter) error {
	f, err := f.Clean()
	if err != nil {
		return err
	}
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		if err := r.Identity.SavedFilters.Lock(ctx, u); err != nil {
			return err
		}
		if u.MemberID != "" {
			if _, err := getMember(ctx, r, u.CreatorID, u.MemberID); err != nil {
				return err
			}
		}
		saved, err := r.Identity.SavedFilters.List(ctx, u, f.List)
		if err != nil {
			return err
		}
		isNamed := func(other identity.SavedFilter) bool { return other.Name == f.Name }
		if len(saved) >= identity.MaxSavedFilters && !slices.ContainsFunc(saved, isNamed) {
			return fault.Newf(fault.LimitReached, "You can save %d filters for a list. Delete one first.",
				identity.MaxSavedFilters)
		}
		return r.Identity.SavedFilters.Save(ctx, u, f)
	})
}

// SavedFilters returns the filters of a list that a user keeps, by their names.
func (s *Service) SavedFilters(ctx context.Context, u identity.User, list string) ([]identity.SavedFilter, error) {
	return s.deps.Store.Read(ctx).Identity.SavedFilters.List(ctx, u, list)
}

// DeleteFilter forgets a filter of a user, if there is one of that list and name.
func (s *Service) DeleteFilter(ctx context.Context, u identity.User, list, name string) error {
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		return r.Identity.SavedFilters.Delete(ctx, u, list, name)
	})
}
