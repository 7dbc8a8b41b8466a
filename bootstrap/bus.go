package bootstrap

import (
	"context"
	"fmt"

	"sundry/core/event"
	"sundry/ports"
)

// bus hands each event to its subscribers, in the order of wiring, inside the publisher's transaction.
type bus struct {
	subscribers map[string][]receiverFunc
}

func newBus() *bus { return &bus{subscribers: map[string][]receiverFunc{}} }

// on subscribes a module's method to one type of event.
func on[E event.Event](b *bus, receive func(ctx context.Context, r ports.Repos, e E) error) {
	b.subscribe(ports.On(receive))
}

// subscribe adds subscriptions behind those so far.
func (b *bus) subscribe(all ...ports.Subscription) {
	for _, s := range all {
		name := s.Event.EventName()
		b.subscribers[name] = append(b.subscribers[name], s.Receive)
	}
}

// receiverFunc receives events of the type that it was subscribed to.
type receiverFunc = func(ctx context.Context, r ports.Repos, e event.Event) error

// Publish implements ports.Bus.
func (b *bus) Publish(ctx context.Context, r ports.Repos, events ...event.Event) error {
	for _, e := range events {
		for _, receive := range b.subscribers[e.EventName()] {
			if err := receive(ctx, r, e); err != nil {
				return fmt.Errorf("on %s: %w", e.EventName(), err)
			}
		}
	}
	return nil
}
