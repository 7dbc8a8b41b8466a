package payments

import (
	"context"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/paymentmethod"
)

type paymentMethodRow struct {
	repo.Revised
	CreatorID  string
	CustomerID string
	Provider   string
	Token      string
	Brand      string
	Last4      string
	ExpMonth   int
	ExpYear    int
	Country    string
	Mandate    repo.JSONColumn[paymentmethod.Mandate]
	CreatedAt  repo.UnixMillis `gorm:"autoCreateTime:false"`
	RemovedAt  repo.UnixMillis
	ChosenAt   repo.UnixMillis
}

// TableName implements gorm's tabler.
func (paymentMethodRow) TableName() string { return "payment_methods" }

func newPaymentMethodRow(m paymentmethod.State) paymentMethodRow {
	return paymentMethodRow{
		Revised:   repo.Revised{ID: m.ID, Revision: m.Revision},
		CreatorID: m.CreatorID, CustomerID: m.CustomerID, Provider: m.Provider, Token: m.Token,
		Brand: m.Brand, Last4: m.Last4,
		ExpMonth: m.ExpMonth, ExpYear: m.ExpYear, Country: m.Country, Mandate: repo.JSON(m.Mandate),
		CreatedAt: repo.UnixMillis(m.CreatedAt), RemovedAt: repo.UnixMillis(m.RemovedAt),
		ChosenAt: repo.UnixMillis(m.ChosenAt),
	}
}

func (r paymentMethodRow) toState() paymentmethod.State {
	return paymentmethod.State{
		ID: r.ID, CreatorID: r.CreatorID, CustomerID: r.CustomerID,
		Card: paymentmethod.Card{
			Provider: r.Provider, Token: r.Token, Brand: r.Brand, Last4: r.Last4, ExpMonth: r.ExpMonth, ExpYear: r.ExpYear,
			Country: r.Country,
		},
		Mandate: r.Mandate.V, CreatedAt: time.Time(r.CreatedAt), RemovedAt: time.Time(r.RemovedAt),
		ChosenAt: time.Time(r.ChosenAt), Revision: r.Revision,
	}
}

var paymentMethodMapping = repo.Mapping[paymentMethodRow, paymentmethod.State]{
	Name: "payment method", NewRow: newPaymentMethodRow, ToState: paymentMethodRow.toState,
}

type paymentMethods struct {
	repo.Table[paymentMethodRow, paymentmethod.State]
}

// Get implements ports.PaymentMethods.
func (t paymentMethods) Get(_ context.Context, id string) (paymentmethod.State, error) {
	return cachedCards.Get(t.Base, id, func() (paymentmethod.State, error) {
		return t.GetBy("get payment method "+id, "id = ?", id)
	})
}

var cachedCards = repo.NewSlot[paymentmethod.State]("payment_methods")

// PreloadCard reads the card that a subscription is charged to.
func PreloadCard(b *repo.Base, subscriptionID string) {
	repo.PreloadRow(b, cachedCards, "get payment method of "+subscriptionID,
		"SELECT * FROM payment_methods WHERE id = (SELECT payment_method_id FROM subscriptions WHERE id = ?)",
		[]any{subscriptionID}, paymentMethodRow.toState, func(r paymentMethodRow) string { return r.ID })
}

// List implements ports.PaymentMethods.
func (t paymentMethods) List(_ context.Context, customerID string) ([]paymentmethod.State, error) {
	return cardLists.Get(t.Base, customerID, func() ([]paymentmethod.State, error) {
		query := t.DB.Where("customer_id = ? AND removed_at IS NULL", customerID).
			Order("COALESCE(chosen_at, created_at) DESC, id DESC")
		return t.ListBy("list payment methods of "+customerID, query)
	})
}

// Lock implements ports.PaymentMethods.
func (t paymentMethods) Lock(_ context.Context, customerID string) error {
	var locked []string
	err := t.ForUpdate().DB.Table("payment_methods").Where("customer_id = ? AND removed_at IS NULL", customerID).
		Order("id").Pluck("id", &locked).Error
	return t.Failure("lock payment methods of "+customerID, err)
}

// cardLists are the cards of a customer.
var cardLists = repo.NewSlot[[]paymentmethod.State]("payment_methods")

// PreloadCards reads the cards of a billing plan's customer.
func PreloadCards(b *repo.Base, planID string) {
	const query = `SELECT o.customer_id AS owner, m.* FROM usage_billing_plans o
		LEFT JOIN payment_methods m ON m.customer_id = o.customer_id AND m.removed_at IS NULL
		WHERE o.id = ? ORDER BY COALESCE(m.chosen_at, m.created_at) DESC, m.id DESC`
	repo.PreloadList(b, cardLists, "list payment methods of "+planID, query, []any{planID}, paymentMethodRow.toState)
}
