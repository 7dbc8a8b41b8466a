package gormstore

import (
	"container/heap"
	"context"
	"database/sql/driver"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"sundry/ports"
)

// queue gives the connections of the pool to transactions, those of the request that began first before others: with
// more requests than can be served the ones at work end first, instead of all sharing the connections and none ending
// in time. Work that no request waits for has every fourth connection, in the order in which it asked: it follows from
// what was served. Reads that leave gorm take their connections from the pool itself.
type queue struct {
	driver.Connector
	mu                   sync.Mutex
	free                 int
	requests, background line
	// inARow counts the requests that got a connection since other work did, while that waits.
	inARow int
	// longest bounds the waits of those that got a connection since it was read.
	longest time.Duration
}

func newQueue(pool *pgxpool.Pool) *queue {
	return &queue{Connector: stdlib.GetPoolConnector(pool), free: int(pool.Config().MaxConns)}
}

// Connect waits for a turn and takes a connection, or lends that of ctx's transaction. It fails with ctx.
func (q *queue) Connect(ctx context.Context) (driver.Conn, error) {
	tx, inside := current(ctx)
	switch {
	case !inside || tx.pipeline == nil:
		return q.take(ctx)
	case tx.pipeline.conn == nil:
		return nil, errEnded
	}
	return lentConn{tx.pipeline.conn.Conn}, nil
}

// take waits for a turn and takes a connection. It fails with ctx.
func (q *queue) take(ctx context.Context) (*queuedConn, error) {
	if err := q.enter(ctx); err != nil {
		return nil, err
	}
	conn, err := q.Connector.Connect(ctx)
	if err != nil {
		q.leave()
		return nil, err
	}
	return &queuedConn{conn.(*stdlib.Conn), q}, nil //nolint:forcetypeassert,errcheck // the connector's
}

// queuedConn gives its turn on when it goes back to the pool.
type queuedConn struct {
	*stdlib.Conn
	queue *queue
}

func (c *queuedConn) Close() error {
	defer c.queue.leave()
	return c.Conn.Close()
}

// pgx returns the connection itself.
func (c *queuedConn) pgx() *pgx.Conn { return c.Conn.Conn() }

// lentConn is the connection of a pipelined transaction, on which gorm runs a statement. It stays the transaction's.
type lentConn struct{ *stdlib.Conn }

func (lentConn) Close() error { return nil }

func (q *queue) enter(ctx context.Context) error {
	q.mu.Lock()
	if q.free > 0 {
		q.free--
		q.mu.Unlock()
		return nil
	}
	asked := time.Now()
	w := &waiter{began: asked, turn: make(chan struct{})}
	line := &q.background
	if began, ok := ports.Began(ctx); ok {
		line, w.began = &q.requests, began
	}
	heap.Push(line, w)
	q.mu.Unlock()
	select {
	case <-w.turn:
		q.mu.Lock()
		q.longest = max(q.longest, time.Since(asked))
		q.mu.Unlock()
		return nil
	case <-ctx.Done():
	}
	q.mu.Lock()
	waits := w.index >= 0
	if waits {
		heap.Remove(line, w.index)
	}
	q.mu.Unlock()
	if !waits { // the turn came meanwhile
		q.leave()
	}
	return ctx.Err()
}

// requestsInARow get connections before other work that waits gets one.
const requestsInARow = 3

// leave gives the turn to the next of a line.
func (q *queue) leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	line := &q.requests
	if len(*line) == 0 || q.inARow >= requestsInARow && len(q.background) > 0 {
		line = &q.background
	}
	if len(*line) == 0 {
		q.free++
		return
	}
	if q.inARow++; line == &q.background {
		q.inARow = 0
	}
	close(heap.Pop(line).(*waiter).turn) //nolint:forcetypeassert,errcheck // of a line
}

// longestWait returns how long those had to wait at most who got a connection since the last call, 0 while one is free.
func (q *queue) longestWait() time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	longest := q.longest
	q.longest = 0
	if q.free > 0 {
		return 0
	}
	return longest
}

// waiter is one that asked for a connection. index is its place in its line, -1 after its turn has come.
type waiter struct {
	began time.Time
	index int
	turn  chan struct{}
}

// line is a heap of waiters by when their work began.
type line []*waiter

func (l line) Len() int           { return len(l) }
func (l line) Less(i, j int) bool { return l[i].began.Before(l[j].began) }

func (l line) Swap(i, j int) {
	l[i], l[j] = l[j], l[i]
	l[i].index, l[j].index = i, j
}

// Push adds a waiter, for heap.
func (l *line) Push(x any) {
	w := x.(*waiter) //nolint:forcetypeassert,errcheck // of a line
	w.index = len(*l)
	*l = append(*l, w)
}

// Pop removes the last waiter, for heap.
func (l *line) Pop() any {
	last := len(*l) - 1
	w := (*l)[last]
	(*l)[last], *l = nil, (*l)[:last]
	w.index = -1
	return w
}
