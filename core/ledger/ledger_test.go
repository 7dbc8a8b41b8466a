package ledger_test

import (
	"errors"
	"slices"
	"strconv"
	"testing"

	"sundry/core/ledger"
	"sundry/core/money"
)

func eur(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "eur"} }

func TestAPostingSumsToZeroPerCurrency(t *testing.T) {
	t.Parallel()
	usd := money.Amount{Minor: 100, Currency: "usd"}
	for name, c := range map[string]struct {
		legs     []ledger.Leg
		balanced bool
	}{
		"no legs": {nil, true},
		"two that cancel": {[]ledger.Leg{ledger.Debit(ledger.ProcessorClearing, eur(5)),
			ledger.Credit(ledger.TaxPayable, eur(5))}, true},
		"one leg": {[]ledger.Leg{ledger.Debit(ledger.ProcessorClearing, eur(5))}, false},
		"a minor unit off": {[]ledger.Leg{ledger.Debit(ledger.ProcessorClearing, eur(5)),
			ledger.Credit(ledger.TaxPayable, eur(4))}, false},
		"currencies mixed up": {[]ledger.Leg{ledger.Debit(ledger.ProcessorClearing, eur(100)),
			ledger.Credit(ledger.TaxPayable, usd)}, false},
		"an overflow": {[]ledger.Leg{ledger.Debit(ledger.TaxPayable, eur(1<<62)),
			ledger.Debit(ledger.TaxPayable, eur(1<<62))}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := ledger.Posting{Legs: c.legs}.Check()
			if (err == nil) != c.balanced {
				t.Errorf("Check() = %v", err)
			}
			if name == "one leg" && !errors.Is(err, ledger.ErrUnbalanced) {
				t.Errorf("Check() = %v, want ErrUnbalanced", err)
			}
		})
	}
}

func TestBalancesTurnCreditsIntoWhatTheCreatorHas(t *testing.T) {
	t.Parallel()
	got := ledger.Balances([]ledger.Sum{
		{Account: ledger.ProcessorClearing, Currency: "eur", Minor: 900},
		{Account: ledger.CreatorPending, Currency: "eur", Minor: -400},
		{Account: ledger.CreatorAvailable, Currency: "eur", Minor: 30},
		{Account: ledger.CreatorReserved, Currency: "usd", Minor: -7},
		{Account: ledger.CreatorInTransit, Currency: "eur", Minor: -500},
	})
	want := []ledger.Balance{{Currency: "eur", Pending: 400, Available: -30, InTransit: 500},
		{Currency: "usd", Reserved: 7}}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestTheEntriesOfAPostingShareItsID(t *testing.T) {
	t.Parallel()
	ids := 0
	p := ledger.NewPosting(ledger.SourcePayout, "po_1", ledger.KindPayoutPaid,
		ledger.Debit(ledger.CreatorInTransit, eur(5)), ledger.Credit(ledger.ProcessorClearing, eur(5)))
	got := p.Entries("crt_1", func() string { ids++; return "led_" + strconv.Itoa(ids) }, start)
	entry := ledger.Entry{PostingID: "led_1", CreatorID: "crt_1", SourceType: "payout", SourceID: "po_1",
		Kind: "payout_paid", CreatedAt: start}
	want := []ledger.Entry{entry, entry}
	want[0].ID, want[0].Leg = "led_2", ledger.Leg{Account: "creator_in_transit", Amount: eur(5)}
	want[1].ID, want[1].Leg = "led_3", ledger.Leg{Account: "processor_clearing", Amount: eur(-5)}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
