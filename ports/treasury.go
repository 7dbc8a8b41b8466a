package ports

import (
	"context"
	"time"

	"sundry/core/civil"
	"sundry/core/dispute"
	"sundry/core/ledger"
	"sundry/core/money"
	"sundry/core/payout"
	"sundry/core/refund"
)

// TreasuryRepos are the repositories of treasury.
type TreasuryRepos struct {
	Sales    Sales
	Ledger   Ledger
	Payouts  Payouts
	Accounts PayoutAccounts
	Audit    TreasuryAudit
}

// Sales keeps where the money of each payment is.
type Sales interface {
	// Insert writes a new sale.
	Insert(ctx context.Context, s ledger.SaleState) error
	// Get returns the sale of a payment. ErrNotFound.
	Get(ctx context.Context, paymentID string) (ledger.SaleState, error)
	// Update writes a changed sale. ErrStale.
	Update(ctx context.Context, s ledger.SaleState) error
	// SumReleases adds up by currency what of the account's sales since a time is pending and becomes available up to
	// another, less their refunds on the way.
	SumReleases(ctx context.Context, creatorID string, since, until time.Time) ([]money.Amount, error)
}

// Ledger keeps the postings. Nothing in it is ever changed or deleted.
type Ledger interface {
	// Insert writes booked postings. ledger.ErrUnbalanced, and nothing is written, unless each sums to zero.
	// ErrDuplicate when the source has a posting of this kind already; it may come with a later statement or the commit.
	Insert(ctx context.Context, postings []ledger.Posting) error
	// List returns the entries of the account's postings, newest first; sourceID "" = of every source.
	List(ctx context.Context, creatorID, sourceID string, page Page) (List[ledger.Entry], error)
	// Balances adds up the creator's own accounts in each currency that has a posting, ordered by currency. What a
	// refund on its way will take from the available balance is reserved until it is made or fails.
	Balances(ctx context.Context, creatorID string) ([]ledger.Balance, error)
	// Days returns the account's figures of the days from one to another, in each currency in which something was posted
	// on them, ordered by day and currency.
	Days(ctx context.Context, creatorID string, from, to civil.Date) ([]ledger.DayFigures, error)
	// ListAvailable returns entries of the account's available balance in one currency, oldest first, of the postings
	// after the given id up to another, at most limit.
	ListAvailable(ctx context.Context, creatorID string, currency money.Currency, after, until string,
		limit int) ([]ledger.Entry, error)
	// SumAvailable adds up the same entries up to the posting of the given id.
	SumAvailable(ctx context.Context, creatorID string, currency money.Currency, until string) (int64, error)
	// PayoutPosting returns the id of the posting that set a payout aside from the available balance, and that of the
	// payout before it in the same currency ("" = none). ErrNotFound.
	PayoutPosting(ctx context.Context, p payout.State) (id, before string, err error)
	// SumStatement adds up the same entries by kind, in (after, until], with the amounts of the sales that they release.
	SumStatement(ctx context.Context, creatorID string, currency money.Currency, after,
		until string) ([]ledger.KindSum, error)
	// Lock makes other callers for the same creator wait until the transaction ends: what is available is read and then
	// spent.
	Lock(ctx context.Context, creatorID string) error
}

// Payouts keeps payouts.
type Payouts interface {
	// Insert writes a new payout.
	Insert(ctx context.Context, p payout.State) error
	// Get returns a payout. ErrNotFound.
	Get(ctx context.Context, id string) (payout.State, error)
	// Update writes a changed payout. ErrStale.
	Update(ctx context.Context, p payout.State) error
	// List returns the account's payouts of a status ("" = any), newest first. Totals leave failed ones out of sums.
	List(ctx context.Context, creatorID string, status payout.Status, page Page) (List[payout.State], error)
	// GetByRequest returns the payout that the account asked for under an idempotency key since the given time.
	// ErrNotFound.
	GetByRequest(ctx context.Context, creatorID, key string, since time.Time) (payout.State, error)
}

