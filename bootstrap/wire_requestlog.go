package bootstrap

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sundry/modules/requestlog"
)

const (
	// writeRequestsEvery is the pause between two writes of the log of requests: one statement a second, whatever the
	// load.
	writeRequestsEvery   = time.Second
	writeRequestsTimeout = 5 * time.Second
)

func (a *App) wireRequestLog() *requestlog.Service {
	module := requestlog.New(a.store)
	a.metrics.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "sundry_request_log_dropped_total", Help: "API requests that were left out of the request log because too " +
			"many came at once.",
	}, func() float64 { return float64(module.Dropped()) }))
	return module
}

// writeRequests writes the log of requests until the program is asked to stop.
func (a *App) writeRequests(stopping <-chan struct{}) {
	tick := time.NewTicker(writeRequestsEvery)
	defer tick.Stop()
	for {
		select {
		case <-stopping:
			return
		case <-tick.C:
			a.flushRequests()
		}
	}
}

func (a *App) flushRequests() {
	ctx, cancel := context.WithTimeout(context.Background(), writeRequestsTimeout)
	defer cancel()
	if err := a.modules.Requests.Flush(ctx); err != nil {
		a.log.DebugContext(ctx, "requests were not logged", slog.Any("error", err))
	}
}
