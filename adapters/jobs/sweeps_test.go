package jobs_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"sundry/adapters/jobs"
)

func TestASweepThatHangsIsEndedAndRunsAgain(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	runs := 0
	jobs.RunSweeps(ctx, slog.New(slog.DiscardHandler), jobs.Sweep{
		Name: "hangs", Every: time.Millisecond, Limit: time.Millisecond, Do: func(ctx context.Context) error {
			if runs++; runs == 3 {
				stop()
			}
			<-ctx.Done()
			return ctx.Err()
		},
	})
	if runs != 3 {
		t.Errorf("it ran %d times, want until it was stopped", runs)
	}
}
