package catalog_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"sync"
	"testing"

	"sundry/adapters/gormstore"
	"sundry/adapters/system"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/listing"
	"sundry/core/plan"
	"sundry/modules/catalog"
	"sundry/ports"
	"sundry/tests/fakes"
	"sundry/tests/testdb"
)

// fixture is the module over a store of its own, and two creators.
type fixture struct {
	*catalog.Service
	*catalog.Transfer
	store    *gormstore.Store
	ids      *system.IDs
	ada, bob string
}

func forEachEngine(t *testing.T, test func(t *testing.T, s fixture)) {
	t.Helper()
	testdb.EachStore(t, func(t *testing.T, store *gormstore.Store) {
		ids := system.NewIDs()
		test(t, newFixture(store, ids))
	})
}

func newFixture(store *gormstore.Store, ids *system.IDs) fixture {
	service := catalog.New(catalog.Deps{
		Store: store, Clock: system.NewClock(store, true), IDs: ids, Standing: fakes.Standing{}, Names: fakes.OneCell(),
		Sandbox: true,
	})
	return fixture{
		Service: service, Transfer: catalog.NewTransfer(service, ports.CatalogParts{}), store: store, ids: ids,
		ada: ids.New(id.Creator), bob: ids.New(id.Creator),
	}
}

func proposal(kind listing.Type, slug string) listing.Proposal {
	return listing.Proposal{Type: string(kind), Edit: listing.Edit{
		Title: new("Field notes"), Slug: &slug, PriceInCents: new(int64(1200)), Currency: new("eur"),
	}}
}

// draft makes a draft of ada's, active makes it ACTIVE too.
func (s fixture) draft(t *testing.T, p listing.Proposal) listing.State {
	t.Helper()
	l, err := s.CreateListing(t.Context(), s.ada, p)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func (s fixture) active(t *testing.T, p listing.Proposal) listing.State {
	t.Helper()
	l, err := s.Publish(t.Context(), s.ada, s.draft(t, p).ID)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func (s fixture) unchanged(t *testing.T, before listing.State) {
	t.Helper()
	after, err := s.OwnListing(t.Context(), before.CreatorID, before.ID)
	if err != nil || !reflect.DeepEqual(after, before) {
		t.Errorf("the listing changed:\n got %+v, %v\nwant %+v", after, err, before)
	}
}

func wantCode(t *testing.T, err error, code fault.Code) {
	t.Helper()
	if fault.CodeOf(err) != code {
		t.Errorf("got %v, want %s", err, code)
	}
}

func TestAListingLivesFromDraftToArchive(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, s fixture) {
		ctx := t.Context()
		p := proposal(listing.Digital, "field-notes")
		p.Metadata = map[string]any{"downloadUrl": "https://files.example/notes.pdf", "pageCount": json.Number("12")}
		l := s.draft(t, p)
		if l.Status != listing.Draft || l.CatalogKey != "field-notes" || l.Revision != 1 {
			t.Errorf("created %+v", l)
		}
		s.unchanged(t, l)
		_, err := s.BySlug(ctx, l.Slug)
		wantCode(t, err, fault.NotFoundCode)

		published, err := s.Publish(ctx, s.ada, l.ID)
		if err != nil || published.Status != listing.Active {
			t.Fatalf("published %+v, %v", published, err)
		}
		_, err = s.Publish(ctx, s.ada, l.ID)
		wantCode(t, err, fault.StateConflict)
		s.unchanged(t, published)
		if public, err := s.BySlug(ctx, l.Slug); err != nil || !reflect.DeepEqual(public, published) {
			t.Errorf("public %+v, %v", public, err)
		}

		archived, err := s.Archive(ctx, s.ada, l.ID)
		if err != nil || archived.Status != listing.Archived {
			t.Fatalf("archived %+v, %v", archived, err)
		}
		again, err := s.Archive(ctx, s.ada, l.ID)
		if err != nil || !reflect.DeepEqual(again, archived) {
			t.Errorf("archived again %+v, %v", again, err)
		}
		_, err = s.EditListing(ctx, s.ada, l.ID, listing.Edit{Title: new("Other")})
		wantCode(t, err, fault.StateConflict)
		s.unchanged(t, archived)
		_, err = s.BySlug(ctx, l.Slug)
		wantCode(t, err, fault.NotFoundCode)
	})
}

