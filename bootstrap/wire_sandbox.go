package bootstrap

import (
	"sundry/adapters/httpapi"
	sandboxapi "sundry/adapters/httpapi/sandbox"
	"sundry/adapters/system"
	"sundry/modules/sandbox"
)

// wireSandbox comes after every area that wants to know when a clock is about to move.
func (a *App) wireSandbox() error {
	if !a.inSandbox() {
		return nil
	}
	a.modules.Sandbox = sandbox.New(sandbox.Deps{
		Store: a.store, Queue: a.store, Runner: a.mux, Clock: a.clock, Sleeper: system.Clock{}, IDs: a.ids, Stopping: a.stopping,
		Before: a.beforeAdvance,
	})
	return nil
}

func (a *App) sandboxAPI() httpapi.Area {
	return httpapi.Area{Document: sandboxapi.Document, Routes: sandboxapi.Routes(sandboxapi.Deps{Sandbox: a.modules.Sandbox})}
}
