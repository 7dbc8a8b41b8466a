// Package subscriptions keeps recurring purchases.
package subscriptions

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/metadata"
	"sundry/core/money"
	"sundry/core/plan"
	"sundry/core/subscription"
	"sundry/ports"
)

// Repositories returns the area's repositories over the connection of b.
func Repositories(b *repo.Base) ports.SubscriptionRepos {
	return ports.SubscriptionRepos{
		Subscriptions: subscriptions{subscriptionMapping.On(b)}, Quotes: quotes{b}, PaidPeriods: paidPeriods{b},
		Movements: movements{b}, Audit: audit{b},
	}
}

type subscriptionRow struct {
	repo.Revised
	CreatorID          string
	CustomerID         string
	ExternalCustomerID string
	CheckoutID         string // the subscription's own id for one without: the column is unique
	Offer              repo.SharedJSON[plan.Offer]
	Status             string
	PaymentMethodID    string
	Anchor             repo.UnixMillis
	CurrentPeriodStart repo.UnixMillis
	CurrentPeriodEnd   repo.UnixMillis
	TrialEndsAt        repo.UnixMillis
	StartedAt          repo.UnixMillis
	CancelAtPeriodEnd  bool
	CanceledAt         repo.UnixMillis
	CancelReason       string
	PausedAt           repo.UnixMillis
	EndedAt            repo.UnixMillis
	Planned            repo.JSONColumn[*plan.Offer]
	Discount           repo.JSONColumn[*subscription.Discount]
	Credit             int64
	PeriodValue        int64
	Funds              repo.JSONColumn[[]subscription.Fund]
	Disputes           repo.JSONColumn[[]subscription.OpenDispute]
	Held               bool
	Withdrawn          bool
	Dunning            repo.JSONColumn[subscription.Dunning]
	Charge             repo.JSONColumn[*subscription.Charge]
	TrialCard          string
	Metadata           string
	Counted            string // JSON; "" before it was counted
	Movements          repo.JSONColumn[[]subscription.Movement]
	LastMovement       int64
}

// TableName implements gorm's tabler.
func (subscriptionRow) TableName() string { return "subscriptions" }

func newSubscriptionRow(s subscription.State) subscriptionRow {
	return subscriptionRow{
		Revised:   repo.Revised{ID: s.ID, Revision: s.Revision},
		CreatorID: s.CreatorID, CustomerID: s.CustomerID, ExternalCustomerID: s.ExternalCustomerID,
		CheckoutID: cmp.Or(s.CheckoutID, s.ID), Offer: repo.Shared(s.Offer), Status: string(s.Status),
		PaymentMethodID: s.PaymentMethodID,
		Anchor:          repo.UnixMillis(s.Anchor), CurrentPeriodStart: repo.UnixMillis(s.CurrentPeriodStart),
		CurrentPeriodEnd: repo.UnixMillis(s.CurrentPeriodEnd),
		TrialEndsAt:      repo.UnixMillis(s.TrialEndsAt), StartedAt: repo.UnixMillis(s.StartedAt),
		CancelAtPeriodEnd: s.CancelAtPeriodEnd,
		CanceledAt:        repo.UnixMillis(s.CanceledAt), CancelReason: string(s.CancelReason),
		PausedAt: repo.UnixMillis(s.PausedAt),
		EndedAt:  repo.UnixMillis(s.EndedAt),
		Planned:  repo.JSON(s.Planned), Discount: repo.JSON(s.Discount), Credit: s.Credit.Minor,
		PeriodValue: s.PeriodValue.Minor, Funds: repo.JSON(append([]subscription.Fund{}, s.Funds...)),
		Disputes: repo.JSON(append([]subscription.OpenDispute{}, s.Disputes...)), Held: s.Held, Withdrawn: s.Withdrawn,
		Dunning: repo.JSON(s.Dunning),
		Charge:  repo.JSON(s.Charge), TrialCard: s.TrialCard,
		Metadata: s.Metadata.Text(), Counted: countedText(s.Counted),
		Movements:    repo.JSON(append([]subscription.Movement{}, s.Movements...)),
		LastMovement: s.LastMovement,
	}
}

func countedText(c subscription.Counted) string {
	raw, _ := json.Marshal(c) //nolint:errchkjson // a number and truths only: it cannot fail
	return string(raw)
}

func (r subscriptionRow) toState() subscription.State {
	amount := func(minor int64) money.Amount {
		return money.Amount{Minor: minor, Currency: r.Offer.V.Price.Currency}
	}
	state := subscription.State{
		ID: r.ID, CreatorID: r.CreatorID, CustomerID: r.CustomerID, ExternalCustomerID: r.ExternalCustomerID,
		CheckoutID: r.CheckoutID, Offer: r.Offer.V, Status: subscription.Status(r.Status), PaymentMethodID: r.PaymentMethodID,
		Anchor: time.Time(r.Anchor), CurrentPeriodStart: time.Time(r.CurrentPeriodStart),
		CurrentPeriodEnd: time.Time(r.CurrentPeriodEnd),
		TrialEndsAt:      time.Time(r.TrialEndsAt), StartedAt: time.Time(r.StartedAt), CancelAtPeriodEnd: r.CancelAtPeriodEnd,
		CanceledAt: time.Time(r.CanceledAt), CancelReason: subscription.CancelReason(r.CancelReason),
		PausedAt: time.Time(r.PausedAt), EndedAt: time.Time(r.EndedAt),
		Planned: r.Planned.V, Discount: r.Discount.V, Credit: amount(r.Credit), PeriodValue: amount(r.PeriodValue),
		Funds: r.Funds.V, Disputes: r.Disputes.V, Held: r.Held, Withdrawn: r.Withdrawn,
		Dunning: r.Dunning.V, Charge: r.Charge.V, Revision: r.Revision, TrialCard: r.TrialCard,
		Metadata: metadata.Restore(r.Metadata), Movements: r.Movements.V, LastMovement: r.LastMovement,
	}
	if state.CheckoutID == state.ID {
		state.CheckoutID = ""
	}
	if json.Unmarshal([]byte(r.Counted), &state.Counted) != nil { // it was written before anything was counted
		state.Counted = subscription.NewCounted(state)
	}
	return state
}

