package ports

import (
	"context"

	"sundry/core/event"
)

// Bus hands an event to every subscriber, inside the caller's transaction. An error from any of them undoes
// the whole transaction, cause included.
type Bus interface {
	Publish(ctx context.Context, r Repos, events ...event.Event) error
}
