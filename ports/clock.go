package ports

import (
	"context"
	"time"
)

// Clock tells the time. In the sandbox every account has a clock of its own that can be moved forward.
type Clock interface {
	// Now is the account's time: UTC, whole milliseconds.
	Now(ctx context.Context, creatorID string) (time.Time, error)
	// Real is the machine's time: UTC, whole milliseconds. Tokens, keys, leases and rate limits follow it.
	Real() time.Time
}

// Sleeper waits in real time.
type Sleeper interface {
	// Sleep returns after d, or with ctx's error when that ends first. Never inside a transaction.
	Sleep(ctx context.Context, d time.Duration) error
}

// ClockOffsets keeps how far each sandbox account's clock runs ahead of real time.
type ClockOffsets interface {
	// Offset is zero for an account whose clock was never moved.
	Offset(ctx context.Context, creatorID string) (time.Duration, error)
	// Advance sets the offset, never backwards. Tell TaskQueue.Retime once the clock stands where it shall.
	Advance(ctx context.Context, creatorID string, offset time.Duration) error
	// Hold lets one holder at a time move the account's clock: false when another holds it at the given real time.
	// The holder may prolong its own hold.
	Hold(ctx context.Context, creatorID, holder string, now, until time.Time) (bool, error)
	// LetGo ends the holder's hold.
	LetGo(ctx context.Context, creatorID, holder string) error
}
