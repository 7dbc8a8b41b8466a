package subscription_test

import (
	"testing"
	"time"

	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/period"
	"sundry/core/plan"
	"sundry/core/subscription"
)

const day = 24 * time.Hour

func at(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return t
}

func eur(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "eur"} }

// offer is a plan of one listing.
func offer(key string, minor int64, interval period.Interval, count, trialDays int) plan.Offer {
	return plan.Offer{
		CreatorID: "crt_1", ListingID: "lst_1", ListingKey: "app", Title: "App", PlanKey: key, PlanName: key,
		PriceID: "pri_" + key + string(interval), Interval: interval, IntervalCount: count, TrialDays: trialDays,
		Price: eur(minor),
	}
}

var (
	basic   = offer("basic", 1000, period.Month, 1, 0)
	pro     = offer("pro", 3100, period.Month, 1, 0)
	trial   = offer("basic", 1000, period.Month, 1, 14)
	yearly  = offer("pro", 30000, period.Year, 1, 0)
	started = at("2026-01-31T10:00:00Z")
)

func order(o plan.Offer) subscription.Order {
	return subscription.Order{
		ID: "sub_1", CreatorID: "crt_1", CustomerID: "cus_1", ExternalCustomerID: "ada", CheckoutID: "cs_1",
		PaymentID: "pay_0", PaymentMethodID: "pm_1", Offer: o,
	}
}

// begin is an activated subscription.
func begin(t testing.TB, o plan.Offer) *subscription.Subscription {
	t.Helper()
	sub := subscription.New(order(o), started)
	if _, err := sub.Activate(started); err != nil {
		t.Fatal(err)
	}
	return sub
}

// charge starts a charge for the next period.
func charge(t testing.TB, sub *subscription.Subscription, paymentID string, at time.Time) subscription.Bill {
	t.Helper()
	bill, err := sub.NextBill(at)
	if err != nil {
		t.Fatal(err)
	}
	if err := sub.StartCharge(paymentID, bill); err != nil {
		t.Fatal(err)
	}
	return bill
}

// renew pays the next period.
func renew(t testing.TB, sub *subscription.Subscription, at time.Time) subscription.State {
	t.Helper()
	charge(t, sub, "pay_n", at)
	e, err := sub.Paid("pay_n")
	if err != nil {
		t.Fatal(err)
	}
	if e.EventName() != "subscription.renewed" {
		t.Fatalf("%s", e.EventName())
	}
	return sub.State()
}

// decline fails a renewal that is attempted at the given time.
func decline(t testing.TB, sub *subscription.Subscription, code string, at time.Time) subscription.State {
	t.Helper()
	charge(t, sub, "pay_d", at)
	e, err := sub.Declined("pay_d", payment.DeclineReason{Code: payment.DeclineCode(code)}, at)
	if err != nil {
		t.Fatal(err)
	}
	if failed, ok := e.(subscription.ChargeFailed); !ok || !failed.At.Equal(at) {
		t.Fatalf("%+v", e)
	}
	return sub.State()
}

func usd(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "usd"} }
