package listing

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sundry/core/fault"
	"sundry/core/fault/faulttest"
	"sundry/core/money"
	"sundry/core/period"
	"sundry/core/plan"
	"sundry/core/tax"
)

var (
	now   = time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)
	later = now.Add(time.Hour)
)

func proposal(kind Type, metadata map[string]any) Proposal {
	return Proposal{Type: string(kind), Edit: Edit{
		Title: new("Field notes"), Slug: new("field-notes"), PriceInCents: new(int64(1200)), Currency: new("eur"),
		Metadata: metadata,
	}}
}

func create(t interface{ Fatalf(string, ...any) }, kind Type, metadata map[string]any) *Listing {
	l, err := Create(proposal(kind, metadata), Origin{ID: "lst_1", CreatorID: "crt_1", PriceID: "pri_1",
		VariantID: "var_1"}, now)
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	return l
}

func newPrice() string { return "pri_new" }

func TestAProposalIsRefusedWithAllItsFaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(p *Proposal)
		want   []string
	}{
		"a sound proposal": {func(*Proposal) {}, nil},
		"nothing at all": {
			func(p *Proposal) { *p = Proposal{} },
			[]string{"type REQUIRED", "title REQUIRED", "slug REQUIRED", "currency REQUIRED", "priceInCents REQUIRED"},
		},
		"an unknown type": {func(p *Proposal) { p.Type = "digital" }, []string{"type NOT_ALLOWED"}},
		"a blank title":   {func(p *Proposal) { p.Title = new("  ") }, []string{"title REQUIRED"}},
		"an unknown type's metadata": {func(p *Proposal) {
			p.Type, p.Metadata = "BOOK", map[string]any{"zebra": true}
		}, []string{"type NOT_ALLOWED"}},
		"a title of 201": {func(p *Proposal) {
			p.Title = new(strings.Repeat("é", 201))
		}, []string{"title TOO_LONG"}},
		"a title of two lines": {func(p *Proposal) { p.Title = new("a\nb") }, []string{"title INVALID"}},
		"a description of 10,001": {func(p *Proposal) {
			p.Description = new(strings.Repeat("é", 10_001))
		}, []string{"description TOO_LONG"}},
		"a description with lines": {func(p *Proposal) { p.Description = new("a\n\tb") }, nil},
		"a slug of two":            {func(p *Proposal) { p.Slug = new("ab") }, []string{"slug TOO_SHORT"}},
		"a slug of 101":            {func(p *Proposal) { p.Slug = new(strings.Repeat("a", 101)) }, []string{"slug TOO_LONG"}},
		"a slug with capitals":     {func(p *Proposal) { p.Slug = new("Field") }, []string{"slug INVALID"}},
		"a slug of three, one bad": {func(p *Proposal) { p.Slug = new("ab_") }, []string{"slug INVALID"}},
		"a slug of 100, one bad": {func(p *Proposal) {
			p.Slug = new(strings.Repeat("a", 99) + "_")
		}, []string{"slug INVALID"}},
		"another tax":             {func(p *Proposal) { p.TaxBehavior = new("none") }, []string{"taxBehavior NOT_ALLOWED"}},
		"the reserved slug":       {func(p *Proposal) { p.Slug = new("mine") }, []string{"slug NOT_ALLOWED"}},
		"the word as catalog key": {func(p *Proposal) { p.CatalogKey = new("mine") }, nil},
		"a catalog key of two":    {func(p *Proposal) { p.CatalogKey = new("ab") }, []string{"catalogKey TOO_SHORT"}},
		"a free listing":          {func(p *Proposal) { p.PriceInCents = new(int64(0)) }, nil},
		"the highest price":       {func(p *Proposal) { p.PriceInCents = new(int64(plan.MaxAmount)) }, nil},
		"a higher price": {func(p *Proposal) {
			p.PriceInCents = new(int64(plan.MaxAmount + 1))
		}, []string{"priceInCents OUT_OF_RANGE"}},
		"a negative price": {func(p *Proposal) {
			p.PriceInCents = new(int64(-1))
		}, []string{"priceInCents OUT_OF_RANGE"}},
		"a price in tens of thousandths": {func(p *Proposal) {
			p.Currency, p.PriceInCents = new("kwd"), new(int64(1510))
		}, nil},
		"a price in thousandths": {func(p *Proposal) {
			p.Currency, p.PriceInCents = new("kwd"), new(int64(1505))
		}, []string{"priceInCents NOT_ALLOWED"}},
		"a currency in capitals": {func(p *Proposal) { p.Currency = new("EUR") }, []string{"currency INVALID"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := proposal(Digital, nil)
			c.change(&p)
			if got := faulttest.Lines(t, p.Check()); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if l, err := Create(p, Origin{}, now); (err == nil) != (c.want == nil) || (l == nil) != (err != nil) {
				t.Errorf("create: %+v, %v", l, err)
			}
		})
	}
}

