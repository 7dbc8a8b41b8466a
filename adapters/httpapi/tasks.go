package httpapi

import (
	"encoding/base64"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"sundry/core/fault"
	"sundry/core/wire"
	"sundry/ports"
)

func (s *Server) taskRoutes() []Route {
	return []Route{
		{Method: fiber.MethodGet, Path: "/v1/tasks", Gate: Creator, Handle: s.listTasks},
		{Method: fiber.MethodPost, Path: "/v1/tasks/:id/retry", Gate: Creator, Handle: bodiless(s.retryTask)},
	}
}

// taskView is a piece of background work. One that is done is gone.
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

func viewOfTask(t ports.TaskStanding) taskView {
	view := taskView{
		ID: taskPrefix + base64.RawURLEncoding.EncodeToString([]byte(t.ID)), Kind: t.Kind, Subject: t.Subject, State: t.State,
		DueAt: wire.Time(t.DueAt), Attempts: t.Attempts, LastError: wire.Text(t.LastError),
	}
	if t.State != ports.TaskRunning {
		view.NextAttemptAt = wire.Time(t.RunAt)
	}
	return view
}

// taskID is the stored id behind one that we gave out; ok is false for any other.
func taskID(shown string) (stored string, ok bool) {
	encoded, ok := strings.CutPrefix(shown, taskPrefix)
	plain, err := base64.RawURLEncoding.Strict().DecodeString(encoded)
	return string(plain), ok && err == nil && storedText(string(plain))
}

// storedText reports whether a text can be compared with stored ones: neither engine holds any other.
func storedText(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

func (s *Server) listTasks(c *fiber.Ctx) error {
	var f fault.Faults
	p := page(c, &f)
	state := ports.TaskState(c.Query("state"))
	f.Check(state == "" || slices.Contains(ports.TaskStates(), state), "state", fault.DetailNotAllowed, "Expected one of: waiting, running, failed.")
	if err := f.Err(); err != nil {
		return err
	}
	found, err := s.Background.Tasks(c.UserContext(), account(c), state, p)
	if err != nil {
		return err
	}
	return c.JSON(list(found, viewOfTask))
}

func (s *Server) retryTask(c *fiber.Ctx) error {
	id, ok := taskID(c.Params("id"))
	if !ok {
		return fault.NotFound("task")
	}
	task, err := s.Background.Retry(c.UserContext(), account(c), id)
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusAccepted).JSON(viewOfTask(task))
}
