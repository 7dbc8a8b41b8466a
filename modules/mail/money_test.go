package mail_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"sundry/core/appointment"
	"sundry/core/checkout"
	"sundry/core/dispute"
	"sundry/core/identity"
	"sundry/core/ledger"
	"sundry/core/listingtype"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/payout"
	"sundry/core/refund"
	"sundry/modules/mail"
	"sundry/ports"
)

// wantOnce publishes an event twice and finds one mail, with its parts in both bodies; none where to is "".
func (w *fixture) wantOnce(to, subject string, publish func(ctx context.Context, r ports.Repos) error,
	parts ...string) {
	w.t.Helper()
	for range 2 {
		w.atomically(publish)
		w.work()
	}
	got := w.mailed()
	if to == "" {
		if len(got) > 0 {
			w.t.Errorf("mailed %q to %s, want nothing", got[0].Subject, got[0].To)
		}
		return
	}
	if len(got) != 1 {
		w.t.Fatalf("%d mails, want one", len(got))
	}
	if got[0].To != to || !strings.Contains(got[0].Subject, subject) {
		w.t.Errorf("%q to %s, want %q to %s", got[0].Subject, got[0].To, subject, to)
	}
	for _, part := range parts {
		if !strings.Contains(got[0].Text, part) || !strings.Contains(got[0].HTML, part) {
			w.t.Errorf("%q is missing from\n%s", part, got[0].Text)
		}
	}
}

func TestABuyerIsMailedEachRefundOnce(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		amount := money.Amount{Minor: 1000, Currency: "eur"}
		e := refund.Created{Item: payment.Line{Description: "Type specimens"}, State: refund.State{
			ID: "ref_01h00000000000000000000000", CreatorID: creatorID,
			Return:           ledger.Return{CheckoutID: "cs_1", Share: ledger.Share{Amount: amount}},
			CreditNoteNumber: "ABC-C-000001", SettledAt: w.Real(),
		}}
		on := func(ctx context.Context, r ports.Repos) error { return w.mail.OnRefundCreated(ctx, r, e) }
		w.wantOnce("", "", on) // nobody knows the buyer's address
		w.buyer = "grace@example.com"
		w.wantOnce(w.buyer, "Your refund of €10.00", on, "Type specimens", "€10.00", "5 to 10 days", "ABC-C-000001",
			"https://pay.example.com/d/")
		for locale, words := range map[string]string{"de-DE": "Es dauert 5 bis 10 Tage", "fr-FR": "Comptez 5 à 10 jours"} {
			w.locale, e.ID = locale, "ref_01h0000000000000000000000"+locale[:1]
			w.wantOnce(w.buyer, "10,00", on, words)
		}
		w.locale, e.ID = "de-DE", "ref_01h00000000000000000000009"
		e.Item = payment.Line{Description: "App (14 of 28 days)", Share: payment.PlanShare{Plan: "App", Left: 14, Days: 28}}
		w.wantOnce(w.buyer, "10,00", on, "App (14 von 28 Tagen)")
		w.locale = ""
		reversed := payment.Reversed{State: payment.State{
			ID: "pay_01h00000000000000000000000", CreatorID: creatorID, Amount: amount,
			Subject: payment.Subject{Purpose: payment.ForCheckout, SubjectID: "cs_1"},
			Sale:    payment.Sale{Lines: []payment.Line{{Description: "Coaching", Amount: amount}}},
		}, Share: ledger.Share{Amount: amount}}
		w.wantOnce(w.buyer, "Your refund of €10.00", func(ctx context.Context, r ports.Repos) error {
			return w.mail.OnPaymentReversed(ctx, r, reversed)
		}, "Coaching")
	})
}

func TestACanceledAppointmentIsMailedOnce(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.buyer = "grace@example.com"
		e := refund.Created{Item: payment.Line{Description: "Coaching"}, State: refund.State{
			ID: "ref_01h00000000000000000000000", CreatorID: creatorID,
			Return: ledger.Return{
				CheckoutID: "cs_1", Share: ledger.Share{Amount: money.Amount{Minor: 1000, Currency: "eur"}},
			},
			Reason: refund.AppointmentCanceled, SettledAt: w.Real(),
		}}
		on := func(ctx context.Context, r ports.Repos) error { return w.mail.OnRefundCreated(ctx, r, e) }
		w.pack = []appointment.State{{ID: "apt_1", RefundID: e.ID}}
		w.wantOnce("", "", on)
		e.ID = "ref_01h00000000000000000000001" // a caller's, for the same reason
		w.wantOnce(w.buyer, "Your refund of €10.00", on, "Coaching")
	})
}

