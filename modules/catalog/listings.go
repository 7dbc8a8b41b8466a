package catalog

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/identity"
	"sundry/core/listing"
	"sundry/core/quota"
	"sundry/ports"
)

// CreateListing makes a draft. VALIDATION_FAILED with every fault, SLUG_TAKEN, CATALOG_KEY_TAKEN, LIMIT_REACHED.
func (s *Service) CreateListing(ctx context.Context, creatorID string, p listing.Proposal) (listing.State, error) {
	if err := s.claimSlug(ctx, creatorID, p.Slug); err != nil {
		return listing.State{}, err
	}
	return s.create(ctx, creatorID, p)
}

// claimSlug claims a slug over all cells, before the transaction that uses it. One that cannot be a slug is left to the
// rules to refuse.
func (s *Service) claimSlug(ctx context.Context, creatorID string, slug *string) error {
	if slug == nil || !listing.ValidSlug(*slug) {
		return nil
	}
	err := s.deps.Names.Claim(ctx, ports.ListingSlugs, creatorID, *slug)
	if errors.Is(err, ports.ErrDuplicate) {
		return fault.New(fault.SlugTaken, "Another listing has this slug.")
	}
	return err
}

// create is CreateListing, in the caller's transaction where there is one, of a slug that is claimed.
func (s *Service) create(ctx context.Context, creatorID string, p listing.Proposal) (listing.State, error) {
	origin := listing.Origin{
		ID: s.deps.IDs.New(id.Listing), CreatorID: creatorID, PriceID: s.deps.IDs.New(id.Price),
		VariantID: s.deps.IDs.New(id.Variant),
	}
	var created listing.State
	err := s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		now, err := r.Clock.Now(ctx, creatorID)
		if err != nil {
			return err
		}
		l, err := listing.Create(p, origin, now)
		if err != nil {
			return err
		}
		created = l.State()
		err = s.deps.Standing.CheckLimit(ctx, r, creatorID, quota.Listings, func() (int64, error) {
			n, err := r.Catalog.Listings.Count(ctx, creatorID)
			return n + 1, err
		})
		if err != nil {
			return err
		}
		return r.Catalog.Listings.Insert(ctx, created)
	})
	return created, refusal("create listing", s.slugFirst(ctx, created, err))
}

// OwnListings lists the account's listings in every status, newest first.
func (s *Service) OwnListings(
	ctx context.Context, creatorID string, page ports.Page,
) (ports.List[listing.State], error) {
	return s.deps.Store.Read(ctx).Catalog.Listings.List(ctx, creatorID, page)
}

// SearchOwn returns those of the account's listings whose title or description contains a text, newest first.
func (s *Service) SearchOwn(ctx context.Context, creatorID, text string, limit int) ([]listing.State, error) {
	return s.deps.Store.Read(ctx).Catalog.Listings.SearchOwn(ctx, creatorID, text, limit)
}

// OwnListing shows one of the account's listings, whatever its status. NOT_FOUND for all others.
func (s *Service) OwnListing(ctx context.Context, creatorID, listingID string) (listing.State, error) {
	return mine(ctx, s.deps.Store.Read(ctx), creatorID, listingID)
}

// Search lists ACTIVE listings of every account.
func (s *Service) Search(
	ctx context.Context, search ports.ListingSearch, page ports.Page,
) (ports.List[listing.State], error) {
	return s.deps.Store.Read(ctx).Catalog.Listings.Search(ctx, search, page)
}

// BySlug shows an ACTIVE listing of any account. NOT_FOUND for all others.
func (s *Service) BySlug(ctx context.Context, slug string) (listing.State, error) {
	if !listing.ValidSlug(slug) {
		return listing.State{}, fault.NotFound("listing")
	}
	l, err := s.deps.Store.Read(ctx).Catalog.Listings.GetBySlug(ctx, slug)
	if errors.Is(err, ports.ErrNotFound) {
		if misdirected := s.deps.Names.Elsewhere(ctx, ports.ListingSlugs, slug); misdirected != nil {
			return l, misdirected
		}
	}
	return ports.Visible(l, err, l.Status == listing.Active, "listing")
}

