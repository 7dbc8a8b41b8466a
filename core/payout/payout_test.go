package payout_test

import (
	"strings"
	"testing"
	"time"

	"sundry/core/fault"
	"sundry/core/ledger"
	"sundry/core/money"
	"sundry/core/payout"
)

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func eur(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "eur"} }

func in(status payout.Status) *payout.Payout {
	return payout.Restore(payout.State{ID: "po_1", Amount: eur(5000), Status: status, Revision: 1})
}

func TestEveryStatusTakesEveryOutcomeAsDrawn(t *testing.T) {
	t.Parallel()
	paid := []ledger.Leg{{Account: "creator_in_transit", Amount: eur(5000)},
		{Account: "processor_clearing", Amount: eur(-5000)}}
	for name, c := range map[string]struct {
		from, reported, want payout.Status
		legs                 []ledger.Leg // nil = nothing changes
		refused              bool
	}{
		"pending is paid": {payout.Pending, payout.Paid, payout.Paid, paid, false},
		"pending fails": {payout.Pending, payout.Failed, payout.Failed,
			[]ledger.Leg{{Account: "creator_in_transit", Amount: eur(5000)}, {Account: "creator_available", Amount: eur(-5000)}},
			false},
		"paid comes again": {payout.Paid, payout.Paid, payout.Paid, nil, false},
		"paid comes back": {payout.Paid, payout.Failed, payout.Failed,
			[]ledger.Leg{{Account: "processor_clearing", Amount: eur(5000)}, {Account: "creator_available", Amount: eur(-5000)}},
			false},
		"failed comes again":    {payout.Failed, payout.Failed, payout.Failed, nil, false},
		"failed cannot be paid": {payout.Failed, payout.Paid, payout.Failed, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := in(c.from)
			before := p.State()
			var changed bool
			var err error
			var posting ledger.Posting
			if c.reported == payout.Paid {
				var e payout.PaidOut
				e, posting, changed, err = p.Pay(now)
				if changed && (e.EventName() != "payout.paid" || e.State != p.State()) {
					t.Errorf("event %s of %+v", e.EventName(), e.State)
				}
			} else {
				_, posting, changed = p.Fail("account_closed", now)
			}
			if changed != (c.legs != nil) || (err != nil) != c.refused || p.State().Status != c.want ||
				len(posting.Legs) != len(c.legs) {
				t.Fatalf("changed %v, %v: %+v, %+v", changed, err, p.State(), posting)
			}
			for i, leg := range c.legs {
				if posting.Legs[i] != leg {
					t.Errorf("leg %d is %+v, want %+v", i, posting.Legs[i], leg)
				}
			}
			switch {
			case !changed && p.State() != before:
				t.Errorf("changed without reporting it: %+v", p.State())
			case changed && p.State().Revision != before.Revision+1:
				t.Errorf("revision %d after %d", p.State().Revision, before.Revision)
			}
		})
	}
}

func TestAskTakesAtMostWhatIsAvailable(t *testing.T) {
	t.Parallel()
	minor := func(n int64) *int64 { return &n }
	for name, c := range map[string]struct {
		minor     *int64
		available int64
		want      int64 // 0 = INSUFFICIENT_BALANCE
	}{
		"everything":                      {nil, 5000, 5000},
		"a part":                          {minor(1000), 5000, 1000},
		"exactly all of it":               {minor(5000), 5000, 5000},
		"a minor unit more":               {minor(5001), 5000, 0},
		"everything, below the minimum":   {nil, 999, 0},
		"everything, exactly the minimum": {nil, 1000, 1000},
		"a part below the minimum":        {minor(999), 5000, 0},
		"everything of a negative":        {nil, -200, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, posting, err := payout.Ask("po_1", "crt_1", payout.Request{Minor: c.minor},
				payout.Funds{Available: eur(c.available), Minimum: 1000, Account: account(payout.AccountReady)}, now)
			if c.want == 0 {
				if !fault.Is(err, fault.InsufficientBalance) || p != nil || !posting.Empty() {
					t.Errorf("%+v, %v", posting, err)
				}
				return
			}
			if err != nil || p.State().Amount != eur(c.want) || p.State().Status != payout.Pending ||
				p.State().Destination != "acct_1" || p.State().Revision != 1 || posting.Check() != nil ||
				posting.Legs[0] != ledger.Debit(ledger.CreatorAvailable, eur(c.want)) ||
				posting.Legs[1] != ledger.Credit(ledger.CreatorInTransit, eur(c.want)) {
				t.Errorf("%+v, %v", posting, err)
			}
		})
	}
}

