package operator_test

import (
	"strings"
	"testing"

	"sundry/core/fault"
	"sundry/core/operator"
)

func TestCleanReason(t *testing.T) {
	t.Parallel()
	if got, err := operator.CleanReason("  sells fakes\n"); got != "sells fakes" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := operator.CleanReason(strings.Repeat("ß", 500)); len(got) != 1000 || err != nil {
		t.Errorf("500 characters: %d bytes, %v", len(got), err)
	}
	for _, reason := range []string{"", " \n", strings.Repeat("ß", 501)} {
		if _, err := operator.CleanReason(reason); !fault.Is(err, fault.ValidationFailed) {
			t.Errorf("%.5q: %v", reason, err)
		}
	}
}
