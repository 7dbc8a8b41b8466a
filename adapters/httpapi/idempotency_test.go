package httpapi

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/core/fault"
	"sundry/ports"
	"sundry/tests/testdb"
)

// heldClock stands where the test puts it.
type heldClock struct{ ms atomic.Int64 }

func (c *heldClock) Real() time.Time { return time.UnixMilli(c.ms.Load()).UTC() }
func (c *heldClock) Now(context.Context, string) (time.Time, error) {
	return c.Real(), nil
}

// mirror seals by turning the bytes around, so that a test sees whether it was asked.
type mirror struct{}

func (mirror) Seal(plain []byte) []byte {
	turned := append([]byte("sealed:"), plain...)
	slices.Reverse(turned[len("sealed:"):])
	return turned
}

func (mirror) Open(sealed []byte) ([]byte, error) {
	turned, ok := bytes.CutPrefix(sealed, []byte("sealed:"))
	if !ok {
		return nil, errors.New("not sealed here")
	}
	plain := bytes.Clone(turned)
	slices.Reverse(plain)
	return plain, nil
}

// script is a route whose n-th run answers with the n-th step; the last step answers ever after.
type script struct {
	runs  atomic.Int32
	steps []fiber.Handler
}

func (s *script) handle(c *fiber.Ctx) error {
	n := int(s.runs.Add(1)) - 1
	return s.steps[min(n, len(s.steps)-1)](c)
}

func answers(status int) fiber.Handler {
	return func(c *fiber.Ctx) error { return c.Status(status).JSON(fiber.Map{"run": status}) }
}

func refusesWith(code fault.Code) fiber.Handler {
	return func(*fiber.Ctx) error { return fault.New(code, "No.") }
}

// onceServer serves POST /x as the script says, honouring Idempotency-Key in the given way.
func onceServer(t *testing.T, store ports.Store, once Once, steps ...fiber.Handler) (*Server, *script, *heldClock) {
	t.Helper()
	clock := &heldClock{}
	clock.ms.Store(time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC).UnixMilli())
	s := New(Config{Sandbox: true, Answers: mirror{}}, Modules{}, store, clock, oneID{}, nil, slog.New(slog.DiscardHandler))
	script := &script{steps: steps}
	route := Route{Method: fiber.MethodPost, Path: "/x", Once: once, Handle: script.handle}
	wrapped := map[Once]func(Route) fiber.Handler{OnceInTransaction: s.onceInTransaction, OnceLeased: s.onceLeased}[once](route)
	s.app.Post("/x", wrapped)
	return s, script, clock
}

type reply struct {
	status   int
	body     string
	replayed bool
	retry    string
}

func send(t *testing.T, s *Server, key string) reply {
	t.Helper()
	request := httptest.NewRequest(fiber.MethodPost, "/x", nil)
	request.Header.Set("Idempotency-Key", key)
	response, err := s.app.Test(request, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{response.StatusCode, string(body), response.Header.Get("Idempotent-Replayed") == "true", response.Header.Get("Retry-After")}
}

// eachOnce runs the test for both ways of honouring the key, on both engines.
func eachOnce(t *testing.T, test func(t *testing.T, store ports.Store, once Once)) {
	t.Helper()
	for _, once := range []Once{OnceInTransaction, OnceLeased} {
		t.Run("way "+strconv.Itoa(int(once)), func(t *testing.T) {
			t.Parallel()
			testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) { test(t, engine.Open(t), once) })
		})
	}
}

func TestAnswersThatAreNotTheLastWordAreNotKept(t *testing.T) {
	t.Parallel()
	panics := func(*fiber.Ctx) error { panic("a defect") }
	eachOnce(t, func(t *testing.T, store ports.Store, once Once) {
		s, script, _ := onceServer(t, store, once, refusesWith(fault.Internal), refusesWith(fault.ProcessorUnavailable), refusesWith(fault.RateLimited), panics, answers(201))
		for i, want := range []int{500, 503, 429, 500, 201} {
			if got := send(t, s, "k"); got.status != want || got.replayed {
				t.Errorf("request %d: %+v, want %d", i+1, got, want)
			}
		}
		if got := send(t, s, "k"); got.status != 201 || !got.replayed || script.runs.Load() != 5 {
			t.Errorf("after success: %+v in %d runs", got, script.runs.Load())
		}
	})
}

