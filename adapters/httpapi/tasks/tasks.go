package tasks

import (
	"encoding/base64"
	"strings"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/core/apiformat"
	"sundry/core/fault"
	"sundry/ports"
)

func (h handlers) taskRoutes() []httpapi.Route {
	return []httpapi.Route{
		{Method: fiber.MethodGet, Path: "/v1/tasks", Auth: httpapi.AccessToken, Handle: h.listTasks},
		{
			Method: fiber.MethodPost, Path: "/v1/tasks/:id/retry", Auth: httpapi.AccessToken,
			Handle: httpapi.WithoutBody(h.retryTask),
		},
	}
}

// taskView is a piece of background work. Completed work is deleted.
type taskView struct {
	ID      string          `json:"id"`
	Kind    string          `json:"kind"`
	Subject string          `json:"subject"`
	State   ports.TaskState `json:"state"`
	DueAt   *string         `json:"dueAt"`
	// NextAttemptAt is null while it runs.
	NextAttemptAt *string `json:"nextAttemptAt"`
	Attempts      int     `json:"attempts"`
	LastError     *string `json:"lastError"`
}

// taskPrefix begins a task's id as callers see it. The rest is the stored id, which has characters with a meaning in
// paths.
const taskPrefix = "tsk_"

func newTaskView(t ports.TaskInfo) taskView {
	view := taskView{
		ID: taskPrefix + base64.RawURLEncoding.EncodeToString([]byte(t.ID)), Kind: t.Kind, Subject: t.Subject,
		State: t.State,
		DueAt: apiformat.Time(t.DueAt), Attempts: t.Attempts, LastError: apiformat.Text(t.LastError),
	}
	if t.State != ports.TaskRunning {
		view.NextAttemptAt = apiformat.Time(t.RunAt)
	}
	return view
}

// taskID is the stored id behind one that we gave out; ok is false for any other.
func taskID(shown string) (stored string, ok bool) {
	encoded, ok := strings.CutPrefix(shown, taskPrefix)
	plain, err := base64.RawURLEncoding.Strict().DecodeString(encoded)
	return string(plain), ok && err == nil && httpapi.Storable(string(plain))
}

func (h handlers) listTasks(c *fiber.Ctx) error {
	var f fault.Violations
	p := httpapi.ReadPage(c, &f, "")
	state := httpapi.QueryOneOf(c, &f, "state", ports.TaskWaiting, ports.TaskRunning, ports.TaskFailed)
	if err := f.Err(); err != nil {
		return err
	}
	return httpapi.RespondList(c, newTaskView)(h.Tasks.Tasks(c.UserContext(), httpapi.Account(c), state, p))
}

func (h handlers) retryTask(c *fiber.Ctx) error {
	id, ok := taskID(c.Params("id"))
	if !ok {
		return fault.NotFound("task")
	}
	return httpapi.RespondStatus(c, fiber.StatusAccepted, newTaskView)(
		h.Tasks.Retry(c.UserContext(), httpapi.Account(c), id),
	)
}
