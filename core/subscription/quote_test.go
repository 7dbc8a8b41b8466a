package subscription_test

import (
	"reflect"
	"testing"
	"time"

	"sundry/core/fault"
	"sundry/core/payment"
	"sundry/core/subscription"
)

func TestAQuoteIsBindingOnceForHalfAnHour(t *testing.T) {
	t.Parallel()
	sub := begin(t, basic)
	s, mode := sub.State(), subscription.ChargeNow
	bill, err := sub.ChangeBill(pro, mode, started)
	if err != nil {
		t.Fatal(err)
	}
	quote := subscription.NewQuote("qt_1", s, mode, bill, payment.Sale{}, started)
	last := started.Add(30*time.Minute - 1)
	used, err := quote.Use(s, pro, mode, last)
	if err != nil || !used.UsedAt.Equal(last) || !reflect.DeepEqual(used.Bill, bill) {
		t.Fatalf("%+v, %v", used, err)
	}
	other, changed := s, s
	other.ID = "sub_2"
	changed.Revision++
	for name, refused := range map[string]func() error{
		"too old":           func() error { _, err := quote.Use(s, pro, mode, last.Add(1)); return err },
		"used":              func() error { _, err := used.Use(s, pro, mode, last); return err },
		"another plan":      func() error { _, err := quote.Use(s, yearly, mode, last); return err },
		"another mode":      func() error { _, err := quote.Use(s, pro, subscription.NextPeriod, last); return err },
		"another one's":     func() error { _, err := quote.Use(other, pro, mode, last); return err },
		"changed meanwhile": func() error { _, err := quote.Use(changed, pro, mode, last); return err },
	} {
		if err := refused(); !fault.Is(err, fault.QuoteExpired) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAProrationModeIsOneOfTwo(t *testing.T) {
	t.Parallel()
	for _, mode := range []subscription.ProrationMode{subscription.ChargeNow, subscription.NextPeriod} {
		if got, err := subscription.ParseProrationMode(string(mode)); got != mode || err != nil {
			t.Errorf("%s: %v", mode, err)
		}
	}
	if _, err := subscription.ParseProrationMode("later"); !fault.Is(err, fault.ValidationFailed) {
		t.Error(err)
	}
}

func TestANewNameOfTheCustomerIsToldOnce(t *testing.T) {
	t.Parallel()
	sub := begin(t, basic)
	if e, changed := sub.Rename("grace"); !changed || e.ExternalCustomerID != "grace" ||
		string(e.Previous["externalCustomerId"]) != `"ada"` {
		t.Errorf("%+v, %v", e, changed)
	}
	before := sub.State()
	if _, changed := sub.Rename("grace"); changed || !reflect.DeepEqual(before, sub.State()) {
		t.Error("renamed to the same")
	}
}
