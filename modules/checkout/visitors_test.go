package checkout_test

import (
	"context"
	"strings"
	"testing"

	core "sundry/core/checkout"
	"sundry/core/fault"
	"sundry/core/money"
	"sundry/modules/checkout"
	"sundry/ports"
)

const (
	home   = "192.0.2.1/32"
	office = "198.51.100.0/32"
)

func TestANetworkOpensSixtySessionsByLinkAndThenWaits(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		ctx := context.Background()
		tooLong := map[string]string{"customer_name": strings.Repeat("a", 201)}
		for n := range 60 {
			if _, err := w.checkout.OpenLink(ctx, "code", nil, checkout.Visitor{Network: home}); err != nil {
				t.Fatalf("link %d: %v", n+1, err)
			}
			_, err := w.checkout.OpenLink(ctx, "code", tooLong, checkout.Visitor{Network: home}) // refused, so not counted
			wantCode(t, err, fault.ValidationFailed)
			w.open() // made with a key, so not counted
		}
		for range 3 {
			_, err := w.checkout.OpenLink(ctx, "code", nil, checkout.Visitor{Network: home})
			wantCode(t, err, fault.RateLimited)
			var f *fault.Error
			if !asFault(err, &f) || f.RetryAfter <= 0 {
				t.Errorf("no time to wait: %+v", f)
			}
		}
		if _, err := w.checkout.OpenLink(ctx, "code", nil, checkout.Visitor{Network: office}); err != nil {
			t.Errorf("another network: %v", err)
		}
		expired := w.open()
		if _, err := w.checkout.ExpireEarly(ctx, creatorID, expired.ID); err != nil {
			t.Fatal(err)
		}
		_, err := w.checkout.Again(ctx, secretOf(w, expired), home)
		wantCode(t, err, fault.RateLimited)
	})
}

// A network tries thirty discount codes, and then waits. Removing one is not counted.
func TestANetworkTriesThirtyDiscountCodes(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		secret := secretOf(w, w.open())
		for n := range 30 {
			_, err := w.checkout.ApplyDiscountOnPage(t.Context(), secret, "SIXTH", home)
			if fault.CodeOf(err) != fault.ValidationFailed {
				t.Fatalf("code %d: %v", n+1, err)
			}
		}
		_, err := w.checkout.ApplyDiscountOnPage(t.Context(), secretOf(w, w.open()), "FIFTH", home)
		wantCode(t, err, fault.RateLimited)
		if _, err := w.checkout.ApplyDiscountOnPage(t.Context(), secret, "", home); err != nil {
			t.Errorf("no code: %v", err)
		}
		if _, err := w.checkout.ApplyDiscountOnPage(t.Context(), secret, "FIFTH", office); err != nil {
			t.Errorf("another network: %v", err)
		}
	})
}

// A network places twenty free orders, and then waits.
func TestANetworkWaitsAfterTwentyFreeOrders(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		ctx := context.Background()
		priced := w.offer.Price
		w.offer.Price = money.Amount{Currency: "eur"}
		order := func(network string) (core.State, error) {
			page, err := w.checkout.PayOnPage(ctx, secretOf(w, w.open()), checkout.Payment{}, network)
			return page.Session, err
		}
		for n := range 20 {
			if s, err := order(home); err != nil || s.Status != core.StatusPaid {
				t.Fatalf("order %d: %s, %v", n+1, s.Status, err)
			}
		}
		refused := w.open()
		_, err := w.checkout.PayOnPage(ctx, secretOf(w, refused), checkout.Payment{}, home)
		wantCode(t, err, fault.RateLimited)
		if s := w.session(refused.ID); s.Status != core.StatusProcessing || s.LivePaymentID != "" {
			t.Errorf("after the refusal: %+v", s)
		}
		if _, err := order(office); err != nil {
			t.Errorf("another network: %v", err)
		}
		w.offer.Price = priced
		_, err = w.checkout.PayOnPage(
			ctx, secretOf(w, w.open()), checkout.Payment{Card: ports.CardInput{Number: cardSucceeds}}, home,
		)
		if err != nil {
			t.Errorf("a payment: %v", err)
		}
	})
}
