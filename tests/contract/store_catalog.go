package contract

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"sundry/core/listing"
	"sundry/core/money"
	"sundry/core/paymentlink"
	"sundry/core/plan"
	"sundry/ports"
)

var catalogTime = time.Date(2026, 3, 8, 12, 0, 0, 123_000_000, time.UTC)

// listingState is a listing with every member set.
func listingState(n int) listing.State {
	return listing.State{
		ID: fmt.Sprintf("lst_%04d", n), CreatorID: creator, Type: listing.Appointment,
		Title: fmt.Sprintf("Title %d", n), Description: "One\ntwo",
		Slug: fmt.Sprintf("slug-%d", n), CatalogKey: fmt.Sprintf("key-%d", n),
		Price:   money.Amount{Minor: int64(n), Currency: "eur"},
		PriceID: fmt.Sprintf("pri_%d", n), Status: listing.Active,
		Metadata: listing.Metadata{
			"deliveryMethod": "virtual", "horizonDays": int64(30), "features": []string{"a", "b"},
		},
		Variants: []listing.Variant{
			{ID: "var_1", Name: "60 minutes", DurationMinutes: 60, SessionCount: 1, IsDefault: true},
			{ID: "var_2", Name: "Pack", DurationMinutes: 30, SessionCount: 5, PriceInCents: new(int64(9000))},
		},
		Images:    []listing.Image{{ID: "img_1", Alt: "A fox"}, {ID: "img_2"}},
		CreatedAt: catalogTime, UpdatedAt: catalogTime.Add(time.Second), Revision: 1,
	}
}

func insertListings(t *testing.T, store StoreAdapter, states ...listing.State) {
	t.Helper()
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		for _, s := range states {
			if err := r.Catalog.Listings.Insert(ctx, s); err != nil {
				return err
			}
		}
		return nil
	})
}

func wantIndex(t *testing.T, err error, index string) {
	t.Helper()
	var duplicate *ports.DuplicateError
	if !errors.As(err, &duplicate) || duplicate.Index != index || !errors.Is(err, ports.ErrDuplicate) {
		t.Errorf("got %v, want a duplicate of %s", err, index)
	}
}

func aListingComesBackAsItWent(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	ctx, r := t.Context(), store.Read(t.Context())
	full, bare := listingState(1), listingState(2)
	bare.Description, bare.Metadata, bare.Variants, bare.Images = "", listing.Metadata{}, nil, nil
	insertListings(t, store, full, bare)
	for _, want := range []listing.State{full, bare} {
		for how, find := range map[string]func() (listing.State, error){
			"id":   func() (listing.State, error) { return r.Catalog.Listings.Get(ctx, want.ID) },
			"slug": func() (listing.State, error) { return r.Catalog.Listings.GetBySlug(ctx, want.Slug) },
			"key":  func() (listing.State, error) { return r.Catalog.Listings.GetByKey(ctx, creator, want.CatalogKey) },
		} {
			if got, err := find(); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("by %s:\n got %+v, %v\nwant %+v", how, got, err, want)
			}
		}
	}
	_, byID := r.Catalog.Listings.Get(ctx, "lst_none")
	_, bySlug := r.Catalog.Listings.GetBySlug(ctx, "none")
	_, byOthersKey := r.Catalog.Listings.GetByKey(ctx, "crt_2", full.CatalogKey)
	for _, err := range []error{byID, bySlug, byOthersKey} {
		if !errors.Is(err, ports.ErrNotFound) {
			t.Errorf("got %v, want ErrNotFound", err)
		}
	}
}

