package usage

import "sundry/core/apiformat"

// LimitReachedView is the data of usage.limit_reached.
type LimitReachedView struct {
	BillingPlanID      string   `json:"billingPlanId"`
	SubscriptionID     string   `json:"subscriptionId"`
	CustomerID         string   `json:"customerId"`
	ExternalCustomerID *string  `json:"externalCustomerId"`
	Meter              string   `json:"meter"`
	MeterID            string   `json:"meterId"`
	Quantity           Quantity `json:"quantity"`
	PeriodStart        *string  `json:"periodStart"`
	PeriodEnd          *string  `json:"periodEnd"`
	ReachedAt          *string  `json:"reachedAt"`
}

// View returns the event as integrators see it.
func (e LimitReached) View() LimitReachedView {
	return LimitReachedView{
		BillingPlanID: e.Plan.ID, SubscriptionID: e.Plan.SubscriptionID, CustomerID: e.Plan.CustomerID,
		ExternalCustomerID: apiformat.Text(e.Plan.ExternalCustomerID), Meter: e.Meter, MeterID: e.Plan.MeterID,
		Quantity: e.Quantity, PeriodStart: apiformat.Time(e.Period.Start), PeriodEnd: apiformat.Time(e.Period.End),
		ReachedAt: apiformat.Time(e.At),
	}
}
