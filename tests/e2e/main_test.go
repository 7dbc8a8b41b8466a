// Package e2e_test asks the whole program over HTTP, on both engines, as integrators, creators and strangers do.
package e2e_test

import (
	"testing"

	"sundry/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }
