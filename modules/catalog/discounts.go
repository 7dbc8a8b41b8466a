package catalog

import (
	"context"
	"errors"

	"sundry/core/discount"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/identity"
	"sundry/ports"
)

const discountCodeIndex = "discounts_creator_id_code_key"

var _ ports.DiscountCodes = (*Service)(nil)

// CheckDiscount lists everything that is wrong with a draft, as one VALIDATION_FAILED error.
func (s *Service) CheckDiscount(ctx context.Context, creatorID string, draft discount.Draft) error {
	now, err := s.deps.Clock.Now(ctx, creatorID)
	if err != nil {
		return err
	}
	return draft.Check(now)
}

// CreateDiscount makes a discount code. VALIDATION_FAILED with every fault, listings that are not the account's and a
// code that another discount has included.
func (s *Service) CreateDiscount(ctx context.Context, creatorID string, draft discount.Draft) (discount.State, error) {
	discountID := s.deps.IDs.New(id.Discount)
	var created discount.State
	err := s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		now, err := r.Clock.Now(ctx, creatorID)
		if err != nil {
			return err
		}
		d, err := discount.New(discountID, creatorID, draft, now)
		if err != nil {
			return err
		}
		if err := ownListings(ctx, r, creatorID, draft.ListingIDs); err != nil {
			return err
		}
		created = d.State()
		if err := r.Catalog.Discounts.Insert(ctx, created); err != nil {
			return err
		}
		return s.auditDiscount(ctx, r, identity.DiscountCreated, created)
	})
	var duplicate *ports.DuplicateError
	if errors.As(err, &duplicate) && duplicate.Index == discountCodeIndex {
		return discount.State{}, fault.Invalid(fault.Detail{
			Field: "code", Code: fault.DetailDuplicate, Message: "Another discount has this code.",
		})
	}
	return created, refusal("create discount", err)
}

// ownListings refuses listings that the account does not have.
func ownListings(ctx context.Context, r ports.Repos, creatorID string, listingIDs []string) error {
	var f fault.Violations
	for i, listingID := range listingIDs {
		switch _, err := mine(ctx, r, creatorID, listingID); {
		case fault.Is(err, fault.NotFoundCode):
			f.Item("listingIds", i).Add("", fault.DetailInvalid, "Expected the id of one of your listings.")
		case err != nil:
			return err
		}
	}
	return f.Err()
}

// Discounts lists the account's discounts that are not deleted, newest first.
func (s *Service) Discounts(
	ctx context.Context, creatorID string, page ports.Page,
) (ports.List[discount.State], error) {
	return s.deps.Store.Read(ctx).Catalog.Discounts.List(ctx, creatorID, page)
}

// Discount shows one of the account's discounts, a deleted one too. NOT_FOUND for all others.
func (s *Service) Discount(ctx context.Context, creatorID, discountID string) (discount.State, error) {
	if !id.Valid(id.Discount, discountID) {
		return discount.State{}, fault.NotFound("discount")
	}
	d, err := s.deps.Store.Read(ctx).Catalog.Discounts.Get(ctx, creatorID, discountID)
	return d, ports.Missing(err, "discount")
}

// DeleteDiscount ends the use of a code. Deleting it again responds the same. What was sold with it keeps its terms.
// NOT_FOUND for a discount of another account.
func (s *Service) DeleteDiscount(ctx context.Context, creatorID, discountID string) (discount.State, error) {
	if !id.Valid(id.Discount, discountID) {
		return discount.State{}, fault.NotFound("discount")
	}
	var after discount.State
	err := s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		before, err := r.Catalog.Discounts.GetForUpdate(ctx, creatorID, discountID)
		if err != nil {
			return ports.Missing(err, "discount")
		}
		now, err := r.Clock.Now(ctx, creatorID)
		if err != nil {
			return err
		}
		d := discount.Restore(before)
		changed := d.Delete(now)
		if after = d.State(); !changed {
			return nil
		}
		if err := r.Catalog.Discounts.Update(ctx, after); err != nil {
			return err
		}
		return s.auditDiscount(ctx, r, identity.DiscountDeleted, after)
	})
	return after, refusal("delete discount "+discountID, err)
}

// auditDiscount records what was done to a discount, with its code.
func (s *Service) auditDiscount(
	ctx context.Context, r ports.Repos, kind identity.AccountEventKind, d discount.State,
) error {
	return ports.PublishAudited(ctx, r, s.deps.Bus, identity.Audited{
		CreatorID: d.CreatorID, Kind: kind, ObjectID: d.ID, Note: d.Code,
	})
}

// DiscountTerms implements ports.DiscountCodes.
func (s *Service) DiscountTerms(
	ctx context.Context, r ports.Repos, creatorID, code string, sale discount.Sale,
) (discount.Terms, error) {
	key := discount.Key(code)
	if !discount.ValidCode(key) {
		return discount.Terms{}, discount.ErrUnknownCode()
	}
	found, err := r.Catalog.Discounts.GetByKey(ctx, creatorID, key)
	if errors.Is(err, ports.ErrNotFound) {
		return discount.Terms{}, discount.ErrUnknownCode()
	}
	if err != nil {
		return discount.Terms{}, err
	}
	now, err := r.Clock.Now(ctx, creatorID)
	if err != nil {
		return discount.Terms{}, err
	}
	return found.Terms(), discount.Restore(found).CanRedeem(sale, now)
}

// RedeemDiscount implements ports.DiscountCodes. The discount's row is locked before it is counted, so that rivals are
// counted one after the other.
func (s *Service) RedeemDiscount(ctx context.Context, r ports.Repos, creatorID, discountID, checkoutID string) error {
	if _, err := r.Catalog.Discounts.GetRedemption(ctx, creatorID, checkoutID); !errors.Is(err, ports.ErrNotFound) {
		return err // counted before, or the store's fault
	}
	found, err := r.Catalog.Discounts.GetForUpdate(ctx, creatorID, discountID)
	if err != nil {
		return err
	}
	now, err := r.Clock.Now(ctx, creatorID)
	if err != nil {
		return err
	}
	d := discount.Restore(found)
	if err := d.Redeem(); err != nil {
		return err
	}
	if err := r.Catalog.Discounts.Update(ctx, d.State()); err != nil {
		return err
	}
	return r.Catalog.Discounts.InsertRedemption(ctx, ports.DiscountRedemption{
		CheckoutID: checkoutID, CreatorID: creatorID, DiscountID: discountID, CreatedAt: now,
	})
}

// ReleaseDiscount implements ports.DiscountCodes.
func (s *Service) ReleaseDiscount(ctx context.Context, r ports.Repos, creatorID, checkoutID string) error {
	used, err := r.Catalog.Discounts.GetRedemption(ctx, creatorID, checkoutID)
	if errors.Is(err, ports.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	found, err := r.Catalog.Discounts.GetForUpdate(ctx, creatorID, used.DiscountID)
	if err != nil {
		return err
	}
	d := discount.Restore(found)
	d.Release()
	if err := r.Catalog.Discounts.Update(ctx, d.State()); err != nil {
		return err
	}
	return r.Catalog.Discounts.DeleteRedemption(ctx, creatorID, checkoutID)
}
