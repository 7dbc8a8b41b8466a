package payments

import (
	"context"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/paymentmethod"
)

type paymentMethodRow struct {
	ID         string `gorm:"primaryKey"`
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
	Revision   int64
}

// TableName implements gorm's tabler.
func (paymentMethodRow) TableName() string { return "payment_methods" }

func newPaymentMethodRow(m paymentmethod.State) paymentMethodRow {
	return paymentMethodRow{
		ID: m.ID, CreatorID: m.CreatorID, CustomerID: m.CustomerID, Provider: m.Provider, Token: m.Token,
		Brand: m.Brand, Last4: m.Last4,
		ExpMonth: m.ExpMonth, ExpYear: m.ExpYear, Country: m.Country, Mandate: repo.JSON(m.Mandate),
		CreatedAt: repo.UnixMillis(m.CreatedAt), RemovedAt: repo.UnixMillis(m.RemovedAt), Revision: m.Revision,
	}
}

func (r paymentMethodRow) toState() paymentmethod.State {
	return paymentmethod.State{
		ID: r.ID, CreatorID: r.CreatorID, CustomerID: r.CustomerID,
		Card: paymentmethod.Card{
			Provider: r.Provider, Token: r.Token, Brand: r.Brand, Last4: r.Last4, ExpMonth: r.ExpMonth, ExpYear: r.ExpYear,
			Country: r.Country,
		},
		Mandate: r.Mandate.V, CreatedAt: time.Time(r.CreatedAt), RemovedAt: time.Time(r.RemovedAt), Revision: r.Revision,
	}
}

var paymentMethodMapping = repo.Mapping[paymentMethodRow, paymentmethod.State]{
	Name: "payment method", NewRow: newPaymentMethodRow, ToState: paymentMethodRow.toState,
	Key: func(r paymentMethodRow) (string, int64) { return r.ID, r.Revision },
}

type paymentMethods struct {
	repo.Table[paymentMethodRow, paymentmethod.State]
}

// Get implements ports.PaymentMethods.
func (t paymentMethods) Get(_ context.Context, id string) (paymentmethod.State, error) {
	return t.GetBy("get payment method "+id, "id = ?", id)
}

// List implements ports.PaymentMethods.
func (t paymentMethods) List(_ context.Context, customerID string) ([]paymentmethod.State, error) {
	query := t.DB.Where("customer_id = ? AND removed_at IS NULL", customerID).Order("id DESC")
	return t.ListBy("list payment methods of "+customerID, query)
}
