package ports

import (
	"context"
	"time"

	"sundry/core/checkout"
)

// CheckoutRepos are the repositories of checkout.
type CheckoutRepos struct {
	Sessions Sessions
	Audit    CheckoutAudit
}

// Sessions keeps checkout sessions.
type Sessions interface {
	// Insert writes a new session.
	Insert(ctx context.Context, s checkout.State) error
	// Get returns a session of any account: the hosted page knows only the id. ErrNotFound.
	Get(ctx context.Context, id string) (checkout.State, error)
	// CountHolding counts the sessions of one OpenedBy that hold times of the creator, the transaction's own included.
	CountHolding(ctx context.Context, creatorID, openedBy string) (int, error)
	// ListPaying returns the open sessions of a customer with an attempt that is not settled.
	ListPaying(ctx context.Context, creatorID, externalCustomerID string) ([]checkout.State, error)
	// Update writes a changed session. ErrStale.
	Update(ctx context.Context, s checkout.State) error
	// Readdress gives what a customer has paid for with an email address, in any case, another one.
	Readdress(ctx context.Context, creatorID, customerID, from, to string) error
	// Rename gives what a customer has bought another external id.
	Rename(ctx context.Context, creatorID, customerID, externalCustomerID string) error
	// List returns the account's sessions that the search asks for, newest first.
	List(ctx context.Context, creatorID string, search SessionSearch, page Page) (List[checkout.State], error)
}

// SessionSearch narrows a list of sessions; zero members narrow nothing.
type SessionSearch struct {
	Status             checkout.Status
	ExternalCustomerID string
	CustomerID         string
	ReferenceID        string
	Created            Created
}

// CheckoutAudit reads checkout for `sundry verify`. Each method returns at most limit ids that break its rule.
type CheckoutAudit interface {
	// UnbalancedPayments lists paid sessions whose payment is missing, not succeeded, or of another amount or tax.
	UnbalancedPayments(ctx context.Context, limit int) ([]string, error)
	// UnbalancedSessions lists open sessions whose total is not the sum of their parts.
	UnbalancedSessions(ctx context.Context, limit int) ([]string, error)
	// LostPayments lists open sessions whose live payment is not there, or is another account's.
	LostPayments(ctx context.Context, limit int) ([]string, error)
	// OverdueSessions lists sessions still processing before the given instant of expiry while nothing is live.
	OverdueSessions(ctx context.Context, expiredBefore time.Time, limit int) ([]string, error)
	// MissingAppointments lists paid sessions that have fewer appointments than were sold.
	MissingAppointments(ctx context.Context, limit int) ([]string, error)
	// StrayHolds lists sessions that are not open any more and still hold somebody's time.
	StrayHolds(ctx context.Context, limit int) ([]string, error)
	// KeptMoney lists succeeded payments that are not what their session was paid with, unless they went back, were lost
	// in a dispute, or a task of the given kind is about to refund them.
	KeptMoney(ctx context.Context, refundTask string, limit int) ([]string, error)
}
