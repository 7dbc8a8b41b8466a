// Package ledger is the double-entry book of the money that passes through the service. Postings are only ever added:
// what was wrong is reversed by another posting. Debits are positive and credits negative, and the legs of a posting
// share a currency and sum to zero.
package ledger

import (
	"errors"
	"fmt"
	"strconv"
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

// Accounts are all of them. The position of each is part of the ids of its entries: it never changes.
var Accounts = []Account{
	ProcessorClearing, DisputedFunds, ProcessorFee, TaxPayable, PlatformFee, CreatorPending, CreatorAvailable,
	CreatorReserved, CreatorInTransit,
}

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

// Posting is a set of legs that belong together, at most one on each account, in one currency.
type Posting struct {
	ID         string // led_…0; "" before it is booked
	CreatorID  string
	SourceType SourceType
	SourceID   string
	Kind       Kind
	Legs       []Leg
	CreatedAt  time.Time
}

// ErrUnbalanced reports that a posting's legs don't sum to zero in one currency. It is a defect: nothing may be
// written.
var ErrUnbalanced = errors.New("ledger: posting does not sum to zero")

// Check returns ErrUnbalanced unless the legs are of one currency and sum to zero.
func (p Posting) Check() error {
	if p.Empty() {
		return nil
	}
	sum := money.Amount{Currency: p.Legs[0].Amount.Currency}
	for _, leg := range p.Legs {
		if leg.Amount.Currency != sum.Currency {
			return fmt.Errorf("posting %s of %s is in %s and %s: %w", p.Kind, p.SourceID, sum.Currency,
				leg.Amount.Currency, ErrUnbalanced)
		}
		var err error
		if sum, err = sum.Add(leg.Amount); err != nil {
			return fmt.Errorf("posting %s of %s: %w", p.Kind, p.SourceID, err)
		}
	}
	if sum.Minor != 0 {
		return fmt.Errorf("posting %s of %s is off by %d %s: %w", p.Kind, p.SourceID, sum.Minor, sum.Currency,
			ErrUnbalanced)
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

// Balance is a creator's balance in one currency, each figure as the creator sees it: positive is theirs to get. The
// figures are the balances of the creator's ledger accounts with the sign changed; refunds on their way are moved from
// available to reserved.
type Balance struct {
	Currency                                money.Currency
	Pending, Available, Reserved, InTransit int64
}

// Booked returns the posting as it is stored. The last character of newID gives way to a zero: those above it are left
// to its entries.
func (p Posting) Booked(newID, creatorID string, at time.Time) Posting {
	p.ID, p.CreatorID, p.CreatedAt = PostingOf(newID), creatorID, at
	return p
}

// PostingOf returns the id of the posting that the entry of an id belongs to.
func PostingOf(entryID string) string {
	if entryID == "" {
		return ""
	}
	return entryID[:len(entryID)-1] + "0"
}

// Entry is one leg of a booked posting.
type Entry struct {
	ID         string // led_…, that of the posting with the account's place instead of the zero
	PostingID  string
	CreatorID  string
	SourceType SourceType
	SourceID   string
	Kind       Kind
	Leg
	CreatedAt time.Time
}

// Entries returns the legs of a booked posting, by rising ids.
func (p Posting) Entries() []Entry {
	entries := make([]Entry, 0, len(p.Legs))
	for place, account := range Accounts {
		for _, leg := range p.Legs {
			if leg.Account == account {
				entries = append(entries, Entry{
					ID: p.ID[:len(p.ID)-1] + strconv.Itoa(place+1), PostingID: p.ID, CreatorID: p.CreatorID,
					SourceType: p.SourceType, SourceID: p.SourceID, Kind: p.Kind, Leg: leg, CreatedAt: p.CreatedAt,
				})
			}
		}
	}
	return entries
}
