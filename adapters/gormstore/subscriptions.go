package gormstore

import (
	"context"
	"time"

	"sundry/core/plan"
	"sundry/core/subscription"
)

type subscriptionRow struct {
	ID                 string `gorm:"primaryKey"`
	CreatorID          string
	CustomerID         string
	ExternalCustomerID string
	CheckoutID         string
	Offer              jsonOf[plan.Offer]
	Status             string
	PaymentMethod      string
	Anchor             millis
	CurrentPeriodStart millis
	CurrentPeriodEnd   millis
	TrialEndsAt        millis
	StartedAt          millis
	EndedAt            millis
	Revision           int64
}

// TableName implements gorm's tabler.
func (subscriptionRow) TableName() string { return "subscriptions" }

func rowOfSubscription(s subscription.State) subscriptionRow {
	return subscriptionRow{
		ID: s.ID, CreatorID: s.CreatorID, CustomerID: s.CustomerID, ExternalCustomerID: s.ExternalCustomerID,
		CheckoutID: s.CheckoutID, Offer: jsonOf[plan.Offer]{s.Offer}, Status: string(s.Status), PaymentMethod: s.PaymentMethod,
		Anchor: millis(s.Anchor), CurrentPeriodStart: millis(s.CurrentPeriodStart), CurrentPeriodEnd: millis(s.CurrentPeriodEnd),
		TrialEndsAt: millis(s.TrialEndsAt), StartedAt: millis(s.StartedAt), EndedAt: millis(s.EndedAt), Revision: s.Revision,
	}
}

func (r subscriptionRow) state() subscription.State {
	return subscription.State{
		ID: r.ID, CreatorID: r.CreatorID, CustomerID: r.CustomerID, ExternalCustomerID: r.ExternalCustomerID,
		CheckoutID: r.CheckoutID, Offer: r.Offer.V, Status: subscription.Status(r.Status), PaymentMethod: r.PaymentMethod,
		Anchor: time.Time(r.Anchor), CurrentPeriodStart: time.Time(r.CurrentPeriodStart), CurrentPeriodEnd: time.Time(r.CurrentPeriodEnd),
		TrialEndsAt: time.Time(r.TrialEndsAt), StartedAt: time.Time(r.StartedAt), EndedAt: time.Time(r.EndedAt), Revision: r.Revision,
	}
}

type subscriptions struct{ table }

// Add implements ports.Subscriptions.
func (t subscriptions) Add(_ context.Context, s subscription.State) error {
	row := rowOfSubscription(s)
	return t.insert("add subscription "+s.ID, &row)
}

// Get implements ports.Subscriptions.
func (t subscriptions) Get(_ context.Context, id string) (subscription.State, error) {
	row, err := first[subscriptionRow](t.table, "get subscription "+id, "id = ?", id)
	return row.state(), err
}

// Save implements ports.Subscriptions.
func (t subscriptions) Save(_ context.Context, s subscription.State) error {
	row := rowOfSubscription(s)
	return t.update("save subscription "+s.ID, &row, s.ID, s.Revision)
}
