package main

import (
	"strings"
	"testing"
)

func TestWhatIsNoCommandIsRefused(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"sell"}, {"serve", "worker"}, {"version", "2"}, {"verify", "--fix"}} {
		if err := run(t.Context(), args); err == nil || !strings.Contains(err.Error(), args[len(args)-1]) {
			t.Errorf("%v: %v", args, err)
		}
	}
}
