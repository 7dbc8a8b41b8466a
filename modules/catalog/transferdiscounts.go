package catalog

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"time"

	"sundry/core/apiformat"
	"sundry/core/discount"
	"sundry/core/fault"
	"sundry/core/listing"
	"sundry/ports"
)

// DocumentDiscount is a discount code. Listings are named by their catalog keys.
type DocumentDiscount struct {
	Code             string   `json:"code"`
	PercentOff       *int     `json:"percentOff"`
	AmountOffInCents *int64   `json:"amountOffInCents"`
	Currency         *string  `json:"currency"`
	Duration         string   `json:"duration"`
	DurationInMonths *int     `json:"durationInMonths"`
	MaxRedemptions   *int     `json:"maxRedemptions"`
	ExpiresAt        *string  `json:"expiresAt"`
	Listings         []string `json:"listings"`
}

// discountsOf lists the account's discounts that have not expired, in the order of their codes. One for listings that
// are all archived sells nothing, and is left out.
func discountsOf(ctx context.Context, r ports.Repos, creatorID string) ([]DocumentDiscount, error) {
	now, err := r.Clock.Now(ctx, creatorID)
	if err != nil {
		return nil, err
	}
	all, err := ports.AllPages(func(p ports.Page) (ports.List[discount.State], error) {
		return r.Catalog.Discounts.List(ctx, creatorID, p)
	})
	if err != nil {
		return nil, err
	}
	documents := []DocumentDiscount{}
	for _, d := range all {
		if !d.ExpiresAt.IsZero() && !now.Before(d.ExpiresAt) {
			continue
		}
		keys := []string{}
		for _, listingID := range d.ListingIDs {
			l, err := mine(ctx, r, creatorID, listingID)
			if err != nil {
				return nil, err
			}
			if l.Status != listing.Archived {
				keys = append(keys, l.CatalogKey)
			}
		}
		if len(keys) == 0 && len(d.ListingIDs) > 0 {
			continue
		}
		slices.Sort(keys)
		documents = append(documents, newDocumentDiscount(d, keys))
	}
	slices.SortFunc(documents, func(a, b DocumentDiscount) int {
		return cmp.Or(strings.Compare(discount.Key(a.Code), discount.Key(b.Code)), strings.Compare(a.Code, b.Code))
	})
	return documents, nil
}

func newDocumentDiscount(d discount.State, listingKeys []string) DocumentDiscount {
	document := DocumentDiscount{
		Code: d.Code, Duration: string(d.Duration), ExpiresAt: apiformat.Time(d.ExpiresAt), Listings: listingKeys,
	}
	if d.PercentOff != 0 {
		document.PercentOff = &d.PercentOff
	} else {
		currency := string(d.AmountOff.Currency)
		document.AmountOffInCents, document.Currency = &d.AmountOff.Minor, &currency
	}
	if d.DurationInMonths != 0 {
		document.DurationInMonths = &d.DurationInMonths
	}
	if d.MaxRedemptions != 0 {
		document.MaxRedemptions = &d.MaxRedemptions
	}
	return document
}

// importDiscounts makes the codes that are missing, but for those that have expired and those for archived listings
// alone: an export leaves them out, too. A code never changes; those that are not named are left alone.
func (t *Transfer) importDiscounts(
	ctx context.Context, r ports.Repos, creatorID string, wanted *[]DocumentDiscount,
) error {
	if wanted == nil {
		return nil
	}
	there, err := discountsOf(ctx, r, creatorID)
	if err != nil {
		return err
	}
	for _, w := range *wanted {
		if err := t.importDiscount(ctx, r, creatorID, there, w); err != nil {
			return nested("discounts."+w.Code, err)
		}
	}
	return nil
}

func (t *Transfer) importDiscount(
	ctx context.Context, r ports.Repos, creatorID string, there []DocumentDiscount, w DocumentDiscount,
) error {
	slices.Sort(w.Listings)
	w.Listings, w.Duration = append([]string{}, w.Listings...), cmp.Or(w.Duration, string(discount.Once))
	draft, onSale, err := t.discountDraft(ctx, r, creatorID, w)
	if err != nil {
		return err
	}
	sellsNothing := len(w.Listings) > 0 && len(onSale) == 0
	w.Listings, w.ExpiresAt = onSale, apiformat.Time(draft.ExpiresAt)
	for _, d := range there {
		if discount.Key(d.Code) != discount.Key(w.Code) {
			continue
		}
		if reflect.DeepEqual(d, w) {
			return nil
		}
		return fault.Invalid(fault.Detail{
			Code: fault.DetailNotAllowed, Message: "A discount never changes. Delete it first, or give the new one another code.",
		})
	}
	now, err := r.Clock.Now(ctx, creatorID)
	if err != nil || sellsNothing || !draft.ExpiresAt.IsZero() && !now.Before(draft.ExpiresAt) {
		return err
	}
	_, err = t.service.CreateDiscount(ctx, creatorID, draft)
	return err
}

// discountDraft returns the request for a discount that a document describes, and the keys of its listings that are not
// archived. VALIDATION_FAILED for a time that is none and for listings that are not there.
func (t *Transfer) discountDraft(
	ctx context.Context, r ports.Repos, creatorID string, w DocumentDiscount,
) (draft discount.Draft, onSale []string, err error) {
	var f fault.Violations
	draft, onSale = discount.Draft{
		Code: w.Code, PercentOff: w.PercentOff, AmountOffInCents: w.AmountOffInCents, Duration: w.Duration,
		DurationInMonths: w.DurationInMonths, MaxRedemptions: w.MaxRedemptions,
	}, []string{}
	if w.Currency != nil {
		draft.Currency = *w.Currency
	}
	if w.ExpiresAt != nil {
		at, err := time.Parse(time.RFC3339, *w.ExpiresAt)
		at = at.UTC().Truncate(time.Millisecond)
		f.Check(err == nil && at.Year() >= 1970 && at.Year() <= 9999, "expiresAt", fault.DetailInvalid,
			"A time reads like 2026-03-08T12:00:00Z.")
		draft.ExpiresAt = at
	}
	for i, key := range w.Listings {
		l, err := r.Catalog.Listings.GetByKey(ctx, creatorID, key)
		switch {
		case errors.Is(err, ports.ErrNotFound):
			f.Item("listings", i).Add("", fault.DetailInvalid, "Expected the catalog key of one of your listings.")
		case err != nil:
			return draft, onSale, err
		case l.Status != listing.Archived:
			draft.ListingIDs, onSale = append(draft.ListingIDs, l.ID), append(onSale, key)
		}
	}
	return draft, onSale, f.Err()
}
