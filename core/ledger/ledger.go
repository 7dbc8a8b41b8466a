// Package ledger is the double-entry book of the money that passes through the service. Postings are only ever added:
// what was wrong is reversed by another posting. Debits are positive and credits negative, and the legs of a posting
// sum to zero in every currency.
package ledger

import (
	"errors"
	"fmt"
	"time"

	"sundry/core/money"
)

// Account is one of the accounts that every creator's book has.
type Account string

// The accounts. Assets and expenses grow by debits, liabilities and revenue by credits.
const (
	// ProcessorClearing (asset): money that the card processor holds for the service.
	ProcessorClearing Account = "processor_clearing"
	// DisputedFunds (asset): money that the processor took back until a dispute is decided.
	DisputedFunds Account = "disputed_funds"
	// ProcessorFee (expense): what the processor keeps of each charge.
	ProcessorFee Account = "processor_fee"
	// TaxPayable (liability): tax collected from buyers and owed to tax authorities.
	TaxPayable Account = "tax_payable"
	// PlatformFee (revenue): what the service earns.
	PlatformFee Account = "platform_fee"
	// CreatorPending (liability): the creator's share of sales in their first days.
	CreatorPending Account = "creator_pending"
	// CreatorAvailable (liability): what the creator may be paid out. Refunds can make it negative; later sales net it
	// off.
	CreatorAvailable Account = "creator_available"
	// CreatorReserved (liability): the creator's share of sales in dispute.
	CreatorReserved Account = "creator_reserved"
	// CreatorInTransit (liability): payouts on their way.
	CreatorInTransit Account = "creator_in_transit"
)

// SourceType is the kind of object that caused a posting.
type SourceType string

// The sources.
const (
	SourcePayment SourceType = "payment"
	SourceRefund  SourceType = "refund"
	SourceDispute SourceType = "dispute"
	SourcePayout  SourceType = "payout"
)

// Kind is the kind of a posting. A source has at most one posting of each kind.
type Kind string

// The kinds.
const (
	KindSale            Kind = "sale"
	KindProcessorFee    Kind = "processor_fee"
	KindRelease         Kind = "release"
	KindReversal        Kind = "sale_reversal" // what was paid for could not be given: all of it goes back, the fee too
	KindRefund          Kind = "refund"
	KindRefundFailed    Kind = "refund_failed"
	KindDisputeOpened   Kind = "dispute_opened"
	KindDisputeWon      Kind = "dispute_won"
	KindDisputeLost     Kind = "dispute_lost"
	KindPayoutRequested Kind = "payout_requested"
	KindPayoutPaid      Kind = "payout_paid"
	KindPayoutFailed    Kind = "payout_failed"
)

// Leg moves an amount on one account: positive is a debit, negative a credit.
type Leg struct {
	Account Account
	Amount  money.Amount
}

// Posting is a set of legs that belong together.
type Posting struct {
	SourceType SourceType
	SourceID   string
	Kind       Kind
	Legs       []Leg
}

// ErrUnbalanced reports that a posting's legs don't sum to zero. It is a defect: nothing may be written.
var ErrUnbalanced = errors.New("ledger: posting does not sum to zero")

// Check returns ErrUnbalanced unless the legs sum to zero in every currency.
func (p Posting) Check() error {
	sums := map[money.Currency]money.Amount{}
	for _, leg := range p.Legs {
		sum := sums[leg.Amount.Currency]
		sum.Currency = leg.Amount.Currency
		sum, err := sum.Add(leg.Amount)
		if err != nil {
			return fmt.Errorf("posting %s of %s: %w", p.Kind, p.SourceID, err)
		}
		sums[leg.Amount.Currency] = sum
	}
	for currency, sum := range sums {
		if sum.Minor != 0 {
			return fmt.Errorf("posting %s of %s is off by %d %s: %w", p.Kind, p.SourceID, sum.Minor, currency, ErrUnbalanced)
		}
	}
	return nil
}

// Empty reports whether there is nothing to write.
func (p Posting) Empty() bool { return len(p.Legs) == 0 }

// NewPosting makes a posting of the legs that move anything.
func NewPosting(source SourceType, sourceID string, kind Kind, legs ...Leg) Posting {
	p := Posting{SourceType: source, SourceID: sourceID, Kind: kind}
	for _, leg := range legs {
		if leg.Amount.Minor != 0 {
			p.Legs = append(p.Legs, leg)
		}
	}
	return p
}

// Debit moves an amount to the left side of an account.
func Debit(a Account, amount money.Amount) Leg { return Leg{a, amount} }

// Credit moves an amount to the right side of an account.
func Credit(a Account, amount money.Amount) Leg {
	return Leg{a, money.Amount{Minor: -amount.Minor, Currency: amount.Currency}}
}

// Balance is a creator's balance in one currency, each figure as the creator sees it: positive is owed to them.
type Balance struct {
	Currency                                money.Currency
	Pending, Available, Reserved, InTransit int64
}

// Sum is the total of one account in one currency, debits positive.
type Sum struct {
	Account  Account
	Currency money.Currency
	Minor    int64
}

// Balances arranges account totals by currency, in the order in which the currencies occur.
func Balances(sums []Sum) []Balance {
	balances := []Balance{}
	position := map[money.Currency]int{}
	for _, sum := range sums {
		i, ok := position[sum.Currency]
		if !ok {
			i = len(balances)
			position[sum.Currency] = i
			balances = append(balances, Balance{Currency: sum.Currency})
		}
		balances[i].take(sum)
	}
	return balances
}

func (b *Balance) take(sum Sum) {
	switch sum.Account {
	case CreatorPending:
		b.Pending -= sum.Minor
	case CreatorAvailable:
		b.Available -= sum.Minor
	case CreatorReserved:
		b.Reserved -= sum.Minor
	case CreatorInTransit:
		b.InTransit -= sum.Minor
	case ProcessorClearing, DisputedFunds, ProcessorFee, TaxPayable, PlatformFee:
	}
}

// Entry is one leg as it is stored.
type Entry struct {
	ID         string // led_…
	PostingID  string // shared by the legs of a posting
	CreatorID  string
	SourceType SourceType
	SourceID   string
	Kind       Kind
	Leg
	CreatedAt time.Time
}

// Entries are the legs of the posting, under ids that newID makes.
func (p Posting) Entries(creatorID string, newID func() string, at time.Time) []Entry {
	postingID := newID()
	entries := make([]Entry, len(p.Legs))
	for i, leg := range p.Legs {
		entries[i] = Entry{
			ID: newID(), PostingID: postingID, CreatorID: creatorID, SourceType: p.SourceType, SourceID: p.SourceID,
			Kind: p.Kind, Leg: leg, CreatedAt: at,
		}
	}
	return entries
}
