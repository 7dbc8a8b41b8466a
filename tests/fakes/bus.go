// Package fakes replaces the ports that use cases call in tests over a real store: the bus, accounts, the processor,
// charges and workers.
package fakes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"sundry/core/document"
	"sundry/core/event"
	"sundry/ports"
)

// Bus implements ports.Bus. It keeps what is published, also by a transaction that is rolled back or run again.
type Bus struct {
	// Subscriber gets each event in the publisher's transaction; nil for none.
	Subscriber func(ctx context.Context, r ports.Repos, e event.Event) error

	mu        sync.Mutex
	published []event.Event
}

// Publish implements ports.Bus.
func (b *Bus) Publish(ctx context.Context, r ports.Repos, events ...event.Event) error {
	b.mu.Lock()
	b.published = append(b.published, events...)
	b.mu.Unlock()
	if b.Subscriber == nil {
		return nil
	}
	for _, e := range events {
		if err := b.Subscriber(ctx, r, e); err != nil {
			return err
		}
	}
	return nil
}

// Take returns the events since the last call, in their order.
func (b *Bus) Take() []event.Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	taken := b.published
	b.published = nil
	return taken
}

// TakeNames returns the names of the events since the last call, in their order.
func (b *Bus) TakeNames() []string {
	var names []string
	for _, e := range b.Take() {
		names = append(names, e.EventName())
	}
	return names
}

// Published returns the events of one type, in their order, and leaves them there.
func Published[E event.Event](b *Bus) []E {
	b.mu.Lock()
	defer b.mu.Unlock()
	var found []E
	for _, e := range b.published {
		if e, ok := e.(E); ok {
			found = append(found, e)
		}
	}
	return found
}

// CountingBus is a Bus that also counts events per name and subject in the publisher's transaction, so that an event of
// a transaction that is rolled back does not count.
type CountingBus struct {
	Bus
	// Subject returns what an event is about; "" refuses it, because the test expects no such event.
	Subject func(e event.Event) string
}

// Publish implements ports.Bus.
func (b *CountingBus) Publish(ctx context.Context, r ports.Repos, events ...event.Event) error {
	for _, e := range events {
		subject := b.Subject(e)
		if subject == "" {
			return fmt.Errorf("unexpected event %s", e.EventName())
		}
		if _, err := r.Invoicing.DocumentNumbers.Next(ctx, subject, series(e.EventName())); err != nil {
			return err
		}
	}
	return b.Bus.Publish(ctx, r, events...)
}

// Count returns how many events of a name about a subject were committed.
func (*CountingBus) Count(t testing.TB, store ports.Store, name, subject string) int64 {
	t.Helper()
	var next int64
	undo := errors.New("only reading")
	err := store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) (err error) {
		if next, err = r.Invoicing.DocumentNumbers.Next(ctx, subject, series(name)); err != nil {
			return err
		}
		return undo
	})
	if !errors.Is(err, undo) {
		t.Fatal(err)
	}
	return next - 1
}

// series is an event's name as a series of document numbers.
func series(name string) document.Series { return document.Series(strings.ReplaceAll(name, ".", " ")) }
