package listing

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"sundry/core/fault"
	"sundry/core/fault/faulttest"
	"sundry/core/listingtype"
	"sundry/core/plan"
)

func TestAnEditThatLeavesMetadataAloneDoesNotCheckIt(t *testing.T) {
	t.Parallel()
	s := create(t, Digital, nil).State()
	s.Metadata = Metadata{"formerly": "allowed"}
	l := Restore(s)
	if err := l.Edit(Edit{Title: new("Other")}, newPrice, later); err != nil ||
		!reflect.DeepEqual(l.State().Metadata, s.Metadata) {
		t.Errorf("%v, %v", err, l.State().Metadata)
	}
	if err := (Edit{Title: new("Other"), Metadata: map[string]any{"any": "thing"}}).Check(); err != nil {
		t.Errorf("without the listing nobody knows what its metadata may be: %v", err)
	}
	if got := faulttest.Lines(t, Edit{Title: new("")}.Check()); !slices.Equal(got, []string{"title REQUIRED"}) {
		t.Errorf("%q", got)
	}
}

func TestFeaturesComeBackFromTheStoreAsTheyWent(t *testing.T) {
	t.Parallel()
	l := create(t, Subscription, map[string]any{Features: []any{"Calls", "forum"}})
	stored, err := json.Marshal(l.State().Metadata)
	if err != nil {
		t.Fatal(err)
	}
	s := l.State()
	s.Metadata = nil
	if err := json.Unmarshal(stored, &s.Metadata); err != nil || !reflect.DeepEqual(s.Metadata, l.State().Metadata) {
		t.Fatalf("%s became %v, %v", stored, s.Metadata, err)
	}
	l = Restore(s)
	if err := l.Edit(Edit{Metadata: map[string]any{TrialDays: json.Number("7")}}, newPrice, later); err != nil ||
		!reflect.DeepEqual(l.State().Metadata, Metadata{Features: []string{"Calls", "forum"}, TrialDays: int64(7)}) {
		t.Errorf("after an edit of something else: %v, %v", l.State().Metadata, err)
	}
}

func TestMetadataThatNobodyStoredIsAnError(t *testing.T) {
	t.Parallel()
	for _, stored := range []string{`[]`, `{"pageCount":1.5}`, `{"pageCount":99999999999999999999}`, `{"pageCount":{}}`,
		`{"pageCount":null}`} {
		var m Metadata
		if err := json.Unmarshal([]byte(stored), &m); err == nil {
			t.Errorf("%s became %v", stored, m)
		}
	}
}

func TestWithoutLeavesTheOriginalAlone(t *testing.T) {
	t.Parallel()
	m := Metadata{DownloadURL: "https://a.example/b", "pageCount": int64(3)}
	if got := m.Without(DownloadURL); !reflect.DeepEqual(got, Metadata{"pageCount": int64(3)}) || len(m) != 2 {
		t.Errorf("%v of %v", got, m)
	}
}

func TestACreatedListingIsWhatWasProposed(t *testing.T) {
	t.Parallel()
	p := proposal(Digital, nil)
	p.Description, p.CatalogKey, p.TaxBehavior = new("A book"), new("the-book"), new("exclusive")
	l, err := Create(p, Origin{ID: "lst_1", VariantID: "var_1"}, now)
	if err != nil {
		t.Fatal(err)
	}
	if s := l.State(); s.Description != "A book" || s.CatalogKey != "the-book" || s.TaxBehavior != "exclusive" ||
		len(s.Variants) != 0 || s.DeliveryModes() != nil {
		t.Errorf("%+v", s)
	}
	if _, err := l.State().Variant(""); !fault.Is(err, fault.NotFoundCode) {
		t.Errorf("a variant of a book: %v", err)
	}
}

func TestOnlyWhatChangedMustBeSaved(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]bool{"Field notes": false, "Other": true} {
		l := Restore(create(t, Digital, nil).State())
		if err := l.Edit(Edit{Title: &title}, newPrice, later); err != nil || l.Changed() != want {
			t.Errorf("%s: changed is %v, %v", title, l.Changed(), err)
		}
	}
}

func TestMetadata_NamesAreMembersOfAType(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		DownloadURL, ImageURL, Interval, IntervalCount, TrialDays, Features, DeliveryMethod, SlotIntervalMinutes,
		BufferBefore,
		BufferAfter, MinimumNotice, HorizonDays, DailyCap, WeeklyCap, InPersonAddress, FullRefundHours,
	} {
		known := func(kind Type) bool { return kind.Metadata()[name].Check != nil }
		if !slices.ContainsFunc(listingtype.All(), known) {
			t.Errorf("%s is a member of no type", name)
		}
	}
}

func TestMetadata_LimitsATrialAsPlansDo(t *testing.T) {
	t.Parallel()
	for days, allowed := range map[int]bool{plan.MaxTrialDays: true, plan.MaxTrialDays + 1: false} {
		var f fault.Violations
		Subscription.Metadata()[TrialDays].Check(&f, TrialDays, int64(days))
		if err := f.Err(); (err == nil) != allowed {
			t.Errorf("%d days: got %v, want it allowed: %t", days, err, allowed)
		}
	}
}
