package e2e_test

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/tests/harness"
	"sundry/tests/testdb"
)

// taskID is a task's id as callers see it.
func taskID(stored string) string {
	return "tsk_" + base64.RawURLEncoding.EncodeToString([]byte(stored))
}

// failedTask is a task of the account that failed and is tried again in an hour. No worker knows its kind, so that it
// fails whenever it is run. It returns the stored id.
func (w *fixture) failedTask(t *testing.T) string {
	t.Helper()
	return failTask(t, w.Account, harness.Unique("subject"))
}

func failTask(t *testing.T, a *harness.Account, subject string) string {
	t.Helper()
	now := time.Now()
	a.Exec(t, `INSERT INTO tasks (id, kind, subject, class, creator_id, due_at, run_at, attempts, last_error)
		VALUES ($1, 'test.unknown', $2, 'default', $3, $4, $5, 3, 'the first reason')`,
		"test.unknown:"+subject, subject, a.ID, now.UnixMilli(), now.Add(time.Hour).UnixMilli())
	return "test.unknown:" + subject
}

type shownTask struct {
	ID, Kind, Subject, State string
	DueAt                    time.Time
	NextAttemptAt            *time.Time
	Attempts                 int
	LastError                *string
}

// tasksOf are the account's tasks in a state, "" for all.
func tasksOf(t *testing.T, a *harness.Account, state string) []shownTask {
	t.Helper()
	path := "/v1/tasks?limit=100"
	if state != "" {
		path += "&state=" + state
	}
	var list struct{ Data []shownTask }
	a.AsCreator(t, get, path, nil).Want(t, 200).Into(t, &list)
	return list.Data
}

func kindsOf(tasks []shownTask) (kinds []string) {
	for _, task := range tasks {
		kinds = append(kinds, task.Kind)
	}
	return kinds
}

func TestFailedTasksAreSeenWithTheirReasonAndTriedAgain(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w, other := newFixture(t, app), app.NewAccount(t)
		session := w.session(t) // waits for its expiry
		stored := failTask(t, w.Account, "we_1/dlv_1 ünusual?#"+harness.Unique("x"))
		failed := tasksOf(t, w.Account, "failed")
		if len(failed) != 1 || failed[0].ID != taskID(stored) || failed[0].State != "failed" || failed[0].Attempts != 3 ||
			failed[0].LastError == nil || *failed[0].LastError != "the first reason" || failed[0].NextAttemptAt == nil ||
			time.Until(*failed[0].NextAttemptAt) < 59*time.Minute {
			t.Fatalf("failed are %+v", failed)
		}
		waiting := tasksOf(t, w.Account, "waiting")
		if len(waiting) != 1 || waiting[0].Kind != "checkout.expire" || waiting[0].Subject != session.ID ||
			waiting[0].LastError != nil ||
			time.Until(waiting[0].DueAt) < 23*time.Hour {
			t.Errorf("waiting are %+v", waiting)
		}
		if all := kindsOf(tasksOf(t, w.Account, "")); !slices.Equal(all, []string{"checkout.expire", "test.unknown"}) {
			t.Errorf("all are %v", all)
		}
		if running := tasksOf(t, w.Account, "running"); len(running) > 0 {
			t.Errorf("running are %+v", running)
		}
		if theirs := tasksOf(t, other, ""); len(theirs) > 0 {
			t.Errorf("somebody else sees %+v", theirs)
		}
		retry := "/v1/tasks/" + failed[0].ID + "/retry"
		other.AsCreator(t, post, retry, nil).Refuses(t, 404, "NOT_FOUND")
		if now := tasksOf(t, w.Account, "failed"); len(now) != 1 || !now[0].NextAttemptAt.Equal(*failed[0].NextAttemptAt) {
			t.Fatalf("refused, and yet %+v", now)
		}
		var again shownTask
		w.AsCreator(t, post, retry, nil).Want(t, 202).Into(t, &again)
		if again.ID != failed[0].ID || again.NextAttemptAt == nil || time.Until(*again.NextAttemptAt) > time.Second {
			t.Errorf("tried again: %+v", again)
		}
		for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			now := tasksOf(t, w.Account, "failed")
			if len(now) == 1 && *now[0].LastError == `no handler for task kind "test.unknown"` && now[0].Attempts > 3 {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("not run again: %+v", now)
			}
		}
	})
}

func TestWhatOnlyWaitsIsNotDoneBeforeItsTime(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		session := w.session(t)
		before := tasksOf(t, w.Account, "")
		w.AsCreator(t, post, "/v1/tasks/"+taskID("checkout.expire:"+session.ID)+"/retry", nil).Refuses(t, 409,
			"STATE_CONFLICT")
		stored := failTask(t, w.Account, harness.Unique("running"))
		app.Exec(t, "UPDATE tasks SET lease_until = $1 WHERE id = $2", time.Now().Add(time.Hour).UnixMilli(), stored)
		w.AsCreator(t, post, "/v1/tasks/"+taskID(stored)+"/retry", nil).Refuses(t, 409, "STATE_CONFLICT")
		if running := tasksOf(t, w.Account, "running"); len(running) != 1 || running[0].ID != taskID(stored) ||
			running[0].NextAttemptAt != nil {
			t.Errorf("running are %+v", running)
		}
		app.Exec(t, "DELETE FROM tasks WHERE id = $1", stored)
		if after := tasksOf(t, w.Account, ""); len(after) != 1 || !after[0].NextAttemptAt.Equal(*before[0].NextAttemptAt) {
			t.Errorf("refused, and yet %+v became %+v", before, after)
		}
		if w.Receipt(t, session)["status"] != "processing" {
			t.Error("the session was ended before its time")
		}
	})
}