func TestAnothersListingIsForbiddenOnlyWhenItIsPublic(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, s fixture) {
		draft, active := s.draft(t, proposal(listing.Appointment, "a-draft")), s.active(
			t, proposal(listing.Appointment, "an-active"),
		)
		archived, err := s.Archive(t.Context(), s.ada, s.active(t, proposal(listing.Appointment, "an-archived")).ID)
		if err != nil {
			t.Fatal(err)
		}
		for status, c := range map[string]struct {
			l    listing.State
			want fault.Code
		}{"draft": {draft, fault.NotFoundCode}, "active": {active, fault.Forbidden},
			"archived": {archived, fault.NotFoundCode}} {
			for operation, attempt := range map[string]func(ctx context.Context) error{
				"edit": func(ctx context.Context) error {
					_, err := s.EditListing(ctx, s.bob, c.l.ID, listing.Edit{Title: new("Mine now")})
					return err
				},
				"archive": func(ctx context.Context) error { _, err := s.Archive(ctx, s.bob, c.l.ID); return err },
				"publish": func(ctx context.Context) error { _, err := s.Publish(ctx, s.bob, c.l.ID); return err },
				"add a variant": func(ctx context.Context) error {
					_, err := s.AddVariant(ctx, s.bob, c.l.ID, listing.VariantEdit{DurationMinutes: new(30)})
					return err
				},
				"remove a variant": func(ctx context.Context) error {
					_, err := s.RemoveVariant(ctx, s.bob, c.l.ID, c.l.Variants[0].ID)
					return err
				},
				"put a plan":    func(ctx context.Context) error { _, err := s.PutPlan(ctx, s.bob, c.l.ID, proPlan()); return err },
				"retire a plan": func(ctx context.Context) error { _, err := s.RetirePlan(ctx, s.bob, c.l.ID, "pro"); return err },
			} {
				if err := attempt(t.Context()); fault.CodeOf(err) != c.want {
					t.Errorf("%s another's %s: got %v, want %s", operation, status, err, c.want)
				}
			}
			if _, err := s.OwnListing(t.Context(), s.bob, c.l.ID); !fault.Is(err, fault.NotFoundCode) {
				t.Errorf("read another's %s: got %v", status, err)
			}
			if _, err := s.Plans(t.Context(), s.bob, c.l.ID); !fault.Is(err, fault.NotFoundCode) {
				t.Errorf("read another's %s plans: got %v", status, err)
			}
			s.unchanged(t, c.l)
		}
		for _, unknown := range []string{s.ids.New(id.Listing), "lst_x", "mine", ""} {
			_, err := s.Archive(t.Context(), s.ada, unknown)
			wantCode(t, err, fault.NotFoundCode)
		}
	})
}

func TestNamesAreTakenOnce(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, s fixture) {
		ctx := t.Context()
		first := s.draft(t, proposal(listing.Digital, "field-notes"))
		_, err := s.CreateListing(ctx, s.bob, proposal(listing.Digital, "field-notes"))
		wantCode(t, err, fault.SlugTaken)
		// the key, by default the slug, is taken too
		_, err = s.CreateListing(ctx, s.ada, proposal(listing.Digital, "field-notes"))
		wantCode(t, err, fault.SlugTaken)

		sameKey := proposal(listing.Digital, "other-notes")
		sameKey.CatalogKey = new("field-notes")
		_, err = s.CreateListing(ctx, s.ada, sameKey)
		wantCode(t, err, fault.CatalogKeyTaken)
		bobs, err := s.CreateListing(ctx, s.bob, sameKey) // keys are the account's own
		if err != nil {
			t.Fatal(err)
		}

		_, err = s.EditListing(ctx, s.bob, bobs.ID, listing.Edit{Slug: new("field-notes")})
		wantCode(t, err, fault.SlugTaken)
		s.unchanged(t, bobs)
		other := s.draft(t, proposal(listing.Digital, "third-notes"))
		_, err = s.EditListing(ctx, s.ada, other.ID, listing.Edit{CatalogKey: new("field-notes")})
		wantCode(t, err, fault.CatalogKeyTaken)
		s.unchanged(t, other)
		s.unchanged(t, first)

		// the key stays when the slug changes, so that the slug is free and the key that it makes is not
		if _, err = s.EditListing(ctx, s.ada, first.ID, listing.Edit{Slug: new("old-notes")}); err != nil {
			t.Fatal(err)
		}
		_, err = s.CreateListing(ctx, s.ada, proposal(listing.Digital, "field-notes"))
		wantCode(t, err, fault.CatalogKeyTaken)
		if want := "without one it is the slug"; !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	})
}

func TestOneOfManyConcurrentCreationsOfASlugWins(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, s fixture) {
		errs := make([]error, 8)
		var all sync.WaitGroup
		for i := range errs {
			all.Go(func() {
				_, errs[i] = s.CreateListing(t.Context(), s.ids.New(id.Creator), proposal(listing.Digital, "contested"))
			})
		}
		all.Wait()
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
			} else {
				wantCode(t, err, fault.SlugTaken)
			}
		}
		if won != 1 {
			t.Errorf("%d creations won, want 1", won)
		}
	})
}

