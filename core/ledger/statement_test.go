package ledger

import (
	"slices"
	"testing"

	"sundry/core/money"
)

func TestStatementConnectsOpeningAndClosingBalance(t *testing.T) {
	t.Parallel()
	paidOut := money.Amount{Minor: 9000, Currency: "eur"}
	s := NewStatement(paidOut, -500, []KindSum{
		{Kind: KindRelease, Count: 2, Minor: 13605, Sales: 23800, Tax: 3800, Fee: 1190},
		{Kind: KindRefund, Count: 1, Minor: -4202},
		{Kind: KindPayoutFailed, Count: 1, Minor: 1313},
		{Kind: KindPayoutRequested, Count: 1, Minor: -9000},
	})
	want := []StatementLine{
		{"sales", 2, money.Amount{Minor: 23800, Currency: "eur"}},
		{"sales_tax", 0, money.Amount{Minor: -3800, Currency: "eur"}},
		{"sales_fee", 0, money.Amount{Minor: -1190, Currency: "eur"}},
		{"sales_returned", 0, money.Amount{Minor: -5205, Currency: "eur"}},
		{"refund", 1, money.Amount{Minor: -4202, Currency: "eur"}},
		{"payout_failed", 1, money.Amount{Minor: 1313, Currency: "eur"}},
	}
	sum := s.Opening.Minor
	for i, line := range s.Lines {
		if i >= len(want) || line != want[i] {
			t.Errorf("line %d is %+v", i, line)
		}
		sum += line.Amount.Minor
	}
	if len(s.Lines) != len(want) || s.Opening.Minor != -500 || s.Closing.Minor != sum-9000 {
		t.Errorf("%+v sums to %d", s, sum)
	}
}

func TestStatement_LeavesNoKindOut(t *testing.T) {
	t.Parallel()
	for kind, key := range map[Kind]string{
		KindRefund: "refund", KindRefundFailed: "refund_failed", KindReversal: "sale_reversal",
		KindDisputeOpened: "dispute_opened", KindDisputeWon: "dispute_won", KindPayoutFailed: "payout_failed",
		KindSale: "other", KindProcessorFee: "other", KindDisputeLost: "other", KindPayoutPaid: "other",
	} {
		s := NewStatement(money.Amount{Minor: 100, Currency: "eur"}, 50, []KindSum{{Kind: kind, Count: 2, Minor: 300}})
		want := []StatementLine{{key, 2, money.Amount{Minor: 300, Currency: "eur"}}}
		if !slices.Equal(s.Lines, want) || s.Closing.Minor != 250 {
			t.Errorf("%s: %+v closes with %d, want %+v and 250", kind, s.Lines, s.Closing.Minor, want)
		}
	}
}

func TestStatementLinesAreTheBalanceChanges(t *testing.T) {
	t.Parallel()
	eur := func(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "eur"} }
	s := NewStatement(eur(0), 0, []KindSum{
		{Kind: KindRelease, Count: 1, Minor: 1, Sales: 1}, // without tax, fee and returns
		{Kind: KindDisputeLost, Count: 1, Minor: -7},      // takes from what is reserved: if it ever does more, it shows
	})
	if want := []StatementLine{{"sales", 1, eur(1)}, {"other", 1, eur(-7)}}; !slices.Equal(s.Lines, want) ||
		s.Closing != eur(-6) {
		t.Errorf("%+v", s)
	}
}