func TestMetadataFollowsTheSchemaOfItsType(t *testing.T) {
	t.Parallel()
	n := func(s string) any { return json.Number(s) }
	for name, c := range map[string]struct {
		kind     Type
		metadata map[string]any
		want     []string
	}{
		"a member of another type and unknown ones": {Service, map[string]any{"pageCount": n("1"), "zebra": true}, []string{
			"metadata.pageCount UNKNOWN_MEMBER", "metadata.zebra UNKNOWN_MEMBER",
		}},
		"unknown names, cut": {Service, map[string]any{strings.Repeat("é", 64): true, strings.Repeat("z", 65): true},
			[]string{
				"metadata." + strings.Repeat("z", 64) + "… UNKNOWN_MEMBER", "metadata." + strings.Repeat("é", 64) +
					" UNKNOWN_MEMBER",
			}},
		"a period over three years": {Subscription, map[string]any{"interval": "month", "intervalCount": n("37")},
			[]string{"metadata.intervalCount OUT_OF_RANGE"}},
		"a month by default": {Subscription, map[string]any{"intervalCount": n("37")},
			[]string{"metadata.intervalCount OUT_OF_RANGE"}},
		"null is absent": {Digital, map[string]any{"pageCount": nil}, nil},
		"a wrong type":   {Digital, map[string]any{"downloadUrl": n("1")}, []string{"metadata.downloadUrl WRONG_TYPE"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := faulttest.Lines(t, proposal(c.kind, c.metadata).Check()); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestAbsentMetadataReadsAsItsDefault(t *testing.T) {
	t.Parallel()
	a := create(t, Appointment, nil).State()
	if a.Metadata == nil || len(a.Metadata) != 0 || a.Text(DeliveryMethod) != "virtual" || a.Number(HorizonDays) != 60 {
		t.Errorf("defaults of %+v", a.Metadata)
	}
	for _, name := range []string{BufferBefore, BufferAfter, MinimumNotice, SlotIntervalMinutes, DailyCap, WeeklyCap} {
		if got := a.Number(name); got != 0 {
			t.Errorf("%s is %d by default", name, got)
		}
	}
	if got := create(t, Subscription, nil).State().Number(TrialDays); got != 0 {
		t.Errorf("a trial of %d days by default", got)
	}
	s := create(t, Subscription, map[string]any{"interval": "week"}).State()
	if s.Text(Interval) != "week" || s.Number(IntervalCount) != 1 || len(s.Metadata) != 1 {
		t.Errorf("given and default of %+v", s.Metadata)
	}
}

func TestEveryTransitionFromEveryState(t *testing.T) {
	t.Parallel()
	type outcome struct {
		code fault.Code // "" = allowed
		next Status
	}
	transitions := map[string]func(l *Listing) error{
		"publish":       func(l *Listing) error { return l.Publish(later) },
		"archive":       func(l *Listing) error { l.Archive(later); return nil },
		"edit":          func(l *Listing) error { return l.Edit(Edit{Title: new("Other")}, newPrice, later) },
		"plans changed": func(l *Listing) error { return l.PlansChanged(later) },
		"add a variant": func(l *Listing) error {
			_, err := l.AddVariant("var_2", VariantEdit{DurationMinutes: new(30)}, newPrice, later)
			return err
		},
		"edit a variant": func(l *Listing) error {
			_, err := l.EditVariant("var_1", VariantEdit{DurationMinutes: new(30)}, newPrice, later)
			return err
		},
	}
	conflict := fault.StateConflict
	want := map[Status]map[string]outcome{
		Draft: {
			"publish": {"", Active}, "archive": {"", Archived}, "edit": {"", Draft}, "plans changed": {"", Draft},
			"add a variant": {"", Draft}, "edit a variant": {"", Draft},
		},
		Active: {
			"publish": {conflict, Active}, "archive": {"", Archived}, "edit": {"", Active}, "plans changed": {"", Active},
			"add a variant": {"", Active}, "edit a variant": {"", Active},
		},
		Archived: {
			"publish": {conflict, Archived}, "archive": {"", Archived}, "edit": {conflict, Archived},
			"plans changed": {conflict, Archived},
			"add a variant": {conflict, Archived}, "edit a variant": {conflict, Archived},
		},
	}
	for status, row := range want {
		if len(row) != len(transitions) {
			t.Errorf("%s: %d transitions are drawn, %d exist", status, len(row), len(transitions))
		}
		for name, o := range row {
			s := create(t, Appointment, nil).State()
			s.Status = status
			l := Restore(s)
			err := transitions[name](l)
			after := l.State()
			same := status == Archived && name == "archive"
			switch {
			case fault.CodeOf(err) != o.code || after.Status != o.next:
				t.Errorf("%s in %s: %v and %s, want %q and %s", name, status, err, after.Status, o.code, o.next)
			case (o.code != "" || same) && !reflect.DeepEqual(after, s):
				t.Errorf("%s in %s was refused or void and changed %+v to %+v", name, status, s, after)
			case o.code == "" && !same && (after.Revision != s.Revision+1 || !after.UpdatedAt.Equal(later)):
				t.Errorf("%s in %s left revision %d at %v", name, status, after.Revision, after.UpdatedAt)
			}
		}
		purchasable := Restore(State{Status: status}).State().Purchasable()
		if (purchasable == nil) != (status == Active) || purchasable != nil &&
			!fault.Is(purchasable, fault.ListingNotPurchasable) {
			t.Errorf("%s: %v", status, purchasable)
		}
	}
}

func TestAnEditLaysMetadataOverWhatIsThere(t *testing.T) {
	t.Parallel()
	l := create(t, Digital, map[string]any{"downloadUrl": "https://a.example/b", "pageCount": json.Number("3")})
	edit := func(e Edit) Metadata {
		t.Helper()
		if err := l.Edit(e, newPrice, later); err != nil {
			t.Fatal(err)
		}
		return l.State().Metadata
	}
	if got := edit(Edit{Metadata: map[string]any{"pageCount": nil, "fileSize": json.Number("9")}}); !reflect.DeepEqual(got,
		Metadata{"downloadUrl": "https://a.example/b", "fileSize": int64(9)}) {
		t.Errorf("merged %+v", got)
	}
	before := l.State()
	err := l.Edit(Edit{Title: new(""), Metadata: map[string]any{"zebra": true, "pageCount": "x"}}, newPrice, later)
	if got, want := faulttest.Lines(t, err), []string{"title REQUIRED", "metadata.pageCount WRONG_TYPE",
		"metadata.zebra UNKNOWN_MEMBER"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if !reflect.DeepEqual(l.State(), before) {
		t.Errorf("a refused edit changed %+v to %+v", before, l.State())
	}
	if got := edit(Edit{ClearMetadata: true}); len(got) != 0 {
		t.Errorf("cleared %+v", got)
	}
}

func TestTheCatalogKeyOutlivesTheSlug(t *testing.T) {
	t.Parallel()
	l := create(t, Digital, nil)
	if err := l.Edit(Edit{Slug: new("new-slug")}, newPrice, later); err != nil || l.State().CatalogKey != "field-notes" {
		t.Errorf("%+v, %v", l.State(), err)
	}
	if err := l.Edit(Edit{CatalogKey: new("")}, newPrice, later); err != nil || l.State().CatalogKey != "new-slug" {
		t.Errorf("%+v, %v", l.State(), err)
	}
}

func TestThePriceIdFollowsWhatIsAsked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind    Type
		edit    Edit
		changes bool
	}{
		"another amount":   {Digital, Edit{PriceInCents: new(int64(1300))}, true},
		"the same amount":  {Digital, Edit{PriceInCents: new(int64(1200))}, false},
		"another currency": {Digital, Edit{Currency: new("usd")}, true},
		"another title":    {Digital, Edit{Title: new("Other")}, false},
		"another interval": {Subscription, Edit{Metadata: map[string]any{"interval": "year"}}, true},
		"the default interval, spoken": {Subscription,
			Edit{Metadata: map[string]any{"interval": "month", "intervalCount": json.Number("1")}}, false},
		"a default variant's price": {Appointment, Edit{PriceInCents: new(int64(1300))}, true},
		"another trial":             {Subscription, Edit{Metadata: map[string]any{"trialDays": json.Number("3")}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := create(t, c.kind, nil)
			if err := l.Edit(c.edit, newPrice, later); err != nil || (l.State().PriceID == "pri_new") != c.changes {
				t.Errorf("price id %s, %v", l.State().PriceID, err)
			}
		})
	}
}

func TestAListingWithoutPlansIsSoldAsItIs(t *testing.T) {
	t.Parallel()
	s := create(t, Subscription, map[string]any{"interval": "year", "trialDays": json.Number("14"),
		"features": []any{"Weekly calls", "forum"}}).State()
	p := s.ImpliedPlan()
	price, err := p.Price("year", "eur")
	o := s.Offer(p, price, Variant{})
	want := plan.Offer{
		CreatorID: "crt_1", ListingID: "lst_1", ListingKey: "field-notes", ListingType: "SUBSCRIPTION", Title: "Field notes",
		PlanKey: "default", PlanName: "Field notes", PriceID: "pri_1", Interval: period.Year, IntervalCount: 1, TrialDays: 14,
		OneTrial: true, OneSubscription: true,
		Price: money.Amount{Minor: 1200, Currency: "eur"}, TaxBehavior: tax.Inclusive,
		Terms: plan.Terms{
			Entitlements: []plan.Entitlement{{Key: "Weekly calls", Type: plan.Boolean, Bool: true},
				{Key: "forum", Type: plan.Boolean, Bool: true}},
			Credits: []plan.Credit{}, Meters: []plan.Meter{},
		},
	}
	if err != nil || !reflect.DeepEqual(o, want) {
		t.Errorf("got  %+v, %v\nwant %+v", o, err, want)
	}
	yearly := plan.State{Key: "vip", Name: "VIP", TrialDays: 14}
	if o := s.Offer(yearly, price, Variant{}); o.TrialDays != 14 ||
		!slices.Equal(o.Features, []string{"Weekly calls", "forum"}) {
		t.Errorf("a plan of its own: %+v", o)
	}
	if o := s.Offer(yearly, plan.Price{ID: "pri_once", Amount: price.Amount}, Variant{}); o.TrialDays != 0 {
		t.Errorf("what is bought once has a trial of %d days", o.TrialDays)
	}
	d := create(t, Digital, map[string]any{"downloadUrl": "https://a.example/b"}).State()
	if o := d.Offer(d.ImpliedPlan(), d.impliedPrice(), Variant{}); o.Recurring() ||
		o.DownloadURL != "https://a.example/b" {
		t.Errorf("digital offer %+v", o)
	}
}

func TestAnAppointmentIsOfferedAtThePriceOfItsVariant(t *testing.T) {
	t.Parallel()
	l := create(t, Appointment, map[string]any{"deliveryMethod": "hybrid", "fullRefundHours": json.Number("24")})
	pack, err := l.AddVariant("var_pack", VariantEdit{DurationMinutes: new(45), SessionCount: new(3),
		Price: new(int64(3000)), PriceGiven: true}, newPrice, later)
	if err != nil {
		t.Fatal(err)
	}
	s := l.State()
	implied := s.ImpliedPlan()
	if pack.Name != "3 × 45 minutes" || s.Variants[0].Name != "60 minutes" {
		t.Errorf("named %q and %q", pack.Name, s.Variants[0].Name)
	}
	o := s.Offer(implied, implied.Prices[0], pack)
	if !o.ForAppointments() || o.VariantID != "var_pack" || o.DurationMinutes != 45 || o.SessionCount != 3 ||
		o.Price.Minor != 3000 ||
		!slices.Equal(o.DeliveryModes, []string{"virtual", "in_person"}) || o.FullRefundHours == nil ||
		*o.FullRefundHours != 24 {
		t.Errorf("the pack: %+v", o)
	}
	if o := s.Offer(implied, implied.Prices[0], s.Variants[0]); o.Price.Minor != 1200 || o.SessionCount != 1 {
		t.Errorf("the single session: %+v", o)
	}
	own := plan.Price{ID: "pri_plan", Amount: money.Amount{Minor: 900, Currency: "eur"}}
	dear := s.Variants[0]
	dear.PriceInCents = new(int64(5000))
	if o := s.Offer(implied, implied.Prices[0], dear); o.Price.Minor != 5000 {
		t.Errorf("the default variant with a price of its own is sold at %d", o.Price.Minor)
	}
	unpromised := create(t, Appointment, nil).State()
	if o := unpromised.Offer(implied, implied.Prices[0], dear); o.FullRefundHours != nil ||
		!slices.Equal(o.DeliveryModes, []string{"virtual"}) {
		t.Errorf("without a promise: %+v", o)
	}
	for what, c := range map[string]struct {
		price   plan.Price
		variant Variant
		want    int64
	}{
		"a plan, of the default variant":               {own, dear, 900},
		"a plan, of a variant with a price of its own": {own, pack, 3000},
		"a plan in another currency, of a variant with one": {plan.Price{ID: "pri_plan",
			Amount: money.Amount{Minor: 900, Currency: "usd"}}, pack, 3000},
		"a plan, of a variant without": {own, Variant{ID: "var_x", SessionCount: 2}, 900},
		"a monthly price, of a variant with one of its": {plan.Price{ID: "pri_plan", Interval: period.Month,
			Amount: own.Amount}, pack, 900},
	} {
		if o := s.Offer(plan.State{Key: "vip"}, c.price, c.variant); o.Price.Minor != c.want ||
			o.Price.Currency != "eur" {
			t.Errorf("%s is sold at %v, want %d eur", what, o.Price, c.want)
		}
	}
	if _, err := l.EditVariant("var_pack", VariantEdit{IsDefault: new(true)}, newPrice, later); err != nil {
		t.Fatal(err)
	}
	if p := l.State().ImpliedPlan().Prices[0]; p.Amount.Minor != 3000 {
		t.Errorf("the recipe shows %d, not what the default variant costs", p.Amount.Minor)
	}
}

func TestVariantFaultsAreAllListed(t *testing.T) {
	t.Parallel()
	bad := VariantEdit{Name: new(""), DurationMinutes: new(4), SessionCount: new(0), Price: new(int64(-1)),
		PriceGiven: true}
	want := []string{"name REQUIRED", "durationMinutes OUT_OF_RANGE", "sessionCount OUT_OF_RANGE",
		"priceInCents OUT_OF_RANGE"}
	if got := faulttest.Lines(t, bad.Check(true)); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := faulttest.Lines(t, VariantEdit{}.Check(true)); !slices.Equal(got, []string{"durationMinutes REQUIRED"}) {
		t.Errorf("got %q", got)
	}
	if err := (VariantEdit{}).Check(false); err != nil {
		t.Error(err)
	}
	for name, c := range map[string]struct {
		edit VariantEdit
		want []string
	}{
		"the shortest":     {VariantEdit{DurationMinutes: new(5), SessionCount: new(1)}, nil},
		"the longest":      {VariantEdit{DurationMinutes: new(1440), SessionCount: new(100)}, nil},
		"a minute less":    {VariantEdit{DurationMinutes: new(4)}, []string{"durationMinutes OUT_OF_RANGE"}},
		"a minute more":    {VariantEdit{DurationMinutes: new(1441)}, []string{"durationMinutes OUT_OF_RANGE"}},
		"one session more": {VariantEdit{SessionCount: new(101)}, []string{"sessionCount OUT_OF_RANGE"}},
	} {
		if got := faulttest.Lines(t, c.edit.Check(false)); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
	inDinars := proposal(Appointment, nil)
	inDinars.Currency = new("kwd")
	dinars, err := Create(inDinars, Origin{VariantID: "var_1"}, now)
	if err != nil {
		t.Fatal(err)
	}
	odd := VariantEdit{DurationMinutes: new(30), Price: new(int64(1505)), PriceGiven: true}
	_, added := dinars.AddVariant("var_2", odd, newPrice, later)
	_, edited := dinars.EditVariant("var_1", odd, newPrice, later)
	for _, err := range []error{added, edited} {
		if got := faulttest.Lines(t, err); !slices.Equal(got, []string{"priceInCents NOT_ALLOWED"}) {
			t.Errorf("thousandths: got %q", got)
		}
	}
	cents := create(t, Appointment, nil)
	if _, err := cents.AddVariant("var_2", odd, newPrice, later); err != nil {
		t.Fatal(err)
	}
	moved := cents.Edit(Edit{Currency: new("kwd")}, newPrice, later)
	if got := faulttest.Lines(t, moved); !slices.Equal(got, []string{"variants[1].priceInCents NOT_ALLOWED"}) {
		t.Errorf("a variant's price in thousandths after a change of currency: got %q", got)
	}
	l := create(t, Appointment, nil)
	for i := len(l.State().Variants); i < 50; i++ {
		if _, err := l.AddVariant("var_x", VariantEdit{DurationMinutes: new(30)}, newPrice, later); err != nil {
			t.Fatal(err)
		}
	}
	before := l.State()
	if _, err := l.AddVariant("var_x", VariantEdit{DurationMinutes: new(30)}, newPrice, later); !fault.Is(err,
		fault.StateConflict) || !reflect.DeepEqual(l.State(), before) {
		t.Errorf("one variant too many: %v", err)
	}
}

func TestASlugIsWhatTheSpecificationSays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		slug := rapid.OneOf(rapid.StringMatching(`[a-z0-9-]{1,110}`), rapid.String(),
			rapid.StringMatching(`[a-z0-9-]{3}[A-Z_ .é\n]?`)).Draw(t, "slug")
		valid := len(slug) >= 3 && len(slug) <= 100
		for i := range len(slug) {
			c := slug[i]
			valid = valid && (c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-')
		}
		p := proposal(Digital, nil)
		p.Slug = &slug
		if got := p.Check() == nil; got != (valid && slug != "mine") || ValidSlug(slug) != valid {
			t.Fatalf("%q: accepted %v, valid %v", slug, got, valid)
		}
	})
}

func TestMetadataComesBackFromTheStoreAsItWent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		number := func(least, most int64) *rapid.Generator[any] {
			return rapid.Map(rapid.Int64Range(least, most), func(n int64) any {
				raw, _ := json.Marshal(n)
				return json.Number(raw)
			})
		}
		text := rapid.StringMatching(`([a-zé][a-zA-Zé ]{0,39})?`)
		raw := map[string]any{}
		for name, value := range map[string]*rapid.Generator[any]{
			"bufferBeforeMinutes": number(0, 1440), "horizonDays": number(1, 730), "weeklyCap": number(1, 10_080),
			"fullRefundHours": number(0, 8760), "inPersonAddress": text.AsAny(),
			"deliveryMethod": rapid.SampledFrom([]any{"virtual", "in_person", "hybrid"}),
		} {
			if rapid.Bool().Draw(t, name+" given") {
				raw[name] = value.Draw(t, name)
			}
		}
		before := create(t, Appointment, raw).State().Metadata
		stored, err := json.Marshal(before)
		if err != nil {
			t.Fatal(err)
		}
		var after Metadata
		if err := json.Unmarshal(stored, &after); err != nil || !reflect.DeepEqual(after, before) || len(after) != len(raw) {
			t.Fatalf("%v became %s and %v, %v", before, stored, after, err)
		}
		again := Edit{Metadata: map[string]any(after)}
		l := create(t, Appointment, raw)
		if err := l.Edit(again, newPrice, later); err != nil || l.State().Revision != 1 {
			t.Fatalf("its own metadata again: %+v, %v", l.State(), err)
		}
	})
}

