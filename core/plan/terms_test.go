package plan

import "testing"

func TestAnOfferIsNamedOnce(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]struct {
		offer Offer
		plan  string
	}{
		"Studio":         {Offer{Title: "Studio"}, ""},
		"Club":           {Offer{Title: "Club", PlanName: "Club"}, ""},
		"Studio – Pro":   {Offer{Title: "Studio", PlanName: "Pro"}, "Pro"},
		"Pass – All × 3": {Offer{Title: "Pass", PlanName: "All", PlanKey: DefaultKey, Quantity: 3}, "× 3"},
		"Course – All":   {Offer{Title: "Course", PlanName: "All", PlanKey: DefaultKey}, ""}, // the listing’s title has changed
	} {
		if name, title := c.offer.Name(), c.offer.PlanTitle(); name != want || title != c.plan {
			t.Errorf("%+v is named %q, its plan %q; want %q and %q", c.offer, name, title, want, c.plan)
		}
	}
}
