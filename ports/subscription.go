package ports

import (
	"context"
	"fmt"

	"sundry/core/event"
)

// Subscription is a module's receiver of one type of event.
type Subscription struct {
	// Event is the zero value of the type.
	Event event.Event
	// Receive runs in the publisher's transaction. Its error rolls that back.
	Receive func(ctx context.Context, r Repos, e event.Event) error
}

// On subscribes a method to the events of its type.
func On[E event.Event](receive func(ctx context.Context, r Repos, e E) error) Subscription {
	var zero E
	return Subscription{Event: zero, Receive: func(ctx context.Context, r Repos, e event.Event) error {
		typed, ok := e.(E)
		if !ok {
			return fmt.Errorf("event %s is a %T, not a %T", e.EventName(), e, zero)
		}
		return receive(ctx, r, typed)
	}}
}
