package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/core/fault"
	"sundry/modules/idempotency"
	"sundry/ports"
	"sundry/tests/testdb"
)

// heldClock shows the time that the test sets.
type heldClock struct{ ms atomic.Int64 }

func (c *heldClock) Real() time.Time { return time.UnixMilli(c.ms.Load()).UTC() }
func (c *heldClock) Now(context.Context, string) (time.Time, error) {
	return c.Real(), nil
}

// mirror encrypts by turning the bytes around, so that a test sees whether it was asked.
type mirror struct{}

func (mirror) Encrypt(plain []byte) []byte {
	turned := append([]byte("encrypted:"), plain...)
	slices.Reverse(turned[len("encrypted:"):])
	return turned
}

func (mirror) Decrypt(ciphertext []byte) ([]byte, error) {
	turned, ok := bytes.CutPrefix(ciphertext, []byte("encrypted:"))
	if !ok {
		return nil, errors.New("not encrypted here")
	}
	plain := bytes.Clone(turned)
	slices.Reverse(plain)
	return plain, nil
}

// script is a route whose n-th run responds with the n-th step; the last step responds ever after. It reads before, as
// use cases do: what is left of a run whose key has a response ends there.
type script struct {
	store ports.Store
	runs  atomic.Int32
	steps []fiber.Handler
}

func (s *script) handle(c *fiber.Ctx) error {
	err := s.store.Atomically(c.UserContext(), func(ctx context.Context, r ports.Repos) error {
		_, err := r.Identity.Creators.Exists(ctx)
		return err
	})
	if err != nil {
		return err
	}
	n := int(s.runs.Add(1)) - 1
	return s.steps[min(n, len(s.steps)-1)](c)
}

func responds(status int) fiber.Handler {
	return func(c *fiber.Ctx) error { return c.Status(status).JSON(fiber.Map{"run": status}) }
}

func refusesWith(code fault.Code) fiber.Handler {
	return func(*fiber.Ctx) error { return fault.New(code, "No.") }
}

// keyedServer serves POST /x as the script specifies, applying Idempotency-Key in the given mode.
func keyedServer(
	t *testing.T, store ports.Store, mode IdempotencyMode, steps ...fiber.Handler,
) (*Server, *script, *heldClock) {
	t.Helper()
	clock := &heldClock{}
	clock.ms.Store(time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC).UnixMilli())
	script := &script{store: store, steps: steps}
	area := Area{Routes: []Route{{Method: fiber.MethodPost, Path: "/x", Idempotency: mode, Handle: script.handle}}}
	s := newServer(
		t, Deps{Idempotency: idempotency.New(store, clock, mirror{}), Log: slog.New(slog.DiscardHandler)}, area,
	)
	return s, script, clock
}

type reply struct {
	status   int
	body     string
	replayed bool
	retry    string
}

func send(t *testing.T, s *Server, key string) reply { return sendText(t, s, key, "") }

func sendBody(t *testing.T, s *Server, key string, body fiber.Map) reply {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return sendText(t, s, key, string(text))
}

func sendText(t *testing.T, s *Server, key, body string) reply {
	t.Helper()
	request := httptest.NewRequest(fiber.MethodPost, "/x", strings.NewReader(body))
	request.Header.Set("Idempotency-Key", key)
	response, err := s.app.Test(request, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	received, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{
		response.StatusCode, string(received), response.Header.Get("Idempotent-Replayed") == "true",
		response.Header.Get("Retry-After"),
	}
}

// eachMode runs the test for both modes, on both engines.
func eachMode(t *testing.T, test func(t *testing.T, store ports.Store, mode IdempotencyMode)) {
	t.Helper()
	for _, mode := range []IdempotencyMode{Transactional, Leased} {
		t.Run("mode "+strconv.Itoa(int(mode)), func(t *testing.T) {
			t.Parallel()
			testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) { test(t, engine.Open(t), mode) })
		})
	}
}

// lateStore takes any key for a new one at first, as a query does whose snapshot is older than the commit of another
// request.
type lateStore struct{ ports.Store }

func (s lateStore) Atomically(ctx context.Context, work func(context.Context, ports.Repos) error) error {
	return s.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		r.Idempotency = lateKeys{r.Idempotency}
		return work(ctx, r)
	})
}

