package jobs

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Sweep is periodic work without a row of its own: each run covers everything, so a run that is missed is made up for
// by the next.
type Sweep struct {
	Name  string
	First time.Duration // until the first time
	Every time.Duration // from the end of one to the next
	Limit time.Duration // of one run: what hangs, on a lost connection perhaps, must not be the last run
	Do    func(ctx context.Context) error
}

// RunSweeps runs each sweep periodically until ctx ends. One that fails runs again at its usual time.
func RunSweeps(ctx context.Context, log *slog.Logger, sweeps ...Sweep) {
	var all sync.WaitGroup
	for _, s := range sweeps {
		all.Go(func() {
			for pause(ctx, s.First); ctx.Err() == nil; pause(ctx, s.Every) {
				if err := s.run(ctx); err != nil && ctx.Err() == nil {
					log.WarnContext(ctx, "sweep failed", slog.String("sweep", s.Name), slog.Any("error", err))
				}
			}
		})
	}
	all.Wait()
}

func (s Sweep) run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.Limit)
	defer cancel()
	return s.Do(ctx)
}
