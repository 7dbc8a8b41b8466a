package requestlog_test

import (
	"testing"

	"sundry/core/requestlog"
)

func TestARefusalHasAStatusOf400OrMore(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]bool{200: false, 304: false, 399: false, 400: true, 404: true, 500: true} {
		if got := (requestlog.Record{Status: status}).Failed(); got != want {
			t.Errorf("%d: failed %v", status, got)
		}
	}
}

func TestPathsAreKeptUpToALimit(t *testing.T) {
	t.Parallel()
	if requestlog.MaxPath != 300 {
		t.Errorf("paths are kept up to %d bytes", requestlog.MaxPath)
	}
}
