package sundry

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// service answers each request with the next of the given responses, and the last one from then on. It records what it
// was sent.
type service struct {
	mu        sync.Mutex
	responses []response
	requests  []http.Request
	bodies    []string
}

type response struct {
	status int
	body   string
	header map[string]string
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	s.requests, s.bodies = append(s.requests, *r), append(s.bodies, string(body))
	next := s.responses[0]
	if len(s.responses) > 1 {
		s.responses = s.responses[1:]
	}
	if next.status == 0 { // the connection breaks
		panic(http.ErrAbortHandler)
	}
	for name, value := range next.header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(next.status)
	_, _ = io.WriteString(w, next.body)
}

func start(t *testing.T, responses ...response) (*Client, *service) {
	t.Helper()
	s := &service{responses: responses}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return New(Config{BaseURL: server.URL + "/", Key: "sk_test_1", Pause: time.Millisecond}), s
}

func TestARetryKeepsTheKey(t *testing.T) {
	t.Parallel()
	c, s := start(t, response{status: 503}, response{}, response{status: 429, header: map[string]string{"Retry-After": "0"}},
		response{status: 201, body: `{"id":"cs_1"}`})
	session, err := c.CreateSession(t.Context(), NewSession{ListingID: "lst_1", SuccessURL: "https://x.example"})
	if err != nil || session.ID != "cs_1" || len(s.requests) != 4 {
		t.Fatalf("%+v, %v after %d requests", session, err, len(s.requests))
	}
	key := s.requests[0].Header.Get("Idempotency-Key")
	for i, r := range s.requests {
		if key == "" || r.Header.Get("Idempotency-Key") != key || s.bodies[i] != s.bodies[0] ||
			r.Header.Get("Authorization") != "Bearer sk_test_1" {
			t.Errorf("request %d has the key %q, want %q; body %s", i, r.Header.Get("Idempotency-Key"), key, s.bodies[i])
		}
	}
	if _, err := c.CreateSession(WithIdempotencyKey(t.Context(), "order-7"), NewSession{}); err != nil ||
		s.requests[4].Header.Get("Idempotency-Key") != "order-7" {
		t.Errorf("a key of one's own: %v, %q", err, s.requests[4].Header.Get("Idempotency-Key"))
	}
}

func TestARefusalIsNotSentAgain(t *testing.T) {
	t.Parallel()
	c, s := start(t, response{status: 400, body: `{"code":"VALIDATION_FAILED","message":"m","requestId":"req_1",` +
		`"details":[{"field":"email","code":"REQUIRED","message":"Enter it."}]}`})
	_, err := c.CreateCustomer(t.Context(), NewCustomer{})
	refusal, ok := errors.AsType[*Error](err)
	if !ok || refusal.Status != 400 || !IsCode(err, "VALIDATION_FAILED") || refusal.RequestID != "req_1" ||
		refusal.Details[0].Field != "email" || len(s.requests) != 1 {
		t.Errorf("%+v after %d requests", err, len(s.requests))
	}
}

func TestRetriesEnd(t *testing.T) {
	t.Parallel()
	c, s := start(t, response{status: 502, body: "<html>"})
	if _, err := c.Receipt(t.Context(), "cs_1"); !IsCode(err, "INTERNAL") || len(s.requests) != 4 {
		t.Errorf("%v after %d requests, want 4", err, len(s.requests))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Receipt(ctx, "cs_1"); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled call: %v", err)
	}
}

func TestRetryAfterIsBounded(t *testing.T) {
	t.Parallel()
	date := func(after time.Duration) string { return time.Now().Add(after).UTC().Format(http.TimeFormat) }
	for value, want := range map[string]bool{
		"60": true, "86400": false, "99999999999999": false, "-1": true, "soon": true, "": true,
		date(-time.Hour): true, date(24 * time.Hour): false,
	} {
		refusal := newError(&http.Response{StatusCode: 429, Header: http.Header{"Retry-After": {value}}}, nil)
		wait, again := retryAfter(refusal, time.Millisecond)
		if again != want || again && (wait < 0 || wait > time.Minute) {
			t.Errorf("Retry-After %q: again %t after %v, want %t", value, again, wait, want)
		}
	}
}

func TestARedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	c, s := start(t, response{status: 301, header: map[string]string{"Location": "https://pay.example.com/v1/refunds"}})
	err := c.Do(t.Context(), http.MethodPost, "/v1/refunds", struct{}{}, nil)
	refusal, ok := errors.AsType[*Error](err)
	if !ok || refusal.Status != 301 || !strings.Contains(refusal.Message, "https://pay.example.com/") || len(s.requests) != 1 {
		t.Errorf("%v after %d requests", err, len(s.requests))
	}
}

func TestABaseURLWithoutASchemeIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"", "pay.example.com", "127.0.0.1:8080", "ftp://pay.example.com"} {
		client := New(Config{BaseURL: base, Key: "sk_test_1", Pause: time.Hour})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		if err := client.Do(ctx, http.MethodGet, "/v1/events", nil, nil); !errors.Is(err, errBaseURL) {
			t.Errorf("%q: got %v, want %v", base, err, errBaseURL)
		}
		cancel()
	}
}

