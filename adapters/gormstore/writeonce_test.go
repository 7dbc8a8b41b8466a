package gormstore_test

import (
	"context"
	"reflect"
	"testing"
	"time"

	"sundry/adapters/gormstore"
	"sundry/core/checkout"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/plan"
	"sundry/ports"
	"sundry/tests/testdb"
)

// TestAnUpdateWritesAllThatMayChange changes what a session and a payment may change in their lives; what they began
// with is not written again.
func TestAnUpdateWritesAllThatMayChange(t *testing.T) {
	t.Parallel()
	at := func(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
	eur := func(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "eur"} }
	testdb.EachStore(t, func(t *testing.T, store *gormstore.Store) {
		session := checkout.State{
			ID: "chk_1", CreatorID: "crt_1", Offer: plan.Offer{ListingID: "lst_1", Title: "Poster"}, ExternalCustomerID: "ada",
			Status:   checkout.StatusProcessing,
			Subtotal: eur(10), Discount: eur(0), Tax: eur(0), Total: eur(10), CreatedAt: at(1), ExpiresAt: at(2), Revision: 1,
		}
		attempt := payment.State{
			ID: "pay_1", CreatorID: "crt_1", Subject: payment.Subject{Purpose: payment.ForCheckout, SubjectID: "chk_1"},
			Amount: eur(10), Status: payment.Pending,
			Refunded: eur(0), ProcessorFee: eur(0), CreatedAt: at(1), Revision: 1,
		}
		err := store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			if err := r.Checkout.Sessions.Insert(ctx, session); err != nil {
				return err
			}
			return r.Payments.Payments.Insert(ctx, attempt)
		})
		if err != nil {
			t.Fatal(err)
		}
		session.Email, session.Status, session.Total, session.Tax, session.Discount = "ada@example.com", checkout.StatusPaid,
			eur(11), eur(2), eur(1)
		session.Buyer.Name, session.Attempts, session.PaymentID, session.CustomerID = "Ada", 2, "pay_1", "cus_1"
		session.SubscriptionID, session.ReceiptNumber, session.PaidAt, session.LastError.Code = "sub_1", "R-1", at(3),
			"declined"
		session.Slots, session.LivePaymentID, session.Revision = []checkout.AppointmentSlot{{}}, "pay_1", 2
		attempt.Status, attempt.ProcessorID, attempt.Method, attempt.Brand, attempt.Last4 = payment.Succeeded, "pi_1", "pm_1",
			"visa", "4242"
		attempt.CustomerID, attempt.PaymentMethodID, attempt.Sale.ReceiptNumber, attempt.SettledAt = "cus_1", "pm_2", "R-1",
			at(3)
		attempt.Decline.Code, attempt.Refunded, attempt.ProcessorFee, attempt.Revision = "declined", eur(3), eur(4), 2
		err = store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			if err := r.Checkout.Sessions.Update(ctx, session); err != nil {
				return err
			}
			return r.Payments.Payments.Update(ctx, attempt)
		})
		if err != nil {
			t.Fatal(err)
		}
		r := store.Read(t.Context())
		if got, err := r.Checkout.Sessions.Get(t.Context(), "chk_1"); err != nil || !reflect.DeepEqual(got, session) {
			t.Errorf("the session is\n%+v, %v\nwant\n%+v", got, err, session)
		}
		if got, err := r.Payments.Payments.Get(t.Context(), "pay_1"); err != nil || !reflect.DeepEqual(got, attempt) {
			t.Errorf("the payment is\n%+v, %v\nwant\n%+v", got, err, attempt)
		}
	})
}
