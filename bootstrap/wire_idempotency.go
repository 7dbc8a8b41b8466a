package bootstrap

import (
	"sundry/adapters/encrypter"
	"sundry/adapters/jobs"
	"sundry/modules/idempotency"
)

func (a *App) wireIdempotency() error {
	responses, err := encrypter.New(a.secrets.derive("kept-responses"))
	if err != nil {
		return err
	}
	module := idempotency.New(a.store, a.clock, responses)
	a.modules.Idempotency = module

	a.mux.Handle(idempotency.TaskSweep, jobs.Default, module.Sweep)
	a.maintain(idempotency.TaskSweep)
	return nil
}
