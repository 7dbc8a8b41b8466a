package bootstrap

import (
	"sundry/adapters/encrypter"
	"sundry/adapters/jobs"
	"sundry/modules/idempotency"
)

func (a *App) wireIdempotency() (*idempotency.Service, error) {
	responses, err := encrypter.New(a.secrets.derive("kept-responses"))
	if err != nil {
		return nil, err
	}
	module := idempotency.New(a.store, a.clock, responses)

	a.mux.Handle(idempotency.TaskSweep, jobs.Default, module.Sweep)
	a.maintain(idempotency.TaskSweep)
	return module, nil
}
