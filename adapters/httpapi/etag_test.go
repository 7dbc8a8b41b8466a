package httpapi

import "testing"

func TestMatchesETag(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]bool{
		"":                   false,
		`"abc"`:              true,
		`W/"abc"`:            true,
		`"x", "abc"`:         true,
		`"x" ,W/"abc" , "y"`: true,
		"*":                  true,
		"abc":                false,
		`"ABC"`:              false,
		`"abc`:               false,
		`"ab", "c"`:          false,
		`w/"abc"`:            false,
	} {
		if got := matchesETag(header, `"abc"`); got != want {
			t.Errorf("%s matches: %v, want %v", header, got, want)
		}
	}
}