// Stripe takes thousandths in tens only (docs.stripe.com/currencies, three-decimal currencies).
func TestAPayoutInThousandthsIsInTens(t *testing.T) {
	t.Parallel()
	for currency, want := range map[money.Currency]int64{"kwd": 12340, "eur": 12345, "jpy": 12345} {
		p, _, err := payout.Ask("po_1", "crt_1", payout.Request{}, payout.Funds{
			Available: money.Amount{Minor: 12345, Currency: currency}, Minimum: 1000, Account: account(payout.AccountReady),
		}, now)
		if err != nil || p.State().Amount != (money.Amount{Minor: want, Currency: currency}) {
			t.Errorf("%s: %+v, %v, want %d", currency, p, err, want)
		}
	}
}

func TestARequestReportsEveryFault(t *testing.T) {
	t.Parallel()
	little, enough, odd := int64(999), int64(1000), int64(1005)
	for name, c := range map[string]struct {
		request payout.Request
		faults  string
	}{
		"everything":        {payout.Request{Currency: "eur"}, ""},
		"the minimum":       {payout.Request{Currency: "eur", Minor: &enough}, ""},
		"below the minimum": {payout.Request{Currency: "eur", Minor: &little}, "amountInCents OUT_OF_RANGE"},
		"all that is wrong": {payout.Request{Currency: "EUR", Minor: &little}, "currency INVALID amountInCents OUT_OF_RANGE"},
		"thousandths":       {payout.Request{Currency: "kwd", Minor: &odd}, "amountInCents NOT_ALLOWED"},
		"no currency":       {payout.Request{}, "currency REQUIRED"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			currency, err := c.request.Validate(1000)
			var faults []string
			if e, ok := err.(*fault.Error); ok { //nolint:errorlint // Validate returns it unwrapped
				for _, d := range e.Details {
					faults = append(faults, d.Field, d.Code)
				}
			}
			if got := strings.Join(faults, " "); got != c.faults || (err == nil) != (c.faults == "") || err == nil &&
				currency != "eur" {
				t.Errorf("%q: %q, %v, want %q", currency, got, err, c.faults)
			}
		})
	}
}

func TestARequestRepeatsThePayoutThatItAskedFor(t *testing.T) {
	t.Parallel()
	made := payout.State{Amount: eur(5000)}
	for name, c := range map[string]struct {
		request payout.Request
		want    bool
	}{
		"the same":               {payout.Request{Currency: "eur", Minor: new(int64(5000))}, true},
		"in capital letters":     {payout.Request{Currency: "EUR", Minor: new(int64(5000))}, true},
		"all that was available": {payout.Request{Currency: "eur"}, true},
		"another amount":         {payout.Request{Currency: "eur", Minor: new(int64(4999))}, false},
		"another currency":       {payout.Request{Currency: "usd", Minor: new(int64(5000))}, false},
		"all of another":         {payout.Request{Currency: "usd"}, false},
	} {
		if got := c.request.Repeats(made); got != c.want {
			t.Errorf("%s: repeats %t", name, got)
		}
	}
}

func TestTheEventOfAPayoutThatFailedIsPayoutFailed(t *testing.T) {
	t.Parallel()
	if got := (payout.Failure{}).EventName(); got != "payout.failed" {
		t.Error(got)
	}
}
