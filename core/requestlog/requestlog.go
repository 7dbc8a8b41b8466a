// Package requestlog describes a logged request of an integrator: enough to find the one that an error named, and
// nothing that anybody sent.
package requestlog

import "time"

// MaxPath bounds the path that is kept, in bytes.
const MaxPath = 300

// Record is one request with a secret key, after its response.
type Record struct {
	// ID is the value that the response carries as requestId and X-Request-Id.
	ID        string
	CreatorID string
	Method    string
	// Path has no query, which may hold what belongs to a buyer.
	Path   string
	Status int
	// Code is the error's; "" for a success.
	Code     string
	Duration time.Duration
	// Key identifies the secret key: its beginning and its last characters.
	Key string
	At  time.Time
}

// Failed reports whether the request was refused.
func (r Record) Failed() bool { return r.Status >= firstError }

// firstError is the first status of a refusal.
const firstError = 400
