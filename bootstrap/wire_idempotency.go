package bootstrap

import (
	"sundry/adapters/jobs"
	"sundry/modules/idempotency"
)

func (a *App) wireIdempotency() *idempotency.Service {
	module := idempotency.New(a.store, a.clock, a.encrypter("kept-responses"))

	a.mux.Handle(idempotency.TaskSweep, jobs.Default, module.Sweep)
	a.maintain(idempotency.TaskSweep)
	return module
}
