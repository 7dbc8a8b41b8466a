package plan

import "testing"

func TestAnOfferIsNamedOnce(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]Offer{
		"Studio":       {Title: "Studio"},
		"Club":         {Title: "Club", PlanName: "Club"}, // the plan that a listing without plans has
		"Studio – Pro": {Title: "Studio", PlanName: "Pro"},
	} {
		if got := o.Name(); got != want {
			t.Errorf("%+v is named %q, want %q", o, got, want)
		}
	}
}
