package ports

import (
	"context"
	"time"
)

// Clock is the time. In the sandbox every account has a clock of its own that can be moved forward.
type Clock interface {
	// Now is the account's time: UTC, whole milliseconds.
	Now(ctx context.Context, creatorID string) (time.Time, error)
	// Real is the machine's time: UTC, whole milliseconds. Tokens, keys, leases and rate limits follow it.
	Real() time.Time
}

// AccountClock is Clock inside a transaction.
type AccountClock interface {
	// Now is the account's time as the transaction sees it: UTC, whole milliseconds.
	Now(ctx context.Context, creatorID string) (time.Time, error)
}

// Sleeper waits in real time.
type Sleeper interface {
	Network
	// Sleep returns after d, or with ctx's error when that ends first. Never inside a transaction.
	Sleep(ctx context.Context, d time.Duration) error
}
