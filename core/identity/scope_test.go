package identity_test

import (
	"errors"
	"slices"
	"testing"

	"sundry/core/fault"
	"sundry/core/identity"
)

func TestParseScopes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		names []string
		want  string
		wrong []string
	}{
		"none at all is everything":       {nil, "", nil},
		"all is everything":               {[]string{"all"}, "", nil},
		"some are kept in the set order":  {[]string{"refunds", "read"}, "read,refunds", nil},
		"an empty list is refused":        {[]string{}, "", []string{"scopes"}},
		"all stands alone":                {[]string{"all", "read"}, "", []string{"scopes[0]"}},
		"nor before an unknown one":       {[]string{"all", "raed"}, "", []string{"scopes[0]", "scopes[1]"}},
		"every unknown one is named":      {[]string{"raed", "usage", ""}, "", []string{"scopes[0]", "scopes[2]"}},
		"the same twice is refused":       {[]string{"usage", "usage"}, "", []string{"scopes[1]"}},
		"an upper-case one is not a name": {[]string{"Read"}, "", []string{"scopes[0]"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set, err := identity.ParseScopes(c.names)
			var got []string
			if f, ok := errors.AsType[*fault.Error](err); ok {
				for _, d := range f.Details {
					got = append(got, d.Field)
				}
			}
			if !slices.Equal(got, c.wrong) {
				t.Errorf("faults %q, want %q", got, c.wrong)
			}
			if err == nil && set.Text() != c.want {
				t.Errorf("scopes %q, want %q", set.Text(), c.want)
			}
		})
	}
}

func TestScopesAllow(t *testing.T) {
	t.Parallel()
	limited := identity.LimitedScopes()
	if len(limited) != 13 || limited[0] != identity.ScopeRead {
		t.Fatalf("the scopes of a limited key are %q", limited)
	}
	every := append(limited, identity.ScopeAll)
	for _, scope := range identity.LimitedScopes() {
		one := identity.RestoreScopes(string(scope))
		for _, other := range every {
			if got, want := one.Allow(other), other == scope; got != want {
				t.Errorf("%s allows %s: %v, want %v", scope, other, got, want)
			}
			if !(identity.Scopes{}).Allow(other) {
				t.Errorf("a key without limits is refused %s", other)
			}
		}
		if !one.Allow(identity.ScopeAll, scope) {
			t.Errorf("%s is not enough where one of two is", scope)
		}
	}
	if got := identity.RestoreScopes(""); got != (identity.Scopes{}) {
		t.Errorf("a key that is stored without limits is limited to %q", got.List())
	}
	if got := identity.RestoreScopes("from-the-future"); got.Allow(every...) || got == (identity.Scopes{}) {
		t.Error("a scope that this version does not know opens something")
	}
}

func TestStoredScopesAreReadBack(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "read", "read,usage", "catalog,webhooks"} {
		if got := identity.RestoreScopes(text).Text(); got != text {
			t.Errorf("stored %q, read back %q", text, got)
		}
	}
	if got := (identity.Scopes{}).List(); !slices.Equal(got, []identity.Scope{identity.ScopeAll}) {
		t.Errorf("no limits are listed as %q", got)
	}
}