// EditListing changes the members given. VALIDATION_FAILED with every fault, STATE_CONFLICT once archived, SLUG_TAKEN,
// CATALOG_KEY_TAKEN, and the refusals of change.
func (s *Service) EditListing(ctx context.Context, creatorID, listingID string, e listing.Edit) (listing.State, error) {
	if err := s.claimSlug(ctx, creatorID, e.Slug); err != nil {
		return listing.State{}, err
	}
	return s.edit(ctx, creatorID, listingID, e)
}

// edit is EditListing, in the caller's transaction where there is one, of a slug that is claimed.
func (s *Service) edit(ctx context.Context, creatorID, listingID string, e listing.Edit) (listing.State, error) {
	return s.change(ctx, creatorID, listingID, func(
		_ context.Context, _ ports.Repos, l *listing.Listing, now time.Time,
	) error {
		return l.Edit(e, s.newPriceID, now)
	})
}

func (s *Service) newPriceID() string { return s.deps.IDs.New(id.Price) }

// Publish makes a draft purchasable and public. STATE_CONFLICT for anything but a draft, FORBIDDEN for an account that
// may not sell, and the refusals of change.
func (s *Service) Publish(ctx context.Context, creatorID, listingID string) (listing.State, error) {
	return s.change(ctx, creatorID, listingID, func(
		ctx context.Context, _ ports.Repos, l *listing.Listing, now time.Time,
	) error {
		if err := s.deps.Standing.CheckSales(ctx, creatorID); err != nil {
			return err
		}
		return l.Publish(now)
	})
}

// Archive takes a listing off sale permanently. Archiving it again changes nothing. The refusals of change.
func (s *Service) Archive(ctx context.Context, creatorID, listingID string) (listing.State, error) {
	return s.change(ctx, creatorID, listingID, func(
		_ context.Context, _ ports.Repos, l *listing.Listing, now time.Time,
	) error {
		l.Archive(now)
		return nil
	})
}

// AddVariant gives an appointment listing another variant. VALIDATION_FAILED, STATE_CONFLICT for other types and once
// archived, and the refusals of change.
func (s *Service) AddVariant(
	ctx context.Context, creatorID, listingID string, e listing.VariantEdit,
) (v listing.Variant, err error) {
	variantID := s.deps.IDs.New(id.Variant)
	_, err = s.change(ctx, creatorID, listingID, func(
		_ context.Context, _ ports.Repos, l *listing.Listing, now time.Time,
	) (err error) {
		v, err = l.AddVariant(variantID, e, s.newPriceID, now)
		return err
	})
	return v, err
}

// EditVariant changes the members given. NOT_FOUND for an unknown variant; otherwise refuses as AddVariant.
func (s *Service) EditVariant(
	ctx context.Context, creatorID, listingID, variantID string, e listing.VariantEdit,
) (v listing.Variant, err error) {
	_, err = s.change(ctx, creatorID, listingID, func(
		_ context.Context, _ ports.Repos, l *listing.Listing, now time.Time,
	) (err error) {
		v, err = l.EditVariant(variantID, e, s.newPriceID, now)
		return err
	})
	return v, err
}

// RemoveVariant takes a variant away. NOT_FOUND for an unknown one, STATE_CONFLICT for the default one; otherwise
// refuses as AddVariant.
func (s *Service) RemoveVariant(
	ctx context.Context, creatorID, listingID, variantID string,
) (v listing.Variant, err error) {
	_, err = s.change(ctx, creatorID, listingID, func(
		_ context.Context, _ ports.Repos, l *listing.Listing, now time.Time,
	) (err error) {
		v, err = l.RemoveVariant(variantID, now)
		return err
	})
	return v, err
}

