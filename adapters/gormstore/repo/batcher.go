package repo

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrQueueFull reports that a batcher has as much waiting as it may. Nothing was written.
var ErrQueueFull = errors.New("too many writes wait")

// BatchConfig configures a batcher.
type BatchConfig[T any] struct {
	// MaxBatch bounds one write, Timeout how long it may take, and Capacity how many items may wait for the next.
	MaxBatch int
	Timeout  time.Duration
	Capacity int
	// Write writes a batch and commits. It returns one result for each item, in their order.
	Write func(ctx context.Context, batch []T) []error
	// Key is equal for items that must not share a batch: of one key the later waits for the next. nil: all may.
	Key func(T) string
}

// Batcher gathers what many callers write while a write is under way, for the next one: under load one commit serves
// many, and without load no item waits (group commit).
type Batcher[T any] struct {
	config  BatchConfig[T]
	mu      sync.Mutex
	waiting []waiter[T]
	writing bool
}

type waiter[T any] struct {
	ctx  context.Context //nolint:containedctx // of the caller, who waits
	item T
	done chan error
}

// NewBatcher returns a batcher. It runs no goroutine while nothing waits.
func NewBatcher[T any](config BatchConfig[T]) *Batcher[T] { return &Batcher[T]{config: config} }

// Do writes an item with those of other callers and returns its result once its batch is committed. It waits for that
// even when ctx ends, because the write may succeed. ErrQueueFull when too many wait already.
func (b *Batcher[T]) Do(ctx context.Context, item T) error {
	one := waiter[T]{context.WithoutCancel(ctx), item, make(chan error, 1)}
	if !b.enqueue(one) {
		return ErrQueueFull
	}
	return <-one.done
}

// enqueue leaves an item to the writer, which it starts when there is none.
func (b *Batcher[T]) enqueue(one waiter[T]) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting) >= b.config.Capacity {
		return false
	}
	b.waiting = append(b.waiting, one)
	if !b.writing {
		b.writing = true
		go b.run()
	}
	return true
}

// run writes batches until nothing waits.
func (b *Batcher[T]) run() {
	for batch := b.next(); len(batch) > 0; batch = b.next() {
		b.write(batch)
	}
}

// write writes a batch, in the context of the first of its callers, and wakes its waiters.
func (b *Batcher[T]) write(batch []waiter[T]) {
	ctx, cancel := context.WithTimeout(batch[0].ctx, b.config.Timeout)
	defer cancel()
	items := make([]T, len(batch))
	for i, one := range batch {
		items[i] = one.item
	}
	for i, err := range b.config.Write(ctx, items) {
		batch[i].done <- err
	}
}

// next hands over what waits, up to a batch; when that is nothing, the writer is done.
func (b *Batcher[T]) next() []waiter[T] {
	b.mu.Lock()
	defer b.mu.Unlock()
	batch, later := b.waiting, []waiter[T](nil)
	if b.config.Key != nil {
		batch, later = splitByKey(b.waiting, b.config.Key)
	}
	if len(batch) > b.config.MaxBatch {
		batch, later = batch[:b.config.MaxBatch:b.config.MaxBatch], append(batch[b.config.MaxBatch:len(batch):len(batch)],
			later...)
	}
	b.waiting, b.writing = later, len(batch) > 0
	return batch
}

// splitByKey takes the first item of each key; the others keep their order.
func splitByKey[T any](all []waiter[T], key func(T) string) (firsts, later []waiter[T]) {
	seen := map[string]bool{}
	for _, one := range all {
		if k := key(one.item); seen[k] {
			later = append(later, one)
		} else {
			seen[k] = true
			firsts = append(firsts, one)
		}
	}
	return firsts, later
}