func TestARefundThatFailedIsMailed(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.buyer = "grace@example.com"
		e := refund.Failure{Item: payment.Line{Description: "Type specimens"}, State: refund.State{
			ID: "ref_01h00000000000000000000000", CreatorID: creatorID,
			Return: ledger.Return{
				PaymentID: "pay_1", CheckoutID: "cs_1", Share: ledger.Share{Amount: money.Amount{Minor: 1000, Currency: "eur"}},
			},
			FailureReason: "lost_or_stolen_card", SettledAt: w.Real(),
		}}
		on := func(ctx context.Context, r ports.Repos) error { return w.mail.OnRefundFailed(ctx, r, e) }
		w.wantOnce(seller.Address, "A refund of €10.00 failed", on, "Type specimens", "Lost or stolen card",
			"/dashboard/orders/pay_1")

		told := map[string]bool{}
		e.CameBack, e.ID = true, "ref_01h00000000000000000000001"
		w.atomically(on)
		w.work()
		for _, mail := range w.mailed() {
			told[mail.To] = true
			if mail.To == w.buyer && !strings.Contains(mail.Text, "the bank sent it back") {
				t.Errorf("the buyer reads %s", mail.Text)
			}
		}
		if len(told) != 2 {
			t.Errorf("mailed to %v, want the seller and the buyer", told)
		}
	})
}

func TestACreatorIsMailedEachOrderOnce(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		e := bought()
		on := func(ctx context.Context, r ports.Repos) error {
			w.t.Helper()
			return w.mail.OnCheckoutPaid(ctx, r, e)
		}
		e.Email = "" // no receipt
		w.wantOnce("", "", on)
		w.account.Wants.Orders = true
		w.wantOnce(seller.Address, "New order: Type specimens", on, "Grace Hopper", "€12.00", "R-000007",
			"/dashboard/orders/pay_1")
		e.PaymentID, e.Offer.ListingType = "pay_2", listingtype.Service
		w.wantOnce(seller.Address, "New order to deliver: ", on, "left no email address")
		e.PaymentID, e.Offer.ListingType = "pay_3", listingtype.Appointment
		w.wantOnce("", "", on)
		e.PaymentID, e.Offer.ListingType, e.Email = "pay_4", listingtype.Service, "grace@example.com"
		w.atomically(on)
		w.work()
		said := false
		for _, m := range w.mailed() {
			said = said || m.To == seller.Address && strings.Contains(m.Text, "Reach the buyer at grace@example.com")
		}
		if !said {
			t.Error("the creator isn't told how to reach the buyer")
		}
	})
}

func TestManyOrdersDelayNoOtherMail(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.account.Wants.Orders = true
		for i := range 2 * mail.MaxPerRecipient {
			w.atomically(func(ctx context.Context, r ports.Repos) error {
				return w.mail.OnCheckoutPaid(ctx, r, checkout.Paid{PaymentID: fmt.Sprintf("pay_%d", i), CreatorID: creatorID})
			})
		}
		w.work()
		if got := len(w.mailed()); got != mail.MaxPerRecipient {
			t.Errorf("%d mails about orders, want %d", got, mail.MaxPerRecipient)
		}
		w.wantOnce(seller.Address, "is disputed", func(ctx context.Context, r ports.Repos) error {
			return w.mail.OnDisputeOpened(ctx, r, dispute.Opened{State: dispute.State{ID: "dsp_1", CreatorID: creatorID}})
		})
	})
}

func TestACreatorIsMailedEachDisputeOnce(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		e := dispute.Opened{State: dispute.State{
			ID: "dsp_1", CreatorID: creatorID,
			Return: ledger.Return{Share: ledger.Share{Amount: money.Amount{Minor: 2900, Currency: "eur"}}},
			Reason: "product_not_received", RespondBy: time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC),
		}}
		w.wantOnce(seller.Address, "A payment of €29.00 is disputed: respond by December 1, 2026",
			func(ctx context.Context, r ports.Repos) error { return w.mail.OnDisputeOpened(ctx, r, e) },
			"Product not received", "€29.00", "December 1, 2026", "/dashboard/disputes/dsp_1")
	})
}

func TestACreatorIsMailedEachPayoutOnce(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		s := payout.State{
			ID: "po_1", CreatorID: creatorID, Amount: money.Amount{Minor: 21_447, Currency: "eur"}, PaidAt: w.Real(),
			FailedAt: w.Real(), FailureReason: "account_closed",
		}
		paid := func(ctx context.Context, r ports.Repos) error {
			return w.mail.OnPayoutPaid(ctx, r, payout.PaidOut{State: s})
		}
		w.wantOnce("", "", paid)
		w.account.Wants = identity.Notifications{Payouts: true}
		w.wantOnce(seller.Address, "Your payout of €214.47 was sent", paid, "€214.47", "/dashboard/balance/payouts/po_1")
		w.account.Wants = identity.Notifications{}
		w.wantOnce(seller.Address, "Your payout of €214.47 failed", func(ctx context.Context, r ports.Repos) error {
			return w.mail.OnPayoutFailed(ctx, r, payout.Failure{State: s})
		}, "Account closed", "available in your balance again", "/dashboard/balance/payouts/po_1")
	})
}
