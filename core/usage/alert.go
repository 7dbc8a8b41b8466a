package usage

import (
	"encoding/json"
	"time"

	"sundry/core/fault"
)

// Alert asks to be notified, once in each period, when a subscription's use of a meter reaches a threshold.
type Alert struct {
	ID             string
	CreatorID      string
	SubscriptionID string
	MeterID        string
	// Percent is a share of what the subscription's plan includes; 0 when Threshold is absolute.
	Percent   int
	Threshold Quantity
	CreatedAt time.Time
}

const maxPercent = 10_000

// AlertDraft is an alert as a request writes it.
type AlertDraft struct {
	SubscriptionID   string       `json:"subscriptionId"`
	MeterID          string       `json:"meterId"`
	Threshold        *json.Number `json:"threshold"`
	ThresholdPercent *int         `json:"thresholdPercent"`
}

// Parse checks the draft and lists every fault.
func (d AlertDraft) Parse() (Alert, error) {
	var f fault.Violations
	f.Check(d.SubscriptionID != "", "subscriptionId", fault.DetailRequired, "Expected the id of a subscription.")
	f.Check(d.MeterID != "", "meterId", fault.DetailRequired, "Expected the id of a meter.")
	a := Alert{SubscriptionID: d.SubscriptionID, MeterID: d.MeterID}
	switch {
	case d.Threshold == nil && d.ThresholdPercent == nil:
		f.Add("threshold", fault.DetailRequired, "Expected a quantity, or thresholdPercent of what the plan includes.")
	case d.Threshold != nil && d.ThresholdPercent != nil:
		f.Add("thresholdPercent", fault.DetailNotAllowed, "Expected either threshold or thresholdPercent.")
	case d.Threshold != nil:
		var err error
		a.Threshold, err = ParseQuantity(d.Threshold.String())
		_ = f.Nest("threshold").Merge(err) // its only error is a fault of the request
		f.Check(err != nil || a.Threshold.Compare(Quantity{}) > 0, "threshold", fault.DetailOutOfRange,
			"Expected a quantity above 0.")
	default:
		a.Percent = *d.ThresholdPercent
		f.Check(a.Percent >= 1 && a.Percent <= maxPercent, "thresholdPercent", fault.DetailOutOfRange,
			"Expected 1 to 10000 percent.")
	}
	return a, f.Err()
}

// Reached reports whether a period's quantity has reached the threshold. A percentage of zero included units is never
// reached.
func (a Alert) Reached(q Quantity, included int64) bool {
	if a.Percent == 0 {
		return q.Compare(a.Threshold) >= 0
	}
	return included > 0 && q.Share(a.Percent, Units(included))
}

// ThresholdReached is emitted once for an alert and period.
type ThresholdReached struct {
	Alert              Alert
	Meter              string
	CustomerID         string
	ExternalCustomerID string
	Quantity           Quantity
	Included           int64
	Period             Period
	At                 time.Time
}

// EventName implements event.Event.
func (ThresholdReached) EventName() string { return "usage.threshold_reached" }
