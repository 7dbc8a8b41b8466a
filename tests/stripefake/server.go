// Package stripefake is the part of Stripe's API that the adapter uses, with a memory: idempotency keys, intents that
// move through their states, refunds that add up. It is no reference for Stripe's shapes, which stripe-mock is asked
// about, and it fails in whatever way a test wants.
package stripefake

import (
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// Failure replaces or follows the effect of a request.
type Failure struct {
	// Status is sent in place of the response; 0 cuts the connection.
	Status int
	// Code is the error's code, with Status.
	Code string
	// After means that the effect takes place, and only the response is lost.
	After bool
	// Times is the number of requests that fail; 0 means all.
	Times int
}

// object is one of Stripe's objects as it is sent.
type object map[string]any

// response is a response as it was first sent.
type response struct {
	status int
	body   object
}

// Server is a Stripe of one account.
type Server struct {
	URL string

	mu        sync.Mutex
	objects   map[string]object
	order     []string
	responses map[string]response // by idempotency key
	requests  map[string]string   // what a key was first used for
	busy      map[string]bool     // keys of requests under way
	failures  map[string]*Failure
	// seen are the requests that arrived: "POST /v1/refunds".
	seen []string
	// Unkeyed are the POST requests that had no idempotency key.
	unkeyed []string
	slow    time.Duration
	// stored are failures to be stored under the key of the next request of a route.
	stored map[string]int
	// billing has the objects that Bill added to the account, and before the call that Before registered.
	billing billing
	before  *interruption
	// lost is a payment method whose confirmation never gets a response.
	lost string
	// delayRefunds keeps new refunds pending.
	delayRefunds bool
	// events are those that TakeEvents has not returned yet.
	events []Event
}

// Event is one that Stripe would send.
type Event struct {
	ID, Type string
	Object   map[string]any
}

// TakeEvents returns what has happened since it was last called. Nothing is sent by itself.
func (s *Server) TakeEvents() []Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.events
	s.events = nil
	return taken
}

// emit notes an event about an object as it is now.
func (s *Server) emit(kind string, o object) {
	s.events = append(s.events, Event{"evt_" + rand.Text(), kind, clone(o)})
}

// New starts a server that stops with the test.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{
		objects: map[string]object{}, responses: map[string]response{}, requests: map[string]string{},
		busy:     map[string]bool{},
		failures: map[string]*Failure{}, stored: map[string]int{},
	}
	listener := httptest.NewServer(s)
	t.Cleanup(listener.Close)
	s.URL = listener.URL
	return s
}

// Fail makes requests whose method and path contain route fail: "confirm", "POST /v1/refunds".
func (s *Server) Fail(route string, f Failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures[route] = &f
}

// Store makes the next request whose method and path end in route fail with a status, which Stripe then repeats under
// the same key.
func (s *Server) Store(route string, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stored[route] = status
}

// Heal ends every failure.
func (s *Server) Heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures, s.stored = map[string]*Failure{}, map[string]int{}
}

// ForgetKeys drops the idempotency keys, as Stripe does after a day.
func (s *Server) ForgetKeys() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.responses, s.requests = map[string]response{}, map[string]string{}
}

// Linger makes every request with a key take so long that rivals meet it.
func (s *Server) Linger(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slow = d
}

// LoseResponsesTo cuts the connection of every request that confirms with a payment method, after its effect.
func (s *Server) LoseResponsesTo(method string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost = method
}

// DelayRefunds keeps every new refund pending until Change, or no longer.
func (s *Server) DelayRefunds(delay bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delayRefunds = delay
}

// Count returns the number of requests whose method and path contain route.
func (s *Server) Count(route string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, one := range s.seen {
		if strings.Contains(one, route) {
			n++
		}
	}
	return n
}

