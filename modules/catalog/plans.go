package catalog

import (
	"context"
	"strings"
	"time"

	"sundry/core/fault"
	"sundry/core/identity"
	"sundry/core/listing"
	"sundry/core/plan"
	"sundry/ports"
)

// Recipe holds what an integrator needs to sell a listing.
type Recipe struct {
	Listing listing.State
	// Plans are the plans on sale, by key: at least the implied one.
	Plans []plan.State
}

// Recipe describes an ACTIVE listing of the account by its catalog key. NOT_FOUND for all others.
func (s *Service) Recipe(ctx context.Context, creatorID, key string) (Recipe, error) {
	if !listing.ValidSlug(key) {
		return Recipe{}, fault.NotFound("listing")
	}
	return s.recipe(ctx, func(r ports.Repos) (listing.State, error) {
		return r.Catalog.Listings.GetByKey(ctx, creatorID, key)
	})
}

// RecipeOf is Recipe by the id of the listing, for those who bought it when it had perhaps another key.
func (s *Service) RecipeOf(ctx context.Context, creatorID, listingID string) (Recipe, error) {
	return s.recipe(ctx, func(r ports.Repos) (listing.State, error) { return mine(ctx, r, creatorID, listingID) })
}

func (s *Service) recipe(ctx context.Context, load func(r ports.Repos) (listing.State, error)) (Recipe, error) {
	r := s.deps.Store.Read(ctx)
	for {
		l, err := load(r)
		if l, err = ports.Visible(l, err, l.Status == listing.Active, "listing"); err != nil {
			return Recipe{}, err
		}
		plans, err := onSale(ctx, r, l)
		if err != nil {
			return Recipe{}, err
		}
		// The two reads see one moment only if nothing changed between them: a recipe never mixes two revisions.
		again, err := r.Catalog.Listings.Get(ctx, l.ID)
		if err != nil {
			return Recipe{}, ports.Missing(err, "listing")
		}
		if again.Revision == l.Revision {
			return Recipe{Listing: l, Plans: plans}, nil
		}
	}
}

// Plans lists the plans of one of the account's listings that can be bought, by key; none when the listing has only
// the implied one. NOT_FOUND for a listing of another account.
func (s *Service) Plans(ctx context.Context, creatorID, listingID string) ([]plan.State, error) {
	r := s.deps.Store.Read(ctx)
	l, err := mine(ctx, r, creatorID, listingID)
	if err != nil {
		return nil, err
	}
	plans, err := planSet(ctx, r, l)
	if err != nil {
		return nil, err
	}
	return plans.Live(), nil
}

// AllPlans lists the plans of the account's listings that can be bought, by listing and each as Plans does.
func (s *Service) AllPlans(ctx context.Context, creatorID string) (map[string][]plan.State, error) {
	all, err := s.deps.Store.Read(ctx).Catalog.Plans.ListAll(ctx, creatorID)
	if err != nil {
		return nil, err
	}
	byListing := map[string][]plan.State{}
	for _, p := range all {
		byListing[p.ListingID] = append(byListing[p.ListingID], p)
	}
	for id, plans := range byListing {
		byListing[id] = plan.Restore(creatorID, id, plans).Live()
	}
	return byListing, nil
}

// PutPlan makes the plan with the draft's key be as drafted. VALIDATION_FAILED with every fault, STATE_CONFLICT once
// the listing is archived, and the refusals of change.
func (s *Service) PutPlan(ctx context.Context, creatorID, listingID string, d plan.Draft) (p plan.State, err error) {
	err = s.changePlans(ctx, creatorID, listingID, func(l listing.State, set *plan.Set, now time.Time) (err error) {
		if err := fits(l, d); err != nil {
			return err
		}
		p, err = set.Put(d, s.deps.IDs.New, now)
		return err
	})
	return p, err
}

// fits refuses a plan that renews on a listing whose times are sold one by one: a renewal would have no time to book.
func fits(l listing.State, d plan.Draft) error {
	var f fault.Violations
	for i, price := range d.Prices {
		f.Item("prices", i).Check(!l.Type.Bookable() || price.Interval == nil, "interval", fault.DetailNotAllowed,
			"An appointment is paid for when it is booked: its plans have one-time prices (interval null).")
	}
	return f.Err()
}

// RetirePlan takes a plan off sale. Running subscriptions keep their terms. Retiring it again responds the same.
// NOT_FOUND for an unknown key, and the refusals of change.
func (s *Service) RetirePlan(ctx context.Context, creatorID, listingID, key string) (p plan.State, err error) {
	err = s.changePlans(ctx, creatorID, listingID, func(_ listing.State, set *plan.Set, now time.Time) (err error) {
		p, err = set.Retire(key, now)
		return err
	})
	return p, err
}

// changePlans runs one change of a listing's plans. The listing's revision rises with it, which is also what keeps two
// such changes apart.
func (s *Service) changePlans(
	ctx context.Context, creatorID, listingID string,
	transition func(l listing.State, set *plan.Set, now time.Time) error,
) error {
	_, err := s.change(ctx, creatorID, listingID, func(
		ctx context.Context, r ports.Repos, l *listing.Listing, now time.Time,
	) error {
		plans, err := planSet(ctx, r, l.State())
		if err != nil {
			return err
		}
		if err := transition(l.State(), plans, now); err != nil {
			return err
		}
		changed := plans.Changed()
		if len(changed) == 0 {
			return nil
		}
		if err := l.PlansChanged(now); err != nil {
			return err
		}
		var keys []string
		for _, p := range changed {
			if err := r.Catalog.Plans.Upsert(ctx, p); err != nil {
				return err
			}
			keys = append(keys, p.Key)
		}
		return ports.PublishAudited(ctx, r, s.deps.Bus, identity.Audited{
			CreatorID: creatorID, Kind: identity.PlanChanged, ObjectID: listingID, Note: strings.Join(keys, ", "),
		})
	})
	return err
}

func planSet(ctx context.Context, r ports.Repos, l listing.State) (*plan.Set, error) {
	plans, err := r.Catalog.Plans.List(ctx, l.CreatorID, l.ID)
	return plan.Restore(l.CreatorID, l.ID, plans), err
}

// onSale is the plans of a listing that can be bought, by key: the implied one when it has none.
func onSale(ctx context.Context, r ports.Repos, l listing.State) ([]plan.State, error) {
	plans, err := planSet(ctx, r, l)
	if err != nil {
		return nil, err
	}
	return live(l, plans), nil
}

func live(l listing.State, plans *plan.Set) []plan.State {
	if all := plans.Live(); len(all) > 0 {
		return all
	}
	return []plan.State{l.ImpliedPlan()}
}
