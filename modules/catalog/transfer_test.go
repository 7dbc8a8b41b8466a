package catalog_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/adapters/system"
	"sundry/core/discount"
	"sundry/core/fault"
	"sundry/core/listing"
	"sundry/core/paymentlink"
	"sundry/core/plan"
	"sundry/modules/catalog"
	"sundry/ports"
	"sundry/tests/testdb"
)

// forEachPair runs the test with a deployment that has a catalog and another one that has none.
func forEachPair(t *testing.T, test func(t *testing.T, from, to fixture)) {
	t.Helper()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		var pair [2]fixture
		for i := range pair {
			store, ids := engine.Open(t), system.NewIDs()
			pair[i] = newFixture(store, ids)
		}
		pair[0].fill(t)
		test(t, pair[0], pair[1])
	})
}

// fill makes one listing of each kind, with everything that a listing can have.
func (s fixture) fill(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	p := proposal(listing.Digital, "field-notes")
	p.Description, p.CatalogKey = new("One\n<two> & three"), new("notes")
	p.Metadata = map[string]any{"downloadUrl": "https://files.example/notes.pdf", "pageCount": json.Number("12")}
	s.active(t, p)
	p = proposal(listing.Subscription, "studio")
	p.Metadata = map[string]any{"features": []any{"exports", "support"}, "trialDays": json.Number("7")}
	studio := s.active(t, p)
	if _, err := s.PutPlan(ctx, s.ada, studio.ID, proPlan()); err != nil {
		t.Fatal(err)
	}
	hour := s.draft(t, proposal(listing.Appointment, "one-hour"))
	pack, err := s.AddVariant(ctx, s.ada, hour.ID, listing.VariantEdit{
		Key: new("five-pack"), Name: new("Pack of five"), DurationMinutes: new(45), SessionCount: new(5),
		Price: new(int64(40000)), PriceGiven: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []paymentlink.Edit{
		{
			ListingID: &studio.ID, PlanKey: new("pro"), Every: new("year"), Currency: new("eur"),
			SuccessURL: new("https://shop.example/a.b"),
		},
		{ListingID: &hour.ID, VariantID: &pack.ID, Active: new(false)},
	} {
		if _, err := s.CreateLink(ctx, s.ada, e); err != nil {
			t.Fatal(err)
		}
	}
	s.linkToWhatIsGone(t, studio, hour)
	old := s.active(t, proposal(listing.Digital, "old-notes"))
	for _, draft := range []discount.Draft{
		{Code: "Spring", PercentOff: new(20), ListingIDs: []string{studio.ID, old.ID}, MaxRedemptions: new(5)},
		{
			Code: "FIVE", AmountOffInCents: new(int64(500)), Currency: "eur", Duration: "repeating", DurationInMonths: new(3),
			ExpiresAt: time.Date(2999, 1, 2, 3, 4, 5, 0, time.UTC),
		},
		{Code: "gone", PercentOff: new(10), ListingIDs: []string{old.ID}},
	} {
		if _, err := s.CreateDiscount(ctx, s.ada, draft); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Archive(ctx, s.ada, old.ID); err != nil {
		t.Fatal(err)
	}
}

// linkToWhatIsGone makes payment links to a plan and to a variant that are taken off sale then.
func (s fixture) linkToWhatIsGone(t *testing.T, recurring, bookable listing.State) {
	t.Helper()
	ctx := t.Context()
	beta := proPlan()
	beta.Key, beta.IsDefault = "beta", false
	if _, err := s.PutPlan(ctx, s.ada, recurring.ID, beta); err != nil {
		t.Fatal(err)
	}
	v, err := s.AddVariant(ctx, s.ada, bookable.ID, listing.VariantEdit{Key: new("short"), DurationMinutes: new(15)})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []paymentlink.Edit{
		{ListingID: &recurring.ID, PlanKey: new("beta")}, {ListingID: &bookable.ID, VariantID: &v.ID},
	} {
		if _, err := s.CreateLink(ctx, s.ada, e); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.RetirePlan(ctx, s.ada, recurring.ID, "beta"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.RemoveVariant(ctx, s.ada, bookable.ID, v.ID); err != nil {
		t.Fatal(err)
	}
}

// exported is the catalog as it comes out of a file.
func (s fixture) exported(t *testing.T) (d catalog.Document, file string) {
	t.Helper()
	d, err := s.Export(t.Context(), s.ada)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := d.Write(&out); err != nil {
		t.Fatal(err)
	}
	file = out.String()
	d = catalog.Document{}
	decoder := json.NewDecoder(&out)
	decoder.UseNumber() // integers of metadata and entitlements stay exact
	if err := decoder.Decode(&d); err != nil {
		t.Fatal(err)
	}
	return d, file
}

func (s fixture) imported(t *testing.T, d catalog.Document) []string {
	t.Helper()
	preview, err := s.PreviewImport(t.Context(), s.ada, d)
	if err != nil {
		t.Fatal(err)
	}
	changes, err := s.Import(t.Context(), s.ada, d)
	if err != nil || !slices.Equal(changes, preview) {
		t.Fatalf("changed %q, %v; the preview was %q", changes, err, preview)
	}
	return changes
}

func TestACatalogIsTheSameAfterAFile(t *testing.T) {
	t.Parallel()
	forEachPair(t, func(t *testing.T, from, to fixture) {
		d, file := from.exported(t)
		if strings.Contains(file, "lst_") || strings.Contains(file, "var_") || strings.Contains(file, "old-notes") ||
			!strings.Contains(file, "<two> & three") {
			t.Errorf("the file has ids, what is archived, or escapes:\n%s", file)
		}
		changes := to.imported(t, d)
		if !slices.Contains(changes, "+ listing notes: Field notes") || !slices.Contains(changes, "+ discount FIVE: repeating") ||
			len(changes) != 5 {
			t.Errorf("an empty catalog became %q", changes)
		}
		if _, again := to.exported(t); again != file {
			t.Errorf("imported as\n%s\nwant\n%s", again, file)
		}
		if changes := to.imported(t, d); len(changes) != 0 {
			t.Errorf("the second import changed %q", changes)
		}
		if changes := from.imported(t, d); len(changes) != 0 {
			t.Errorf("the import of what it has changed %q", changes)
		}
	})
}

func TestAnImportSaysWhatItChangesAndChangesNoMore(t *testing.T) {
	t.Parallel()
	forEachPair(t, func(t *testing.T, from, _ fixture) {
		before, file := from.exported(t)
		studioBefore, err := from.ByKey(t, "studio")
		if err != nil {
			t.Fatal(err)
		}
		d, _ := from.exported(t)
		notes, hour, studio := &d.Listings[0], &d.Listings[1], &d.Listings[2]
		notes.Title = "Notes"
		hour.Variants = hour.Variants[1:] // five-pack goes
		studio.Plans[0].Name = "Professional"
		minor := int64(1100)
		studio.Plans[0].Prices[0].AmountInCents = &minor
		studio.PaymentLinks[0].Active = new(false)
		want := []string{
			"- listing one-hour.variant five-pack: Pack of five",
			`~ listing notes.title: "Field notes" → "Notes"`,
			`~ listing studio.payment link pro year eur https://shop.example/a.b: active → inactive`,
			`~ listing studio.plan pro.name: "Pro" → "Professional"`,
		}
		hour.Variants, hour.PaymentLinks = before.Listings[1].Variants[:1], nil
		preview, err := from.PreviewImport(t.Context(), from.ada, d)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range want {
			if !slices.Contains(preview, line) {
				t.Errorf("%q is not among %q", line, preview)
			}
		}
		if _, after := from.exported(t); after != file {
			t.Error("the preview changed the catalog")
		}
		from.imported(t, d)
		studioAfter, err := from.ByKey(t, "studio")
		if err != nil || studioAfter.ID != studioBefore.ID {
			t.Errorf("the listing was replaced: %+v, %v", studioAfter, err)
		}
		if changes := from.imported(t, d); len(changes) != 0 {
			t.Errorf("the second import changed %q", changes)
		}
	})
}

// ByKey is ada's listing of a catalog key.
func (s fixture) ByKey(t *testing.T, key string) (listing.State, error) {
	t.Helper()
	return s.store.Read(t.Context()).Catalog.Listings.GetByKey(t.Context(), s.ada, key)
}

func TestARefusedImportChangesNothing(t *testing.T) {
	t.Parallel()
	forEachPair(t, func(t *testing.T, from, to fixture) {
		taken := proposal(listing.Digital, "studio")
		if _, err := to.CreateListing(t.Context(), to.bob, taken); err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string]struct {
			change func(d *catalog.Document)
			want   fault.Code
		}{
			"a slug that somebody has": {func(*catalog.Document) {}, fault.SlugTaken},
			"a bad price": {
				func(d *catalog.Document) {
					d.Listings[2].Slug = "studio-2"
					d.Listings[2].PriceInCents = new(int64(-1))
				},
				fault.ValidationFailed,
			},
			"no price": {
				func(d *catalog.Document) { d.Listings[2].Slug = "studio-2"; d.Listings[2].PriceInCents = nil },
				fault.ValidationFailed,
			},
			"a status that is none": {
				func(d *catalog.Document) { d.Listings[2].Slug = "studio-2"; d.Listings[2].Status = "active" },
				fault.ValidationFailed,
			},
			"a key twice": {func(d *catalog.Document) { d.Listings[2] = d.Listings[0] }, fault.ValidationFailed},
		} {
			d, _ := from.exported(t)
			c.change(&d)
			_, err := to.Import(t.Context(), to.ada, d)
			if fault.CodeOf(err) != c.want {
				t.Errorf("%s: %v, want %s", name, err, c.want)
			}
			if left, err := to.OwnListings(t.Context(), to.ada, ports.Page{Limit: 10}); err != nil || len(left.Items) != 0 {
				t.Errorf("%s: it left %+v, %v", name, left.Items, err)
			}
		}
	})
}

func TestACatalogNamesItsVersionAndListings(t *testing.T) {
	t.Parallel()
	one := catalog.DocumentListing{Key: "one"}
	for want, d := range map[string]catalog.Document{
		"":                {Version: 1, Listings: []catalog.DocumentListing{}},
		"version":         {Version: 2, Listings: []catalog.DocumentListing{one}},
		"listings":        {Version: 1},
		"listings[1].key": {Version: 1, Listings: []catalog.DocumentListing{one, {Slug: "no-key"}}},
		"listings[0].key": {Version: 1, Listings: []catalog.DocumentListing{{Key: "b0"}}},
	} {
		err := d.Check()
		refused, ok := errors.AsType[*fault.Error](err)
		if want == "" && err != nil || want != "" && (!ok || len(refused.Details) != 1 || refused.Details[0].Field != want) {
			t.Errorf("%+v: %v, want a fault of %q", d, err, want)
		}
	}
}

func TestAFullListingGetsOtherVariants(t *testing.T) {
	t.Parallel()
	forEachPair(t, func(t *testing.T, from, _ fixture) {
		d, _ := from.exported(t)
		hour := slices.IndexFunc(d.Listings, func(l catalog.DocumentListing) bool { return l.Key == "one-hour" })
		d.Listings[hour].PaymentLinks = nil
		for _, prefix := range []string{"old", "new"} {
			d.Listings[hour].Variants = nil
			for i := range 50 {
				d.Listings[hour].Variants = append(d.Listings[hour].Variants, catalog.DocumentVariant{
					Key: fmt.Sprintf("%s-%02d", prefix, i), Name: "One", DurationMinutes: 30, SessionCount: 1, IsDefault: i == 7,
				})
			}
			from.imported(t, d)
			l, err := from.ByKey(t, "one-hour")
			if err != nil || len(l.Variants) != 50 || slices.ContainsFunc(l.Variants, func(v listing.Variant) bool {
				return !strings.HasPrefix(v.Key, prefix) || v.IsDefault != (v.Key == prefix+"-07")
			}) {
				t.Errorf("%d variants %+v, %v", len(l.Variants), l.Variants, err)
			}
		}
	})
}

func TestAnImportChangesTheCurrencyWithThePrices(t *testing.T) {
	t.Parallel()
	forEachPair(t, func(t *testing.T, from, _ fixture) {
		d, _ := from.exported(t)
		hour := slices.IndexFunc(d.Listings, func(l catalog.DocumentListing) bool { return l.Key == "one-hour" })
		d.Listings[hour].Variants[1].PriceInCents = new(int64(40001))
		from.imported(t, d)
		d.Listings[hour].Currency, d.Listings[hour].Variants[1].PriceInCents = "kwd", new(int64(40010))
		from.imported(t, d)
		l, err := from.ByKey(t, "one-hour")
		if err != nil || l.Price.Currency != "kwd" || *l.Variants[1].PriceInCents != 40010 {
			t.Errorf("%+v, %v", l, err)
		}
	})
}

func TestAnArchivedListingIsImportedAgain(t *testing.T) {
	t.Parallel()
	forEachPair(t, func(t *testing.T, from, _ fixture) {
		d, _ := from.exported(t)
		(*d.Discounts)[0].Listings = []string{"notes", "studio"}
		(*d.Discounts)[0].Code = "BOTH"
		from.imported(t, d)
		d.Listings[2].Status = listing.Archived
		want := []string{`~ discount BOTH.listings: ["notes","studio"] → ["notes"]`, "- discount Spring: once", "- listing studio: Field notes"}
		if changes := from.imported(t, d); !slices.Equal(changes, want) {
			t.Errorf("archiving a listing changed %q, want %q", changes, want)
		}
		if changes := from.imported(t, d); len(changes) != 0 {
			t.Errorf("the second import changed %q", changes)
		}
	})
}

func TestAnImportLeavesExpiredDiscountsOut(t *testing.T) {
	t.Parallel()
	forEachPair(t, func(t *testing.T, from, to fixture) {
		d, _ := from.exported(t)
		discounts := slices.Clone(*d.Discounts)
		for i := range discounts {
			if discounts[i].Code == "FIVE" {
				discounts[i].ExpiresAt = new("2020-01-02T03:04:05Z")
			}
		}
		d.Discounts = &discounts
		for _, line := range to.imported(t, d) {
			if strings.HasPrefix(line, "+ discount FIVE") {
				t.Errorf("the import made %q", line)
			}
		}
	})
}

func TestAnImportNeverChangesADiscount(t *testing.T) {
	t.Parallel()
	forEachPair(t, func(t *testing.T, from, _ fixture) {
		before, file := from.exported(t)
		for name, change := range map[string]func(d *catalog.DocumentDiscount){
			"another value":           func(d *catalog.DocumentDiscount) { d.PercentOff = new(30) },
			"a listing less":          func(d *catalog.DocumentDiscount) { d.Listings = nil },
			"a listing nobody has":    func(d *catalog.DocumentDiscount) { d.Listings = []string{"nothing"} },
			"a time that is zero":     func(d *catalog.DocumentDiscount) { d.ExpiresAt = new("0001-01-01T00:00:00Z") },
			"a time that is none":     func(d *catalog.DocumentDiscount) { d.ExpiresAt = new("soon") },
			"a code in another case":  func(d *catalog.DocumentDiscount) { d.Code = "SPRING" },
			"another new, wrong code": func(d *catalog.DocumentDiscount) { d.Code = "a b" },
		} {
			discounts := slices.Clone(*before.Discounts)
			change(&discounts[1])
			d := before
			d.Discounts = &discounts
			_, err := from.Import(t.Context(), from.ada, d)
			refusal, ok := errors.AsType[*fault.Error](err)
			if !ok || refusal.Code != fault.ValidationFailed || !strings.HasPrefix(refusal.Details[0].Field, "discounts."+discounts[1].Code) {
				t.Errorf("%s: %v", name, err)
			}
		}
		without := before
		without.Discounts = nil
		if changes := from.imported(t, without); len(changes) != 0 {
			t.Errorf("a document without discounts changed %q", changes)
		}
		if _, after := from.exported(t); after != file {
			t.Errorf("a refused import left\n%s\nwant\n%s", after, file)
		}
	})
}

func TestAnImportSwitchesLinksThatAreAlike(t *testing.T) {
	t.Parallel()
	forEachPair(t, func(t *testing.T, from, _ fixture) {
		studio, err := from.ByKey(t, "studio")
		if err != nil {
			t.Fatal(err)
		}
		var made []string
		for _, active := range []bool{true, false} { // the newer one, which is listed first, is inactive
			link, err := from.CreateLink(t.Context(), from.ada, paymentlink.Edit{
				ListingID: &studio.ID, SuccessURL: new("https://shop.example/twice"), Active: &active,
			})
			if err != nil {
				t.Fatal(err)
			}
			made = append(made, link.ID)
		}
		opens := func() (open []bool) {
			for _, linkID := range made {
				link, err := from.Link(t.Context(), from.ada, linkID)
				if err != nil {
					t.Fatal(err)
				}
				open = append(open, link.Active)
			}
			return open
		}
		d, _ := from.exported(t)
		if changes := from.imported(t, d); len(changes) != 0 || !slices.Equal(opens(), []bool{true, false}) {
			t.Errorf("its own file changed %q, and the links open: %v, want [true false]", changes, opens())
		}
		for i := range d.Listings[2].PaymentLinks {
			d.Listings[2].PaymentLinks[i].Active = new(false)
		}
		if from.imported(t, d); !slices.Equal(opens(), []bool{false, false}) {
			t.Errorf("a file without an active link left those that open: %v, want [false false]", opens())
		}
		for i := range d.Listings[2].PaymentLinks {
			d.Listings[2].PaymentLinks[i].Active = new(true)
		}
		if from.imported(t, d); !slices.Equal(opens(), []bool{false, true}) {
			t.Errorf("a file with an active link left those that open: %v, want [false true]", opens())
		}
	})
}

// Such a link sells the plan without a choice, so that is what the file says of it.
func TestALinkOfAPlanThatNoLongerRenewsIsExported(t *testing.T) {
	t.Parallel()
	forEachPair(t, func(t *testing.T, from, to fixture) {
		l := from.active(t, proposal(listing.Subscription, "club"))
		from.putPlan(t, l, proPlan())
		link, err := from.CreateLink(t.Context(), from.ada, paymentlink.Edit{
			ListingID: &l.ID, BuyerMayChange: &[]string{"interval", "quantity"}, Active: new(false),
		})
		if err != nil {
			t.Fatal(err)
		}
		bought := proPlan()
		bought.Prices = []plan.PriceDraft{{Currency: "eur", AmountInCents: new(int64(5000))}}
		from.putPlan(t, l, bought)
		d, file := from.exported(t)
		i := slices.IndexFunc(d.Listings, func(l catalog.DocumentListing) bool { return l.Key == "club" })
		if links := d.Listings[i].PaymentLinks; len(links) != 1 || len(links[0].BuyerMayChange) > 0 {
			t.Fatalf("exported as %+v", links)
		}
		to.imported(t, d)
		if _, again := to.exported(t); again != file {
			t.Errorf("imported as\n%s\nwant\n%s", again, file)
		}
		if changes := from.imported(t, d); len(changes) != 0 {
			t.Errorf("the import of what it has changed %q", changes)
		}
		d.Listings[i].PaymentLinks[0].Active = new(true)
		from.imported(t, d)
		if link, err = from.Link(t.Context(), from.ada, link.ID); err != nil || !link.Active {
			t.Errorf("a file that activates the link left %+v, %v", link, err)
		}
	})
}
