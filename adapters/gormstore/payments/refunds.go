package payments

import (
	"context"
	"time"

	"gorm.io/gorm/clause"

	"sundry/adapters/gormstore/repo"
	"sundry/core/dispute"
	"sundry/core/ledger"
	"sundry/core/metadata"
	"sundry/core/refund"
	"sundry/ports"
)

type refundRow struct {
	ID               string `gorm:"primaryKey"`
	CreatorID        string
	PaymentID        string
	CheckoutID       string
	CustomerID       string
	SubscriptionID   string
	Currency         string
	Amount           int64
	Tax              int64
	Reason           string
	KeepAccess       bool
	Subscription     string
	Status           string
	FailureReason    string
	CreditNoteNumber string
	RequestKey       string
	ProcessorID      string
	IsFull           bool
	Automatic        bool
	CreatedAt        repo.UnixMillis `gorm:"autoCreateTime:false"`
	SettledAt        repo.UnixMillis
	Metadata         string
	Revision         int64
}

// TableName implements gorm's tabler.
func (refundRow) TableName() string { return "refunds" }

func newRefundRow(f refund.State) refundRow {
	return refundRow{
		ID: f.ID, CreatorID: f.CreatorID, PaymentID: f.PaymentID, CheckoutID: f.CheckoutID, CustomerID: f.CustomerID,
		SubscriptionID: f.SubscriptionID,
		Currency:       string(f.Share.Amount.Currency), Amount: f.Share.Amount.Minor, Tax: f.Share.Tax.Minor,
		Reason:     f.Reason,
		KeepAccess: f.KeepAccess, Subscription: string(f.Subscription), Status: string(f.Status),
		FailureReason:    f.FailureReason,
		CreditNoteNumber: f.CreditNoteNumber,
		RequestKey:       f.RequestKey, ProcessorID: f.ProcessorID, IsFull: f.Full, Automatic: f.Automatic,
		CreatedAt: repo.UnixMillis(f.CreatedAt),
		SettledAt: repo.UnixMillis(f.SettledAt), Revision: f.Revision,
		Metadata: f.Metadata.Text(),
	}
}

func (r refundRow) toState() refund.State {
	return refund.State{
		ID: r.ID, CreatorID: r.CreatorID,
		Return: ledger.Return{
			PaymentID: r.PaymentID, CheckoutID: r.CheckoutID, CustomerID: r.CustomerID, SubscriptionID: r.SubscriptionID,
			Share: ledger.Share{Amount: repo.Amount(r.Amount, r.Currency), Tax: repo.Amount(r.Tax, r.Currency)},
		},
		Reason: r.Reason, KeepAccess: r.KeepAccess, Subscription: refund.End(r.Subscription),
		Status: refund.Status(r.Status), FailureReason: r.FailureReason, CreditNoteNumber: r.CreditNoteNumber,
		RequestKey: r.RequestKey, ProcessorID: r.ProcessorID, Full: r.IsFull, Automatic: r.Automatic,
		CreatedAt: time.Time(r.CreatedAt), SettledAt: time.Time(r.SettledAt), Metadata: metadata.Restore(r.Metadata),
		Revision: r.Revision,
	}
}

var refundMapping = repo.Mapping[refundRow, refund.State]{
	Name: "refund", NewRow: newRefundRow, ToState: refundRow.toState,
	Key: func(r refundRow) (string, int64) { return r.ID, r.Revision },
}

type refunds struct {
	repo.ByID[refundRow, refund.State]
}

// GetByRequest implements ports.Refunds.
func (t refunds) GetByRequest(_ context.Context, creatorID, key string, since time.Time) (refund.State, error) {
	return t.GetBy("get refund by request", "creator_id = ? AND request_key = ? AND created_at >= ?", creatorID, key,
		repo.UnixMillis(since))
}

// GetByProcessorID implements ports.Refunds.
func (t refunds) GetByProcessorID(_ context.Context, processorID string) (refund.State, error) {
	return t.GetBy("get refund "+processorID, "processor_id = ? AND processor_id <> ''", processorID)
}

// List implements ports.Refunds.
func (t refunds) List(_ context.Context, creatorID, paymentID string,
	page ports.Page) (ports.List[refund.State], error) {
	query := repo.Equal(t.Own(creatorID, paymentID, page.Sort), map[string]string{"payment_id": paymentID})
	return t.Page("list refunds", query, page)
}

// ListOf implements ports.Refunds.
func (t refunds) ListOf(_ context.Context, creatorID string, paymentIDs []string, limit int) ([]refund.State, error) {
	if len(paymentIDs) == 0 {
		return nil, nil
	}
	return t.ListBy("list refunds of payments", t.DB.Where("creator_id = ? AND payment_id IN ?", creatorID, paymentIDs).
		Order("id DESC").Limit(limit))
}

