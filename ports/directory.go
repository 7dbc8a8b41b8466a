package ports

import (
	"context"
	"time"

	"sundry/core/id"
)

// NameKind is a kind of names that people choose and that are unique over all cells.
type NameKind string

// The kinds. What the program itself makes, such as ids, keys and the codes of payment links, needs no directory: it
// names its cell.
const (
	CreatorEmails NameKind = "email"
	ListingSlugs  NameKind = "slug"
)

// Directory knows the cell of each name, for all cells. It keeps hashes only. All methods return ErrDatabaseBusy while
// it cannot be reached.
type Directory interface {
	Network
	// Claim gives the names to an owner of this cell, all or none, and begins the time of each again that the owner has
	// already. ErrDuplicate when somebody else has one.
	Claim(ctx context.Context, kind NameKind, owner string, names ...string) error
	// Settle takes from an owner of this cell all names but those to keep, as far as they were claimed that long ago.
	Settle(ctx context.Context, kind NameKind, owner string, keep []string, age time.Duration) error
	// Find returns the cell of a name. ok is false when nobody has it.
	Find(ctx context.Context, kind NameKind, name string) (cell id.Cell, ok bool, err error)
	// Cells lists the cells that use the directory.
	Cells(ctx context.Context) ([]id.Cell, error)
}

// UniqueNames keeps names unique over all cells. Where there is one cell, that is the database's work, and its methods
// do nothing.
type UniqueNames interface {
	Network
	// Claim is called before the transaction that may use the names. ErrDuplicate when somebody else has one. What the
	// owner does not use in the end is given up by itself.
	Claim(ctx context.Context, kind NameKind, owner string, names ...string) error
	// Release gives up all names of an owner who was not made and never will be.
	Release(ctx context.Context, kind NameKind, owner string)
	// Elsewhere returns MISDIRECTED when another cell has the name, which this one does not know.
	Elsewhere(ctx context.Context, kind NameKind, name string) error
	// MadeElsewhere returns MISDIRECTED for an id of another cell, which this one does not know.
	MadeElsewhere(ctx context.Context, objectID string) error
}
