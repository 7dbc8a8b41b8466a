package cardsetup_test

import (
	"strings"
	"testing"
	"time"

	"sundry/core/cardsetup"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/payment"
	"sundry/core/secret"
)

var opened = time.Unix(1_900_000_000, 0).UTC()

func tried(t *testing.T) *cardsetup.Setup {
	t.Helper()
	c := cardsetup.New("seti_1", "crt_1", "cus_1", "https://shop.example/cards", opened)
	if err := c.Try("a", "agreed", opened); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestWhatBecomesOfACardDecidesOnTheSetup(t *testing.T) {
	t.Parallel()
	for outcome, want := range map[payment.Status]cardsetup.Status{
		payment.Succeeded: cardsetup.Completed, payment.Processing: cardsetup.Completed,
		payment.RequiresAction: cardsetup.Authenticating, payment.Declined: cardsetup.Open, payment.Canceled: cardsetup.Open,
	} {
		c := tried(t)
		done, changed := c.Settle("a", "pm_1", payment.Outcome{Status: outcome, Decline: payment.DeclineReason{Code: "x"}})
		s := c.State()
		if !changed || s.Status != want || done != (want == cardsetup.Completed) || done != (s.PaymentMethodID == "pm_1") ||
			s.Revision != 3 {
			t.Errorf("%s: %+v", outcome, s)
		}
		if (outcome == payment.Declined) != (s.LastError.Code == "x") && outcome != payment.Canceled {
			t.Errorf("%s: last error %+v", outcome, s.LastError)
		}
	}
	c := tried(t)
	before := c.State()
	for name, settle := range map[string]func() (bool, bool){
		"not known yet":  func() (bool, bool) { return c.Settle("a", "pm_1", payment.Outcome{Status: payment.Pending}) },
		"an older check": func() (bool, bool) { return c.Settle("b", "pm_1", payment.Outcome{Status: payment.Succeeded}) },
	} {
		if done, changed := settle(); done || changed || c.State() != before {
			t.Errorf("%s: %+v", name, c.State())
		}
	}
}

func TestTheProcessorsIDStaysOnceItIsKnown(t *testing.T) {
	t.Parallel()
	c := tried(t)
	c.Settle("a", "", payment.Outcome{Status: payment.RequiresAction, ProcessorID: "seti_at_the_processor"})
	c.Settle("a", "pm_1", payment.Outcome{Status: payment.Succeeded})
	if s := c.State(); s.Status != cardsetup.Completed || s.ProcessorID != "seti_at_the_processor" {
		t.Errorf("%+v", s)
	}
}

func TestASetupSavesOneCardWithinADay(t *testing.T) {
	t.Parallel()
	c := tried(t)
	last := opened.Add(24*time.Hour - 1)
	if c.State().Expired(last) || !c.State().Expired(last.Add(1)) {
		t.Error("it does not last for a day")
	}
	if err := c.Try("b", "agreed again", last); err != nil {
		t.Fatal(err)
	}
	before := c.State()
	if before.Mandate != "agreed again" {
		t.Errorf("the mandate of the latest card is %q", before.Mandate)
	}
	if err := c.Try("c", "", last.Add(1)); !fault.Is(err, fault.SessionExpired) || c.State() != before {
		t.Errorf("late: %v", err)
	}
	c.Settle("b", "pm_1", payment.Outcome{Status: payment.Succeeded})
	before = c.State()
	if err := c.Try("c", "", opened); !fault.Is(err, fault.StateConflict) || c.State() != before {
		t.Errorf("twice: %v", err)
	}
	if _, changed := c.Settle("b", "pm_2", payment.Outcome{Status: payment.Declined}); changed || c.State() != before {
		t.Errorf("settled twice: %+v", c.State())
	}
	if c.State().Expired(last.Add(1)) {
		t.Error("a card that is saved expires with its page")
	}
}

func TestOnlyItsSecretOpensASetup(t *testing.T) {
	t.Parallel()
	secrets, others := cardsetup.Secrets{Keys: secret.Fixed(make([]byte, 32))},
		cardsetup.Secrets{Keys: secret.Fixed([]byte(strings.Repeat("x", 32)))}
	setupID := id.New(id.CardSetup, [16]byte{1})
	page := secrets.Page(setupID)
	if got, ok := secrets.OpenPage(page); !ok || got != setupID {
		t.Errorf("%q, %v", got, ok)
	}
	if _, ok := others.OpenPage(page); ok {
		t.Error("another key opens it")
	}
	if client := secrets.Client(setupID); !strings.HasPrefix(client, setupID+"_secret_") ||
		strings.Contains(client, page) {
		t.Error(client)
	}
	if secrets.Client(setupID) == others.Client(setupID) {
		t.Error("the client's secret needs no key")
	}
}
