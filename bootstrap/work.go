package bootstrap

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"sundry/adapters/jobs"
	"sundry/ports"
)

// dispatcher is the interface of both dispatchers to bootstrap.
type dispatcher interface {
	ports.Dispatcher
	Start(freed func(jobs.Class))
	Stop(ctx context.Context)
}

// newDispatcher picks Redis where there is one, else this process.
func (a *App) newDispatcher() dispatcher {
	if a.redis == nil {
		return jobs.NewInline(a.mux, a.store, a.log)
	}
	return jobs.NewAsynq(a.redis, a.redisPrefix(), a.mux, a.log)
}

// listenBackOff is the pause before listening again after the connection was lost; the relay's own polls go on.
const listenBackOff = time.Second

// startWork begins background work. stop claims nothing more at once, lets what runs finish, and cancels it when its
// ctx ends. It looks at once for what is scheduled from now on.
func (a *App) startWork() (stop func(ctx context.Context)) {
	carrier := a.newDispatcher()
	relay := jobs.NewRelay(a.store, carrier, a.clock, a.log)
	carrier.Start(relay.Freed)
	ctx, cancel := context.WithCancel(context.Background())
	var loops sync.WaitGroup
	loops.Go(func() { relay.Run(ctx) })
	a.wakeBy(relay.Wake)
	loops.Go(func() { a.listenForTasks(ctx, relay.Wake) })
	loops.Go(func() { a.sweep(ctx) })
	return func(deadline context.Context) {
		a.wakeBy(a.store.NotifyWorkers) // other processes run what is scheduled or released from now on
		cancel()
		loops.Wait()
		carrier.Stop(deadline)
		a.store.NotifyWorkers()
	}
}

// listenForTasks wakes the relay for the classes of which another process has scheduled work.
func (a *App) listenForTasks(ctx context.Context, wake func(classes ...ports.TaskClass)) {
	for ctx.Err() == nil {
		if err := a.store.ListenForTasks(ctx, wake); err != nil {
			a.log.DebugContext(ctx, "not listening for work of other processes", slog.Any("error", err))
		}
		select {
		case <-ctx.Done():
		case <-time.After(listenBackOff):
		}
	}
}
