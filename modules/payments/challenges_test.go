package payments_test

import (
	"strings"
	"testing"

	"sundry/core/fault"
	"sundry/core/locale"
	"sundry/ports"
)

// The processor is asked about a challenge each time, so a network is led to banks and back 240 times.
func TestChallenge_LimitedByNetwork(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		charge := wish(subscriptionID, w.saved(cardAsksAlways))
		charge.OnSession = true
		started := w.mustStart(charge)
		if _, err := w.Run(t.Context(), started, ports.Payer{}); err != nil {
			t.Fatal(err)
		}
		setup, err := w.OpenSetup(t.Context(), creatorID, customerID, "")
		if err != nil {
			t.Fatal(err)
		}
		secret := strings.TrimPrefix(w.SetupURL(setup.ID), "https://pay.example.com/setup/")
		_, err = w.SaveOnPage(t.Context(), secret, number(cardAsksAlways), locale.Default)
		refused(t, err, fault.AuthenticationRequired)

		for of, c := range map[string]struct{ ask, comeBack func(network string) error }{
			"a payment": {
				func(network string) error { _, err := w.Challenge(t.Context(), started.ID, network); return err },
				func(network string) error {
					_, err := w.Authenticate(t.Context(), started.ID, true, network)
					return err
				},
			},
			"a card": {
				func(network string) error { _, err := w.SetupChallenge(t.Context(), secret, network); return err },
				func(network string) error {
					_, err := w.AuthenticateOnPage(t.Context(), secret, true, network)
					return err
				},
			},
		} {
			for n := range 240 {
				if err := c.ask(home); err != nil {
					t.Fatalf("%s, question %d: %v", of, n+1, err)
				}
			}
			refused(t, c.ask(home), fault.RateLimited)
			refused(t, c.comeBack(home), fault.RateLimited)
			if err := c.comeBack(office); err != nil {
				t.Errorf("%s, another network: %v", of, err)
			}
		}
	})
}
