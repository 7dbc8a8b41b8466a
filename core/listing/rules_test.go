package listing

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sundry/core/fault"
	"sundry/core/fault/faulttest"
	"sundry/core/intake"
	"sundry/core/money"
)

func TestCreate_MakesADraftOfNow(t *testing.T) {
	t.Parallel()
	s := create(t, Appointment, nil).State()
	if s.Status != Draft || !s.CreatedAt.Equal(now) || !s.UpdatedAt.Equal(now) || s.Revision != 1 {
		t.Errorf("%s, created at %v, updated at %v, revision %d", s.Status, s.CreatedAt, s.UpdatedAt, s.Revision)
	}
	if !s.TrialOncePerCustomer || !s.OneSubscriptionPerCustomer {
		t.Error("a customer may have several trials or subscriptions unless it is said")
	}
	if v := s.Variants[0]; v.SessionCount != 1 {
		t.Errorf("the first variant has %d sessions", v.SessionCount)
	}
}

func TestEdit_LimitsPerCustomer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit                    Edit
		oneTrial, oneSubscribed bool
	}{
		"neither":           {Edit{}, true, true},
		"several trials":    {Edit{TrialOncePerCustomer: new(false)}, false, true},
		"several at a time": {Edit{OneSubscriptionPerCustomer: new(false)}, true, false},
	} {
		l := create(t, Subscription, nil)
		err := l.Edit(c.edit, newPrice, later)
		if s := l.State(); err != nil || s.TrialOncePerCustomer != c.oneTrial ||
			s.OneSubscriptionPerCustomer != c.oneSubscribed {
			t.Errorf("%s: %v, %v, %v", name, s.TrialOncePerCustomer, s.OneSubscriptionPerCustomer, err)
		}
	}
}

