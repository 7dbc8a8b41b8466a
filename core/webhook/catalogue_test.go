package webhook_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/core/access"
	"sundry/core/checkout"
	"sundry/core/event"
	"sundry/core/invoice"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/plan"
	"sundry/core/subscription"
	"sundry/core/usage"
	"sundry/core/webhook"
)

func TestCatalogue_DescribesEveryType(t *testing.T) {
	t.Parallel()
	all := webhook.Catalogue()
	if first := all[0]; first.Type != event.CustomerAccessChanged || first.Advanced {
		t.Errorf("the first is %s, advanced %t; want the recommended one", first.Type, first.Advanced)
	}
	seen, schemas := map[event.Type]bool{}, map[string]string{}
	for i, kind := range all {
		if seen[kind.Type] {
			t.Errorf("%s has two rows", kind.Type)
		}
		seen[kind.Type] = true
		if got := webhook.EventTypes()[i]; got != string(kind.Type) {
			t.Errorf("type %d is %s, want %s", i, got, kind.Type)
		}
		existing := kind.Type == event.PaymentCompleted || strings.HasPrefix(string(kind.Type), "subscription.")
		if kind.Advanced != existing {
			t.Errorf("%s serves existing integrations: %v", kind.Type, kind.Advanced)
		}
		if kind.Description == "" {
			t.Errorf("%s has no description", kind.Type)
		}
		if other, ok := schemas[kind.SchemaName()]; kind.SchemaName() == "" || ok && other != string(kind.Schema) {
			t.Errorf("%s has another schema of the name %q", kind.Type, kind.SchemaName())
		}
		schemas[kind.SchemaName()] = string(kind.Schema)
		var schema struct {
			Type       string
			Properties map[string]any
		}
		if err := json.Unmarshal(kind.Schema, &schema); err != nil || schema.Type != "object" || len(schema.Properties) == 0 {
			t.Errorf("%s: schema %s, error %v", kind.Type, kind.Schema, err)
		}
		var example map[string]any
		if err := json.Unmarshal(kind.Example, &example); err != nil || len(example) == 0 {
			t.Errorf("%s: example %s, error %v", kind.Type, kind.Example, err)
		}
	}
}

func TestDataOf(t *testing.T) {
	t.Parallel()
	sub := subscription.State{CreatorID: "crt_1"}
	for name, c := range map[string]struct {
		event event.Event
		want  event.Type
	}{
		"a sale": {checkout.Paid{CreatorID: "crt_1"}, event.PaymentCompleted},
		"a renewal": {subscription.ChargePaid{Subscription: sub, Payment: payment.State{}},
			event.PaymentCompleted},
		"an event with its own state": {subscription.Expired{State: sub}, "subscription.expired"},
		"a failed charge":             {subscription.ChargeFailed{State: sub}, "subscription.dunning"},
		"an invoice":                  {invoice.Created{State: invoice.State{CreatorID: "crt_1"}}, "invoice.created"},
		"an alert": {usage.ThresholdReached{Alert: usage.Alert{CreatorID: "crt_1"}},
			"usage.threshold_reached"},
		"use that no invoice asks for": {usage.LimitReached{Plan: usage.PlanState{CreatorID: "crt_1"}},
			"usage.limit_reached"},
		"an announcement":           {access.Announced{CreatorID: "crt_1"}, event.CustomerAccessChanged},
		"an event that is not sent": {usage.PeriodClosed{}, ""},
	} {
		got, data, ok := webhook.DataOf(c.event, true)
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%s: got %q, %t; want %q", name, got, ok, c.want)
		}
		if ok && data.CreatorID != "crt_1" {
			t.Errorf("%s: the account is %q, want crt_1", name, data.CreatorID)
		}
	}
}

func TestDomainEvents_AreInOneRowEach(t *testing.T) {
	t.Parallel()
	var names []string
	for _, e := range webhook.DomainEvents() {
		if slices.Contains(names, e.EventName()) {
			t.Errorf("%s is in two rows", e.EventName())
		}
		names = append(names, e.EventName())
		if _, data, ok := webhook.DataOf(e, false); !ok || data.View == nil {
			t.Errorf("%s has no data", e.EventName())
		}
	}
	for _, want := range []string{"checkout.paid", "subscription.charge_paid", "usage.threshold_reached"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is in no row", want)
		}
	}
}

