package paymentlink

import (
	"slices"
	"testing"
	"time"

	"sundry/core/fault/faulttest"
)

var (
	now   = time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)
	later = now.Add(time.Hour)
)

func TestALinkIsRefusedWithAllItsFaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit    Edit
		sandbox bool
		want    []string
	}{
		"a listing is enough": {Edit{ListingID: new("lst_1")}, false, nil},
		"everything": {Edit{ListingID: new("lst_1"), VariantID: new("var_1"), PlanKey: new("pro"),
			Every: new("year"), SuccessURL: new("https://a.example/b"), Active: new(false)}, false, nil},
		"nothing":                 {Edit{}, false, []string{"listingId REQUIRED"}},
		"a listing without an id": {Edit{ListingID: new("")}, false, []string{"listingId REQUIRED"}},
		"an unknown interval and a URL": {Edit{Every: new("fortnight"), SuccessURL: new("http://a.example")}, true,
			[]string{"listingId REQUIRED", "interval NOT_ALLOWED", "successUrl INVALID"}},
		"localhost in the sandbox": {Edit{ListingID: new("lst_1"), SuccessURL: new("http://localhost:3000/x")}, true, nil},
		"localhost in live": {Edit{ListingID: new("lst_1"), SuccessURL: new("http://localhost:3000/x")}, false,
			[]string{"successUrl INVALID"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, err := Create(c.edit, Origin{ID: "plink_1", CreatorID: "crt_1", Code: "abc"}, c.sandbox, now)
			if got := faulttest.Lines(t, err); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if (l == nil) != (err != nil) || l != nil &&
				(l.State().Revision != 1 || l.State().Active != (c.edit.Active == nil)) {
				t.Errorf("made %+v", l)
			}
		})
	}
}

func TestAnEditOfALinkChangesWhatItNames(t *testing.T) {
	t.Parallel()
	l, err := Create(Edit{ListingID: new("lst_1"), PlanKey: new("pro"), Every: new("month"),
		SuccessURL: new("https://a.example")}, Origin{ID: "plink_1"}, false, now)
	if err != nil {
		t.Fatal(err)
	}
	want := l.State()
	if err := l.Edit(Edit{Every: new("hour")}, false, later); err == nil || l.State() != want {
		t.Errorf("a refused edit left %+v, %v", l.State(), err)
	}
	if err := l.Edit(Edit{PlanKey: new("pro")}, false, later); err != nil || l.State() != want {
		t.Errorf("a void edit left %+v, %v", l.State(), err)
	}
	want.ListingID, want.VariantID, want.PlanKey, want.Every, want.SuccessURL = "lst_2", "var_2", "vip", "year:2",
		"https://b.example"
	want.UpdatedAt, want.Revision = later, 2
	all := Edit{ListingID: new("lst_2"), VariantID: new("var_2"), PlanKey: new("vip"), Every: new("year:2"),
		SuccessURL: new("https://b.example")}
	if err := l.Edit(all, false, later); err != nil || l.State() != want {
		t.Errorf("got %+v, %v; want %+v", l.State(), err, want)
	}
	later := later.Add(time.Hour)
	want.Every, want.SuccessURL, want.Active, want.UpdatedAt, want.Revision = "", "", false, later, 3
	if err := l.Edit(Edit{Every: new(""), SuccessURL: new(""), Active: new(false)}, false, later); err != nil ||
		l.State() != want {
		t.Errorf("got %+v, %v; want %+v", l.State(), err, want)
	}
}
