package usage

import (
	"context"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/period"
	core "sundry/core/usage"
	"sundry/ports"
)

type billingPlanRow struct {
	repo.Revised
	CreatorID          string
	CustomerID         string
	ExternalCustomerID string
	SubscriptionID     string
	MeterID            string
	PriceID            string
	NextPriceID        string
	EarlierPrices      repo.JSONColumn[[]core.EarlierPrice]
	BillingInterval    string
	Anchor             repo.UnixMillis
	StartsAt           repo.UnixMillis
	EndsAt             repo.UnixMillis
	FreeUntil          repo.UnixMillis
	CurrentStart       repo.UnixMillis
	CurrentEnd         repo.UnixMillis
	Status             string
	CreatedAt          repo.UnixMillis `gorm:"autoCreateTime:false"`
}

// TableName implements gorm's tabler.
func (billingPlanRow) TableName() string { return "usage_billing_plans" }

func newBillingPlanRow(p core.PlanState) billingPlanRow {
	return billingPlanRow{
		Revised:   repo.Revised{ID: p.ID, Revision: p.Revision},
		CreatorID: p.CreatorID, CustomerID: p.CustomerID, ExternalCustomerID: p.ExternalCustomerID,
		SubscriptionID: p.SubscriptionID, MeterID: p.MeterID, PriceID: p.PriceID, NextPriceID: p.NextPriceID,
		EarlierPrices: repo.JSON(p.EarlierPrices), BillingInterval: string(p.Schedule.Interval),
		Anchor: repo.UnixMillis(p.Schedule.Anchor), StartsAt: repo.UnixMillis(p.Schedule.StartsAt),
		EndsAt: repo.UnixMillis(p.Schedule.EndsAt), FreeUntil: repo.UnixMillis(p.FreeUntil),
		CurrentStart: repo.UnixMillis(p.Current.Start), CurrentEnd: repo.UnixMillis(p.Current.End), Status: string(p.Status),
		CreatedAt: repo.UnixMillis(p.CreatedAt),
	}
}

func (r billingPlanRow) toState() core.PlanState {
	return core.PlanState{
		ID: r.ID, CreatorID: r.CreatorID, CustomerID: r.CustomerID, ExternalCustomerID: r.ExternalCustomerID,
		SubscriptionID: r.SubscriptionID, MeterID: r.MeterID, PriceID: r.PriceID, NextPriceID: r.NextPriceID,
		EarlierPrices: r.EarlierPrices.V,
		Schedule: core.Schedule{
			Anchor: time.Time(r.Anchor), Interval: period.Interval(r.BillingInterval), Count: 1, StartsAt: time.Time(r.StartsAt),
			EndsAt: time.Time(r.EndsAt),
		},
		FreeUntil: time.Time(r.FreeUntil), Current: core.Period{Start: time.Time(r.CurrentStart),
			End: time.Time(r.CurrentEnd)},
		Status: core.PlanStatus(r.Status), CreatedAt: time.Time(r.CreatedAt), Revision: r.Revision,
	}
}

var billingPlanMapping = repo.Mapping[billingPlanRow, core.PlanState]{
	Name: "billing plan", NewRow: newBillingPlanRow, ToState: billingPlanRow.toState,
}

type billingPlans struct {
	repo.Table[billingPlanRow, core.PlanState]
}

// List implements ports.BillingPlans.
func (t billingPlans) List(_ context.Context, creatorID, subscriptionID string,
	page ports.Page) (ports.List[core.PlanState], error) {
	query := repo.Equal(t.DB.Where("creator_id = ?", creatorID), map[string]string{"subscription_id": subscriptionID})
	return t.Page("list billing plans", query, page)
}

// ListBySubscription implements ports.BillingPlans.
func (t billingPlans) ListBySubscription(_ context.Context, creatorID,
	subscriptionID string) ([]core.PlanState, error) {
	return t.ListBy("list billing plans of "+subscriptionID, t.DB.Where("creator_id = ? AND subscription_id = ?",
		creatorID, subscriptionID).Order("id"))
}

// Get loads a plan of the account, and with it what its closing reads.
func (t billingPlans) Get(ctx context.Context, creatorID, id string) (core.PlanState, error) {
	t.PreloadWith("usage_billing_plans", id)
	return t.Table.Get(ctx, creatorID, id)
}