type lateKeys struct{ ports.IdempotencyKeys }

func (lateKeys) LockNew(context.Context, string, string, string) error { return nil }

func TestARefusalCausedByTheFirstRequestIsItsResponse(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		store := engine.Open(t)
		first, _, _ := keyedServer(t, store, Transactional, responds(201))
		done := send(t, first, "k")
		late, script, _ := keyedServer(t, lateStore{store}, Transactional, refusesWith(fault.StateConflict))
		if got := send(t, late, "k"); got.status != 201 || !got.replayed || got.body != done.body || script.runs.Load() != 1 {
			t.Errorf("%+v in %d runs, want the response %+v again", got, script.runs.Load(), done)
		}
		late, _, _ = keyedServer(t, lateStore{store}, Transactional, refusesWith(fault.StateConflict))
		if got := send(t, late, "another"); got.status != 409 || got.replayed {
			t.Errorf("a refusal of its own: %+v", got)
		}
	})
}

func TestAnOutageLeavesTheKeyFree(t *testing.T) {
	t.Parallel()
	panics := func(*fiber.Ctx) error { panic("a defect") }
	eachMode(t, func(t *testing.T, store ports.Store, mode IdempotencyMode) {
		s, script, _ := keyedServer(
			t, store, mode, refusesWith(fault.Internal), refusesWith(fault.ProcessorUnavailable),
			refusesWith(fault.RateLimited), panics, responds(201),
		)
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

func TestARefusalLeavesTheKeyFree(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, store ports.Store, mode IdempotencyMode) {
		s, script, _ := keyedServer(
			t, store, mode, refusesWith(fault.ValidationFailed), refusesWith(fault.StateConflict), responds(201),
		)
		for i, want := range []int{400, 409, 201} {
			body := fiber.Map{"attempt": i} // a corrected body may use the key of the refused one
			if got := sendBody(t, s, "k", body); got.status != want || got.replayed {
				t.Errorf("request %d: %+v, want %d", i+1, got, want)
			}
		}
		if got := sendBody(t, s, "k", fiber.Map{"attempt": 2}); got.status != 201 || !got.replayed ||
			script.runs.Load() != 3 {
			t.Errorf("after success: %+v in %d runs", got, script.runs.Load())
		}
		if got := sendBody(t, s, "k", fiber.Map{"attempt": 3}); got.status != 409 || got.replayed || script.runs.Load() != 3 {
			t.Errorf("another body: %+v in %d runs", got, script.runs.Load())
		}
	})
}

func TestADeclinedCardIsReplayed(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		s, script, _ := keyedServer(t, engine.Open(t), Leased, refusesWith(fault.CardDeclined))
		first, again := send(t, s, "k"), send(t, s, "k")
		if first.status != 402 || first.replayed || again.body != first.body || !again.replayed || script.runs.Load() != 1 {
			t.Errorf("first %+v, again %+v, %d runs", first, again, script.runs.Load())
		}
	})
}

func TestBodiesAreComparedAsJSONValues(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, store ports.Store, mode IdempotencyMode) {
		s, script, _ := keyedServer(t, store, mode, responds(201))
		for body, want := range map[string]int{
			`{"amount":1,"name":"é"}`: 201, "{ \"name\": \"\\u00e9\",\n \"amount\": 1.0 }": 201,
			`{"amount":"1","name":"é"}`: 409, `{"amount":1}`: 409,
		} {
			if first := sendText(t, s, "k", `{"name":"é","amount":1}`); first.status != 201 {
				t.Fatalf("first: %+v", first)
			}
			if got := sendText(t, s, "k", body); got.status != want || got.replayed != (want == 201) {
				t.Errorf("%s: %+v, want %d", body, got, want)
			}
		}
		if script.runs.Load() != 1 {
			t.Errorf("%d runs", script.runs.Load())
		}
	})
}

