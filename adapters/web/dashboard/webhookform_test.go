package dashboard

import (
	"slices"
	"strings"
	"testing"

	core "sundry/core/webhook"
)

func TestEveryFamilyOfEventsHasAName(t *testing.T) {
	t.Parallel()
	for _, kind := range core.EventTypes() {
		family, _, _ := strings.Cut(kind, ".")
		if eventFamilies[family] == "" {
			t.Errorf("the family of %s has no name", kind)
		}
	}
}

func TestFiltersThatOthersIncludeAreLeftOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ sent, want string }{
		{"", ""},
		{"refund.created", "refund.created"},
		{"invoice.paid invoice.created", "invoice.paid invoice.created"},
		{"payment.completed subscription.* subscription.canceled", "payment.completed subscription.*"},
		{"usage.limit_reached usage.* usage_credit.low", "usage.* usage_credit.low"},
		{"* payment.* payment.completed payment.gone", "*"},
		{"refund.created refund.created", "refund.created refund.created"}, // refused as a duplicate
	} {
		if got := withoutIncluded(strings.Fields(c.sent)); !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%q: %q, want %q", c.sent, got, c.want)
		}
	}
}
