package main

import (
	"slices"
	"strings"
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
			if !slices.Contains(got[:len(got)-len(c.tail)], "-count=1") {
				t.Errorf("%q lacks -count=1 before the caller's arguments", got)
			}
		})
	}
}

func TestLightPackagesLeavesOutSQLiteAndWhatStartsPrograms(t *testing.T) {
	t.Parallel()
	listed := strings.Join([]string{
		"sundry/core/money fmt strings",
		"sundry/core/money.test fmt strings testing",
		"sundry/core/money [sundry/core/money.test] fmt strings",
		"sundry/adapters/gormstore.test fmt modernc.org/sqlite",
		"sundry/tests/browser.test fmt testing",
		"sundry/tests/browserless.test fmt testing",
		"",
	}, "\n")
	got := lightPackages(listed)
	if want := []string{"sundry/core/money", "sundry/tests/browserless"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	got = watchablePackages(listed)
	if want := []string{"sundry/core/money", "sundry/adapters/gormstore", "sundry/tests/browserless"}; !slices.Equal(got, want) {
		t.Errorf("with the store's: got %q, want %q", got, want)
	}
}
