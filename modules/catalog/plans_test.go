package catalog_test

import (
	"context"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"

	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/listing"
	"sundry/core/paymentlink"
	"sundry/core/period"
	"sundry/core/plan"
	"sundry/ports"
)

// offer asks what checkout would ask, in a transaction of its own.
func (s fixture) offer(
	t *testing.T, ask func(ctx context.Context, r ports.Repos) (plan.Offer, error),
) (o plan.Offer, err error) {
	t.Helper()
	err = s.store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) (err error) {
		o, err = ask(ctx, r)
		return err
	})
	return o, err
}

func (s fixture) byCatalog(t *testing.T, key, planKey, interval string) (plan.Offer, error) {
	t.Helper()
	return s.offer(t, func(ctx context.Context, r ports.Repos) (plan.Offer, error) {
		return s.ByCatalog(ctx, r, s.ada, ports.CatalogChoice{
			Listing: key, Plan: planKey, Every: period.Cadence(interval),
		})
	})
}

func (s fixture) byListing(t *testing.T, creatorID, listingID, variantID string) (plan.Offer, error) {
	t.Helper()
	return s.offer(t, func(ctx context.Context, r ports.Repos) (plan.Offer, error) {
		return s.ByListing(ctx, r, creatorID, ports.ListingChoice{ListingID: listingID, VariantID: variantID})
	})
}

func (s fixture) putPlan(t *testing.T, l listing.State, d plan.Draft) plan.State {
	t.Helper()
	p, err := s.PutPlan(t.Context(), s.ada, l.ID, d)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPricesKeepTheirIdsUntilTheyChange(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, s fixture) {
		l := s.active(t, proposal(listing.Subscription, "club"))
		first := s.putPlan(t, l, proPlan())
		before, _ := s.OwnListing(t.Context(), s.ada, l.ID)

		same := s.putPlan(t, l, proPlan())
		if !reflect.DeepEqual(same, first) {
			t.Errorf("the same plan again is %+v, want %+v", same, first)
		}
		s.unchanged(t, before)

		dearer := proPlan()
		dearer.Prices[0].AmountInCents = new(int64(950))
		second := s.putPlan(t, l, dearer)
		if second.Prices[0].ID == first.Prices[0].ID || second.Prices[1] != first.Prices[1] ||
			second.Prices[2] != first.Prices[2] {
			t.Errorf("prices\n got %+v\nfrom %+v", second.Prices, first.Prices)
		}
		if second.ID != first.ID || second.Revision != first.Revision+1 {
			t.Errorf("plan %+v", second)
		}
		after, _ := s.OwnListing(t.Context(), s.ada, l.ID)
		if after.Revision != before.Revision+1 {
			t.Errorf("listing revision %d, want %d", after.Revision, before.Revision+1)
		}
	})
}

func TestARetiredPlanLeavesSaleAndCanComeBack(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, s fixture) {
		ctx := t.Context()
		l := s.active(t, proposal(listing.Subscription, "club"))
		s.putPlan(t, l, proPlan())
		team := proPlan()
		team.Key, team.Name = "team", "Team"
		s.putPlan(t, l, team)

		once, err := s.byCatalog(t, "club", "pro", "month")
		if err != nil {
			t.Fatal(err)
		}
		retired, err := s.RetirePlan(ctx, s.ada, l.ID, "pro")
		if err != nil || !retired.Retired || retired.IsDefault {
			t.Fatalf("retired %+v, %v", retired, err)
		}
		before, _ := s.OwnListing(ctx, s.ada, l.ID)
		again, err := s.RetirePlan(ctx, s.ada, l.ID, "pro")
		if err != nil || !reflect.DeepEqual(again, retired) {
			t.Errorf("retired again %+v, %v", again, err)
		}
		s.unchanged(t, before)
		_, err = s.byCatalog(t, "club", "pro", "month")
		wantCode(t, err, fault.NotFoundCode)
		_, err = s.offer(t, func(ctx context.Context, r ports.Repos) (plan.Offer, error) { return s.Again(ctx, r, once, "") })
		wantCode(t, err, fault.ListingNotPurchasable)
		live, err := s.Plans(ctx, s.ada, l.ID)
		if err != nil || len(live) != 1 || live[0].Key != "team" || !live[0].IsDefault {
			t.Errorf("live %+v, %v", live, err)
		}
		_, err = s.RetirePlan(ctx, s.ada, l.ID, "unknown")
		wantCode(t, err, fault.NotFoundCode)

		if _, err := s.RetirePlan(ctx, s.ada, l.ID, "team"); err != nil {
			t.Fatal(err)
		}
		if o, err := s.byCatalog(t, "club", "default", "month"); err != nil || o.Price.Minor != 1200 {
			t.Errorf("without plans the listing sells at %+v, %v", o, err)
		}
		if back := s.putPlan(t, l, proPlan()); back.Retired || back.ID != retired.ID || !back.IsDefault {
			t.Errorf("back %+v", back)
		}
	})
}

