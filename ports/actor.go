package ports

import (
	"context"

	"sundry/core/identity"
)

type actorKey struct{}

// WithActor returns a context in which the account is used by the actor.
func WithActor(ctx context.Context, a identity.Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, a)
}

// ActorOf returns who uses the account in a context. ok is false for buyers and for what the program does by itself.
func ActorOf(ctx context.Context) (a identity.Actor, ok bool) {
	a, ok = ctx.Value(actorKey{}).(identity.Actor)
	return a, ok
}

// PublishAudited publishes what the actor of a context did, for the access log. Without an actor it does nothing: what
// buyers and the program do has records of its own.
func PublishAudited(ctx context.Context, r Repos, bus Bus, e identity.Audited) error {
	if _, ok := ActorOf(ctx); !ok {
		return nil
	}
	return bus.Publish(ctx, r, e)
}
