package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"sundry/core/fault"
	"sundry/core/listing"
	"sundry/core/paymentlink"
	"sundry/core/plan"
	"sundry/ports"
)

// importListing makes one listing be as wanted. The use cases that it calls join the transaction.
func (s *Service) importListing(ctx context.Context, r ports.Repos, creatorID string, wanted DocumentListing) error {
	if wanted.Status == listing.Archived {
		switch before, err := r.Catalog.Listings.GetByKey(ctx, creatorID, wanted.Key); {
		case err == nil && before.Status == listing.Archived:
			return nil // nothing of it changes any more
		case err != nil && !errors.Is(err, ports.ErrNotFound):
			return err
		}
	}
	if err := wanted.check(); err != nil {
		return err
	}
	found, err := s.importedListing(ctx, r, creatorID, wanted)
	if err != nil {
		return err
	}
	if err := s.importVariants(ctx, found, wanted.Variants); err != nil {
		return err
	}
	if err := s.importPlans(ctx, r, found, wanted.Plans); err != nil {
		return err
	}
	if wanted.Status == listing.Active && found.Status == listing.Draft {
		if _, err := s.Publish(ctx, creatorID, found.ID); err != nil {
			return err
		}
	}
	if err := s.importLinks(ctx, r, creatorID, found.ID, wanted.PaymentLinks); err != nil {
		return err
	}
	if wanted.Status == listing.Archived {
		_, err = s.Archive(ctx, creatorID, found.ID)
	}
	return err
}

// check refuses what the listing itself cannot: a status that is none, and a price that is missing, which is not free.
func (wanted DocumentListing) check() error {
	var f fault.Violations
	f.OneOf("status", string(wanted.Status), string(listing.Draft), string(listing.Active), string(listing.Archived))
	if wanted.PriceInCents == nil {
		plan.CheckAmount(&f, "priceInCents", nil)
	}
	return f.Err()
}

// behaviorOf is nil for a document without one: the prices contain their tax then, or go on as they are.
func behaviorOf(wanted DocumentListing) *string {
	if wanted.TaxBehavior == "" {
		return nil
	}
	return new(string(wanted.TaxBehavior))
}

// importedListing creates the listing, or edits the one of its key.
func (s *Service) importedListing(
	ctx context.Context, r ports.Repos, creatorID string, wanted DocumentListing,
) (listing.State, error) {
	edit := listing.Edit{
		Title: &wanted.Title, Description: &wanted.Description, Slug: &wanted.Slug, CatalogKey: &wanted.Key,
		PriceInCents: wanted.PriceInCents, Currency: &wanted.Currency, TaxBehavior: behaviorOf(wanted),
		TrialOncePerCustomer: wanted.TrialOncePerCustomer, OneSubscriptionPerCustomer: wanted.OneSubscriptionPerCustomer,
		Metadata: numbers(wanted.Metadata), ClearMetadata: true,
	}
	found, err := r.Catalog.Listings.GetByKey(ctx, creatorID, wanted.Key)
	// Look the slug up first: a refusal by the database would abort the transaction of the whole import.
	if other, slugErr := r.Catalog.Listings.GetBySlug(ctx, wanted.Slug); slugErr == nil && other.ID != found.ID {
		return listing.State{}, fault.New(fault.SlugTaken, "Another listing of the platform has this slug.")
	}
	switch {
	case errors.Is(err, ports.ErrNotFound):
		return s.create(ctx, creatorID, listing.Proposal{Type: string(wanted.Type), Edit: edit})
	case err != nil:
		return listing.State{}, err
	case found.Type != wanted.Type:
		return listing.State{}, fault.Invalid(fault.Detail{
			Field: "type", Code: fault.DetailNotAllowed, Message: "The type of a listing never changes.",
		})
	case found.Status == listing.Active && wanted.Status == listing.Draft:
		return listing.State{}, fault.Invalid(fault.Detail{
			Field: "status", Code: fault.DetailNotAllowed, Message: "A published listing never is a draft again.",
		})
	}
	if string(found.Price.Currency) != wanted.Currency && len(wanted.Variants) > 0 {
		if err := s.clearVariantPrices(ctx, found); err != nil {
			return listing.State{}, err
		}
	}
	return s.edit(ctx, creatorID, found.ID, edit)
}

