package jobs

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Sweep is work that comes round by the clock instead of by a row: it looks at everything, and a look that is missed is
// made good by the next.
type Sweep struct {
	Name  string
	First time.Duration // until the first time
	Every time.Duration // from the end of one to the next
	Do    func(ctx context.Context) error
}

// RunSweeps makes each sweep's rounds until ctx ends. One that fails comes again at its usual time.
func RunSweeps(ctx context.Context, log *slog.Logger, sweeps ...Sweep) {
	var all sync.WaitGroup
	for _, s := range sweeps {
		all.Go(func() {
			for pause(ctx, s.First); ctx.Err() == nil; pause(ctx, s.Every) {
				if err := s.Do(ctx); err != nil && ctx.Err() == nil {
					log.WarnContext(ctx, "sweep failed", slog.String("sweep", s.Name), slog.Any("error", err))
				}
			}
		})
	}
	all.Wait()
}