func TestALongResponseIsRefused(t *testing.T) {
	t.Parallel()
	c, s := start(t, response{status: 200, body: strings.Repeat(" ", maxBody+1)})
	if err := c.Do(t.Context(), http.MethodGet, "/v1/export", nil, nil); !errors.Is(err, ErrTooLong) || len(s.requests) != 1 {
		t.Errorf("%v after %d requests", err, len(s.requests))
	}
}

func TestTheCacheServesWhileTheServiceIsDown(t *testing.T) {
	t.Parallel()
	c, s := start(t,
		response{status: 200, header: map[string]string{"Etag": `"1"`},
			body: `{"externalCustomerId":"u","version":1,"entitlements":[{"key":"export","type":"boolean","value":true},` +
				`{"key":"seats","type":"limit","value":5}],"activePlans":[{"key":"pro","listingKey":"app"}]}`},
		response{status: 304, header: map[string]string{"Etag": `"1"`}},
		response{status: 500, body: "{}"})
	cache := c.NewAccessCache(time.Hour, 0)
	for i, want := range []struct {
		requests int
		stale    bool
		changed  bool
	}{{1, false, false}, {1, false, false}, {2, false, true}, {3, true, true}, {3, true, false}} {
		if want.changed {
			cache.Changed(&Event{Type: "customer.access_changed", Data: []byte(`{"externalCustomerId":"u"}`)})
		}
		access, err := cache.Get(t.Context(), "u")
		if err != nil || access.Version != 1 || access.Stale != want.stale || len(s.requests) != want.requests ||
			!access.Allows("export") || access.Limit("seats") != 5 || !access.HasPlan("app", "pro") ||
			access.Allows("nothing") {
			t.Fatalf("read %d: %+v, %v after %d requests, want %+v", i, access, err, len(s.requests), want)
		}
	}
	if got := s.requests[1].Header.Get("If-None-Match"); got != `"1"` {
		t.Errorf("If-None-Match %q", got)
	}
	cache.Changed(&Event{Type: "payment.completed", Data: []byte(`{"externalCustomerId":"u"}`)})
	if _, err := cache.Get(t.Context(), "stranger"); err == nil {
		t.Error("a customer whom nobody knows is answered during an outage")
	}
}

// A service that takes requests and does not respond must not take its callers with it.
func TestTheCacheHasPatience(t *testing.T) {
	t.Parallel()
	hangs := make(chan struct{})
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked > 1 {
			<-hangs
		}
		_, _ = io.WriteString(w, `{"version":1}`)
	}))
	defer server.Close()
	defer close(hangs)
	cache := New(Config{BaseURL: server.URL, Key: "sk_test_1"}).NewAccessCache(0, 0)
	begin := time.Now()
	for i := range 2 {
		access, err := cache.Get(t.Context(), "u")
		if err != nil || access.Stale != (i == 1) {
			t.Fatalf("read %d: %+v, %v", i, access, err)
		}
	}
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("the last snapshot came after %s", took)
	}
}

// The response that is under way when a message of a change arrives may be from before it.
func TestAChangeCountsWhileTheServiceIsAsked(t *testing.T) {
	t.Parallel()
	var cache *AccessCache
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked == 1 {
			cache.Changed(&Event{Type: "customer.access_changed", Data: []byte(`{"externalCustomerId":"u"}`)})
		}
		_, _ = io.WriteString(w, `{"version":`+strconv.Itoa(asked)+`}`)
	}))
	defer server.Close()
	cache = New(Config{BaseURL: server.URL, Key: "sk_test_1"}).NewAccessCache(time.Hour, 0)
	for i, want := range []int64{1, 2, 2} {
		if access, err := cache.Get(t.Context(), "u"); err != nil || access.Version != want {
			t.Fatalf("read %d: %+v, %v, want version %d", i, access, err, want)
		}
	}
}

func TestARefusedCustomerIsNotServedFromMemory(t *testing.T) {
	t.Parallel()
	c, _ := start(t, response{status: 200, body: `{"version":3}`}, response{status: 401, body: `{"code":"UNAUTHENTICATED"}`})
	cache := c.NewAccessCache(0, 1)
	if _, err := cache.Get(t.Context(), "u"); err != nil {
		t.Fatal(err)
	}
	if _, err := cache.Get(t.Context(), "u"); !IsCode(err, "UNAUTHENTICATED") {
		t.Errorf("with a revoked key: %v", err)
	}
}

