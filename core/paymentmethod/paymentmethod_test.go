package paymentmethod_test

import (
	"strings"
	"testing"
	"time"

	"sundry/core/event"
	"sundry/core/fault"
	"sundry/core/locale"
	"sundry/core/paymentmethod"
)

func TestACardIsUsableUntilItIsRemovedOnce(t *testing.T) {
	t.Parallel()
	saved, removed := time.Unix(100, 0), time.Unix(200, 0)
	mandate := paymentmethod.Mandate{Text: "You authorize", AcceptedAt: saved, Source: "cs_1"}
	m := paymentmethod.New("pm_1", "crt_1", "cus_1", paymentmethod.Card{Token: "tok", Brand: "visa", Last4: "4242"},
		mandate, saved)
	if s := m.State(); !s.Usable() || s.Revision != 1 || s.Mandate != mandate || s.CreatedAt != saved {
		t.Fatalf("new: %+v", s)
	}
	if err := m.Remove(removed); err != nil {
		t.Fatal(err)
	}
	once := m.State()
	if once.Usable() || once.RemovedAt != removed || once.Revision != 2 {
		t.Fatalf("removed: %+v", once)
	}
	if err := paymentmethod.Restore(once).Remove(removed.Add(time.Hour)); !fault.Is(err, fault.NotFoundCode) {
		t.Fatalf("removed twice: %v", err)
	}
	if err := m.Remove(removed.Add(time.Hour)); err == nil || m.State() != once {
		t.Fatalf("a refusal changed the card: %+v", m.State())
	}
}

// TestWhatSubscribersAreWiredTo holds the names that outbox rows keep while the program is replaced.
func TestWhatSubscribersAreWiredTo(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]event.Event{"payment_method.saved": paymentmethod.Saved{},
		"payment_method.removed": paymentmethod.Removed{}} {
		if e.EventName() != want {
			t.Errorf("%T is named %q", e, e.EventName())
		}
	}
}

func TestTheMandateNamesWhoCharges(t *testing.T) {
	t.Parallel()
	if text := paymentmethod.MandateText(locale.Locale{}, "Sundry Ltd", "Ada Studio"); !strings.HasPrefix(text,
		"You authorize Sundry Ltd to charge this card") || !strings.Contains(text, "at Ada Studio") {
		t.Error(text)
	}
}
