package ledger_test

import (
	"errors"
	"slices"
	"testing"

	"sundry/core/ledger"
	"sundry/core/money"
)

func eur(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "eur"} }

func TestAPostingSumsToZeroInOneCurrency(t *testing.T) {
	t.Parallel()
	usd := money.Amount{Minor: 100, Currency: "usd"}
	for name, c := range map[string]struct {
		legs []ledger.Leg
		want error
	}{
		"no legs": {nil, nil},
		"two that cancel": {[]ledger.Leg{ledger.Debit(ledger.ProcessorClearing, eur(5)),
			ledger.Credit(ledger.TaxPayable, eur(5))}, nil},
		"one leg": {[]ledger.Leg{ledger.Debit(ledger.ProcessorClearing, eur(5))}, ledger.ErrUnbalanced},
		"a minor unit off": {[]ledger.Leg{ledger.Debit(ledger.ProcessorClearing, eur(5)),
			ledger.Credit(ledger.TaxPayable, eur(4))}, ledger.ErrUnbalanced},
		"currencies mixed up": {[]ledger.Leg{ledger.Debit(ledger.ProcessorClearing, eur(100)),
			ledger.Credit(ledger.TaxPayable, usd)}, ledger.ErrUnbalanced},
		"two currencies, each of which cancels": {[]ledger.Leg{ledger.Debit(ledger.ProcessorClearing, eur(5)),
			ledger.Credit(ledger.TaxPayable, eur(5)), ledger.Debit(ledger.PlatformFee, usd),
			ledger.Credit(ledger.ProcessorFee, usd)}, ledger.ErrUnbalanced},
		"an overflow": {[]ledger.Leg{ledger.Debit(ledger.TaxPayable, eur(1<<62)),
			ledger.Debit(ledger.TaxPayable, eur(1<<62))}, money.ErrOverflow},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := (ledger.Posting{Legs: c.legs}).Check(); !errors.Is(err, c.want) {
				t.Errorf("Check() = %v, want %v", err, c.want)
			}
		})
	}
}

func TestTheEntriesOfAPostingShareItsID(t *testing.T) {
	t.Parallel()
	p := ledger.NewPosting(ledger.SourcePayout, "po_1", ledger.KindPayoutFailed,
		ledger.Debit(ledger.CreatorInTransit, eur(5)), ledger.Credit(ledger.CreatorAvailable, eur(5)))
	booked := p.Booked("led_abz", "crt_1", start)
	entry := ledger.Entry{PostingID: "led_ab0", CreatorID: "crt_1", SourceType: "payout", SourceID: "po_1",
		Kind: "payout_failed", CreatedAt: start}
	want := []ledger.Entry{entry, entry}
	want[0].ID, want[0].Leg = "led_ab7", ledger.Leg{Account: "creator_available", Amount: eur(-5)}
	want[1].ID, want[1].Leg = "led_ab9", ledger.Leg{Account: "creator_in_transit", Amount: eur(5)}
	if got := booked.Entries(); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := ledger.PostingOf("led_ab9"); got != booked.ID || ledger.PostingOf("") != "" {
		t.Errorf("the posting of led_ab9 is %s, want %s", got, booked.ID)
	}
}

func TestEachAccountHasAPlaceInTheIDsOfEntries(t *testing.T) {
	t.Parallel()
	want := []ledger.Account{
		"processor_clearing", "disputed_funds", "processor_fee", "tax_payable", "platform_fee", "creator_pending",
		"creator_available", "creator_reserved", "creator_in_transit",
	}
	if !slices.Equal(ledger.Accounts, want) {
		t.Errorf("the accounts are %v; the ids that were given out want %v", ledger.Accounts, want)
	}
}
