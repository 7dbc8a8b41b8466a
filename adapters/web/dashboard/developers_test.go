package dashboard

import (
	"slices"
	"testing"

	"sundry/adapters/web/dashboard/ui"
	core "sundry/core/identity"
)

func TestEveryScopeIsOfferedOnce(t *testing.T) {
	t.Parallel()
	for _, live := range []bool{false, true} {
		var got, want []string
		f := scopesField(live)
		for _, group := range append(f.Groups, ui.Group{Options: f.Options}) {
			for _, box := range group.Options {
				got = append(got, box.Value)
			}
		}
		for _, scope := range core.LimitedScopes() {
			if !live || scope != core.ScopeSandbox {
				want = append(want, string(scope))
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("live %t: the form offers %q, want %q", live, got, want)
		}
	}
}
