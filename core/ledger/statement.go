package ledger

import "sundry/core/money"

// Statement explains a payout: Opening and the lines sum to Closing and what was paid out.
type Statement struct {
	Opening money.Amount
	Lines   []StatementLine
	Closing money.Amount
}

// StatementLine is one reason why the available balance changed. Key names it, such as sales or refund.
type StatementLine struct {
	Key    string
	Count  int // of what it sums up; 0 where nothing is counted
	Amount money.Amount
}

// KindSum sums the changes that the postings of one kind made to a creator's available balance, as the creator sees it.
// Sales, Tax and Fee sum the sales that a release made available.
type KindSum struct {
	Kind  Kind
	Count int
	Minor int64
	Sales int64
	Tax   int64
	Fee   int64
}

// NewStatement arranges what happened between two payouts. opening is the balance after the payout before.
func NewStatement(paidOut money.Amount, opening int64, sums []KindSum) Statement {
	in := func(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: paidOut.Currency} }
	s := Statement{Opening: in(opening)}
	balance := opening
	add := func(key string, count int, minor int64) {
		if minor != 0 {
			s.Lines = append(s.Lines, StatementLine{Key: key, Count: count, Amount: in(minor)})
			balance += minor
		}
	}
	for _, sum := range sums {
		switch sum.Kind {
		case KindRelease:
			add("sales", sum.Count, sum.Sales)
			add("sales_tax", 0, -sum.Tax)
			add("sales_fee", 0, -sum.Fee)
			add("sales_returned", 0, sum.Minor-(sum.Sales-sum.Tax-sum.Fee))
		case KindPayoutRequested: // this one: the total
		case KindRefund, KindRefundFailed, KindReversal, KindDisputeOpened, KindDisputeWon, KindPayoutFailed:
			add(string(sum.Kind), sum.Count, sum.Minor)
		case KindSale, KindProcessorFee, KindDisputeLost, KindPayoutPaid:
			add("other", sum.Count, sum.Minor)
		}
	}
	s.Closing = in(balance - paidOut.Minor)
	return s
}