// The secret, the message and its signature are the example of the Standard Webhooks specification.
func TestVerifyWebhook(t *testing.T) {
	t.Parallel()
	const secret, body = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", `{"test": 2432232314}`
	at := time.Unix(1614265330, 0)
	header := func(signature string) http.Header {
		return http.Header{"Webhook-Id": {"msg_p5jXN8AQM9LWM0D4loKWxJek"}, "Webhook-Timestamp": {"1614265330"},
			"Webhook-Signature": {signature}}
	}
	const right = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	if _, err := verifyAt(at, secret, header("v1,"+base64.StdEncoding.EncodeToString([]byte("x"))+" "+right), []byte(body)); err != nil {
		t.Errorf("a signed message: %v", err)
	}
	for name, err := range map[string]error{
		"another body":      second(verifyAt(at, secret, header(right), []byte(body+" "))),
		"another signature": second(verifyAt(at, secret, header(strings.Replace(right, "g0", "h0", 1)), []byte(body))),
		"another version":   second(verifyAt(at, secret, header(strings.Replace(right, "v1", "v2", 1)), []byte(body))),
		"too old":           second(verifyAt(at.Add(301*time.Second), secret, header(right), []byte(body))),
		"from the future":   second(verifyAt(at.Add(-301*time.Second), secret, header(right), []byte(body))),
		"no headers":        second(verifyAt(at, secret, http.Header{}, []byte(body))),
	} {
		if !errors.Is(err, ErrSignature) {
			t.Errorf("%s: %v, want ErrSignature", name, err)
		}
	}
	if _, err := verifyAt(at, "whsec_", header(right), []byte(body)); err == nil {
		t.Error("an empty secret verifies")
	}
	for want, err := range map[string]error{
		"signed at 2021-02-25T15:02:10Z": second(verifyAt(at.Add(time.Hour), secret, header(right), []byte(body))),
		"lacks the header":               second(verifyAt(at, secret, http.Header{}, []byte(body))),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestListsReadEveryPage(t *testing.T) {
	t.Parallel()
	c, s := start(t, response{status: 200, body: `{"data":[{"id":"cus_2"},{"id":"cus_1"}],"hasMore":true,"nextCursor":"n"}`},
		response{status: 200, body: `{"data":[{"id":"cus_0"}],"hasMore":false,"nextCursor":null}`})
	var got []string
	for customer, err := range List[Customer](t.Context(), c, "/v1/customers", nil) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, customer.ID)
	}
	if strings.Join(got, " ") != "cus_2 cus_1 cus_0" || s.requests[1].URL.Query().Get("cursor") != "n" {
		t.Errorf("read %q, second request %s", got, s.requests[1].URL)
	}
}

func TestEachLoopReadsFromTheBeginning(t *testing.T) {
	t.Parallel()
	first := response{status: 200, body: `{"data":[{"id":"1"}],"hasMore":true,"nextCursor":"n"}`}
	last := response{status: 200, body: `{"data":[],"hasMore":false,"nextCursor":"n"}`}
	c, s := start(t, first, last, first, last, first, last, first, last)
	customers, events := List[Customer](t.Context(), c, "/v1/customers", nil), c.Events(t.Context(), "", nil)
	for range 2 {
		for range customers {
		}
	}
	for range 2 {
		for range events {
		}
	}
	for i, r := range s.requests {
		if got, want := r.URL.Query().Has("cursor"), i%2 == 1; got != want {
			t.Errorf("request %d has a cursor: %v, want %v", i, got, want)
		}
	}
}

func TestAnInvoiceTakesAKey(t *testing.T) {
	t.Parallel()
	c, s := start(t, response{status: 201, body: `{}`})
	if _, err := c.CreateInvoice(t.Context(), "", NewInvoice{}); err == nil || len(s.requests) != 0 {
		t.Errorf("without a key: %v after %d requests", err, len(s.requests))
	}
}

// A caller who has left says nothing about the service.
func TestACanceledReadIsNoOutage(t *testing.T) {
	t.Parallel()
	c, s := start(t, response{status: 200, body: `{"version":1}`})
	cache := c.NewAccessCache(time.Hour, 0)
	if _, err := cache.Get(t.Context(), "u"); err != nil {
		t.Fatal(err)
	}
	cache.Changed(&Event{Type: "customer.access_changed", Data: []byte(`{"externalCustomerId":"u"}`)})
	left, leave := context.WithCancel(t.Context())
	leave()
	if _, err := cache.Get(left, "u"); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled read: %v", err)
	}
	if access, err := cache.Get(t.Context(), "u"); err != nil || access.Stale || len(s.requests) != 2 {
		t.Errorf("the next read: %+v, %v after %d requests, want a fresh one", access, err, len(s.requests))
	}
}

// The service refuses a report without a quantity; one of 0 would use up its key.
func TestAForgottenQuantityIsNotZero(t *testing.T) {
	t.Parallel()
	c, s := start(t, response{status: 202, body: `{}`})
	for quantity, want := range map[json.Number]bool{"": false, "0": true, "12.5": true} {
		if _, err := c.ReportUse(t.Context(), Use{SubscriptionID: "sub_1", Meter: "m", Quantity: quantity}); err != nil {
			t.Fatal(err)
		}
		body := s.bodies[len(s.bodies)-1]
		if got := strings.Contains(body, `"quantity":`+string(quantity)); got != want {
			t.Errorf("the quantity %q is sent: %v, want %v: %s", quantity, got, want, body)
		}
	}
}
