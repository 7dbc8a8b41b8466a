package sundry

import (
	"encoding/json"
	"errors"
	"fmt"
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
	// RetryAfter is how long the service asks to wait; 0 where it does not.
	RetryAfter time.Duration `json:"-"`
	// Body is the whole response: some refusals carry the object that they are about.
	Body []byte `json:"-"`
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("sundry responded with %d %s: %s (%s)", e.Status, e.Code, e.Message, e.RequestID)
}

// IsCode reports whether an error is a refusal by the service with this code.
func IsCode(err error, code string) bool {
	refusal, ok := errors.AsType[*Error](err)
	return ok && refusal.Code == code
}

func newError(response *http.Response, text []byte) *Error {
	refusal := &Error{Status: response.StatusCode, Body: text}
	if json.Unmarshal(text, refusal) != nil || refusal.Code == "" {
		refusal.Code, refusal.Message = "INTERNAL", http.StatusText(response.StatusCode) // by a proxy, not by the service
	}
	if refusal.RequestID == "" {
		refusal.RequestID = response.Header.Get("X-Request-Id")
	}
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil {
		refusal.RetryAfter = time.Duration(seconds) * time.Second
	}
	return refusal
}

// retryAfter returns how long to wait before the request is sent again. again is false where the response would be the
// same.
func retryAfter(err error, pause time.Duration) (wait time.Duration, again bool) {
	wait = pause/2 + rand.N(pause/2+1) //nolint:gosec // it spreads retries and keeps no secret
	refusal, ok := errors.AsType[*Error](err)
	if !ok {
		return wait, true // the connection was lost
	}
	if refusal.RetryAfter > 0 {
		wait = refusal.RetryAfter
	}
	again = refusal.Status == http.StatusTooManyRequests || refusal.Status >= http.StatusInternalServerError ||
		refusal.Code == "IDEMPOTENCY_IN_PROGRESS"
	return wait, again
}