func TestHeadersThatNameNoKeyAreRefused(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		store := engine.Open(t)
		takesKey := func(c *fiber.Ctx) error {
			var key string
			if err := TakeKey(c, &key); err != nil {
				return err
			}
			return responds(201)(c)
		}
		for _, mode := range []IdempotencyMode{Transactional, Leased, Permanent} {
			for _, keys := range [][]string{{"k", "l"}, {"k", "k"}, {"", "k"}, {""}, {" "}} {
				s, _, _ := keyedServer(t, store, mode, takesKey)
				request := httptest.NewRequest(fiber.MethodPost, "/x", strings.NewReader("{}"))
				request.Header["Idempotency-Key"] = keys
				response, err := s.app.Test(request, -1)
				if err != nil {
					t.Fatal(err)
				}
				body, _ := io.ReadAll(response.Body)
				_ = response.Body.Close()
				want := "DUPLICATE"
				if len(keys) == 1 {
					want = "REQUIRED"
				}
				if response.StatusCode != 400 || !strings.Contains(string(body), `"field":"Idempotency-Key","code":"`+want+`"`) {
					t.Errorf("mode %d, keys %q: %d %s", mode, keys, response.StatusCode, body)
				}
			}
		}
	})
}

func TestKeysAreMeasuredInCharacters(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, store ports.Store, mode IdempotencyMode) {
		s, _, _ := keyedServer(t, store, mode, responds(201))
		for length, want := range map[int]int{255: 201, 256: 400} {
			if got := send(t, s, strings.Repeat("é", length)); got.status != want {
				t.Errorf("%d characters of two bytes: %+v, want %d", length, got, want)
			}
		}
	})
}

func TestAKeyIsBusyWhileItsFirstRequestRuns(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		running, finish := make(chan struct{}), make(chan struct{})
		s, script, clock := keyedServer(t, engine.Open(t), Leased, func(c *fiber.Ctx) error {
			close(running)
			<-finish
			return responds(200)(c)
		}, responds(201))
		first := make(chan reply, 1)
		go func() { first <- send(t, s, "k") }()
		<-running
		if got := send(t, s, "k"); got.status != 409 || got.retry == "" || script.runs.Load() != 1 {
			t.Errorf("beside the first: %+v", got)
		}
		clock.ms.Add(time.Minute.Milliseconds()) // as if the first had died
		if got := send(t, s, "k"); got.status != 201 || got.replayed {
			t.Errorf("after the lease: %+v", got)
		}
		close(finish)
		if got := <-first; got.status != 200 { // it lived after all; its response is not the key's any more
			t.Errorf("the first: %+v", got)
		}
		if got := send(t, s, "k"); got.status != 201 || !got.replayed {
			t.Errorf("in the end: %+v", got)
		}
	})
}

func TestAKeyIsForgottenAfterADay(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, store ports.Store, mode IdempotencyMode) {
		s, _, clock := keyedServer(t, store, mode, responds(200), responds(201))
		send(t, s, "k")
		clock.ms.Add((24 * time.Hour).Milliseconds())
		if got := send(t, s, "k"); got.status != 200 || !got.replayed {
			t.Errorf("after a day: %+v", got)
		}
		clock.ms.Add(1)
		if got := send(t, s, "k"); got.status != 201 || got.replayed {
			t.Errorf("past a day: %+v", got)
		}
	})
}

func TestAResponseIsStoredEncrypted(t *testing.T) {
	t.Parallel()
	shows := func(c *fiber.Ctx) error { return c.Status(201).JSON(fiber.Map{"secret": "whsec_shown"}) }
	eachMode(t, func(t *testing.T, store ports.Store, mode IdempotencyMode) {
		s, script, _ := keyedServer(t, store, mode, shows)
		first, again := send(t, s, "k"), send(t, s, "k")
		if again.body != first.body || !again.replayed || script.runs.Load() != 1 {
			t.Errorf("first %+v, again %+v, %d runs", first, again, script.runs.Load())
		}
		if kept := storedResponse(t, store, "k"); kept.Status != 201 || len(kept.Body) == 0 ||
			bytes.Contains(kept.Body, []byte("whsec_shown")) {
			t.Errorf("kept: %d %s", kept.Status, kept.Body)
		}
	})
}

func storedResponse(t *testing.T, store ports.Store, key string) ports.IdempotencyRecord {
	t.Helper()
	var kept ports.IdempotencyRecord
	err := store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
		var err error
		kept, _, err = r.Idempotency.Lock(ctx, "", "POST /x", key)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return kept
}