func TestTasksAreAskedForInOrder(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		for _, state := range []string{"done", "FAILED", "failed,waiting", " ", "%00"} {
			value, _ := url.PathUnescape(state)
			app.Ask(t, harness.Request{Method: get, Path: "/v1/tasks", Query: url.Values{"state": {value}}, Bearer: w.Token}).
				Refuses(t, 400, "VALIDATION_FAILED", "state")
		}
		for _, id := range []string{"tsk_", "tsk_!", "test.unknown:x", taskID("test.unknown:x"), taskID("a\x00b"),
			taskID("\xff"), "x", "tsk_" + strings.Repeat("a", 3000)} {
			w.AsCreator(t, post, "/v1/tasks/"+id+"/retry", nil).Refuses(t, 404, "NOT_FOUND")
		}
		w.AsBackend(t, get, "/v1/tasks", nil).Refuses(t, 401, "UNAUTHENTICATED")
		// Ids of customers hold what no id of ours does: a page may begin behind any of them.
		var want []string
		for _, subject := range []string{"crt/auth0|a/b", "crt/" + strings.Repeat("ü", 255), "crt/a b.c~d"} {
			want = append(want, taskID(failTask(t, w.Account, subject+harness.Unique("x"))))
			time.Sleep(2 * time.Millisecond)
		}
		slices.Reverse(want)
		for _, op := range harness.Operations(t) {
			if op.OperationID != "listTasks" {
				continue
			}
			if got := w.ids(t, op, url.Values{"state": {"failed"}}, 1); !slices.Equal(got, want) {
				t.Errorf("in pages of one: %v, want %v", got, want)
			}
		}
	})
}

// TestAFailingMailIsSeenWithoutSecrets pays while the mail server refuses its password, and fixes it.
func TestAFailingMailIsSeenWithoutSecrets(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		app := harness.New(t, engine, map[string]string{"SMTP_URL": "smtp://ada:hunter2hunter2@127.0.0.1:9"})
		a := app.NewAccount(t)
		a.AsCreator(t, "PATCH", "/v1/creator", JSON{"notifyOrders": false}).Want(t, 200) // the buyer's mail is the only one
		a.Pay(t, a.NewSession(t, a.Published(t, nil), "default", harness.Unique("user"), nil), harness.CardSucceeds).
			Want(t, 200)
		var failed []shownTask
		for end := time.Now().Add(20 * time.Second); len(failed) == 0; time.Sleep(20 * time.Millisecond) {
			if failed = tasksOf(t, a, "failed"); time.Now().After(end) {
				t.Fatal("no task failed")
			}
		}
		if failed[0].Kind != "mail.send" || !strings.HasPrefix(failed[0].Subject, "mail_") || failed[0].LastError == nil ||
			!strings.Contains(*failed[0].LastError, "the mail server cannot be used") {
			t.Fatalf("failed is %+v", failed)
		}
		for _, secret := range []string{"hunter2", "127.0.0.1", "grace"} {
			if strings.Contains(*failed[0].LastError, secret) {
				t.Errorf("%s reveals %s", *failed[0].LastError, secret)
			}
		}
		for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) { // it may just be running
			if response := a.AsCreator(t, post, "/v1/tasks/"+failed[0].ID+"/retry", nil); response.Status == 202 ||
				time.Now().After(end) {
				response.Want(t, 202)
				break
			}
		}
		for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			if now := tasksOf(t, a, "failed"); len(now) == 1 && now[0].Attempts > failed[0].Attempts {
				break
			} else if time.Now().After(end) {
				t.Fatalf("not tried again: %+v", now)
			}
		}
	})
}

// TestAStuckTaskRunsAtOnce carries out what docs/operations.md tells an operator to do once the cause is gone.
func TestAStuckTaskRunsAtOnce(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		w := newFixture(t, harness.New(t, engine, nil)) // its own, because others verify theirs meanwhile
		session := w.session(t)
		task := "checkout.expire:" + session.ID
		w.Exec(t, "UPDATE sessions SET expires_at = 0 WHERE id = $1", session.ID)
		w.Exec(t, "UPDATE tasks SET due_at = 0, run_at = $1, attempts = 7, last_error = 'away' WHERE id = $2",
			time.Now().Add(time.Hour).UnixMilli(), task)
		w.Exec(t, "UPDATE tasks SET run_at = 0 WHERE id = $1", task)
		harness.Eventually(t, "the session is expired", func() bool {
			return w.AsBackend(t, get, "/v1/checkout-sessions/"+session.ID, nil).Want(t, 200).Map(t)["status"] == "expired"
		})
	})
}