func aListingIsUpdatedFromItsLatestRevisionOnly(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	ctx := t.Context()
	s := listingState(1)
	insertListings(t, store, s)
	update := func(s listing.State) error {
		return store.Atomically(
			ctx, func(ctx context.Context, r ports.Repos) error { return r.Catalog.Listings.Update(ctx, s) },
		)
	}
	next := s
	next.Title, next.Status, next.Metadata, next.Variants, next.Revision = "New", listing.Archived, listing.Metadata{},
		s.Variants[:1], 2
	if err := update(next); err != nil {
		t.Fatal(err)
	}
	if got, err := store.Read(ctx).Catalog.Listings.Get(ctx, s.ID); err != nil || !reflect.DeepEqual(got, next) {
		t.Errorf("got %+v, %v; want %+v", got, err, next)
	}
	stale := s
	stale.Title, stale.Revision = "Stale", 2
	if err := update(stale); !errors.Is(err, ports.ErrStale) {
		t.Errorf("got %v, want ErrStale", err)
	}
	if got, err := store.Read(ctx).Catalog.Listings.Get(ctx, s.ID); err != nil || !reflect.DeepEqual(got, next) {
		t.Errorf("a stale update left %+v, %v", got, err)
	}
}

func slugsAreThePlatformsAndCatalogKeysTheAccounts(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	first := listingState(1)
	insertListings(t, store, first)
	insert := func(change func(s *listing.State)) error {
		s := listingState(2)
		change(&s)
		return store.Atomically(
			t.Context(), func(ctx context.Context, r ports.Repos) error { return r.Catalog.Listings.Insert(ctx, s) },
		)
	}
	wantIndex(t, insert(func(s *listing.State) { s.CreatorID, s.Slug = "crt_2", first.Slug }), "listings_slug")
	wantIndex(t, insert(func(s *listing.State) { s.CatalogKey = first.CatalogKey }), "listings_creator_id_catalog_key")
	if err := insert(func(s *listing.State) { s.CreatorID, s.CatalogKey = "crt_2", first.CatalogKey }); err != nil {
		t.Errorf("another account's key: %v", err)
	}
}

