package bootstrap

import (
	"context"

	"sundry/adapters/httpapi"
	sandboxapi "sundry/adapters/httpapi/sandbox"
	"sundry/adapters/system"
	"sundry/modules/sandbox"
	"sundry/modules/webhooks"
)

// wireSandbox returns nil in live. flush and before are called before a clock moves.
func (a *App) wireSandbox(flush func(context.Context) error, before ...sandbox.BeforeAdvance) *sandbox.Service {
	if a.live() {
		return nil
	}
	return sandbox.New(sandbox.Deps{
		Store: a.store, Queue: a.store, Runner: a.mux, Clock: a.clock, Sleeper: system.Clock{}, IDs: a.ids,
		Stopping: a.stopping,
		Flush:    flush, Before: before, Deliveries: webhooks.TaskDeliver,
	})
}

func (a *App) sandboxAPI(m modules) httpapi.Area {
	return httpapi.Area{Document: sandboxapi.Document, Routes: sandboxapi.Routes(sandboxapi.Deps{Sandbox: m.Sandbox})}
}
