package payments

import (
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/cardsetup"
	"sundry/core/payment"
)

type cardSetupRow struct {
	repo.Revised
	CreatorID       string
	CustomerID      string
	ReturnURL       string
	Status          string
	AttemptID       string
	ProcessorID     string
	LastError       repo.JSONColumn[payment.DeclineReason]
	Mandate         string
	PaymentMethodID string
	CreatedAt       repo.UnixMillis `gorm:"autoCreateTime:false"`
	ExpiresAt       repo.UnixMillis
}

// TableName implements gorm's tabler.
func (cardSetupRow) TableName() string { return "card_setups" }

func newCardSetupRow(s cardsetup.State) cardSetupRow {
	return cardSetupRow{
		Revised:   repo.Revised{ID: s.ID, Revision: s.Revision},
		CreatorID: s.CreatorID, CustomerID: s.CustomerID, ReturnURL: s.ReturnURL, Status: string(s.Status),
		AttemptID: s.AttemptID, ProcessorID: s.ProcessorID, LastError: repo.JSON(s.LastError), Mandate: s.Mandate,
		PaymentMethodID: s.PaymentMethodID,
		CreatedAt:       repo.UnixMillis(s.CreatedAt), ExpiresAt: repo.UnixMillis(s.ExpiresAt),
	}
}

func (r cardSetupRow) toState() cardsetup.State {
	return cardsetup.State{
		ID: r.ID, CreatorID: r.CreatorID, CustomerID: r.CustomerID, ReturnURL: r.ReturnURL,
		Status:    cardsetup.Status(r.Status),
		AttemptID: r.AttemptID, ProcessorID: r.ProcessorID, LastError: r.LastError.V, Mandate: r.Mandate,
		PaymentMethodID: r.PaymentMethodID,
		CreatedAt:       time.Time(r.CreatedAt), ExpiresAt: time.Time(r.ExpiresAt), Revision: r.Revision,
	}
}

var cardSetupMapping = repo.Mapping[cardSetupRow, cardsetup.State]{
	Name: "card setup", NewRow: newCardSetupRow, ToState: cardSetupRow.toState,
}

type cardSetups struct {
	repo.ByID[cardSetupRow, cardsetup.State]
}