// clearVariantPrices takes away the prices of variants, which the listing's next currency might not allow:
// importVariants sets the wanted ones.
func (s *Service) clearVariantPrices(ctx context.Context, l listing.State) error {
	for _, v := range l.Variants {
		if _, err := s.EditVariant(ctx, l.CreatorID, l.ID, v.ID, listing.VariantEdit{PriceGiven: true}); err != nil {
			return nested("variants."+v.Key, err)
		}
	}
	return nil
}

// numbers gives metadata of this program the form that metadata of a request has: integers as they are written.
func numbers(metadata map[string]any) map[string]any {
	out := map[string]any{}
	for name, value := range metadata {
		switch v := value.(type) {
		case int64:
			value = json.Number(strconv.FormatInt(v, 10))
		case []string:
			list := make([]any, len(v))
			for i := range v {
				list[i] = v[i]
			}
			value = list
		}
		out[name] = value
	}
	return out
}

// importVariants removes the variants that are not wanted, for a listing may have as many as it can, and adds and edits
// the others by key, the default one first. A default variant that is not wanted is removed once another is the
// default.
func (s *Service) importVariants(ctx context.Context, l listing.State, wanted []DocumentVariant) error {
	if !l.Type.Bookable() || len(wanted) == 0 {
		return nil // every appointment listing has a variant
	}
	wanted = slices.Clone(wanted)
	slices.SortStableFunc(wanted, func(a, b DocumentVariant) int {
		switch {
		case a.IsDefault == b.IsDefault:
			return 0
		case a.IsDefault:
			return -1
		}
		return 1
	})
	if err := s.removeVariants(ctx, l, wanted, false); err != nil {
		return err
	}
	for i, v := range wanted {
		if err := s.importVariant(ctx, l, v); err != nil {
			return nested("variants."+v.Key, err)
		}
		if i > 0 {
			continue
		}
		if err := s.removeVariants(ctx, l, wanted, true); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) importVariant(ctx context.Context, l listing.State, v DocumentVariant) error {
	edit := listing.VariantEdit{
		Name: &v.Name, DurationMinutes: &v.DurationMinutes, SessionCount: &v.SessionCount, Price: v.PriceInCents,
		PriceGiven: true, Seats: new(max(v.Seats, 1)),
	}
	if v.IsDefault {
		edit.IsDefault = &v.IsDefault
	}
	found, err := l.VariantByKey(v.Key)
	if err == nil {
		_, err = s.EditVariant(ctx, l.CreatorID, l.ID, found.ID, edit)
	} else {
		edit.Key = &v.Key
		_, err = s.AddVariant(ctx, l.CreatorID, l.ID, edit)
	}
	return err
}

// removeVariants removes those of the listing's variants that are not wanted: the default one, or all others.
func (s *Service) removeVariants(
	ctx context.Context, l listing.State, wanted []DocumentVariant, theDefault bool,
) error {
	for _, found := range l.Variants {
		if found.IsDefault != theDefault ||
			slices.ContainsFunc(wanted, func(v DocumentVariant) bool { return v.Key == found.Key }) {
			continue
		}
		if _, err := s.RemoveVariant(ctx, l.CreatorID, l.ID, found.ID); err != nil {
			return nested("variants."+found.Key, err)
		}
	}
	return nil
}

// importPlans puts the plans by key and retires those that are not wanted.
func (s *Service) importPlans(ctx context.Context, r ports.Repos, l listing.State, wanted []DocumentPlan) error {
	for _, p := range wanted {
		_, err := s.PutPlan(ctx, l.CreatorID, l.ID, plan.Draft{
			Key: p.Key, Name: p.Name, IsDefault: p.IsDefault, TrialDays: p.TrialDays, Prices: p.Prices,
			Entitlements: drafts(p.Entitlements), Credits: p.Credits, Meters: p.Meters,
			UsageCredits: p.UsageCredits,
		})
		if err != nil {
			return nested("plans."+p.Key, err)
		}
	}
	set, err := planSet(ctx, r, l)
	if err != nil {
		return err
	}
	for _, found := range set.Live() {
		if !slices.ContainsFunc(wanted, func(p DocumentPlan) bool { return p.Key == found.Key }) {
			if _, err := s.RetirePlan(ctx, l.CreatorID, l.ID, found.Key); err != nil {
				return nested("plans."+found.Key, err)
			}
		}
	}
	return nil
}

// drafts gives entitlements of this program the form that those of a request have.
func drafts(all []plan.EntitlementDraft) []plan.EntitlementDraft {
	out := slices.Clone(all)
	for i := range out {
		if n, ok := out[i].Value.(int64); ok {
			out[i].Value = json.Number(strconv.FormatInt(n, 10))
		}
	}
	return out
}

// importLinks creates the links that are missing and switches those that are there on or off.
func (s *Service) importLinks(
	ctx context.Context, r ports.Repos, creatorID, listingID string, wanted []DocumentLink,
) error {
	if len(wanted) == 0 {
		return nil
	}
	l, err := mine(ctx, r, creatorID, listingID)
	if err != nil {
		return err
	}
	links, err := ports.AllPages(func(p ports.Page) (ports.List[paymentlink.State], error) {
		return r.Catalog.PaymentLinks.List(ctx, creatorID, p)
	})
	if err != nil {
		return err
	}
	plans, err := planSet(ctx, r, l)
	if err != nil {
		return err
	}
	links = linksOnSale(ctx, l, plans, links)
	for _, w := range wanted {
		alike := slices.DeleteFunc(slices.Clone(links), func(link paymentlink.State) bool {
			return newDocumentLink(l, link).key() != w.key()
		})
		switch {
		case len(alike) == 0:
			err = s.importLink(ctx, l, w)
		case w.Active != nil:
			err = s.switchLinks(ctx, alike, w)
		}
		if err != nil {
			return nested("paymentLinks", err)
		}
	}
	return nil
}

// switchLinks makes links that are alike be as the one of a document: of several, one that opens is enough. Buyers may
// change no more than it says, for a plan that no longer renews refuses an active link with more.
func (s *Service) switchLinks(ctx context.Context, alike []paymentlink.State, w DocumentLink) error {
	active, opens := *w.Active, func(link paymentlink.State) bool { return link.Active }
	if active && !slices.ContainsFunc(alike, opens) {
		_, err := s.EditLink(ctx, alike[0].CreatorID, alike[0].ID, paymentlink.Edit{
			BuyerMayChange: &w.BuyerMayChange, Active: &active,
		})
		return err
	}
	for _, link := range alike {
		if active || !link.Active {
			continue
		}
		if _, err := s.DeactivateLink(ctx, link.CreatorID, link.ID); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) importLink(ctx context.Context, l listing.State, w DocumentLink) error {
	every, currency := string(w.every()), string(w.Currency)
	edit := paymentlink.Edit{
		ListingID: &l.ID, PlanKey: &w.Plan, Every: &every, Currency: &currency, SuccessURL: &w.SuccessURL,
		BuyerMayChange: &w.BuyerMayChange, Active: w.Active,
	}
	if w.Variant != "" {
		v, err := l.VariantByKey(w.Variant)
		if err != nil {
			return err
		}
		edit.VariantID = &v.ID
	}
	_, err := s.CreateLink(ctx, l.CreatorID, edit)
	return err
}

// nested puts the faults of a part of a listing below its path.
func nested(path string, err error) error {
	var f fault.Violations
	if err := f.Nest(path).Merge(err); err != nil {
		return err
	}
	return f.Err()
}
