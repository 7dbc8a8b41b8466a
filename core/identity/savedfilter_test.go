package identity_test

import (
	"slices"
	"strings"
	"testing"

	"sundry/core/fault/faulttest"
	"sundry/core/identity"
)

func TestSavedFilter_IsStoredInOneSpelling(t *testing.T) {
	t.Parallel()
	good := identity.SavedFilter{List: "/dashboard/orders", Name: "Paid", Query: "sort=-amount&status=paid"}
	with := func(change func(*identity.SavedFilter)) identity.SavedFilter {
		s := good
		change(&s)
		return s
	}
	query := func(length int) string { return "q=" + strings.Repeat("x", length-2) }
	for name, c := range map[string]struct {
		given  identity.SavedFilter
		query  string
		faults []string
	}{
		"a good one": {good, good.Query, nil},
		"in another order": {with(func(s *identity.SavedFilter) {
			s.Name, s.Query = " Paid ", "status=paid&sort=-amount"
		}), good.Query, nil},
		"no filter":         {with(func(s *identity.SavedFilter) { s.Query = "" }), "", nil},
		"a long one":        {with(func(s *identity.SavedFilter) { s.Query = query(4000) }), query(4000), nil},
		"too long a filter": {with(func(s *identity.SavedFilter) { s.Query = query(4001) }), "", []string{"query INVALID"}},
		"an unreadable one": {with(func(s *identity.SavedFilter) { s.Query = "a=%zz" }), "", []string{"query INVALID"}},
		"no name":           {with(func(s *identity.SavedFilter) { s.Name = " " }), "", []string{"name REQUIRED"}},
		"a long name":       {with(func(s *identity.SavedFilter) { s.Name = strings.Repeat("é", 40) }), "", nil},
		"too long a name": {with(func(s *identity.SavedFilter) {
			s.Name = strings.Repeat("é", 41)
		}), "", []string{"name TOO_LONG"}},
		"a long path": {with(func(s *identity.SavedFilter) { s.List = strings.Repeat("/", 120) }), "", nil},
		"too long a path": {with(func(s *identity.SavedFilter) {
			s.List = strings.Repeat("/", 121)
		}), "", []string{"list TOO_LONG"}},
	} {
		got, err := c.given.Clean()
		if faults := faulttest.Lines(t, err); !slices.Equal(faults, c.faults) {
			t.Errorf("%s: refused for %q, want %q", name, faults, c.faults)
		}
		if want := strings.TrimSpace(c.given.Name); got.Name != want || c.query != "" && got.Query != c.query {
			t.Errorf("%s: stored as %q with %q, want %q with %q", name, got.Name, got.Query, want, c.query)
		}
	}
}