func TestConcurrentEditsAllArrive(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, s fixture) {
		l := s.draft(t, proposal(listing.Digital, "field-notes"))
		edits := []listing.Edit{
			{Title: new("New title")}, {Description: new("New text")}, {PriceInCents: new(int64(999))},
			{CatalogKey: new("new-key")},
			{Metadata: map[string]any{"pageCount": json.Number("3")}}, {Metadata: map[string]any{"fileFormat": "epub"}},
		}
		var all sync.WaitGroup
		for _, e := range edits {
			all.Go(func() {
				if _, err := s.EditListing(t.Context(), s.ada, l.ID, e); err != nil {
					t.Errorf("edit: %v", err)
				}
			})
		}
		all.Wait()
		after, err := s.OwnListing(t.Context(), s.ada, l.ID)
		if err != nil {
			t.Fatal(err)
		}
		wantMetadata := listing.Metadata{"pageCount": int64(3), "fileFormat": "epub"}
		if after.Title != "New title" || after.Description != "New text" || after.Price.Minor != 999 ||
			after.CatalogKey != "new-key" ||
			!reflect.DeepEqual(after.Metadata, wantMetadata) || after.Revision != l.Revision+int64(len(edits)) {
			t.Errorf("an edit was lost: %+v", after)
		}
	})
}

func TestAStaleSaveIsRefused(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, s fixture) {
		l := s.draft(t, proposal(listing.Digital, "field-notes"))
		newer, err := s.EditListing(t.Context(), s.ada, l.ID, listing.Edit{Title: new("Newer")})
		if err != nil {
			t.Fatal(err)
		}
		l.Title = "From an old copy"
		l.Revision++
		if err := s.store.Read(t.Context()).Catalog.Listings.Update(t.Context(), l); err == nil {
			t.Error("a stale listing was saved")
		}
		err = s.store.Atomically(
			t.Context(), func(ctx context.Context, r ports.Repos) error { return r.Catalog.Listings.Update(ctx, l) },
		)
		if !errors.Is(err, ports.ErrStale) {
			t.Errorf("got %v, want ErrStale", err)
		}
		s.unchanged(t, newer)
	})
}

func TestVariantsOfAnAppointment(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, s fixture) {
		ctx := t.Context()
		l := s.draft(t, proposal(listing.Appointment, "coaching"))
		if len(l.Variants) != 1 || l.Variants[0].DurationMinutes != 60 || l.Variants[0].SessionCount != 1 ||
			!l.Variants[0].IsDefault {
			t.Fatalf("first variants %+v", l.Variants)
		}
		pack, err := s.AddVariant(ctx, s.ada, l.ID, listing.VariantEdit{
			DurationMinutes: new(30), SessionCount: new(5), Price: new(int64(9000)), PriceGiven: true,
		})
		if err != nil || pack.IsDefault || pack.Name != "5 × 30 minutes" || *pack.PriceInCents != 9000 {
			t.Fatalf("added %+v, %v", pack, err)
		}
		pack, err = s.EditVariant(ctx, s.ada, l.ID, pack.ID, listing.VariantEdit{
			IsDefault: new(true), PriceGiven: true,
		})
		if err != nil || !pack.IsDefault || pack.PriceInCents != nil {
			t.Fatalf("edited %+v, %v", pack, err)
		}
		after, _ := s.OwnListing(ctx, s.ada, l.ID)
		if after.Variants[0].IsDefault || !after.Variants[1].IsDefault {
			t.Errorf("defaults %+v", after.Variants)
		}
		_, err = s.EditVariant(ctx, s.ada, l.ID, pack.ID, listing.VariantEdit{IsDefault: new(false)})
		wantCode(t, err, fault.ValidationFailed)
		_, err = s.EditVariant(ctx, s.ada, l.ID, s.ids.New(id.Variant), listing.VariantEdit{})
		wantCode(t, err, fault.NotFoundCode)
		s.unchanged(t, after)
		_, err = s.RemoveVariant(ctx, s.ada, l.ID, pack.ID)
		wantCode(t, err, fault.StateConflict)
		s.unchanged(t, after)
		first := l.Variants[0].ID
		if removed, err := s.RemoveVariant(ctx, s.ada, l.ID, first); err != nil || removed.ID != first {
			t.Fatalf("removed %+v, %v", removed, err)
		}
		after, _ = s.OwnListing(ctx, s.ada, l.ID)
		if len(after.Variants) != 1 || !after.Variants[0].IsDefault {
			t.Errorf("left %+v", after.Variants)
		}
		_, err = s.RemoveVariant(ctx, s.ada, l.ID, first)
		wantCode(t, err, fault.NotFoundCode)

		digital := s.draft(t, proposal(listing.Digital, "field-notes"))
		_, err = s.AddVariant(ctx, s.ada, digital.ID, listing.VariantEdit{DurationMinutes: new(30)})
		wantCode(t, err, fault.StateConflict)
		s.unchanged(t, digital)
	})
}

// proPlan is a plan with a monthly and a yearly price.
func proPlan() plan.Draft {
	return plan.Draft{
		Key: "pro", Name: "Pro",
		Prices: []plan.PriceDraft{
			{Interval: new("month"), IntervalCount: new(1), Currency: "eur", AmountInCents: new(int64(900))},
			{Interval: new("month"), Currency: "usd", AmountInCents: new(int64(1000))},
			{Interval: new("year"), Currency: "eur", AmountInCents: new(int64(9000))},
		},
		Entitlements: []plan.EntitlementDraft{{Key: "seats", Type: "limit", Value: json.Number("5")}},
		Credits:      []plan.Credit{{Key: "images", Unit: "image", Amount: 100, Renews: true}},
	}
}
