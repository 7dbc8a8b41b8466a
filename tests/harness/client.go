package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// Request is one question to the program.
type Request struct {
	Method string
	// Path begins with a slash, percent-encoded as it is to be sent. It may hold a query.
	Path  string
	Query url.Values
	// Body is sent unchanged if it is []byte or string, else as JSON; nil sends none.
	Body any
	// Bearer is the credential; "" sends none.
	Bearer  string
	Headers map[string]string
}

// Response is a whole response.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// ErrorBody is the body of every refusal.
type ErrorBody struct {
	Code      string `json:"code"`
	Message   string `json:"message"`
	RequestID string `json:"requestId"`
	Details   []struct {
		Field   string `json:"field"`
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"details"`
}

// client follows no redirect: tests look at them. It keeps connections, since tests ask a lot, but never as long as the
// program does (two minutes): a POST on a connection that the program closes at that moment would fail.
var client = &http.Client{
	Timeout:       time.Minute,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	Transport:     &http.Transport{MaxIdleConnsPerHost: 32, IdleConnTimeout: 30 * time.Second},
}

// Ask sends the request and validates the response by the document. A 5xx always fails the test.
func (a *App) Ask(t testing.TB, r Request) *Response {
	t.Helper()
	res := a.AskAnything(t, r)
	if res.Status >= 500 {
		t.Errorf(
			"%s %s responded with %d %s\n%s", r.Method, r.Path, res.Status, res.Body,
			a.Log.About(res.Header.Get("X-Request-Id")),
		)
	}
	return res
}

// AskAnything is Ask for tests in which a 5xx may be right.
func (a *App) AskAnything(t testing.TB, r Request) *Response {
	t.Helper()
	j := documented(t)
	request, body := a.request(t, r)
	res, err := send(request)
	if err != nil {
		t.Fatalf("%s %s: %v", r.Method, r.Path, err)
	}
	if err := j.Check(request, body, res); err != nil {
		t.Errorf(
			"%s %s: the response is not as documented: %v\nsent %s\ngot %d %s", r.Method, r.Path, err, clip(body),
			res.Status, clip(res.Body),
		)
	}
	return res
}

// AskUnjudged sends the request and takes any response: for a program that serves less than the document holds.
func (a *App) AskUnjudged(t testing.TB, r Request) *Response {
	t.Helper()
	request, _ := a.request(t, r)
	res, err := send(request)
	if err != nil {
		t.Fatalf("%s %s: %v", r.Method, r.Path, err)
	}
	return res
}

func (a *App) request(t testing.TB, r Request) (*http.Request, []byte) {
	t.Helper()
	var body []byte
	switch b := r.Body.(type) {
	case nil:
	case []byte:
		body = b
	case string:
		body = []byte(b)
	default:
		var err error
		if body, err = json.Marshal(b); err != nil {
			t.Fatal(err)
		}
	}
	address := a.URL + r.Path
	if len(r.Query) > 0 {
		address += "?" + r.Query.Encode()
	}
	request, err := http.NewRequestWithContext(t.Context(), r.Method, address, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if r.Body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if r.Bearer != "" {
		request.Header.Set("Authorization", "Bearer "+r.Bearer)
	}
	for name, value := range r.Headers {
		request.Header.Set(name, value)
	}
	return request, body
}

func send(request *http.Request) (*Response, error) {
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	return &Response{Status: response.StatusCode, Header: response.Header, Body: body}, err
}

func clip(b []byte) string {
	if len(b) > 2000 {
		return string(b[:2000]) + "…"
	}
	return string(b)
}

// Want fails the test unless the response has the status.
func (a *Response) Want(t testing.TB, status int) *Response {
	t.Helper()
	if a.Status != status {
		t.Fatalf("responded with %d, want %d: %s", a.Status, status, clip(a.Body))
	}
	return a
}

// Refuses fails the test unless the response is this refusal and, where fields are given, its details name exactly
// them.
func (a *Response) Refuses(t testing.TB, status int, code string, fields ...string) {
	t.Helper()
	refusal := a.Refusal(t)
	var got []string
	for _, d := range refusal.Details {
		got = append(got, d.Field)
	}
	switch {
	case a.Status != status || refusal.Code != code:
		t.Errorf("responded with %d %s, want %d %s: %s", a.Status, refusal.Code, status, code, clip(a.Body))
	case len(fields) > 0 && !sameSet(got, fields):
		t.Errorf("the details name %q, want %q: %s", got, fields, clip(a.Body))
	}
}

// Refusal is the response's error.
func (a *Response) Refusal(t testing.TB) ErrorBody {
	t.Helper()
	if a.Status < 400 {
		t.Fatalf("responded with %d, want a refusal: %s", a.Status, clip(a.Body))
	}
	var refusal ErrorBody
	if err := a.decode(&refusal); err != nil {
		t.Fatal(err)
	}
	return refusal
}

// Into decodes the response's JSON.
func (a *Response) Into(t testing.TB, into any) {
	t.Helper()
	if err := a.decode(into); err != nil {
		t.Fatal(err)
	}
}

// Map is the response's JSON object, numbers kept to the letter.
func (a *Response) Map(t testing.TB) map[string]any {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(a.Body))
	decoder.UseNumber()
	var m map[string]any
	if err := decoder.Decode(&m); err != nil {
		t.Fatalf("%v in %s", err, clip(a.Body))
	}
	return m
}

func (a *Response) decode(into any) error {
	if err := json.Unmarshal(a.Body, into); err != nil {
		return fmt.Errorf("%d with a body that is not the JSON expected: %w: %s", a.Status, err, clip(a.Body))
	}
	return nil
}

func sameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// IsHTML reports whether the response is a page.
func (a *Response) IsHTML() bool { return strings.HasPrefix(a.Header.Get("Content-Type"), "text/html") }

// patience bounds how long a test waits for a condition that must become true, on a slow machine too.
const patience = 2 * time.Minute

// Eventually waits until the condition is true, and fails after two minutes.
func Eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !condition(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("still not so after %v: %s", patience, what)
		}
	}
}
