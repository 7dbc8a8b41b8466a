package e2e_test

import (
	"strings"
	"testing"

	"sundry/tests/harness"
)

func TestANetworkHoldsTimesInFiveSessionsAtMost(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		s := newStudio(t, app)
		l := s.sells(t, "virtual", nil)
		starts := s.open(t, l, "")
		var link struct{ URL string }
		s.AsCreator(t, post, "/v1/payment-links", harness.JSON{"listingId": l.ID}).Want(t, 201).Into(t, &link)
		follow := func() *harness.Response {
			return app.Ask(t, harness.Request{Method: get, Path: strings.TrimPrefix(link.URL, app.URL)})
		}
		pages := make([]string, 6)
		for i := range pages {
			pages[i] = strings.TrimPrefix(follow().Want(t, 303).Header.Get("Location"), app.URL)
		}
		choose := func(page string, n int) *harness.Response {
			return app.Ask(t, harness.Request{
				Method: post, Path: page + "/slots", Body: harness.JSON{"appointmentSlots": slotsAt(starts, n)},
			})
		}
		for i := range 5 {
			choose(pages[i], i).Want(t, 200)
		}
		refused := choose(pages[5], 5)
		refused.Refuses(t, 429, "RATE_LIMITED")
		if refused.Header.Get("Retry-After") == "" {
			t.Error("the refusal does not show how long to wait")
		}
		refusesPage(t, follow(), 429)
		choose(pages[0], 6).Want(t, 200) // in the place of the time that it held
		if open := s.open(t, l, ""); len(open) != len(starts)-5 {
			t.Errorf("%d times are open, want all but five of %d", len(open), len(starts))
		}

		byKey := s.opens(t, s.session(l, nil))
		choose("/c/"+byKey.Secret(), 5).Want(t, 200) // made with a key: not counted
		app.Ask(t, harness.Request{Method: post, Path: pages[1] + "/pay", Body: harness.JSON{
			"cardNumber": harness.CardSucceeds, "email": "grace@example.com",
		}}).Want(t, 200)
		choose(pages[5], 0).Want(t, 200) // one is paid, so another may be opened
		verified(t, app)
	})
}
