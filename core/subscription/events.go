package subscription

// Started is uttered once, when a subscription begins with its first payment or its trial.
type Started struct{ State }

// EventName implements event.Event.
func (Started) EventName() string { return "subscription.started" }

// Ended is uttered once, when a subscription stops for good.
type Ended struct{ State }

// EventName implements event.Event.
func (Ended) EventName() string { return "subscription.ended" }