func TestPlansPutAtOnceLeaveOneDefault(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, s fixture) {
		l := s.active(t, proposal(listing.Subscription, "club"))
		var all sync.WaitGroup
		for i := range 6 {
			all.Go(func() {
				d := proPlan()
				d.Key, d.IsDefault = "plan-"+strconv.Itoa(i/2), true // two of each key
				if _, err := s.PutPlan(t.Context(), s.ada, l.ID, d); err != nil {
					t.Errorf("put: %v", err)
				}
			})
		}
		all.Wait()
		live, err := s.Plans(t.Context(), s.ada, l.ID)
		defaults := 0
		for _, p := range live {
			if p.IsDefault {
				defaults++
			}
		}
		if err != nil || len(live) != 3 || defaults != 1 {
			t.Errorf("%d plans with %d defaults, %v", len(live), defaults, err)
		}
	})
}

func TestAnInvalidPlanChangesNothing(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, s fixture) {
		l := s.active(t, proposal(listing.Subscription, "club"))
		bad := proPlan()
		bad.Prices[1].Currency = "EUR"
		_, err := s.PutPlan(t.Context(), s.ada, l.ID, bad)
		wantCode(t, err, fault.ValidationFailed)
		s.unchanged(t, l)
		if live, err := s.Plans(t.Context(), s.ada, l.ID); err != nil || len(live) != 0 {
			t.Errorf("plans %+v, %v", live, err)
		}
		archived, _ := s.Archive(t.Context(), s.ada, l.ID)
		_, err = s.PutPlan(t.Context(), s.ada, l.ID, proPlan())
		wantCode(t, err, fault.StateConflict)
		s.unchanged(t, archived)
	})
}

func TestOffersAreWhatTheCatalogSays(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, s fixture) {
		p := proposal(listing.Subscription, "club")
		p.Metadata = map[string]any{"features": []any{"Calls", "forum"}, "interval": "year"}
		implied := s.active(t, p)
		o, err := s.byCatalog(t, "club", "default", "year")
		if err != nil || o.Interval != period.Year || o.IntervalCount != 1 || o.PriceID != implied.PriceID ||
			len(o.Terms.Entitlements) != 2 {
			t.Errorf("implied offer %+v, %v", o, err)
		}
		_, err = s.byCatalog(t, "club", "default", "month")
		wantCode(t, err, fault.NotFoundCode)

		planned := s.active(t, proposal(listing.Subscription, "gym"))
		prices := s.putPlan(t, planned, proPlan()).Prices
		for name, c := range map[string]struct {
			interval string
			want     string
		}{
			"the listing's currency wins": {"month", prices[0].ID},
			"another interval":            {"year", prices[2].ID},
			"no interval means month":     {"", prices[0].ID},
		} {
			if o, err := s.byCatalog(t, "gym", "pro", c.interval); err != nil || o.PriceID != c.want {
				t.Errorf("%s: %+v, %v", name, o, err)
			}
		}
		_, err = s.byCatalog(t, "gym", "pro", "week")
		wantCode(t, err, fault.NotFoundCode)
		_, err = s.byCatalog(t, "gym", "default", "month")
		wantCode(t, err, fault.NotFoundCode)

		digital := proposal(listing.Digital, "notes")
		digital.Metadata = map[string]any{"downloadUrl": "https://files.example/n.pdf"}
		notes := s.active(t, digital)
		o, err = s.byListing(t, s.ada, notes.ID, "")
		if err != nil || o.Recurring() || o.DownloadURL != "https://files.example/n.pdf" || o.PlanKey != "default" ||
			o.Price.Minor != 1200 {
			t.Errorf("digital offer %+v, %v", o, err)
		}
		if _, err := s.byCatalog(t, "notes", "default", "month"); err != nil {
			t.Errorf("a one-time plan ignores the interval: %v", err)
		}
	})
}

func TestWhatCannotBeBoughtIsNotOffered(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, s fixture) {
		draft := s.draft(t, proposal(listing.Digital, "a-draft"))
		archived, _ := s.Archive(t.Context(), s.ada, s.active(t, proposal(listing.Digital, "an-archived")).ID)
		active := s.active(t, proposal(listing.Digital, "an-active"))
		coaching := s.active(t, proposal(listing.Appointment, "coaching"))
		for name, c := range map[string]struct {
			creatorID, listingID, variantID string
			want                            fault.Code
		}{
			"an own draft":                   {s.ada, draft.ID, "", fault.ListingNotPurchasable},
			"an own archived listing":        {s.ada, archived.ID, "", fault.ListingNotPurchasable},
			"another's active listing":       {s.bob, active.ID, "", fault.NotFoundCode},
			"another's draft":                {s.bob, draft.ID, "", fault.NotFoundCode},
			"an unknown listing":             {s.ada, s.ids.New(id.Listing), "", fault.NotFoundCode},
			"a variant of what has none":     {s.ada, active.ID, s.ids.New(id.Variant), fault.NotFoundCode},
			"an unknown appointment variant": {s.ada, coaching.ID, s.ids.New(id.Variant), fault.NotFoundCode},
		} {
			if _, err := s.byListing(t, c.creatorID, c.listingID, c.variantID); fault.CodeOf(err) != c.want {
				t.Errorf("%s: got %v, want %s", name, err, c.want)
			}
		}
		for key, want := range map[string]fault.Code{"a-draft": fault.ListingNotPurchasable, "nothing": fault.NotFoundCode,
			"\x00": fault.NotFoundCode} {
			_, err := s.byCatalog(t, key, "default", "month")
			wantCode(t, err, want)
		}
	})
}