func TestARefusalIsKeptAndItsWorkIsNot(t *testing.T) {
	t.Parallel()
	eachOnce(t, func(t *testing.T, store ports.Store, once Once) {
		s, script, _ := onceServer(t, store, once, refusesWith(fault.StateConflict))
		first := send(t, s, "k")
		again := send(t, s, "k")
		if first.status != 409 || first.replayed || again.body != first.body || !again.replayed || script.runs.Load() != 1 {
			t.Errorf("first %+v, again %+v, %d runs", first, again, script.runs.Load())
		}
	})
}

func TestAKeyIsBusyWhileItsFirstRequestRuns(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		running, finish := make(chan struct{}), make(chan struct{})
		s, script, clock := onceServer(t, engine.Open(t), OnceLeased, func(c *fiber.Ctx) error {
			close(running)
			<-finish
			return answers(200)(c)
		}, answers(201))
		first := make(chan reply, 1)
		go func() { first <- send(t, s, "k") }()
		<-running
		if got := send(t, s, "k"); got.status != 409 || got.retry == "" || script.runs.Load() != 1 {
			t.Errorf("beside the first: %+v", got)
		}
		clock.ms.Add(idempotencyLease.Milliseconds()) // as if the first had died
		if got := send(t, s, "k"); got.status != 201 || got.replayed {
			t.Errorf("after the lease: %+v", got)
		}
		close(finish)
		if got := <-first; got.status != 200 { // it lived after all; its answer is not the key's any more
			t.Errorf("the first: %+v", got)
		}
		if got := send(t, s, "k"); got.status != 201 || !got.replayed {
			t.Errorf("in the end: %+v", got)
		}
	})
}

func TestAKeyIsForgottenAfterADay(t *testing.T) {
	t.Parallel()
	eachOnce(t, func(t *testing.T, store ports.Store, once Once) {
		s, _, clock := onceServer(t, store, once, answers(200), answers(201))
		send(t, s, "k")
		clock.ms.Add(idempotencyLifetime.Milliseconds())
		if got := send(t, s, "k"); got.status != 200 || !got.replayed {
			t.Errorf("after a day: %+v", got)
		}
		clock.ms.Add(1)
		if got := send(t, s, "k"); got.status != 201 || got.replayed {
			t.Errorf("past a day: %+v", got)
		}
	})
}

func TestAnAnswerIsKeptSealed(t *testing.T) {
	t.Parallel()
	shows := func(c *fiber.Ctx) error { return c.Status(201).JSON(fiber.Map{"secret": "whsec_shown"}) }
	eachOnce(t, func(t *testing.T, store ports.Store, once Once) {
		s, script, _ := onceServer(t, store, once, shows)
		first, again := send(t, s, "k"), send(t, s, "k")
		if again.body != first.body || !again.replayed || script.runs.Load() != 1 {
			t.Errorf("first %+v, again %+v, %d runs", first, again, script.runs.Load())
		}
		if kept := keptAnswer(t, store, "k"); kept.Status != 201 || len(kept.Body) == 0 || bytes.Contains(kept.Body, []byte("whsec_shown")) {
			t.Errorf("kept: %d %s", kept.Status, kept.Body)
		}
	})
}

func TestAnAnswerKeptBeforeTheyWereSealedIsReplayed(t *testing.T) {
	t.Parallel()
	eachOnce(t, func(t *testing.T, store ports.Store, once Once) {
		s, script, _ := onceServer(t, store, once, answers(201))
		send(t, s, "k")
		old := keptAnswer(t, store, "k")
		for body, want := range map[string]int{`{"run":200}`: 201, "neither sealed nor an answer": 500} {
			old.Key, old.Body = "old "+body, []byte(body)
			err := store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
				return r.IdempotencyKeys.Save(ctx, old, old.CreatedAt)
			})
			if err != nil {
				t.Fatal(err)
			}
			got := send(t, s, old.Key)
			if got.status != want || got.replayed != (want == 201) || got.replayed && got.body != body {
				t.Errorf("%s: %+v, want %d", body, got, want)
			}
		}
		if script.runs.Load() != 1 {
			t.Errorf("%d runs", script.runs.Load())
		}
	})
}

func keptAnswer(t *testing.T, store ports.Store, key string) ports.IdempotencyRecord {
	t.Helper()
	var kept ports.IdempotencyRecord
	err := store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
		var err error
		kept, _, err = r.IdempotencyKeys.Claim(ctx, "", "POST /x", key)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return kept
}
