package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"
)

// hookAnswers lists the ways in which a receiver may treat a message.
var hookAnswers = []string{"ok", "ok", "ok", "slow", "flaky", "error", "busy", "gone", "moved", "hang up", "truncate"}

// hookReceiver receives messages at paths like /endpoint/address, and treats them as it is told for the endpoint.
type hookReceiver struct {
	server *httptest.Server

	mu      sync.Mutex
	step    int
	answers map[string]string
	taken   []hookMessage
}

// hookMessage is a message that came, in some step of the test.
type hookMessage struct {
	message
	step           int
	endpoint, path string
	code           int // of the response; 0 where it was none
}

func newHookReceiver() *hookReceiver {
	r := &hookReceiver{answers: map[string]string{}}
	r.server = httptest.NewServer(r)
	return r
}

func (r *hookReceiver) answer(endpoint, how string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers[endpoint] = how
}

// messages are those that came, in their order.
func (r *hookReceiver) messages() []hookMessage {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.taken)
}

// next begins another step.
func (r *hookReceiver) next() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.step++
}

// codes are the responses to the messages about an event that came to an endpoint.
func (r *hookReceiver) codes(endpoint, event string) (codes []int) {
	for _, m := range r.messages() {
		if m.endpoint == endpoint && m.header.Get("webhook-id") == event {
			codes = append(codes, m.code)
		}
	}
	return codes
}

// take notes a message and returns how it is treated.
func (r *hookReceiver) take(request *http.Request) (code int, how string) {
	body, _ := io.ReadAll(request.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	endpoint, _, _ := strings.Cut(strings.TrimPrefix(request.URL.Path, "/"), "/")
	how = r.answers[endpoint]
	if how == "flaky" {
		how = []string{"ok", "error"}[len(r.taken)%2]
	}
	code = map[string]int{"ok": 200, "slow": 204, "error": 500, "busy": 429, "gone": 410, "moved": 302}[how]
	r.taken = append(r.taken, hookMessage{message{request.Header, body}, r.step, endpoint, request.URL.Path, code})
	return code, how
}

// ServeHTTP implements http.Handler.
func (r *hookReceiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	code, how := r.take(request)
	switch how {
	case "slow":
		time.Sleep(30 * time.Millisecond)
	case "busy":
		w.Header().Set("Retry-After", "7200")
	case "moved":
		w.Header().Set("Location", r.server.URL+"/elsewhere/1")
	case "truncate":
		w.Header().Set("Content-Length", "100")
		_, _ = fmt.Fprint(w, "taken, bu")
		panic(http.ErrAbortHandler)
	case "hang up":
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(code)
}