func TestTheRecipeIsThatOfAnActiveListing(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, s fixture) {
		ctx := t.Context()
		p := proposal(listing.Subscription, "club")
		p.CatalogKey = new("club-key")
		l := s.draft(t, p)
		_, err := s.Recipe(ctx, s.ada, "club-key")
		wantCode(t, err, fault.NotFoundCode)
		if l, err = s.Publish(ctx, s.ada, l.ID); err != nil {
			t.Fatal(err)
		}
		r, err := s.Recipe(ctx, s.ada, "club-key")
		if err != nil || len(r.Plans) != 1 || r.Plans[0].Key != "default" || r.Plans[0].Prices[0].ID != l.PriceID {
			t.Errorf("recipe %+v, %v", r, err)
		}
		s.putPlan(t, l, proPlan())
		r, err = s.Recipe(ctx, s.ada, "club-key")
		if err != nil || len(r.Plans) != 1 || r.Plans[0].Key != "pro" || r.Listing.Revision != l.Revision+1 {
			t.Errorf("recipe %+v, %v", r, err)
		}
		for _, c := range []struct{ creator, key string }{{s.bob, "club-key"}, {s.ada, "club"}, {s.ada, "\x00\xff"}} {
			_, err = s.Recipe(ctx, c.creator, c.key)
			wantCode(t, err, fault.NotFoundCode)
		}
	})
}

// TestAPlanThatNoLongerRenewsIsSoldByItsLinks has a link and an ended session whose buyers could change a quantity.
func TestAPlanThatNoLongerRenewsIsSoldByItsLinks(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, s fixture) {
		l := s.active(t, proposal(listing.Subscription, "club"))
		s.putPlan(t, l, proPlan())
		link, err := s.CreateLink(t.Context(), s.ada, paymentlink.Edit{
			ListingID: &l.ID, BuyerMayChange: &[]string{"interval", "quantity"},
		})
		if err != nil {
			t.Fatal(err)
		}
		byLink := func(ctx context.Context, r ports.Repos) (plan.Offer, error) {
			o, err := s.ByLink(ctx, r, link.Code, nil)
			return o.Offer, err
		}
		once, err := s.offer(t, byLink)
		if err == nil {
			once, err = once.WithSeats(3)
		}
		if err != nil || !once.MayChange.Quantity {
			t.Fatalf("sold %+v, %v", once, err)
		}
		bought := proPlan()
		bought.Prices = []plan.PriceDraft{{Currency: "eur", AmountInCents: new(int64(5000))}}
		s.putPlan(t, l, bought)
		for name, sold := range map[string]func(context.Context, ports.Repos) (plan.Offer, error){
			"the link": byLink,
			"again":    func(ctx context.Context, r ports.Repos) (plan.Offer, error) { return s.Again(ctx, r, once, link.ID) },
		} {
			o, err := s.offer(t, sold)
			if err != nil || o.Price.Minor != 5000 || o.MayChange != (plan.Changes{}) || o.Seats() != 1 {
				t.Errorf("%s: %+v, %v", name, o, err)
			}
		}
	})
}

func TestALinkReportsThatItSellsNoMore(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, s fixture) {
		l := s.active(t, proposal(listing.Subscription, "club"))
		s.putPlan(t, l, proPlan())
		link, err := s.CreateLink(t.Context(), s.ada, paymentlink.Edit{ListingID: &l.ID, PlanKey: new("pro")})
		if err != nil {
			t.Fatal(err)
		}
		opened := func(code string) error {
			_, err := s.offer(t, func(ctx context.Context, r ports.Repos) (plan.Offer, error) {
				o, err := s.ByLink(ctx, r, code, nil)
				return o.Offer, err
			})
			return err
		}
		wantCode(t, opened(strings.Repeat("0", len(link.Code))), fault.NotFoundCode)
		if _, err := s.DeactivateLink(t.Context(), s.ada, link.ID); err != nil {
			t.Fatal(err)
		}
		wantCode(t, opened(link.Code), fault.ListingNotPurchasable)
		if _, err := s.EditLink(t.Context(), s.ada, link.ID, paymentlink.Edit{Active: new(true)}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.RetirePlan(t.Context(), s.ada, l.ID, "pro"); err != nil {
			t.Fatal(err)
		}
		wantCode(t, opened(link.Code), fault.ListingNotPurchasable)
	})
}