type disputeRow struct {
	ID             string `gorm:"primaryKey"`
	CreatorID      string
	PaymentID      string
	CheckoutID     string
	CustomerID     string
	SubscriptionID string
	ProcessorID    string
	Currency       string
	Amount         int64
	Tax            int64
	Reason         string
	Status         string
	Response       string
	Evidence       repo.JSONColumn[dispute.Evidence]
	Files          repo.JSONColumn[[]dispute.File]
	RespondBy      repo.UnixMillis
	CreatedAt      repo.UnixMillis `gorm:"autoCreateTime:false"`
	ClosedAt       repo.UnixMillis
	Revision       int64

	CreditNoteNumber string
}

// TableName implements gorm's tabler.
func (disputeRow) TableName() string { return "disputes" }

func newDisputeRow(d dispute.State) disputeRow {
	return disputeRow{
		ID: d.ID, CreatorID: d.CreatorID, PaymentID: d.PaymentID, CheckoutID: d.CheckoutID, CustomerID: d.CustomerID,
		SubscriptionID: d.SubscriptionID,
		ProcessorID:    d.ProcessorID, Currency: string(d.Share.Amount.Currency), Amount: d.Share.Amount.Minor,
		Tax:    d.Share.Tax.Minor,
		Reason: d.Reason, Status: string(d.Status), Response: string(d.Response), Evidence: repo.JSON(d.Evidence),
		RespondBy: repo.UnixMillis(d.RespondBy), CreatedAt: repo.UnixMillis(d.CreatedAt),
		ClosedAt: repo.UnixMillis(d.ClosedAt), Revision: d.Revision, CreditNoteNumber: d.CreditNoteNumber,
		Files: repo.JSON(append([]dispute.File{}, d.Files...)),
	}
}

func (r disputeRow) toState() dispute.State {
	return dispute.State{
		ID: r.ID, CreatorID: r.CreatorID,
		Return: ledger.Return{
			PaymentID: r.PaymentID, CheckoutID: r.CheckoutID, CustomerID: r.CustomerID, SubscriptionID: r.SubscriptionID,
			Share: ledger.Share{Amount: repo.Amount(r.Amount, r.Currency), Tax: repo.Amount(r.Tax, r.Currency)},
		},
		ProcessorID: r.ProcessorID, Reason: r.Reason, Status: dispute.Status(r.Status),
		Response: dispute.Response(r.Response), Evidence: r.Evidence.V,
		RespondBy: time.Time(r.RespondBy), CreatedAt: time.Time(r.CreatedAt), ClosedAt: time.Time(r.ClosedAt),
		Revision: r.Revision, CreditNoteNumber: r.CreditNoteNumber, Files: r.Files.V,
	}
}

var disputeMapping = repo.Mapping[disputeRow, dispute.State]{
	Name: "dispute", NewRow: newDisputeRow, ToState: disputeRow.toState,
	Key: func(r disputeRow) (string, int64) { return r.ID, r.Revision },
	Sorts: repo.Sorts{
		"amount":    {SQL: "amount"},
		"respondBy": {SQL: "respond_by"},
	},
}

type disputes struct {
	repo.ByID[disputeRow, dispute.State]
}

// GetByProcessorID implements ports.Disputes.
func (t disputes) GetByProcessorID(_ context.Context, processorID string) (dispute.State, error) {
	return t.GetBy("get dispute "+processorID, "processor_id = ?", processorID)
}

// List implements ports.Disputes.
func (t disputes) List(_ context.Context, creatorID, paymentID string,
	page ports.Page) (ports.List[dispute.State], error) {
	query := repo.Equal(t.Own(creatorID, paymentID, page.Sort), map[string]string{"payment_id": paymentID})
	return t.Page("list disputes", query, page)
}

type processorEventRow struct {
	ID         string `gorm:"primaryKey"`
	Provider   string
	Kind       string
	ObjectID   string
	CreatorID  string
	ReceivedAt repo.UnixMillis
}

// TableName implements gorm's tabler.
func (processorEventRow) TableName() string { return "processor_events" }

type processorEvents struct{ *repo.Base }

// Insert implements ports.ProcessorEvents.
func (t processorEvents) Insert(_ context.Context, e ports.ProcessorEvent, at time.Time) (isNew bool, err error) {
	row := processorEventRow{ID: e.ID, Provider: e.Provider, Kind: string(e.Kind), ObjectID: e.ObjectID,
		CreatorID:  e.CreatorID,
		ReceivedAt: repo.UnixMillis(at)}
	res := t.DB.Clauses(clause.OnConflict{DoNothing: true}).Create(&row)
	return res.RowsAffected == 1, t.Failure("insert processor event "+e.ID, res.Error)
}

// Get implements ports.ProcessorEvents.
func (t processorEvents) Get(_ context.Context, id string) (ports.ProcessorEvent, error) {
	row, err := repo.TakeOne[processorEventRow](t.Base, "get processor event "+id, "id = ?", id)
	return ports.ProcessorEvent{ID: row.ID, Provider: row.Provider, Kind: ports.ProcessorEventKind(row.Kind),
		ObjectID:  row.ObjectID,
		CreatorID: row.CreatorID}, err
}
