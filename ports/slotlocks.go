package ports

import (
	"context"
	"time"

	"sundry/core/slot"
)

// SlotLocks lets one request at a time decide about some of a creator's time, so that a burst of requests for one slot
// waits here and not inside the database. It only makes things calmer: whether a time is free is for the database to
// decide, and a lock that is lost, or cannot be asked for, changes nothing else.
type SlotLocks interface {
	Network
	// TryLock locks all of the wanted intervals of a creator for a holder, or none: entered is false while another holder
	// has a moment of one of them. The lock expires after its lifetime.
	TryLock(ctx context.Context, creatorID, holder string, wanted []slot.Interval,
		lifetime time.Duration) (entered bool, err error)
	// Unlock releases what the holder locked, if it still has it.
	Unlock(ctx context.Context, creatorID, holder string) error
}
