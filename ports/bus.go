package ports

import (
	"context"

	"sundry/core/event"
)

// Bus hands an event to every subscriber, inside the caller's transaction. An error from any of them undoes
// the whole transaction, cause included.
type Bus interface {
	Publish(ctx context.Context, r Repos, events ...event.Event) error
	// ReadAhead lets them ask for what they will need of events that are about to be published, inside Store.ReadAhead.
	ReadAhead(ctx context.Context, r Repos, events ...event.Event)
}
