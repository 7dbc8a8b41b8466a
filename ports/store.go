// Package ports holds the small interfaces through which use cases speak to the world. Each method says which
// errors it returns; anything else it returns is a fault of the infrastructure and surfaces as INTERNAL.
package ports

import (
	"context"
	"errors"
)

var (
	// ErrNotFound says that the row asked for does not exist for this account.
	ErrNotFound = errors.New("not found")
	// ErrStale says that the aggregate changed since it was loaded. Atomically runs the use case again.
	ErrStale = errors.New("stale revision")
	// ErrDuplicate says that a unique key is taken. It arrives wrapped in a *DuplicateError naming the key.
	ErrDuplicate = errors.New("duplicate")
	// ErrFenced says that a task was claimed again or rescheduled since this run began: roll back, it is not yours.
	ErrFenced = errors.New("task fenced")
)

// DuplicateError names the unique index that refused a row, such as "listings_slug".
type DuplicateError struct{ Index string }

func (e *DuplicateError) Error() string { return "duplicate: " + e.Index }

// Is makes errors.Is(err, ErrDuplicate) true.
func (e *DuplicateError) Is(target error) bool { return target == ErrDuplicate }

// Store is the database. Repositories come out of it, bound to a transaction or to none.
type Store interface {
	// Atomically runs fn in one transaction and commits when it returns nil. It runs fn again, from the start, on
	// ErrStale, on a serialization failure and on a deadlock, so fn must not do anything outside the transaction.
	// Inside another Atomically (same ctx) it joins: there is one transaction, and an error of any part undoes the whole.
	Atomically(ctx context.Context, fn func(ctx context.Context, r Repos) error) error
	// Read returns repositories for reading outside a transaction (or inside the one that ctx carries).
	Read(ctx context.Context) Repos
}

// Repos is one repository per aggregate, all bound to the same transaction.
type Repos struct {
	Tasks            Tasks
	IdempotencyKeys  IdempotencyKeys
	ClockOffsets     ClockOffsets
	DocumentNumbers  DocumentNumbers
	Sessions         Sessions
	Payments         Payments
	Customers        Customers
	Subscriptions    Subscriptions
	SellingAudit     SellingAudit
	SandboxCharges   SandboxCharges
	Listings         Listings
	Plans            Plans
	PaymentLinks     PaymentLinks
	Creators         Creators
	APIKeys          APIKeys
	RefreshFamilies  RefreshFamilies
	Grants           Grants
	Snapshots        Snapshots
	CreditUses       CreditUses
	Scheduling       Scheduling
	BusyCalendars    BusyCalendars
	Claims           Claims
	Appointments     Appointments
	BookingAudit     BookingAudit
	Events           Events
	WebhookEndpoints WebhookEndpoints
	Deliveries       Deliveries
	Announcements    Announcements
	Mails            Mails
	WebhookAudit     WebhookAudit
	TaskDesk         TaskDesk
}

// Page asks for part of a list, newest first.
type Page struct {
	// Limit is between 1 and 100.
	Limit int
	// After is the position behind which the page begins; the zero value is the beginning.
	After Cursor
}

// Cursor is a position in a sorted list: the sort value (0 when sorted by id alone) and the id of the last row seen.
type Cursor struct {
	Value int64
	ID    string
}

// List is one page of rows and where the next begins (the zero Cursor when there is none).
type List[T any] struct {
	Items []T
	Next  Cursor
}
