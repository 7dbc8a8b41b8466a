// Package e2e_test asks the whole program over HTTP, on both engines, as integrators, creators and untrusted parties
// do.
package e2e_test

import (
	"flag"
	"testing"

	"sundry/tests/harness"
)

// TestMain lowers rapid's default number of cases, because each makes some hundred requests. -rapid.checks overrides
// it.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "3"); err != nil {
		panic(err)
	}
	harness.Main(m)
}
