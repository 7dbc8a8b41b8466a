package ports

import (
	"context"
	"time"
)

type beganKey struct{}

// WithBegin returns a context of the request that began then.
func WithBegin(ctx context.Context, at time.Time) context.Context {
	return context.WithValue(ctx, beganKey{}, at)
}

// Began returns when the request of a context began. ok is false for work that no request waits for.
func Began(ctx context.Context) (at time.Time, ok bool) {
	at, ok = ctx.Value(beganKey{}).(time.Time)
	return at, ok
}