// A price of before the rule stays until it is changed.
func TestEdit_ChecksTheStepOfAChangedPrice(t *testing.T) {
	t.Parallel()
	const odd = 1505
	for name, c := range map[string]struct {
		currency string
		edit     Edit
		want     []string
	}{
		"another title":          {"kwd", Edit{Title: new("Other")}, nil},
		"another odd price":      {"kwd", Edit{PriceInCents: new(int64(odd + 2))}, []string{"priceInCents NOT_ALLOWED"}},
		"an even price":          {"kwd", Edit{PriceInCents: new(int64(odd + 5))}, nil},
		"a currency of one step": {"eur", Edit{Currency: new("kwd")}, []string{"priceInCents NOT_ALLOWED"}},
		"a currency of cents":    {"kwd", Edit{Currency: new("eur")}, nil},
		"both":                   {"eur", Edit{Currency: new("kwd"), PriceInCents: new(int64(1510))}, nil},
	} {
		s := create(t, Digital, nil).State()
		s.Price = money.Amount{Minor: odd, Currency: money.Currency(c.currency)}
		if c.edit.Currency == nil {
			s.Variants = []Variant{{ID: "var_1", PriceInCents: new(int64(odd))}}
		}
		if got := faulttest.Lines(t, Restore(s).Edit(c.edit, newPrice, later)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestPlansChanged_MustBeSaved(t *testing.T) {
	t.Parallel()
	l := create(t, Subscription, nil)
	if err := l.PlansChanged(later); err != nil || !l.Changed() {
		t.Errorf("changed %v, %v", l.Changed(), err)
	}
}

func TestNoteFiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status   Status
		had, has bool
		code     fault.Code
	}{
		"the first of a draft":         {Draft, false, true, ""},
		"another one":                  {Active, true, true, ""},
		"the last is gone":             {Active, true, false, ""},
		"the first of an archived one": {Archived, false, true, fault.StateConflict},
		"a version of an archived one": {Archived, true, true, ""},
		"the last of an archived one":  {Archived, true, false, ""},
		"none of an archived one":      {Archived, false, false, ""},
	} {
		s := create(t, Digital, nil).State()
		s.Status, s.HasFiles = c.status, c.had
		l := Restore(s)
		err := l.NoteFiles(c.has, later)
		want := s
		if c.code == "" {
			want.HasFiles, want.UpdatedAt, want.Revision = c.has, later, s.Revision+1
		}
		if fault.CodeOf(err) != c.code || l.Changed() != (c.code == "") || !reflect.DeepEqual(l.State(), want) {
			t.Errorf("%s: %+v, changed %v, %v; want %+v", name, l.State(), l.Changed(), err, want)
		}
	}
}

func TestMetadata_FlagsAndQuestionsComeBack(t *testing.T) {
	t.Parallel()
	asked := []any{map[string]any{"key": "topic", "label": "What is it about?", "type": "text", "required": true}}
	want := intake.Form{MaxGuests: 2, Questions: []intake.Question{
		{Key: "topic", Label: "What is it about?", Type: intake.Line, Required: true},
	}}
	restored := func(s State) State {
		stored, err := json.Marshal(s.Metadata)
		if err != nil {
			t.Fatal(err)
		}
		s.Metadata = nil
		if err := json.Unmarshal(stored, &s.Metadata); err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := restored(create(t, Appointment, map[string]any{Questions: asked, MaxGuests: json.Number("2")}).State())
	if got := s.Intake(); !reflect.DeepEqual(got, want) {
		t.Errorf("buyers are asked %+v, want %+v", got, want)
	}
	if o := s.Offer(s.ImpliedPlan(), s.impliedPrice(), s.Variants[0]); !reflect.DeepEqual(o.Intake, want) {
		t.Errorf("the offer asks %+v, want %+v", o.Intake, want)
	}
	if s.Type = Digital; !reflect.DeepEqual(s.Intake(), intake.Form{}) {
		t.Errorf("buyers of a download are asked %+v", s.Intake())
	}
	for _, may := range []bool{true, false} {
		s := restored(create(t, Subscription, map[string]any{CustomersMayPause: may}).State())
		if s.Flag(CustomersMayPause) != may {
			t.Errorf("customers may pause: %v, want %v", !may, may)
		}
	}
	var m Metadata
	if err := json.Unmarshal([]byte(`{"questions":[{"key":1}]}`), &m); err == nil {
		t.Errorf("questions of another shape are read as %v", m)
	}
}

func TestImpliedPlan_IsTheListings(t *testing.T) {
	t.Parallel()
	l := create(t, Digital, nil)
	if err := l.Edit(Edit{Title: new("Other")}, newPrice, later); err != nil {
		t.Fatal(err)
	}
	p := l.State().ImpliedPlan()
	if p.CreatorID != "crt_1" || p.ListingID != "lst_1" || !p.IsDefault || p.Name != "Other" {
		t.Errorf("the plan is %+v", p)
	}
	if !p.CreatedAt.Equal(now) || !p.UpdatedAt.Equal(later) {
		t.Errorf("created at %v, updated at %v", p.CreatedAt, p.UpdatedAt)
	}
	if p.Terms.Entitlements == nil || p.Terms.Credits == nil || p.Terms.Meters == nil {
		t.Errorf("its empty lists are null in responses: %#v", p.Terms)
	}
}

func TestOffer_ShowsWhatIsSold(t *testing.T) {
	t.Parallel()
	s := create(t, Appointment, nil).State()
	s.Description, s.HasFiles = "An hour.", true
	o := s.Offer(s.ImpliedPlan(), s.impliedPrice(), s.Variants[0])
	if o.Description != "An hour." || !o.HasFiles || o.VariantName != "60 minutes" {
		t.Errorf("description %q, files %v, variant %q", o.Description, o.HasFiles, o.VariantName)
	}
}

func TestVariant_Seats(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		seats, sessions *int
		want            []string
	}{
		"one":                 {new(1), nil, nil},
		"500":                 {new(500), nil, nil},
		"none":                {new(0), nil, []string{"seats OUT_OF_RANGE"}},
		"501":                 {new(501), nil, []string{"seats OUT_OF_RANGE"}},
		"two of one session":  {new(2), new(1), nil},
		"one of a pack":       {new(1), new(2), nil},
		"two of a pack":       {new(2), new(2), []string{"seats NOT_ALLOWED"}},
		"none of no sessions": {new(0), new(0), []string{"sessionCount OUT_OF_RANGE", "seats OUT_OF_RANGE"}},
	} {
		edit := VariantEdit{DurationMinutes: new(60), Seats: c.seats, SessionCount: c.sessions}
		if got := faulttest.Lines(t, edit.Check(true)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		l := create(t, Appointment, nil)
		v, err := l.AddVariant("var_2", edit, newPrice, later)
		if got := faulttest.Lines(t, err); !slices.Equal(got, c.want) {
			t.Errorf("%s, added: %q, want %q", name, got, c.want)
		}
		// One seat is stored as variants from before there were seats.
		if group := *c.seats > 1; err == nil && (v.IsGroup() != group || (v.Seats == 0) == group) {
			t.Errorf("%s: a group %v with %d seats", name, v.IsGroup(), v.Seats)
		}
	}
	if (Variant{Seats: 1}).IsGroup() {
		t.Error("one seat makes a group")
	}
	l := create(t, Appointment, nil)
	for _, c := range []struct {
		edit  VariantEdit
		seats int
		want  []string
	}{
		{VariantEdit{Seats: new(3)}, 3, nil},
		{VariantEdit{SessionCount: new(2)}, 3, []string{"seats NOT_ALLOWED"}},
		{VariantEdit{Name: new("Class")}, 3, nil},
		{VariantEdit{Seats: new(1), SessionCount: new(2)}, 0, nil},
		{VariantEdit{Seats: new(2)}, 0, []string{"seats NOT_ALLOWED"}},
	} {
		_, err := l.EditVariant("var_1", c.edit, newPrice, later)
		if got := faulttest.Lines(t, err); !slices.Equal(got, c.want) || l.State().Variants[0].Seats != c.seats {
			t.Errorf("%+v: %q with %d seats, want %q with %d", c.edit, got, l.State().Variants[0].Seats, c.want, c.seats)
		}
	}
}

func TestAddVariant_OneSessionUnlessAsked(t *testing.T) {
	t.Parallel()
	l := create(t, Appointment, nil)
	v, err := l.AddVariant("var_2", VariantEdit{DurationMinutes: new(30)}, newPrice, later)
	if err != nil || v.SessionCount != 1 {
		t.Errorf("%d sessions, %v", v.SessionCount, err)
	}
	_, err = l.AddVariant("var_3", VariantEdit{DurationMinutes: new(30), Key: &v.Key}, newPrice, later)
	if got := faulttest.Lines(t, err); !slices.Equal(got, []string{"key DUPLICATE"}) {
		t.Errorf("the same key: %q", got)
	}
}

func TestDefaultKey_KeepsLettersAndDigits(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"a`b{c/d:e": "a-b-c-d-e", "az09": "az09", strings.Repeat("a", 120): strings.Repeat("a", 90),
	} {
		if got := defaultKey(name, nil); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// What was read before a change, such as for the event that tells of it, stays as it was.
func TestState_IsACopy(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Listing) error{
		"a variant is added": func(l *Listing) error {
			_, err := l.AddVariant("var_4", VariantEdit{DurationMinutes: new(30), IsDefault: new(true)}, newPrice, later)
			return err
		},
		"a variant is removed": func(l *Listing) error { _, err := l.RemoveVariant("var_1", later); return err },
		"a variant is changed": func(l *Listing) error {
			_, err := l.EditVariant("var_1", VariantEdit{Name: new("Talk")}, newPrice, later)
			return err
		},
		"an image is added": func(l *Listing) error { return l.AddImage(Image{ID: "img_3"}, later) },
	} {
		s := three(t).State()
		s.Variants = slices.Grow(s.Variants, 1)
		s.Images = slices.Grow([]Image{{ID: "img_1"}}, 1)
		l := Restore(s)
		before, variants := l.State(), slices.Clone(s.Variants)
		if err := change(l); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(before.Variants, variants) {
			t.Errorf("%s: the variants of before are %+v, want %+v", name, before.Variants, variants)
		}
		if behind := before.Images[:2][1]; behind != (Image{}) {
			t.Errorf("%s: it was written behind the images of before: %+v", name, behind)
		}
	}
}

func TestProposal_LongestTexts(t *testing.T) {
	t.Parallel()
	p := proposal(Digital, nil)
	p.Title, p.Description = new(strings.Repeat("é", 200)), new(strings.Repeat("é", 10_000))
	if err := p.Check(); err != nil {
		t.Errorf("a title of 200 and a description of 10,000 characters: %v", err)
	}
	l := create(t, Digital, nil)
	if err := l.AddImage(Image{ID: "img_1", Alt: strings.Repeat("é", 200)}, later); err != nil {
		t.Errorf("a description of an image of 200 characters: %v", err)
	}
}
