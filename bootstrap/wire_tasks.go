package bootstrap

import (
	"sundry/adapters/httpapi"
	tasksapi "sundry/adapters/httpapi/tasks"
	"sundry/modules/tasks"
)

func (a *App) wireTasks() *tasks.Service { return tasks.New(a.store, a.clock) }

func (a *App) tasksAPI(m modules) httpapi.Area {
	return httpapi.Area{Document: tasksapi.Document, Routes: tasksapi.Routes(tasksapi.Deps{Tasks: m.TaskAdmin})}
}