func TestAVariantHasAKeyThatIsItsOwn(t *testing.T) {
	t.Parallel()
	l := create(t, Appointment, nil)
	if first := l.State().Variants[0]; first.Key != "60-minutes" {
		t.Errorf("the first variant's key is %q", first.Key)
	}
	for i, c := range []struct {
		name, key, want string
	}{
		{"", "", "30-minutes"},
		{"Long talk", "", "long-talk"},
		{"LONG  talk!", "", "long-talk-2"},
		{"Long Talk", "", "long-talk-3"},
		{"—", "", "variant"},
		{"…é", "", "variant-2"},
		{"A", "", "variant-a"},
		{"A b", "", "a-b"},
		{"— Walk", "", "walk"},
		{"Zz9", "", "zz9"},
		{strings.Repeat("ab ", 40), "", strings.TrimSuffix(strings.Repeat("ab-", 30), "-")},
		{"Named", "deep-dive", "deep-dive"},
	} {
		e := VariantEdit{DurationMinutes: new(30)}
		if c.name != "" {
			e.Name = &c.name
		}
		if c.key != "" {
			e.Key = &c.key
		}
		v, err := l.AddVariant(fmt.Sprint("var_x", i), e, newPrice, now)
		if err != nil || v.Key != c.want {
			t.Errorf("%q has the key %q, %v; want %q", c.name, v.Key, err, c.want)
		}
		if found, err := l.State().VariantByKey(c.want); err != nil || found.ID != v.ID {
			t.Errorf("by key %q: %+v, %v", c.want, found, err)
		}
	}
	if _, err := l.AddVariant("var_x", VariantEdit{Key: new("60-minutes"), DurationMinutes: new(30)}, newPrice,
		now); fault.CodeOf(err) != fault.ValidationFailed {
		t.Errorf("the key of the first variant twice: %v", err)
	}
	before := l.State()
	for name, e := range map[string]VariantEdit{
		"taken":      {Key: new("deep-dive"), DurationMinutes: new(30)},
		"not a slug": {Key: new("Deep Dive"), DurationMinutes: new(30)},
		"too short":  {Key: new("ab"), DurationMinutes: new(30)},
		"empty":      {Key: new(""), DurationMinutes: new(30)},
	} {
		if _, err := l.AddVariant("var_x", e, newPrice, now); fault.CodeOf(err) != fault.ValidationFailed {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := l.EditVariant("var_x1", VariantEdit{Key: new("other-key")}, newPrice,
		now); fault.CodeOf(err) != fault.ValidationFailed {
		t.Errorf("a key was changed: %v", err)
	}
	if !reflect.DeepEqual(l.State(), before) {
		t.Error("a refused change changed the listing")
	}
	if renamed, err := l.EditVariant("var_x1", VariantEdit{Name: new("Short talk")}, newPrice, now); err != nil ||
		renamed.Key != "long-talk" {
		t.Errorf("renamed: %+v, %v; the key stays", renamed, err)
	}
	if first, err := l.State().VariantByKey("60-minutes"); err != nil || first.ID != "var_1" {
		t.Errorf("the first by its key: %+v, %v", first, err)
	}
	if _, err := l.State().VariantByKey("deep-dove"); !fault.Is(err, fault.NotFoundCode) ||
		!strings.Contains(err.Error(), "Its variants: 60-minutes, 30-minutes, long-talk, ") ||
		!strings.HasSuffix(err.Error(), `Did you mean "deep-dive"?`) {
		t.Errorf("an unknown key: %v", err)
	}
	if _, err := create(t, Digital, nil).State().VariantByKey("60-minutes"); !fault.Is(err, fault.NotFoundCode) ||
		strings.Contains(err.Error(), "Its variants") {
		t.Errorf("a key where there are none: %v", err)
	}
}
