// Package event defines the events that aggregates emit when they change. A transition returns its event; the use case
// publishes it inside its own transaction, so that subscribers change its data together with the cause or not at all.
package event

// Event is one fact of the domain, in the past tense. Concrete events live beside the aggregate that emits them.
type Event interface {
	// EventName is the stable name used for wiring and logs, such as "checkout.paid".
	EventName() string
}