// change runs one transition of a listing that the account owns and saves it. Another creator's listing is FORBIDDEN
// when it is public, else NOT_FOUND.
func (s *Service) change(ctx context.Context, creatorID, listingID string,
	transition func(
		ctx context.Context, r ports.Repos, l *listing.Listing, now time.Time,
	) error) (listing.State, error) {
	var after listing.State
	err := s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		before, err := find(ctx, r, listingID)
		switch {
		case err != nil:
			return err
		case before.CreatorID != creatorID && before.Status == listing.Active:
			return fault.New(fault.Forbidden, "This listing belongs to another creator.")
		case before.CreatorID != creatorID:
			return fault.NotFound("listing")
		}
		now, err := r.Clock.Now(ctx, creatorID)
		if err != nil {
			return err
		}
		l := listing.Restore(before)
		if err := transition(ctx, r, l, now); err != nil {
			return err
		}
		if after = l.State(); !l.Changed() {
			return nil
		}
		if err := r.Catalog.Listings.Update(ctx, after); err != nil {
			return err
		}
		return s.audit(ctx, r, before, after)
	})
	return after, refusal("change listing "+listingID, s.slugFirst(ctx, after, err))
}

// audit records that a listing was published, archived or got another price.
func (s *Service) audit(ctx context.Context, r ports.Repos, before, after listing.State) error {
	e := identity.Audited{CreatorID: after.CreatorID, ObjectID: after.ID, Note: after.Title}
	switch {
	case before.Status != after.Status && after.Status == listing.Active:
		e.Kind = identity.ListingPublished
	case before.Status != after.Status && after.Status == listing.Archived:
		e.Kind = identity.ListingArchived
	case before.Price != after.Price || !maps.Equal(variantPrices(before), variantPrices(after)):
		e.Kind = identity.PriceChanged
	default:
		return nil
	}
	return ports.PublishAudited(ctx, r, s.deps.Bus, e)
}

// variantPrices returns the price of each variant of a listing, by id.
func variantPrices(l listing.State) map[string]int64 {
	prices := map[string]int64{}
	for _, v := range l.Variants {
		prices[v.ID] = l.Price.Minor
		if v.PriceInCents != nil {
			prices[v.ID] = *v.PriceInCents
		}
	}
	return prices
}

// Listing implements ports.BookedListings.
func (s *Service) Listing(ctx context.Context, r ports.Repos, listingID string) (listing.State, error) {
	return find(ctx, r, listingID)
}

// find loads a listing of any account. NOT_FOUND.
func find(ctx context.Context, r ports.Repos, listingID string) (listing.State, error) {
	if !id.Valid(id.Listing, listingID) {
		return listing.State{}, fault.NotFound("listing")
	}
	l, err := r.Catalog.Listings.Get(ctx, listingID)
	return l, ports.Missing(err, "listing")
}

// mine loads a listing of the account. NOT_FOUND for all others.
func mine(ctx context.Context, r ports.Repos, creatorID, listingID string) (listing.State, error) {
	l, err := find(ctx, r, listingID)
	return ports.Visible(l, err, l.CreatorID == creatorID, "listing")
}

const (
	slugIndex = "listings_slug"
	keyIndex  = "listings_creator_id_catalog_key"
)

// slugFirst reports the slug when both names are taken, as they are when the catalog key is the slug: engines do not
// agree which index they check first.
func (s *Service) slugFirst(ctx context.Context, l listing.State, err error) error {
	var duplicate *ports.DuplicateError
	if !errors.As(err, &duplicate) || duplicate.Index != keyIndex {
		return err
	}
	switch other, findErr := s.deps.Store.Read(ctx).Catalog.Listings.GetBySlug(ctx, l.Slug); {
	case findErr == nil && other.ID != l.ID:
		return &ports.DuplicateError{Index: slugIndex}
	case findErr != nil && !errors.Is(findErr, ports.ErrNotFound):
		return findErr
	}
	return err
}

// refusal turns a taken name into its refusal and returns refusals unchanged. Any other error is wrapped with the
// operation.
func refusal(op string, err error) error {
	var duplicate *ports.DuplicateError
	var refused *fault.Error
	switch {
	case err == nil, errors.As(err, &refused):
		return err
	case errors.As(err, &duplicate) && duplicate.Index == slugIndex:
		return fault.New(fault.SlugTaken, "Another listing has this slug.")
	case errors.As(err, &duplicate) && duplicate.Index == keyIndex:
		return fault.New(fault.CatalogKeyTaken, "Another of your listings has this catalog key. Give this one a catalogKey "+
			"of its own: without one it is the slug.")
	}
	return fmt.Errorf("%s: %w", op, err)
}
