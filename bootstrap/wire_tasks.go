package bootstrap

import (
	"sundry/adapters/httpapi"
	tasksapi "sundry/adapters/httpapi/tasks"
	"sundry/modules/tasks"
)

func (a *App) wireTasks() error {
	a.modules.TaskAdmin = tasks.New(a.store, a.clock)
	return nil
}

func (a *App) tasksAPI() httpapi.Area {
	return httpapi.Area{Document: tasksapi.Document, Routes: tasksapi.Routes(tasksapi.Deps{Tasks: a.modules.TaskAdmin})}
}
