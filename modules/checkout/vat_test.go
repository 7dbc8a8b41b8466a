package checkout_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	core "sundry/core/checkout"
	"sundry/core/customer"
	"sundry/core/fault"
	"sundry/core/secret"
	"sundry/core/tax"
	"sundry/modules/checkout"
	"sundry/ports"
)

// vatRegister replaces VIES: it knows one id, and is down when a test wants it.
type vatRegister struct {
	mu    sync.Mutex
	down  bool
	asked int
	// meanwhile happens while a caller waits for the register; nil for nothing.
	meanwhile func()
}

// Two ids of a right shape, and the time at which the register checks them.
const (
	registeredID = "DE136695976"
	unknownID    = "DE129273398"
)

var checkedAt = time.Date(2026, 11, 22, 13, 0, 0, 0, time.UTC)

// Check implements ports.VATRegister.
func (v *vatRegister) Check(_ context.Context, country, id string) (tax.VATCheck, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.asked++
	if v.meanwhile != nil {
		v.meanwhile()
	}
	if v.down {
		return tax.VATCheck{}, errors.New("MS_UNAVAILABLE")
	}
	prefix, number := tax.SplitVATID(country, id)
	return tax.VATCheck{ID: prefix + number, Registered: prefix+number == registeredID, CheckedAt: checkedAt,
		Consultation: "WAPI1"}, nil
}

func request() checkout.NewSession {
	return checkout.NewSession{ListingID: "lst_01h00000000000000000000000", SuccessURL: "https://shop.example/thanks"}
}

func business(country, id string) customer.Details {
	return customer.Details{Name: "Grace GmbH", Address: customer.Address{Country: country}, TaxID: id}
}

func TestARegisteredVATIDIsKeptAsEvidence(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		n := request()
		n.Buyer = business("DE", "de 136 695 976")
		session, err := w.checkout.Create(t.Context(), creatorID, n)
		want := tax.VATCheck{ID: registeredID, Registered: true, CheckedAt: checkedAt, Consultation: "WAPI1"}
		if err != nil || session.Tax.Minor != 0 || session.TaxDetails.Treatment != tax.ReverseCharge ||
			session.TaxDetails.Evidence.VATCheck != want {
			t.Fatalf("%+v, %v", session.TaxDetails, err)
		}
		token := core.Secrets{Keys: secret.Fixed(make([]byte, 32))}.Checkout(session.ID)
		if _, err = w.checkout.Describe(t.Context(), token, checkout.Description{
			Buyer: customer.Details{Name: "Grace Hopper GmbH"},
		}, "192.0.2.1"); err != nil || w.vat.asked != 1 {
			t.Errorf("the same id: asked %d times, %v", w.vat.asked, err)
		}
		session, err = w.checkout.Describe(t.Context(), token, checkout.Description{
			Buyer: customer.Details{TaxID: customer.None},
		}, "192.0.2.1")
		if err != nil || session.Tax.Minor == 0 || session.TaxDetails.Evidence.VATCheck != (tax.VATCheck{}) ||
			w.vat.asked != 1 {
			t.Errorf("without the id: %+v, %v", session.TaxDetails, err)
		}
	})
}

func TestDetails_LimitedPerNetwork(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		session, err := w.checkout.Create(t.Context(), creatorID, request())
		if err != nil {
			t.Fatal(err)
		}
		token := core.Secrets{Keys: secret.Fixed(make([]byte, 32))}.Checkout(session.ID)
		for range 120 { // refused ids are counted, too
			_, err := w.checkout.Describe(t.Context(), token, checkout.Description{
				Buyer: business("DE", unknownID),
			}, "192.0.2.1")
			wantField(t, err, "taxId")
		}
		asked := w.vat.asked
		_, err = w.checkout.Describe(t.Context(), token, checkout.Description{
			Buyer: business("DE", unknownID),
		}, "192.0.2.1")
		if !fault.Is(err, fault.RateLimited) || w.vat.asked != asked {
			t.Errorf("the 121st: %v, asked %d times more", err, w.vat.asked-asked)
		}
		card := ports.CardInput{Number: cardSucceeds}
		_, err = w.checkout.PayOnPage(t.Context(), token, checkout.Payment{
			Email: "grace@example.com", Buyer: business("DE", unknownID), Card: card,
		}, "192.0.2.1")
		if !fault.Is(err, fault.RateLimited) || w.vat.asked != asked {
			t.Errorf("sent with a payment: %v, asked %d times more", err, w.vat.asked-asked)
		}
		if _, err := w.checkout.Describe(t.Context(), token, checkout.Description{
			Buyer: customer.Details{Name: "Grace"},
		}, "192.0.2.2"); err != nil {
			t.Errorf("from another network: %v", err)
		}
		if _, err := w.checkout.PayOnPage(t.Context(), token, checkout.Payment{
			Email: "grace@example.com", Card: card,
		}, "192.0.2.1"); err != nil {
			t.Errorf("a payment that asks nothing: %v", err)
		}
	})
}