// PayoutAccounts keeps where creators' payouts go: one account per creator.
type PayoutAccounts interface {
	// Insert writes a new account. ErrDuplicate when the creator has one, and (payout_accounts_rail_id) when the rail's
	// account is another creator's.
	Insert(ctx context.Context, a payout.AccountState) error
	// Get returns a creator's account. ErrNotFound.
	Get(ctx context.Context, creatorID string) (payout.AccountState, error)
	// GetByRailID returns the account that the rail knows under an id of its own. ErrNotFound.
	GetByRailID(ctx context.Context, railID string) (payout.AccountState, error)
	// Update writes a changed account. ErrStale.
	Update(ctx context.Context, a payout.AccountState) error
}

// TreasuryAudit reads treasury for `sundry verify`. Each method returns at most limit ids that break its rule.
type TreasuryAudit interface {
	// UnbalancedPostings lists postings that don't sum to zero.
	UnbalancedPostings(ctx context.Context, limit int) ([]string, error)
	// UnpostedPayments lists succeeded payments of an amount that have no sale, or one of another amount or tax.
	UnpostedPayments(ctx context.Context, limit int) ([]string, error)
	// MispostedSales lists payments whose sale the ledger states differently.
	MispostedSales(ctx context.Context, limit int) ([]string, error)
	// MisreleasedSales lists payments whose share is available earlier or later than it ought to be, or never.
	MisreleasedSales(ctx context.Context, limit int) ([]string, error)
	// LostPayouts lists payouts that only the ledger knows.
	LostPayouts(ctx context.Context, limit int) ([]string, error)
	// MisstatedPayments lists succeeded payments whose breakdown does not add up to the amount or has another tax than the
	// ledger.
	MisstatedPayments(ctx context.Context, limit int) ([]string, error)
	// ChargedTwice lists checkout sessions and invoices that were charged again after they had been paid, where no refund
	// of either gives a reason.
	ChargedTwice(ctx context.Context, limit int) ([]string, error)
	// OverReturnedSales lists payments of which more went back than was paid, or all without exactly its tax.
	OverReturnedSales(ctx context.Context, limit int) ([]string, error)
	// MispostedRefunds lists refunds that the ledger states differently.
	MispostedRefunds(ctx context.Context, limit int) ([]string, error)
	// MiscountedRefunds lists payments whose refunds don't add up to what they record as refunded.
	MiscountedRefunds(ctx context.Context, limit int) ([]string, error)
	// MisjudgedRefunds lists refunds that are wrong about whether they left nothing of their payment.
	MisjudgedRefunds(ctx context.Context, limit int) ([]string, error)
	// MispostedDisputes lists disputes that the ledger states differently.
	MispostedDisputes(ctx context.Context, limit int) ([]string, error)
	// MispostedPayouts lists payouts that the ledger states differently.
	MispostedPayouts(ctx context.Context, limit int) ([]string, error)
	// MistaxedDocuments lists what was documented with another tax than the ledger has.
	MistaxedDocuments(ctx context.Context, limit int) ([]string, error)
	// RefundedAccess lists refunds after which nothing of their payment is left while it still gives access.
	RefundedAccess(ctx context.Context, limit int) ([]string, error)
	// MiscountedPending lists creators whose pending balance is not that of their sales.
	MiscountedPending(ctx context.Context, limit int) ([]string, error)
	// MisstatedBalances lists creators whose stored balance is not the sum of the postings that it counts.
	MisstatedBalances(ctx context.Context, limit int) ([]string, error)
	// MisstatedDays lists creators with a day whose stored figures are not the sums of the postings that they count.
	MisstatedDays(ctx context.Context, limit int) ([]string, error)
}

// SaleLedger books money that goes back, for payments and inside the caller's transaction; treasury implements it.
type SaleLedger interface {
	// ReserveRefund sets an amount (nil = all that is left) of a payment aside. Faults: NOT_REFUNDABLE.
	ReserveRefund(ctx context.Context, r Repos, paymentID string, minor *int64) (ledger.Share, error)
	// RecordRefund is ReserveRefund of a refund that the processor has made already, also while the payment is disputed.
	RecordRefund(ctx context.Context, r Repos, paymentID string, minor *int64) (ledger.Share, error)
	// SaleOf returns the ledger state of a payment. ErrNotFound when nothing of it is booked.
	SaleOf(ctx context.Context, r Repos, paymentID string) (ledger.SaleState, error)
	// AbandonRefund gives up what a refund had set aside.
	AbandonRefund(ctx context.Context, r Repos, f refund.State) error
	// CompleteRefund posts a refund that was made. full reports whether nothing of the payment is left.
	CompleteRefund(ctx context.Context, r Repos, f refund.State) (full bool, err error)
	// ReverseRefund posts that a refund which was made came back. full reports whether nothing of the payment was left
	// until then.
	ReverseRefund(ctx context.Context, r Repos, f refund.State) (full bool, err error)
	// OpenDispute holds what a dispute claims, at most what has not gone back otherwise. Faults: STATE_CONFLICT while
	// another dispute of the payment is open.
	OpenDispute(ctx context.Context, r Repos, paymentID, disputeID string, claimed money.Amount) (ledger.Share, error)
	// CloseDispute posts how a dispute was decided. Of one that is lost it returns what is lost of the claim: at least
	// what was held.
	CloseDispute(ctx context.Context, r Repos, d dispute.State, claimed money.Amount) (lost ledger.Share, err error)
}

