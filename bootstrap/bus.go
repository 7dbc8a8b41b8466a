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
	readers     map[string][]func(ctx context.Context, r ports.Repos, e event.Event)
}

func newBus() *bus {
	return &bus{subscribers: map[string][]receiverFunc{}, readers: map[string][]func(ctx context.Context, r ports.Repos, e event.Event){}}
}

// on subscribes a module's method to one type of event.
func on[E event.Event](b *bus, receive func(ctx context.Context, r ports.Repos, e E) error) {
	name, receiver := receiverOf(receive)
	b.subscribers[name] = append(b.subscribers[name], receiver)
}

// onFirst is on, before the subscribers so far.
func onFirst[E event.Event](b *bus, receive func(ctx context.Context, r ports.Repos, e E) error) {
	name, receiver := receiverOf(receive)
	b.subscribers[name] = append([]receiverFunc{receiver}, b.subscribers[name]...)
}

// before lets a module read ahead what it will need of one type of event.
func before[E event.Event](b *bus, read func(ctx context.Context, r ports.Repos, e E)) {
	var zero E
	b.readers[zero.EventName()] = append(b.readers[zero.EventName()], func(ctx context.Context, r ports.Repos, e event.Event) {
		if typed, ok := e.(E); ok {
			read(ctx, r, typed)
		}
	})
}

// receiverFunc takes any event of the type that it was made for.
type receiverFunc func(ctx context.Context, r ports.Repos, e event.Event) error

func receiverOf[E event.Event](receive func(ctx context.Context, r ports.Repos, e E) error) (name string, receiver receiverFunc) {
	var zero E
	name = zero.EventName()
	return name, func(ctx context.Context, r ports.Repos, e event.Event) error {
		typed, ok := e.(E)
		if !ok {
			return fmt.Errorf("event %s is a %T, not a %T", name, e, zero)
		}
		return receive(ctx, r, typed)
	}
}

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

// ReadAhead implements ports.Bus.
func (b *bus) ReadAhead(ctx context.Context, r ports.Repos, events ...event.Event) {
	for _, e := range events {
		for _, read := range b.readers[e.EventName()] {
			read(ctx, r, e)
		}
	}
}
