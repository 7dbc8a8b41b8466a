package gormstore_test

import (
	"strings"
	"testing"

	"sundry/adapters/gormstore"
)

// TestAPoolOfOneConnectionIsRefused because the check of all invariants would wait for its second one without an end.
func TestAPoolOfOneConnectionIsRefused(t *testing.T) {
	t.Parallel()
	_, err := gormstore.Open(t.Context(), "postgres://sundry:secret@127.0.0.1:1/sundry?pool_max_conns=1")
	if err == nil || !strings.Contains(err.Error(), "pool_max_conns=1") || strings.Contains(err.Error(), "secret") {
		t.Errorf("it opens, or the error does not say why: %v", err)
	}
}
