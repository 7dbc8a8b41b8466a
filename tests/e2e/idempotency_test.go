package e2e_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"

	"sundry/tests/harness"
)

// permanentKeys names the operations whose key is stored with the object that they create and never expires. They
// have tests of their own.
var permanentKeys = map[string]bool{"createInvoice": true, "reportUsage": true}

// onceOperations are the operations that replay the response of an Idempotency-Key.
func onceOperations(t *testing.T) []harness.Operation {
	t.Helper()
	var all []harness.Operation
	for _, op := range harness.Operations(t) {
		if op.Parameters.GetByInAndName("header", "Idempotency-Key") != nil && !permanentKeys[op.OperationID] {
			all = append(all, op)
		}
	}
	if len(all) < 6 {
		t.Fatalf("only %d operations apply Idempotency-Key", len(all))
	}
	return all
}

// withKey is the request under an Idempotency-Key.
func withKey(r harness.Request, key string) harness.Request {
	headers := map[string]string{"Idempotency-Key": key}
	maps.Copy(headers, r.Headers)
	r.Headers = headers
	return r
}

func isReplay(a *harness.Response) bool { return a.Header.Get("Idempotent-Replayed") == "true" }

func TestARepeatedKeyRepeatsTheResponse(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w, other := newFixture(t, app), newFixture(t, app)
		for _, op := range onceOperations(t) {
			t.Run(op.OperationID, func(t *testing.T) {
				key := harness.Unique("key")
				r := withKey(w.request(t, op), key)
				first := app.Ask(t, r)
				if first.Status >= 300 || isReplay(first) {
					t.Fatalf("first: %d, replayed %v: %s", first.Status, isReplay(first), first.Body)
				}
				for range 2 {
					again := app.Ask(t, r)
					if again.Status != first.Status || !bytes.Equal(again.Body, first.Body) || !isReplay(again) {
						t.Errorf(
							"again: %d, replayed %v: %s\nfirst: %s", again.Status, isReplay(again), again.Body,
							first.Body,
						)
					}
					if again.Header.Get("Content-Type") != first.Header.Get("Content-Type") ||
						again.Header.Get("X-Request-Id") == first.Header.Get("X-Request-Id") {
						t.Errorf("again with headers %v, first %v", again.Header, first.Header)
					}
				}
				if op.TakesBody() {
					mismatch := r
					mismatch.Body, _ = json.MarshalIndent(r.Body, "", " ") // the same value in other bytes
					if again := app.Ask(t, mismatch); !bytes.Equal(again.Body, first.Body) || !isReplay(again) {
						t.Errorf("indented: %d, replayed %v: %s", again.Status, isReplay(again), again.Body)
					}
					mismatch.Body = harness.JSON{"surprise": 1}
					app.Ask(t, mismatch).Refuses(t, 409, "IDEMPOTENCY_KEY_MISMATCH")
				}
				foreign := withKey(other.request(t, op), key) // another account's key of the same name is another key
				if response := app.Ask(t, foreign); response.Status >= 300 || isReplay(response) {
					t.Errorf("another account: %d, replayed %v: %s", response.Status, isReplay(response), response.Body)
				}
			})
		}
	})
}

func TestARefusalLeavesTheKeyFree(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		for _, op := range onceOperations(t) {
			if !op.TakesBody() {
				continue
			}
			t.Run(op.OperationID, func(t *testing.T) {
				good := w.request(t, op)
				bad := withKey(good, harness.Unique("key"))
				bad.Body = harness.JSON{"surprise": 1}
				first := app.Ask(t, bad)
				first.Refuses(t, 400, "VALIDATION_FAILED")
				if isReplay(first) {
					t.Error("a refusal is a replay")
				}
				fixed := bad
				fixed.Body = good.Body
				if response := app.Ask(t, fixed); response.Status >= 300 || isReplay(response) {
					t.Errorf(
						"the corrected request: %d, replayed %v: %s", response.Status, isReplay(response),
						response.Body,
					)
				}
				app.Ask(t, bad).Refuses(t, 409, "IDEMPOTENCY_KEY_MISMATCH")
			})
		}
	})
}

func TestKeysHaveAFormAndOneRouteEach(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		key := strings.Repeat("k", 255)
		var first *harness.Response
		for _, op := range onceOperations(t) { // one key serves every route, once each
			first = app.Ask(t, withKey(w.request(t, op), key))
			if first.Status >= 300 || isReplay(first) {
				t.Errorf("%s: %d, replayed %v: %s", op.Line(), first.Status, isReplay(first), first.Body)
			}
			app.Ask(t, withKey(w.request(t, op), key+"k")).Refuses(t, 400, "VALIDATION_FAILED", "Idempotency-Key")
		}
	})
}

// TestManyRequestsUnderOneKeyHaveOneEffect sends the same creation at once, from many connections.
func TestManyRequestsUnderOneKeyHaveOneEffect(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		for _, op := range onceOperations(t) {
			t.Run(op.OperationID, func(t *testing.T) {
				r := withKey(w.request(t, op), harness.Unique("key"))
				responses := together(12, func() *harness.Response { return app.Ask(t, r) })
				var first *harness.Response
				done := 0
				for _, response := range responses {
					switch {
					case response.Status < 300 && !isReplay(response):
						done++
						first = response
					case response.Status == http.StatusConflict:
						response.Refuses(t, 409, "IDEMPOTENCY_IN_PROGRESS")
						if response.Header.Get("Retry-After") == "" {
							t.Error("IDEMPOTENCY_IN_PROGRESS without Retry-After")
						}
					case !isReplay(response):
						t.Errorf("responded with %d %s", response.Status, response.Body)
					}
				}
				if done != 1 {
					t.Fatalf("%d of the requests took effect", done)
				}
				for _, response := range append(responses, app.Ask(t, r)) {
					if isReplay(response) && !bytes.Equal(response.Body, first.Body) {
						t.Errorf("a replay differs: %s from %s", response.Body, first.Body)
					}
				}
			})
		}
	})
}

// together runs the call n times at once.
func together[T any](n int, call func() T) []T {
	results := make([]T, n)
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			<-start
			results[i] = call()
		})
	}
	close(start)
	all.Wait()
	return results
}