// PayoutRail moves money to creators' bank accounts. It is never called inside a transaction.
type PayoutRail interface {
	Network
	// Send pays out. Asking again with the same payout moves nothing more. The outcome may be pending: then Find returns
	// later. ErrOutcomeUnknown, ErrProcessorUnavailable.
	Send(ctx context.Context, p payout.State) (PayoutOutcome, error)
	// Find returns the current outcome of a payout. ErrNotFound when the rail never received it.
	Find(ctx context.Context, p payout.State) (PayoutOutcome, error)
	// OpenAccount opens the account of a creator. Asking again soon with the same request opens no other.
	// VALIDATION_FAILED for a country that the rail pays nobody in; ErrOutcomeUnknown, ErrProcessorUnavailable.
	OpenAccount(ctx context.Context, r PayoutAccountRequest) (payout.AccountReport, error)
	// FindAccount reports the state of an account; its country may be left out. ErrNotFound for one that the rail doesn't
	// know, or no longer lets us see; ErrOutcomeUnknown, ErrProcessorUnavailable.
	FindAccount(ctx context.Context, railID string) (payout.AccountReport, error)
	// LinkAccount makes a page on which the creator gives the rail what it needs. Its address is good for one visit.
	// ErrNotFound, ErrOutcomeUnknown, ErrProcessorUnavailable.
	LinkAccount(ctx context.Context, r PayoutAccountVisit) (PayoutAccountLink, error)
}

// PayoutAccountRequest opens a payout account.
type PayoutAccountRequest struct {
	CreatorID string
	Email     string // of the creator, to begin with
	Country   string // ISO 3166-1 alpha-2
	// Replaces is the rail's id of a disconnected account in whose place the new one comes; "" for none.
	Replaces string
}

// PayoutAccountVisit is a creator on their way to the rail's page.
type PayoutAccountVisit struct {
	RailID string
	// ReturnURL is the page the creator returns to, whatever they did there. RefreshURL is the page they are sent to when
	// the link no longer works.
	ReturnURL, RefreshURL string
}

// PayoutAccountLink is the address of a rail's page.
type PayoutAccountLink struct {
	URL       string
	ExpiresAt time.Time // zero for one that does not expire
}

// PayoutReport is a payout that a rail sent and that did not come back.
type PayoutReport struct {
	PayoutID, CreatorID string
	Destination         string // the rail's id of the account it went to
	At                  time.Time
	Amount              money.Amount
}

// PayoutLister lists what a rail sent for us, for a database that has lost a part of that. It is never called inside a
// transaction.
type PayoutLister interface {
	Network
	// ListPayouts lists each payout that was sent at or after a time and did not come back, once and in no order.
	// ErrOutcomeUnknown, ErrProcessorUnavailable.
	ListPayouts(ctx context.Context, since time.Time) ([]PayoutReport, error)
}

// LostPayouts records payouts that only the rail knows; treasury implements it.
type LostPayouts interface {
	// IsLost reports whether a payout is not in the database.
	IsLost(ctx context.Context, r Repos, payoutID string) (bool, error)
	// RecordLost records a payout that was sent. INSUFFICIENT_BALANCE when less is available now.
	RecordLost(ctx context.Context, r Repos, p PayoutReport) error
}

// PayoutOutcome is the state of a payout as the rail reports it now.
type PayoutOutcome struct {
	Status payout.Status
	Reason string // with payout.Failed
	// Returned is true when a part of what was paid came back.
	Returned bool
}