func mineListsEveryStatusOfOneAccount(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	var want []string
	for i, status := range []listing.Status{listing.Draft, listing.Active, listing.Archived, listing.Draft,
		listing.Active} {
		s := listingState(i)
		s.Status = status
		other := listingState(100 + i)
		other.CreatorID = "crt_2"
		insertListings(t, store, s, other)
		want = append(want, s.ID)
	}
	slices.Reverse(want)
	got := walk(t, 2, func(page ports.Page) (ports.List[listing.State], error) {
		return store.Read(t.Context()).Catalog.Listings.List(t.Context(), creator, page)
	})
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// walk reads a list page by page and returns the ids it saw.
func walk(t *testing.T, limit int, read func(page ports.Page) (ports.List[listing.State], error)) []string {
	t.Helper()
	var ids []string
	page := ports.Page{Limit: limit}
	for {
		list, err := read(page)
		if err != nil {
			t.Fatal(err)
		}
		if len(list.Items) > limit || list.Next.ID != "" && len(list.Items) < limit || len(ids) > 1000 {
			t.Fatalf("a page of %d with next %+v", len(list.Items), list.Next)
		}
		for _, s := range list.Items {
			ids = append(ids, s.ID)
		}
		if list.Next == (ports.Cursor{}) {
			return ids
		}
		page.After = list.Next
	}
}

func searchFindsActiveListings(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	states := make([]listing.State, 6)
	for i := range states {
		states[i] = listingState(i)
		states[i].Price.Minor = []int64{500, 100, 300, 300, 100, 0}[i]
	}
	states[0].Type, states[0].Price.Currency, states[0].CreatorID = listing.Digital, "usd", "crt_2"
	states[1].Title, states[1].Description = "ÜBER 100% cotton", "A_B \\ done"
	states[2].Status = listing.Draft
	states[4].Status = listing.Archived
	states[5].Description = "100 percent\nüber all"
	insertListings(t, store, states...)
	for name, c := range map[string]struct {
		search ports.ListingSearch
		want   []int
	}{
		"everything ACTIVE, newest first": {ports.ListingSearch{}, []int{5, 3, 1, 0}},
		"cheapest first, then by id":      {ports.ListingSearch{Sort: ports.PriceAsc}, []int{5, 1, 3, 0}},
		"dearest first, then by id":       {ports.ListingSearch{Sort: ports.PriceDesc}, []int{0, 3, 1, 5}},
		"one type":                        {ports.ListingSearch{Type: listing.Digital}, []int{0}},
		"one creator":                     {ports.ListingSearch{CreatorID: creator}, []int{5, 3, 1}},
		"one currency":                    {ports.ListingSearch{Currency: "usd"}, []int{0}},
		"bounds of the price are included": {
			ports.ListingSearch{MinPrice: new(int64(100)), MaxPrice: new(int64(300))}, []int{3, 1},
		},
		"free ones":                       {ports.ListingSearch{MaxPrice: new(int64(0))}, []int{5}},
		"text in any case, title or body": {ports.ListingSearch{Text: "über"}, []int{5, 1}},
		"a percent sign is itself":        {ports.ListingSearch{Text: "100%"}, []int{1}},
		"an underscore is itself":         {ports.ListingSearch{Text: "a_b"}, []int{1}},
		"a backslash is itself":           {ports.ListingSearch{Text: `\ done`}, []int{1}},
		"a quote is itself":               {ports.ListingSearch{Text: `' OR 1=1 --`}, nil},
		"all filters at once, cheapest first": {
			ports.ListingSearch{
				Type: listing.Appointment, CreatorID: creator, Currency: "eur", Text: "100", MinPrice: new(int64(0)),
				Sort: ports.PriceAsc,
			},
			[]int{5, 1},
		},
	} {
		var want []string
		for _, i := range c.want {
			want = append(want, states[i].ID)
		}
		for _, limit := range []int{1, 2, 100} {
			got := walk(t, limit, func(page ports.Page) (ports.List[listing.State], error) {
				return store.Read(t.Context()).Catalog.Listings.Search(t.Context(), c.search, page)
			})
			if !slices.Equal(got, want) {
				t.Errorf("%s, %d a page: got %q, want %q", name, limit, got, want)
			}
		}
	}
}

func plansComeBackOldestFirst(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	ctx := t.Context()
	insertListings(t, store, listingState(1), listingState(2))
	full := plan.State{
		ID: "pln_2", CreatorID: creator, ListingID: "lst_0001", Key: "pro", Name: "Pro", IsDefault: true, TrialDays: 7,
		Prices: []plan.Price{
			{
				ID: "pri_1", Interval: "month", IntervalCount: 3,
				Amount: money.Amount{Minor: plan.MaxAmount, Currency: "kwd"},
			},
			{ID: "pri_2", Amount: money.Amount{Currency: "jpy"}},
		},
		Terms: plan.Terms{
			Entitlements: []plan.Entitlement{
				{Key: "hd", Type: plan.Boolean}, {Key: "n", Type: plan.Limit, Limit: 1 << 50},
				{Key: "t", Type: plan.Text, Text: "x"},
			},
			Credits: []plan.Credit{{Key: "c", Unit: "u", Amount: 1, Renews: true}},
			Meters:  []plan.Meter{{EventName: "m", Included: 2}},
		},
		Retired: true, CreatedAt: catalogTime, UpdatedAt: catalogTime.Add(time.Second), Revision: 1,
	}
	older := full
	older.ID, older.Key = "pln_1", "basic"
	elsewhere := full
	elsewhere.ID, elsewhere.ListingID = "pln_3", "lst_0002" // the key is the listing's own
	save := func(states ...plan.State) error {
		return store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
			for _, s := range states {
				if err := r.Catalog.Plans.Upsert(ctx, s); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := save(full, older, elsewhere); err != nil {
		t.Fatal(err)
	}
	if got, err := store.Read(ctx).Catalog.Plans.List(ctx, creator, "lst_0001"); err != nil ||
		!reflect.DeepEqual(got, []plan.State{older, full}) {
		t.Errorf("got %+v, %v", got, err)
	}
	for of, want := range map[string][]plan.State{creator: {older, full, elsewhere}, "crt_2": {}} {
		if got, err := store.Read(ctx).Catalog.Plans.ListAll(ctx, of); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("all plans of %s: got %+v, %v", of, got, err)
		}
	}
	if got, err := store.Read(ctx).Catalog.Plans.List(ctx, "crt_2", "lst_0001"); err != nil || len(got) != 0 {
		t.Errorf("another account's: %+v, %v", got, err)
	}
	again := full
	again.ID = "pln_4"
	wantError(t, "a second plan of one key", save(again), ports.ErrStale)
	next := full
	next.Name, next.Retired, next.Prices, next.Revision = "Pro 2", false, full.Prices[:1], 2
	if err := save(next); err != nil {
		t.Fatal(err)
	}
	insertListings(t, store, listingState(3))
	for n, want := range map[int][]plan.State{1: {older, next}, 2: {elsewhere}, 3: {}} {
		l := listingState(n)
		if got, err := store.Read(ctx).Catalog.Plans.List(ctx, creator, l.ID); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("listing %d: got %+v, %v", n, got, err)
		}
		if gotListing, got, err := store.Read(ctx).Catalog.Listings.GetWithPlans(ctx, creator, l.CatalogKey); err != nil ||
			!reflect.DeepEqual(gotListing, l) || !reflect.DeepEqual(got, want) {
			t.Errorf("listing %d with plans: got %+v, %+v, %v", n, gotListing, got, err)
		}
	}
	for _, of := range []string{"crt_2", creator} {
		if _, _, err := store.Read(ctx).Catalog.Listings.GetWithPlans(ctx, of, "no-such"); !errors.Is(err,
			ports.ErrNotFound) {
			t.Errorf("an unknown key of %s: %v", of, err)
		}
	}
}

func paymentLinksComeBackAsTheyWent(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	ctx := t.Context()
	insertListings(t, store, listingState(1))
	full := paymentlink.State{
		ID: "plink_1", CreatorID: creator, Code: "code1", ListingID: "lst_0001", VariantID: "var_1", PlanKey: "pro",
		Every:      "year:2",
		SuccessURL: "https://a.example/b", Active: true, CreatedAt: catalogTime, UpdatedAt: catalogTime, Revision: 1,
	}
	bare := paymentlink.State{
		ID: "plink_2", CreatorID: creator, Code: "code2", ListingID: "lst_0001", CreatedAt: catalogTime,
		UpdatedAt: catalogTime, Revision: 1,
	}
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		return errors.Join(r.Catalog.PaymentLinks.Insert(ctx, full), r.Catalog.PaymentLinks.Insert(ctx, bare))
	})
	r := store.Read(ctx)
	for _, want := range []paymentlink.State{full, bare} {
		byID, err1 := r.Catalog.PaymentLinks.Get(ctx, creator, want.ID)
		byCode, err2 := r.Catalog.PaymentLinks.GetByCode(ctx, want.Code)
		if err := errors.Join(err1, err2); err != nil || byID != want || byCode != want {
			t.Errorf("got %+v and %+v, %v; want %+v", byID, byCode, err, want)
		}
	}
	if list, err := r.Catalog.PaymentLinks.List(ctx, creator, ports.Page{Limit: 1}); err != nil || len(list.Items) != 1 ||
		list.Items[0] != bare || list.Next.ID != bare.ID {
		t.Errorf("first page %+v, %v", list, err)
	}
	if list, err := r.Catalog.PaymentLinks.List(ctx, "crt_2", ports.Page{Limit: 9}); err != nil || len(list.Items) != 0 {
		t.Errorf("another account's %+v, %v", list, err)
	}
	_, byOther := r.Catalog.PaymentLinks.Get(ctx, "crt_2", full.ID)
	_, byCode := r.Catalog.PaymentLinks.GetByCode(ctx, "none")
	if !errors.Is(byOther, ports.ErrNotFound) || !errors.Is(byCode, ports.ErrNotFound) {
		t.Errorf("got %v and %v, want ErrNotFound", byOther, byCode)
	}
	taken := bare
	taken.ID, taken.Code = "plink_3", full.Code
	wantIndex(
		t,
		store.Atomically(
			ctx, func(ctx context.Context, r ports.Repos) error { return r.Catalog.PaymentLinks.Insert(ctx, taken) },
		),
		"payment_links_code",
	)
	next := full
	next.Active, next.SuccessURL, next.Revision = false, "", 2
	atomically(
		t, store, func(ctx context.Context, r ports.Repos) error { return r.Catalog.PaymentLinks.Update(ctx, next) },
	)
	if got, err := r.Catalog.PaymentLinks.Get(ctx, creator, full.ID); err != nil || got != next {
		t.Errorf("got %+v, %v; want %+v", got, err, next)
	}
}
