package apirequest_test

import (
	"testing"

	"sundry/core/apirequest"
)

func TestARefusalHasAStatusOf400OrMore(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]bool{200: false, 304: false, 399: false, 400: true, 404: true, 500: true} {
		if got := (apirequest.Record{Status: status}).Failed(); got != want {
			t.Errorf("%d: failed %v", status, got)
		}
	}
}

func TestPathsAreKeptUpToALimit(t *testing.T) {
	t.Parallel()
	if apirequest.MaxPath != 300 {
		t.Errorf("paths are kept up to %d bytes", apirequest.MaxPath)
	}
}
