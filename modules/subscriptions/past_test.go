package subscriptions_test

import (
	"context"
	"testing"

	"sundry/core/checkout"
	"sundry/core/id"
	"sundry/modules/subscriptions"
	"sundry/ports"
)

func TestTheCardOfATrialIsRemembered(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		had := func(b ports.Buyer) (had bool) {
			t.Helper()
			b.CreatorID, b.ListingID = creatorID, trial.ListingID
			had, err := subscriptions.Past{}.HadTrial(t.Context(), w.store.Read(t.Context()), b)
			if err != nil {
				t.Fatal(err)
			}
			return had
		}
		bea := ports.Buyer{ExternalCustomerID: "bea", Card: "visa"}
		if had(bea) {
			t.Error("the card had a trial before there was one")
		}
		for _, card := range []string{"visa", ""} {
			w.do(func(ctx context.Context, r ports.Repos) error {
				return w.OnCheckoutPaid(ctx, r, checkout.Paid{
					CheckoutID: w.ids.New(id.CheckoutSession), PaymentID: w.ids.New(id.Payment), CreatorID: creatorID,
					CustomerID: customerID, ExternalCustomerID: "ada", SubscriptionID: w.ids.New(id.Subscription), Offer: trial,
					TrialCard: card, At: started,
				})
			})
		}
		if !had(bea) {
			t.Error("the card's trial was forgotten")
		}
		if had(ports.Buyer{ExternalCustomerID: "bea"}) || had(ports.Buyer{ExternalCustomerID: "bea", Card: "other"}) {
			t.Error("a card that is unknown counts as one that had a trial")
		}
	})
}
