package bootstrap

import (
	"context"
	"fmt"

	"sundry/core/event"
	"sundry/ports"
)

// bus hands each event to its subscribers, in the order of wiring, inside the publisher's transaction.
type bus struct {
	subscribers map[string][]func(ctx context.Context, r ports.Repos, e event.Event) error
}

func newBus() *bus {
	return &bus{subscribers: map[string][]func(context.Context, ports.Repos, event.Event) error{}}
}

// on subscribes a module's method to one type of event.
func on[E event.Event](b *bus, hear func(ctx context.Context, r ports.Repos, e E) error) {
	var zero E
	name := zero.EventName()
	b.subscribers[name] = append(b.subscribers[name], func(ctx context.Context, r ports.Repos, e event.Event) error {
		typed, ok := e.(E)
		if !ok {
			return fmt.Errorf("event %s is a %T, not a %T", name, e, zero)
		}
		return hear(ctx, r, typed)
	})
}

// Publish implements ports.Bus.
func (b *bus) Publish(ctx context.Context, r ports.Repos, events ...event.Event) error {
	for _, e := range events {
		for _, hear := range b.subscribers[e.EventName()] {
			if err := hear(ctx, r, e); err != nil {
				return fmt.Errorf("on %s: %w", e.EventName(), err)
			}
		}
	}
	return nil
}
