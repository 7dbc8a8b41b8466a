package webhooks

import (
	"context"

	"sundry/core/apiformat"
	"sundry/core/event"
	"sundry/core/invoice"
	"sundry/core/usage"
	"sundry/ports"
)

// OnInvoiceCreated publishes invoice.created.
func (s *Service) OnInvoiceCreated(ctx context.Context, r ports.Repos, e invoice.Created) error {
	return s.publish(ctx, r, e.CreatorID, event.InvoiceCreated, invoice.NewView(e.State, s.cfg.Livemode))
}

// OnInvoiceFinalized publishes invoice.finalized.
func (s *Service) OnInvoiceFinalized(ctx context.Context, r ports.Repos, e invoice.Finalized) error {
	return s.publish(ctx, r, e.CreatorID, event.InvoiceFinalized, invoice.NewView(e.State, s.cfg.Livemode))
}

// OnInvoicePaid publishes invoice.paid.
func (s *Service) OnInvoicePaid(ctx context.Context, r ports.Repos, e invoice.PaidEvent) error {
	return s.publish(ctx, r, e.CreatorID, event.InvoicePaid, invoice.NewView(e.State, s.cfg.Livemode))
}

// OnInvoicePaymentFailed publishes invoice.payment_failed.
func (s *Service) OnInvoicePaymentFailed(ctx context.Context, r ports.Repos, e invoice.PaymentFailed) error {
	return s.publish(ctx, r, e.CreatorID, event.InvoicePaymentFailed, invoice.NewView(e.State, s.cfg.Livemode))
}

// ThresholdReached is the data of usage.threshold_reached.
type ThresholdReached struct {
	AlertID            string          `json:"alertId"`
	SubscriptionID     string          `json:"subscriptionId"`
	CustomerID         string          `json:"customerId"`
	ExternalCustomerID *string         `json:"externalCustomerId"`
	Meter              string          `json:"meter"`
	MeterID            string          `json:"meterId"`
	Quantity           usage.Quantity  `json:"quantity"`
	Threshold          *usage.Quantity `json:"threshold"`
	ThresholdPercent   *int            `json:"thresholdPercent"`
	Included           int64           `json:"included"`
	PeriodStart        *string         `json:"periodStart"`
	PeriodEnd          *string         `json:"periodEnd"`
	ReachedAt          *string         `json:"reachedAt"`
}

// OnUsageThresholdReached publishes usage.threshold_reached.
func (s *Service) OnUsageThresholdReached(ctx context.Context, r ports.Repos, e usage.ThresholdReached) error {
	data := ThresholdReached{
		AlertID: e.Alert.ID, SubscriptionID: e.Alert.SubscriptionID, CustomerID: e.CustomerID, ExternalCustomerID: apiformat.Text(e.ExternalCustomerID),
		Meter: e.Meter, MeterID: e.Alert.MeterID, Quantity: e.Quantity, Included: e.Included, PeriodStart: apiformat.Time(e.Period.Start),
		PeriodEnd: apiformat.Time(e.Period.End), ReachedAt: apiformat.Time(e.At),
	}
	if e.Alert.Percent > 0 {
		data.ThresholdPercent = &e.Alert.Percent
	} else {
		data.Threshold = &e.Alert.Threshold
	}
	return s.publish(ctx, r, e.Alert.CreatorID, event.UsageThresholdReached, data)
}
