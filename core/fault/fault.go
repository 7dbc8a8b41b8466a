// Package fault holds the one error type whose words reach a client. Rules and use cases refuse with it; an
// adapter turns its code into a transport status. Every other error is a defect or an outage and is shown to
// clients as INTERNAL only.
//
// Messages are written for the integrator: what is wrong and what is expected, as whole sentences. They never
// contain a secret, nor the text of the cause.
package fault

import (
	"errors"
	"fmt"
	"time"

	"sundry/core/id"
)

// Detail is one fault of a request.
type Detail struct {
	Field   string // path of the member, such as prices[0].currency; "body" for the document as a whole
	Code    string // one of the Detail… constants
	Message string // a whole sentence
}

// Error is a refusal with a code and a message fit for the client.
type Error struct {
	Code    Code
	Message string
	Details []Detail

	ListingURL string        // where to choose again, with SLOT_UNAVAILABLE
	CancelURL  string        // where the integrator wants the buyer back, with SLOT_UNAVAILABLE
	PortalURL  string        // the customer's portal, with ALREADY_SUBSCRIBED where a key asked
	RetryAfter time.Duration // when to try again, with 429, 503 and IDEMPOTENCY_IN_PROGRESS; 0 = unknown
	// DeclineCode is the bank's reason for refusing the card, in Stripe's words and lower case, with CARD_DECLINED.
	DeclineCode string

	// Cell is the number of the cell to ask, with MISDIRECTED.
	Cell id.Cell

	cause error
}

// unavailableWait is the default time before a retry of something unavailable.
const unavailableWait = 5 * time.Second

// RetrySeconds returns the time before a retry, in whole seconds for the header Retry-After; 0 = unknown.
func (e *Error) RetrySeconds() int {
	wait := e.RetryAfter
	if wait == 0 && (e.Code == ProcessorUnavailable || e.Code == DatabaseBusy) {
		wait = unavailableWait
	}
	return int((wait + time.Second - 1) / time.Second)
}

// Error renders code, message and cause for the log. Clients are shown Code and Message instead.
func (e *Error) Error() string {
	if e.cause == nil {
		return string(e.Code) + ": " + e.Message
	}
	return string(e.Code) + ": " + e.Message + ": " + e.cause.Error()
}

// Unwrap returns the cause given to Wrap, nil otherwise.
func (e *Error) Unwrap() error { return e.cause }

// New returns a refusal with the given code and message.
func New(code Code, message string) *Error {
	return &Error{Code: code, Message: message}
}

// Newf is New with a formatted message.
func Newf(code Code, format string, args ...any) *Error {
	return New(code, fmt.Sprintf(format, args...))
}

// TooMany is RATE_LIMITED, with the time after which to try again.
func TooMany(message string, wait time.Duration) *Error {
	e := New(RateLimited, message)
	e.RetryAfter = wait
	return e
}

// Wrap is New with the error that led to the refusal. The cause is for the log only.
func Wrap(code Code, message string, cause error) *Error {
	return &Error{Code: code, Message: message, cause: cause}
}

// Invalid returns a VALIDATION_FAILED refusal whose message counts the details and quotes the first.
func Invalid(details ...Detail) *Error {
	return &Error{Code: ValidationFailed, Message: summary(details), Details: details}
}

// NotFound returns a NOT_FOUND refusal: "No such <what>."
func NotFound(what string) *Error {
	return New(NotFoundCode, "No such "+what+".")
}

// Elsewhere returns a MISDIRECTED refusal: the cell to ask is another one.
func Elsewhere(cell id.Cell) *Error {
	f := Newf(Misdirected, "This is in cell %d. Send the request there: with the header Sundry-Cell, the router finds it.", cell)
	f.Cell = cell
	return f
}

// First returns the message of the first detail, or the refusal's own where it has none.
func (e *Error) First() string {
	if len(e.Details) == 0 {
		return e.Message
	}
	return e.Details[0].Message
}

// CodeOf returns the code of the first Error in err's chain: "" for nil, INTERNAL for any other error.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return Internal
}

// Is reports whether err carries the given code.
func Is(err error, code Code) bool {
	return err != nil && CodeOf(err) == code
}

func summary(details []Detail) string {
	if len(details) == 0 {
		return "The request is not valid."
	}
	first := details[0].Message
	if details[0].Field != "" {
		first = details[0].Field + ": " + first
	}
	if len(details) == 1 {
		return "The request is not valid. " + first
	}
	return fmt.Sprintf("The request has %d faults. The first: %s", len(details), first)
}
