package sundry

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// Detail is one fault of a request.
type Detail struct {
	Field   string `json:"field"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Error is a refusal by the service. Switch on Code; Message is for developers.
type Error struct {
	Status    int      `json:"-"`
	Code      string   `json:"code"`
	Message   string   `json:"message"`
	RequestID string   `json:"requestId"`
	Details   []Detail `json:"details"`
	// RetryAfter is the wait that the service asks for; 0 where it does not ask. A client waits for at most a minute of
	// it.
	RetryAfter time.Duration `json:"-"`
	// Body is the whole response: some refusals carry the object that they are about.
	Body []byte `json:"-"`
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("sundry responded with %d %s: %s (%s)", e.Status, e.Code, e.Message, e.RequestID)
}

// ErrTooLong reports a response longer than the client reads.
var ErrTooLong = errors.New("the response is longer than 32 MiB")

var errBaseURL = errors.New("BaseURL must be an address such as https://pay.example.com")

// IsCode reports whether an error is a refusal by the service with this code.
func IsCode(err error, code string) bool {
	refusal, ok := errors.AsType[*Error](err)
	return ok && refusal.Code == code
}

func newError(response *http.Response, text []byte) *Error {
	refusal := &Error{Status: response.StatusCode, Body: text}
	if json.Unmarshal(text, refusal) != nil || refusal.Code == "" {
		refusal.Code, refusal.Message = "INTERNAL", http.StatusText(response.StatusCode) // by a proxy, not by the service
		if to := response.Header.Get("Location"); to != "" {
			refusal.Message += " to " + to + ", so the base URL is not the service's"
		}
	}
	if refusal.RequestID == "" {
		refusal.RequestID = response.Header.Get("X-Request-Id")
	}
	refusal.RetryAfter = readRetryAfter(response.Header.Get("Retry-After"))
	return refusal
}

// readRetryAfter reads either form of the header: seconds, or a date.
func readRetryAfter(header string) time.Duration {
	if seconds, err := strconv.ParseInt(header, 10, 64); err == nil {
		return time.Duration(min(max(seconds, 0), math.MaxInt64/int64(time.Second))) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(time.Until(at), 0)
	}
	return 0
}

// maxRetryAfter is the longest wait that a response may ask of a request's retry: a minute, as limits are per minute.
const maxRetryAfter = time.Minute

// retryAfter returns how long to wait before the request is sent again. again is false where the response would be the
// same, or is to be waited for longer than a caller would.
func retryAfter(err error, pause time.Duration) (wait time.Duration, again bool) {
	wait = pause/2 + rand.N(pause/2+1) //nolint:gosec // it spreads retries and keeps no secret
	refusal, ok := errors.AsType[*Error](err)
	if !ok {
		return wait, !errors.Is(err, ErrTooLong) // else the connection was lost
	}
	if refusal.RetryAfter > 0 {
		wait = refusal.RetryAfter
	}
	again = refusal.Status == http.StatusTooManyRequests || refusal.Status >= http.StatusInternalServerError ||
		refusal.Code == "IDEMPOTENCY_IN_PROGRESS"
	return wait, again && wait <= maxRetryAfter
}
