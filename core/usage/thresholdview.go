package usage

import "sundry/core/apiformat"

// ThresholdReachedView is the data of usage.threshold_reached. Either Threshold or ThresholdPercent is set.
type ThresholdReachedView struct {
	AlertID            string    `json:"alertId"`
	SubscriptionID     string    `json:"subscriptionId"`
	CustomerID         string    `json:"customerId"`
	ExternalCustomerID *string   `json:"externalCustomerId"`
	Meter              string    `json:"meter"`
	MeterID            string    `json:"meterId"`
	Quantity           Quantity  `json:"quantity"`
	Threshold          *Quantity `json:"threshold"`
	ThresholdPercent   *int      `json:"thresholdPercent"`
	Included           int64     `json:"included"`
	PeriodStart        *string   `json:"periodStart"`
	PeriodEnd          *string   `json:"periodEnd"`
	ReachedAt          *string   `json:"reachedAt"`
}

// View returns the event as integrators see it.
func (e ThresholdReached) View() ThresholdReachedView {
	view := ThresholdReachedView{
		AlertID: e.Alert.ID, SubscriptionID: e.Alert.SubscriptionID, CustomerID: e.CustomerID,
		ExternalCustomerID: apiformat.Text(e.ExternalCustomerID), Meter: e.Meter, MeterID: e.Alert.MeterID,
		Quantity: e.Quantity, Included: e.Included, PeriodStart: apiformat.Time(e.Period.Start),
		PeriodEnd: apiformat.Time(e.Period.End), ReachedAt: apiformat.Time(e.At),
	}
	if e.Alert.Percent > 0 {
		view.ThresholdPercent = &e.Alert.Percent
	} else {
		view.Threshold = &e.Alert.Threshold
	}
	return view
}
