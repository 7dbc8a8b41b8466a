// Package e2e_test asks the whole program over HTTP, on both engines, as integrators, creators and untrusted parties do.
package e2e_test

import (
	"flag"
	"testing"

	"sundry/tests/harness"
)

// TestMain runs fewer random cases than rapid would by itself, for each is some thirty requests; -rapid.checks asks for
// more.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "6"); err != nil {
		panic(err)
	}
	harness.Main(m)
}