func TestAnIDThatIsNotRegisteredIsRefused(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		n := request()
		n.Buyer = business("DE", unknownID)
		_, err := w.checkout.Create(t.Context(), creatorID, n)
		wantField(t, err, "customer.taxId")
		n.Buyer = customer.Details{}
		session, err := w.checkout.Create(t.Context(), creatorID, n)
		if err != nil {
			t.Fatal(err)
		}
		token := core.Secrets{Keys: secret.Fixed(make([]byte, 32))}.Checkout(session.ID)
		_, err = w.checkout.Describe(t.Context(), token, checkout.Description{
			Buyer: business("DE", unknownID),
		}, "192.0.2.1")
		wantField(t, err, "taxId")
		_, err = w.checkout.PayInSandbox(t.Context(), creatorID, session.ID, checkout.Payment{
			Email: "ada@example.com", Buyer: business("DE", unknownID), Card: ports.CardInput{Number: cardSucceeds},
		})
		wantField(t, err, "taxId")
		if after, err := w.store.Read(t.Context()).Checkout.Sessions.Get(t.Context(), session.ID); err != nil ||
			after.Buyer.TaxID != "" || after.LivePaymentID != "" {
			t.Errorf("%+v, %v", after.Buyer, err)
		}
	})
}

func TestTheShapeOfAnIDCountsWhileTheRegisterIsDown(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.vat.down = true
		n := request()
		n.Buyer = business("DE", unknownID)
		session, err := w.checkout.Create(t.Context(), creatorID, n)
		if err != nil || session.TaxDetails.Treatment != tax.ReverseCharge ||
			session.TaxDetails.Evidence.VATCheck != (tax.VATCheck{}) || w.vat.asked != 1 {
			t.Errorf("%+v, %v", session.TaxDetails, err)
		}
	})
}

func TestOnlyAnIDThatDecidesTheTaxIsSentToTheRegister(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		for name, buyer := range map[string]customer.Details{
			"a consumer":               {Address: customer.Address{Country: "DE"}},
			"in the seller's country":  business("IE", "IE6388047V"),
			"outside of the EU":        business("US", "12-3456789"),
			"a country without buyers": {TaxID: ""},
		} {
			n := request()
			n.Buyer = buyer
			if _, err := w.checkout.Create(t.Context(), creatorID, n); err != nil || w.vat.asked != 0 {
				t.Errorf("%s: asked %d times, %v", name, w.vat.asked, err)
			}
		}
	})
}

func wantField(t *testing.T, err error, field string) {
	t.Helper()
	var refusal *fault.Error
	if !errors.As(err, &refusal) || refusal.Code != fault.ValidationFailed || len(refusal.Details) != 1 ||
		refusal.Details[0].Field != field {
		t.Errorf("%v, want a fault of %s", err, field)
	}
}

// The register takes its time, in which the buyer does something in another tab: the session is paid as it is then.
func TestAPaymentIsOfTheSessionAsItIsAfterTheRegister(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		pay := func(session core.State) error {
			_, err := w.checkout.PayOnPage(t.Context(), secretOf(w, session), checkout.Payment{
				Email: "grace@example.com", Buyer: business("DE", registeredID), Card: ports.CardInput{Number: cardSucceeds},
			}, home)
			return err
		}
		reduced := w.open()
		w.vat.meanwhile = func() {
			if _, err := w.checkout.ApplyDiscountOnPage(t.Context(), secretOf(w, reduced), "FIFTH", home); err != nil {
				t.Error(err)
			}
		}
		err := pay(reduced)
		s := w.session(reduced.ID)
		paid, readErr := w.store.Read(t.Context()).Payments.Payments.Get(t.Context(), s.PaymentID)
		if err != nil || readErr != nil || s.Total.Minor != 960 || paid.Amount.Minor != 960 {
			t.Errorf("a discount of another tab: %v, %v; %d of %d", err, readErr, paid.Amount.Minor, s.Total.Minor)
		}

		twice := w.open()
		w.vat.meanwhile = func() {
			if _, err := w.pay(twice.ID, cardSucceeds); err != nil {
				t.Error(err)
			}
		}
		wantCode(t, pay(twice), fault.SessionAlreadyPaid)
		if got := w.paidEvents(twice.ID); got != 1 {
			t.Errorf("paid %d times", got)
		}
		w.mustBeClean()
	})
}