func TestPaymentCompleted_ShowsTheSale(t *testing.T) {
	t.Parallel()
	eur := func(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "eur"} }
	at, shown := start.Add(time.Second), "2026-03-08T12:00:01.000Z"
	offer := plan.Offer{ListingID: "lst_1", PlanKey: "pro", Interval: "month"}
	want := webhook.PaymentCompleted{
		PaymentID: "pay_1", CheckoutID: new("cs_1"), ReceiptNumber: "R-1", CustomerID: "cus_1",
		ExternalCustomerID: new("ada"), ListingID: "lst_1", Plan: "pro", Interval: new("month"),
		SubscriptionID: new("sub_1"), SubtotalInCents: 1000, DiscountInCents: 200, TaxInCents: 128, TotalInCents: 800,
		Currency: "eur", PaidAt: &shown, ReferenceID: new("order 7"), UTM: map[string]string{"source": "mail"},
		Metadata: map[string]string{"a": "b"},
	}
	_, sold, _ := webhook.DataOf(checkout.Paid{
		CheckoutID: "cs_1", PaymentID: "pay_1", CreatorID: "crt_1", CustomerID: "cus_1", ExternalCustomerID: "ada",
		SubscriptionID: "sub_1", Offer: offer, ReceiptNumber: "R-1", Subtotal: eur(1000), Discount: eur(200), Tax: eur(128),
		Total: eur(800), ReferenceID: "order 7", UTM: want.UTM, Metadata: want.Metadata, At: at,
	}, false)
	if !reflect.DeepEqual(sold.View, want) {
		t.Errorf("sold: %+v, want %+v", sold.View, want)
	}
	want.CheckoutID, want.ReferenceID, want.UTM, want.Metadata = nil, nil, map[string]string{}, map[string]string{}
	_, renewed, _ := webhook.DataOf(subscription.ChargePaid{
		Subscription: subscription.State{
			ID: "sub_1", CreatorID: "crt_1", CustomerID: "cus_1", ExternalCustomerID: "ada", Offer: offer,
		},
		Payment: payment.State{ID: "pay_1", Amount: eur(800), SettledAt: at, Sale: payment.Sale{
			ReceiptNumber: "R-1", Subtotal: eur(1000), Discount: eur(150), Credit: eur(50), Tax: eur(128),
		}},
	}, false)
	if !reflect.DeepEqual(renewed.View, want) {
		t.Errorf("renewed: %+v, want %+v", renewed.View, want)
	}
}

func TestPaymentCompleted_AddsUp(t *testing.T) {
	t.Parallel()
	eur := func(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "eur"} }
	_, data, _ := webhook.DataOf(subscription.ChargePaid{Payment: payment.State{
		Amount: eur(700), Sale: payment.Sale{Subtotal: eur(1000), Discount: eur(200), Credit: eur(100)},
	}}, false)
	got := data.View.(webhook.PaymentCompleted)
	if got.SubtotalInCents-got.DiscountInCents != got.TotalInCents {
		t.Errorf("%d less %d is not %d", got.SubtotalInCents, got.DiscountInCents, got.TotalInCents)
	}
}

func TestPaymentCompleted_HasMapsWithoutMembers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ given, want map[string]string }{
		"none": {nil, map[string]string{}},
		"some": {map[string]string{"a": "b"}, map[string]string{"a": "b"}},
	} {
		_, data, _ := webhook.DataOf(checkout.Paid{UTM: c.given, Metadata: c.given}, false)
		got := data.View.(webhook.PaymentCompleted)
		if !reflect.DeepEqual(got.UTM, c.want) || !reflect.DeepEqual(got.Metadata, c.want) {
			t.Errorf("%s: got %#v and %#v, want %#v", name, got.UTM, got.Metadata, c.want)
		}
	}
}
