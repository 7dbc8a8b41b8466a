package payments_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"sundry/core/cardsetup"
	"sundry/core/checkout"
	"sundry/core/fault"
	"sundry/core/locale"
	"sundry/core/paymentmethod"
	"sundry/ports"
)

func TestACheckoutKeepsTheCardWithItsMandate(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		now, _ := w.clock.Now(t.Context(), "")
		paid := checkout.Paid{CreatorID: creatorID, CustomerID: customerID, CheckoutID: "cs_1", At: now}
		keep := func(e checkout.Paid) {
			if err := w.store.Atomically(
				t.Context(), func(ctx context.Context, r ports.Repos) error { return w.OnCheckoutPaid(ctx, r, e) },
			); err != nil {
				t.Fatal(err)
			}
		}
		keep(paid) // saves no card
		paid.Buyer.Locale = "de-AT"
		paid.PaymentMethodID, paid.Card = "pm_1", paymentmethod.Card{Token: "tok", Brand: "visa", Last4: "4242"}
		keep(paid)
		cards, err := w.Cards(t.Context(), customerID)
		if err != nil || len(cards) != 1 {
			t.Fatalf("%+v, %v", cards, err)
		}
		m := cards[0].Mandate
		if m.Text != paymentmethod.MandateText(locale.ParseTag("de-AT"), merchant, "Ada") ||
			m.Text == paymentmethod.MandateText(locale.Locale{}, merchant, "Ada") || m.Source != "cs_1" ||
			!m.AcceptedAt.Equal(now) ||
			cards[0].Token != "tok" {
			t.Errorf("%+v", cards[0])
		}
	})
}

func TestARemovedCardIsFollowedByTheLatestOther(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		first, second := w.saved(cardSucceeds), w.saved(cardFailsLater)
		refused(t, w.RemoveCard(t.Context(), "crt_other", customerID, second), fault.NotFoundCode)
		refused(t, w.RemoveCard(t.Context(), creatorID, "cus_other", second), fault.NotFoundCode)
		refused(t, w.RemoveCard(t.Context(), creatorID, customerID, "pm_unknown"), fault.NotFoundCode)
		if err := w.RemoveCard(t.Context(), creatorID, customerID, second); err != nil {
			t.Fatal(err)
		}
		refused(t, w.RemoveCard(t.Context(), creatorID, customerID, second), fault.NotFoundCode)
		if w.published("payment_method.removed", second+" for "+first) != 1 {
			t.Error("no event names who follows")
		}
		if err := w.RemoveCard(t.Context(), creatorID, customerID, first); err != nil {
			t.Fatal(err)
		}
		if w.published("payment_method.removed", first+" for ") != 1 {
			t.Error("the last card is followed by none")
		}
	})
}

func number(of string) ports.CardInput { return ports.CardInput{Number: of} }

// german is a reader whose language is not that of the API.
var german = locale.ParseTag("de-AT")

func TestASetupSavesACardWithTheMandateThatItsPageShows(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		setup, err := w.OpenSetup(t.Context(), creatorID, customerID, "https://shop.example/account")
		if err != nil {
			t.Fatal(err)
		}
		address := w.SetupURL(setup.ID)
		secret := address[strings.LastIndexByte(address, '/')+1:]
		_, err = w.SetupPage(t.Context(), setup.ID, german)
		refused(t, err, fault.NotFoundCode)
		page, err := w.SetupPage(t.Context(), secret, german)
		if err != nil || page.Expired || page.Seller.Name != "Ada" ||
			!strings.HasPrefix(page.Mandate, "Du ermächtigst "+merchant) ||
			page.Mandate != paymentmethod.MandateText(german, merchant, "Ada") {
			t.Fatalf("%+v, %v", page, err)
		}
		_, err = w.AuthenticateOnPage(t.Context(), secret, true, home)
		refused(t, err, fault.StateConflict)
		_, err = w.SaveOnPage(t.Context(), secret, number("4000000000000001"), german)
		refused(t, err, fault.ValidationFailed)
		_, err = w.SaveOnPage(t.Context(), secret, number(cardDeclined), german)
		refused(t, err, fault.CardDeclined)
		_, err = w.SaveOnPage(t.Context(), secret, number(cardAsksAlways), german)
		refused(t, err, fault.AuthenticationRequired)
		if page, err = w.SetupPage(t.Context(), secret, german); err != nil || page.Setup.Status != cardsetup.Authenticating {
			t.Fatalf("%+v, %v", page, err)
		}
		done, err := w.AuthenticateOnPage(t.Context(), secret, true, home)
		if err != nil || done.Status != cardsetup.Completed ||
			w.published("payment_method.saved", done.PaymentMethodID) != 1 {
			t.Fatalf("%+v, %v", done, err)
		}
		if page, err = w.SetupPage(t.Context(), secret, german); err != nil || page.Card.Last4 != "3184" ||
			page.Card.Mandate.Text != page.Mandate || page.Card.Mandate.Source != setup.ID {
			t.Errorf("%+v, %v", page.Card, err)
		}
		_, err = w.SaveOnPage(t.Context(), secret, number(cardSucceeds), german)
		refused(t, err, fault.StateConflict)
	})
}

// A customer tries twenty cards an hour, over all of their setups.
func TestACustomerTriesTwentyCards(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		save := func(number string) error {
			setup, err := w.OpenSetup(t.Context(), creatorID, customerID, "")
			if err != nil {
				t.Fatal(err)
			}
			address := w.SetupURL(setup.ID)
			_, err = w.SaveOnPage(
				t.Context(), address[strings.LastIndexByte(address, '/')+1:], ports.CardInput{Number: number}, german,
			)
			return err
		}
		for range 20 {
			refused(t, save(cardDeclined), fault.CardDeclined)
		}
		refused(t, save(cardSucceeds), fault.RateLimited)
		w.clock.Advance(time.Hour)
		if err := save(cardSucceeds); err != nil {
			t.Errorf("an hour later: %v", err)
		}
	})
}

func TestASetupIsGoodForADay(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		setup, err := w.OpenSetup(t.Context(), creatorID, customerID, "")
		if err != nil {
			t.Fatal(err)
		}
		address := w.SetupURL(setup.ID)
		secret := address[strings.LastIndexByte(address, '/')+1:]
		w.clock.Advance(24 * time.Hour)
		if page, err := w.SetupPage(t.Context(), secret, german); err != nil || !page.Expired {
			t.Errorf("%+v, %v", page, err)
		}
		_, err = w.SaveOnPage(t.Context(), secret, number(cardSucceeds), german)
		refused(t, err, fault.SessionExpired)
	})
}

func TestACheckOfACardWhoseResponseIsLostSavesIt(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.saved(cardLost)
		w.processor.Unreachable.Store(true)
		_, err := w.SaveTestCard(t.Context(), creatorID, customerID, cardSucceeds)
		refused(t, err, fault.ProcessorUnavailable)
		if cards, err := w.Cards(t.Context(), customerID); err != nil || len(cards) != 1 {
			t.Errorf("%+v, %v", cards, err)
		}
	})
}

func TestARequestForASetupNamesWhoAndWhereTo(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		for name, c := range map[string]struct{ customer, returnURL string }{
			"nobody": {"", "https://shop.example"}, "nowhere": {customerID, ""}, "no address": {customerID, "shop"},
		} {
			if err := w.CheckSetup(c.customer, c.returnURL); !fault.Is(err, fault.ValidationFailed) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := w.CheckSetup(customerID, "https://shop.example"); err != nil {
			t.Error(err)
		}
	})
}
