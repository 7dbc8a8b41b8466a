// Package ports holds the small interfaces through which use cases reach everything outside them. Each method documents
// which errors it returns; anything else it returns is a fault of the infrastructure and surfaces as INTERNAL.
package ports

import (
	"context"
	"errors"
	"time"
)

var (
	// ErrNotFound reports that the row asked for does not exist for this account.
	ErrNotFound = errors.New("not found")
	// ErrStale reports that the aggregate changed since it was loaded. Atomically runs the use case again.
	ErrStale = errors.New("stale revision")
	// ErrDuplicate reports that a unique key is taken. It arrives wrapped in a *DuplicateError naming the key.
	ErrDuplicate = errors.New("duplicate")
	// ErrDatabaseBusy reports that the database could not be written in time. Nothing has changed, and the same call may
	// succeed a little later.
	ErrDatabaseBusy = errors.New("the database is busy")
	// ErrDatabaseLost reports that the connection ended before the database responded, as in a failover: what was asked
	// for is done or not.
	ErrDatabaseLost = errors.New("the connection to the database was lost")
	// ErrFenced reports that the task was claimed again or rescheduled since this run began. Roll back; another run owns
	// it.
	ErrFenced = errors.New("task fenced")
)

// DuplicateError names the unique index that refused a row, such as "listings_slug".
type DuplicateError struct{ Index string }

func (e *DuplicateError) Error() string { return "duplicate: " + e.Index }

// Is makes errors.Is(err, ErrDuplicate) true.
func (e *DuplicateError) Is(target error) bool { return target == ErrDuplicate }

// PrefetchError is returned by a port that is called inside a transaction and needs something from the network first.
// Atomically rolls back, calls Fetch outside of any transaction, and runs the use case again from its start, in
// which the port has what it fetched. Callers between the port and the store return it or wrap it with %w.
type PrefetchError struct {
	// What names what is fetched, for the log.
	What string
	// Fetch gets it. Its error becomes that of the use case, of which nothing is committed then.
	Fetch func(ctx context.Context) error
}

func (e *PrefetchError) Error() string { return "to be fetched before the transaction: " + e.What }

// Store is the database. Repositories come out of it, bound to a transaction or to none.
type Store interface {
	// Atomically runs fn in one transaction and commits when it returns nil. It runs fn again, from the start, on
	// ErrStale, on a serialization failure and on a deadlock, so fn must not do anything outside the transaction.
	// Inside another Atomically (same ctx) it joins: there is one transaction, and an error of any part undoes the whole.
	//
	// A write that the database refuses (ErrDuplicate, ErrStale, ErrFenced) may be reported by the write itself, by a
	// later statement, or by Atomically: fn returns such errors, and callers test for them on what Atomically returns. A
	// method whose result tells what it wrote, such as Reservations.Insert, has written when it returns. A *PrefetchError
	// has the outermost fetch what is missing between two runs, a few times at most.
	Atomically(ctx context.Context, fn func(ctx context.Context, r Repos) error) error
	// Read returns repositories for reading outside a transaction (or inside the one that ctx carries). What they read is
	// what is committed, or, under a ctx of AllowStale, what was committed some seconds ago.
	Read(ctx context.Context) Repos
}

type staleKey struct{}

// AllowStale returns a ctx under which reads outside of a transaction may miss what was committed in the last seconds:
// of lists, figures and checks, and never of what the caller has just written, or decides by.
func AllowStale(ctx context.Context) context.Context { return context.WithValue(ctx, staleKey{}, true) }

// MayBeStale reports whether ctx comes from AllowStale.
func MayBeStale(ctx context.Context) bool { return ctx.Value(staleKey{}) != nil }

// Repos is one repository per aggregate, area by area, all bound to the same transaction. A module touches its own area
// and what tests/arch declares for it.
type Repos struct {
	// Clock is the time of accounts as this transaction sees it.
	Clock AccountClock
	// Tasks schedules background work, for every area.
	Tasks       Tasks
	TaskAdmin   TaskAdmin
	Idempotency IdempotencyKeys
	Images      Images
	Files       Files
	Imports     ImportedObjects

	Identity      IdentityRepos
	Catalog       CatalogRepos
	Checkout      CheckoutRepos
	Booking       BookingRepos
	Payments      PaymentRepos
	Customers     CustomerRepos
	Access        AccessRepos
	Subscriptions SubscriptionRepos
	Usage         UsageRepos
	Invoicing     InvoicingRepos
	Treasury      TreasuryRepos
	Webhooks      WebhookRepos
	Mail          MailRepos
	Operator      OperatorRepos
	Sandbox       SandboxRepos
}

// Network marks, by being embedded, the ports whose methods may wait for something outside this process and its
// database: another machine, another worker, or time. tests/arch refuses a call of one inside a transaction, which
// would hold its locks meanwhile and which Atomically may run twice.
type Network any

// Page asks for part of a list, newest first unless it is sorted.
type Page struct {
	// Limit is between 1 and 100.
	Limit int
	// After is the position behind which the page begins; the zero value is the beginning.
	After Cursor
	// Sort orders the list by what its repository names; the zero value is newest first.
	Sort Sort
	// Totals asks also for the totals of what the list finds, where its repository has them.
	Totals bool
}

// Sort orders a list by one of its values, such as "amount", and rows of equal values by their ids.
type Sort struct {
	By        string
	Ascending bool
}

// SortCreated sorts any list by when its rows were created.
const SortCreated = "created"

// Created bounds when something was created: from From up to, and without, To; the zero time bounds nothing.
type Created struct{ From, To time.Time }

// SearchedRows bounds how many of the newest rows a search for a part of a text reads.
const SearchedRows = 5_000

// NewestRows bounds how many of the newest rows are sorted by a value without an index, or added up.
const NewestRows = 10_000

// Cursor is a position in a sorted list: the sort value (0 when sorted by id alone; Text for one that is a text) and
// the id of the last row seen.
type Cursor struct {
	Value int64
	Text  string
	ID    string
}

// List is one page of rows and where the next begins (the zero Cursor when there is none).
type List[T any] struct {
	Items []T
	Next  Cursor
	// Last is the position of the last item, or where the page began when it is empty. Only lists that are read on from
	// later, as new items come, have it.
	Last Cursor
	// Partial is set when only the newest NewestRows rows were sorted, and there may be more.
	Partial bool
	// Totals are the sums of the newest NewestRows rows of the list, by currency, if the page asks for them.
	Totals []Total
}

// Total counts rows of one currency, "" for rows without one, and adds up their amounts.
type Total struct {
	Currency string
	Count    int64
	Minor    int64
}

// AllPages asks a list for all its pages.
func AllPages[T any](list func(Page) (List[T], error)) ([]T, error) {
	var all []T
	for page := (Page{Limit: 100}); ; {
		found, err := list(page)
		if err != nil {
			return nil, err
		}
		all = append(all, found.Items...)
		if found.Next == (Cursor{}) {
			return all, nil
		}
		page.After = found.Next
	}
}