var subscriptionMapping = repo.Mapping[subscriptionRow, subscription.State]{
	Name: "subscription", NewRow: newSubscriptionRow, ToState: subscriptionRow.toState,
	Sorts: repo.Sorts{
		"currentPeriodEnd": {SQL: "current_period_end"},
	},
}

type subscriptions struct {
	repo.Table[subscriptionRow, subscription.State]
}

// Get implements ports.Subscriptions.
func (t subscriptions) Get(_ context.Context, id string) (subscription.State, error) {
	return cachedSubscriptions.Get(t.Base, id, func() (subscription.State, error) {
		t.PreloadWith("subscriptions", id)
		return t.GetBy("get subscription "+id, "id = ?", id)
	})
}

var cachedSubscriptions = repo.NewSlot[subscription.State]("subscriptions")

// PreloadSubscription reads the subscription that a payment is for, and locks it: the payment's outcome changes it, and
// everything else that does so locks it before the customer's access.
func PreloadSubscription(b *repo.Base, paymentID string) {
	const query = "SELECT s.* FROM subscriptions s JOIN payments p ON p.subject_id = s.id WHERE p.id = ? " +
		"FOR NO KEY UPDATE OF s"
	repo.PreloadRow(b, cachedSubscriptions, "get subscription of "+paymentID, query, []any{paymentID},
		subscriptionRow.toState, func(r subscriptionRow) string { return r.ID })
}

// PreloadBilledSubscription reads the subscription of a billing plan.
func PreloadBilledSubscription(b *repo.Base, planID string) {
	repo.PreloadRow(b, cachedSubscriptions, "get subscription of "+planID,
		"SELECT s.* FROM subscriptions s JOIN usage_billing_plans o ON o.subscription_id = s.id WHERE o.id = ?",
		[]any{planID}, subscriptionRow.toState, func(r subscriptionRow) string { return r.ID })
}

// GetForUpdate implements ports.Subscriptions.
func (t subscriptions) GetForUpdate(_ context.Context, id string) (subscription.State, error) {
	t.PreloadWith("subscriptions", id)
	return subscriptionMapping.On(t.ForUpdate()).GetBy("lock subscription "+id, "id = ?", id)
}

// GetByCheckout implements ports.Subscriptions.
func (t subscriptions) GetByCheckout(_ context.Context, checkoutID string) (subscription.State, error) {
	return t.GetBy("get subscription of "+checkoutID, "checkout_id = ?", checkoutID)
}

// List implements ports.Subscriptions.
func (t subscriptions) List(_ context.Context, f ports.SubscriptionFilter,
	page ports.Page) (ports.List[subscription.State], error) {
	creatorID := f.CreatorID
	f.CreatorID = ""
	query := repo.Equal(t.Own(creatorID, f, page.Sort), map[string]string{
		"customer_id": f.CustomerID, "external_customer_id": f.ExternalCustomerID, "status": string(f.Status),
	})
	if f.CustomerIDs != nil {
		query = query.Where("customer_id IN ?", f.CustomerIDs)
	}
	return t.Page("list subscriptions of "+creatorID, query, page)
}

// ListAfter implements ports.Subscriptions.
func (t subscriptions) ListAfter(_ context.Context, id string, limit int) ([]subscription.State, error) {
	return t.ListBy("list subscriptions after "+id, t.DB.Where("id > ?", id).Order("id").Limit(limit))
}

// ListByCustomer implements ports.Subscriptions.
func (t subscriptions) ListByCustomer(_ context.Context, customerID string) ([]subscription.State, error) {
	return t.ListBy("list subscriptions of "+customerID, t.DB.Where("customer_id = ?", customerID).Order("id DESC"))
}

// HasTrialCard implements ports.Subscriptions.
func (t subscriptions) HasTrialCard(_ context.Context, card string) (bool, error) {
	ids, err := t.QueryIDs("find the trial of a card",
		"SELECT id FROM subscriptions WHERE trial_card = ? AND trial_card <> '' LIMIT 1", card)
	return len(ids) > 0, err
}

// ListByBuyer implements ports.Subscriptions.
func (t subscriptions) ListByBuyer(_ context.Context, creatorID, externalCustomerID,
	email string) ([]subscription.State, error) {
	const op = "list subscriptions of a buyer"
	if externalCustomerID == "" {
		return t.FindBy(op, `creator_id = ? AND customer_id IN (SELECT c.id FROM customers c WHERE c.creator_id = ?
			AND LOWER(c.email) = LOWER(?) AND c.email <> '')`, creatorID, creatorID, email)
	}
	return t.FindBy(op, "creator_id = ? AND external_customer_id = ? AND external_customer_id <> ''", creatorID,
		externalCustomerID)
}
