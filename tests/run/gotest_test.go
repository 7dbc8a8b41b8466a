package main

import (
	"slices"
	"testing"
)

func TestTestArguments(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		given []string
		tail  []string
	}{
		{"nothing given means every package", nil, []string{"./..."}},
		{"a flag alone still means every package", []string{"-run", "TestOne"}, []string{"-run", "TestOne", "./..."}},
		{"a named package means that one", []string{"-v", "./core/..."}, []string{"-v", "./core/..."}},
		{"an import path is a package", []string{"sundry/core/money"}, []string{"sundry/core/money"}},
		{"what follows -args goes to the test binary", []string{"-args", "./x"}, []string{"./...", "-args", "./x"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := testArguments(c.given)
			if !slices.Equal(got[len(got)-len(c.tail):], c.tail) {
				t.Errorf("got %q, want it to end with %q", got, c.tail)
			}
			if !slices.Contains(got[:len(got)-len(c.tail)], "-trimpath") {
				t.Errorf("%q lacks -trimpath before the caller's arguments", got)
			}
		})
	}
}

func TestTheDetectorLeavesOutWhatItNeedNotWatch(t *testing.T) {
	t.Parallel()
	watched, others := byDetector([]string{
		"sundry/adapters/gormstore", "sundry/core/money", "sundry/tests/browser", "sundry/tests/browserless",
		"sundry/tests/contract", "sundry/tests/e2e", "sundry/tests/roundtrips",
	})
	if want := []string{"sundry/adapters/gormstore", "sundry/tests/browserless",
		"sundry/tests/contract"}; !slices.Equal(watched, want) {
		t.Errorf("watched are %q, want %q", watched, want)
	}
	if want := []string{"sundry/tests/e2e", "sundry/tests/browser", "sundry/core/money",
		"sundry/tests/roundtrips"}; !slices.Equal(others, want) {
		t.Errorf("not watched are %q, want %q", others, want)
	}
}