// Unkeyed are the POST requests that had no idempotency key.
func (s *Server) Unkeyed() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.unkeyed...)
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	readUpload(r)
	route, key := r.Method+" "+r.URL.Path, r.Header.Get("Idempotency-Key")
	s.mu.Lock()
	s.seen = append(s.seen, route)
	if b := s.before; b != nil && strings.Contains(route, b.route) {
		if b.left--; b.left == 0 {
			s.before = nil
			b.do()
		}
	}
	if r.Method == http.MethodPost && key == "" {
		s.unkeyed = append(s.unkeyed, route)
	}
	failure := s.failing(route)
	if s.lost != "" && behavior(r.PostForm) == s.lost {
		failure = &Failure{After: true}
	}
	if failure != nil && !failure.After {
		s.mu.Unlock()
		fail(w, failure)
		return
	}
	if key != "" {
		if done := s.repeated(w, route+"?"+r.PostForm.Encode(), key, failure); done {
			s.mu.Unlock()
			return
		}
		s.busy[key] = true
		if s.slow > 0 {
			s.mu.Unlock()
			time.Sleep(s.slow)
			s.mu.Lock()
		}
	}
	status, body := s.storing(route), errorBody("api_error", "")
	if status == 0 {
		status, body = s.handle(r)
	}
	if key != "" {
		delete(s.busy, key)
		s.responses[key], s.requests[key] = response{status, clone(body)}, route+"?"+r.PostForm.Encode()
	}
	body = clone(body)
	s.mu.Unlock()
	if failure != nil {
		fail(w, failure)
		return
	}
	send(w, status, body)
}

// readUpload reads the form of an upload, with the name and the content of its file as its member file.
func readUpload(r *http.Request) {
	if err := r.ParseMultipartForm(1 << 22); err != nil { //nolint:gosec // the tests' own requests
		return // no upload
	}
	for _, header := range r.MultipartForm.File["file"] {
		opened, err := header.Open()
		if err != nil {
			panic(err)
		}
		content, err := io.ReadAll(opened)
		if err != nil {
			panic(err)
		}
		r.PostForm.Set("filename", header.Filename)
		r.PostForm.Set("content", string(content))
	}
}

// repeated responds to a request whose key was used before.
func (s *Server) repeated(w http.ResponseWriter, request, key string, failure *Failure) bool {
	if s.busy[key] {
		send(w, http.StatusConflict, errorBody("idempotency_error", "idempotency_key_in_use"))
		return true
	}
	first, ok := s.responses[key]
	switch {
	case !ok:
		return false
	case s.requests[key] != request:
		send(w, http.StatusBadRequest, errorBody("idempotency_error", ""))
	case failure != nil:
		fail(w, failure)
	default:
		w.Header().Set("Idempotent-Replayed", "true")
		send(w, first.status, first.body)
	}
	return true
}

// storing returns the status that Store has for a request; 0 for none.
func (s *Server) storing(route string) int {
	for end, status := range s.stored {
		if strings.HasSuffix(route, end) {
			delete(s.stored, end)
			return status
		}
	}
	return 0
}

func (s *Server) failing(route string) *Failure {
	for part, f := range s.failures {
		if !strings.Contains(route, part) {
			continue
		}
		if f.Times > 0 {
			if f.Times--; f.Times == 0 {
				delete(s.failures, part)
			}
		}
		return f
	}
	return nil
}

func fail(w http.ResponseWriter, f *Failure) {
	if f.Status != 0 {
		send(w, f.Status, errorBody("api_error", f.Code))
		return
	}
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_ = conn.Close()
	}
}

func send(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Request-Id", "req_fake")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func errorBody(kind, code string) object {
	return object{"error": object{"type": kind, "code": code, "message": "A secret of Stripe's."}}
}

// clone copies an object, so that later changes leave what was sent alone.
func clone(o object) object {
	raw, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	var copied object
	if err := json.Unmarshal(raw, &copied); err != nil {
		panic(err)
	}
	return copied
}

// add keeps a new object under an id of its kind.
func (s *Server) add(prefix string, o object) object {
	o["id"], o["created"] = prefix+rand.Text(), time.Now().Unix()
	s.objects[o["id"].(string)] = o
	s.order = append(s.order, o["id"].(string))
	return o
}

// metadata reads the form's metadata.
func metadata(form url.Values) object {
	all := object{}
	for name, values := range form {
		if key, ok := strings.CutPrefix(name, "metadata["); ok {
			all[strings.TrimSuffix(key, "]")] = values[0]
		}
	}
	return all
}
