package subscription

import (
	"encoding/json"
	"time"

	"sundry/core/payment"
)

// The events of a subscription. Each transition emits exactly one.
type (
	// Created is emitted when it begins, with its first payment or its trial.
	Created struct{ State }
	// Renewed is emitted when another period begins that is paid for, the first one after a trial included.
	Renewed struct {
		State
		// Anchored means that its periods are counted from another instant than those before.
		Anchored bool
	}
	// CancelScheduled is emitted when a person cancels it for the end of the period.
	CancelScheduled struct{ State }
	// Canceled is emitted when it ends because a person canceled it.
	Canceled struct{ State }
	// Expired is emitted when it ends because it could not be charged.
	Expired struct{ State }
	// ChargeFailed is emitted by each failed attempt to renew it, the last included.
	ChargeFailed struct {
		State
		// At is the time of the attempt.
		At time.Time
		// Payment is the attempt; without a card it has an amount only.
		Payment payment.State
	}
	// Updated is emitted by every other change.
	Updated struct {
		State
		// Previous are the members of the View that changed, as they were.
		Previous map[string]json.RawMessage
	}
)

// EventName implements event.Event.
func (Created) EventName() string { return "subscription.created" }

// EventName implements event.Event.
func (Renewed) EventName() string { return "subscription.renewed" }

// EventName implements event.Event.
func (CancelScheduled) EventName() string { return "subscription.cancel_scheduled" }

// EventName implements event.Event.
func (Canceled) EventName() string { return "subscription.canceled" }

// EventName implements event.Event.
func (Expired) EventName() string { return "subscription.expired" }

// EventName implements event.Event.
func (ChargeFailed) EventName() string { return "subscription.dunning" }

// EventName implements event.Event.
func (Updated) EventName() string { return "subscription.updated" }

// updated raises the revision and reports what changed since before.
func (sub *Subscription) updated(before State) Updated {
	after := sub.changed()
	return Updated{after, difference(NewView(before, false), NewView(after, false))}
}

// difference is the members of before that after does not repeat.
func difference(before, after View) map[string]json.RawMessage {
	was := members(before)
	for name, value := range members(after) {
		if string(was[name]) == string(value) {
			delete(was, name)
		}
	}
	return was
}

func members(v View) map[string]json.RawMessage {
	raw, _ := json.Marshal(v) //nolint:errchkjson // texts and numbers only: it cannot fail
	var out map[string]json.RawMessage
	_ = json.Unmarshal(raw, &out) // it was just written
	return out
}
