package payments

import (
	"context"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/metadata"
	"sundry/core/refund"
	"sundry/ports"
)

type refundRow struct {
	repo.Revised
	ReturnRow
	CreatorID        string
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
}

// TableName implements gorm's tabler.
func (refundRow) TableName() string { return "refunds" }

func newRefundRow(f refund.State) refundRow {
	return refundRow{
		Revised:   repo.Revised{ID: f.ID, Revision: f.Revision},
		ReturnRow: newReturnRow(f.Return), CreatorID: f.CreatorID, Reason: f.Reason, KeepAccess: f.KeepAccess,
		Subscription: string(f.Subscription), Status: string(f.Status), FailureReason: f.FailureReason,
		CreditNoteNumber: f.CreditNoteNumber, RequestKey: f.RequestKey, ProcessorID: f.ProcessorID, IsFull: f.Full,
		Automatic: f.Automatic, CreatedAt: repo.UnixMillis(f.CreatedAt),
		SettledAt: repo.UnixMillis(f.SettledAt),
		Metadata:  f.Metadata.Text(),
	}
}

func (r refundRow) toState() refund.State {
	return refund.State{
		ID: r.ID, CreatorID: r.CreatorID, Return: r.toReturn(),
		Reason: r.Reason, KeepAccess: r.KeepAccess, Subscription: refund.End(r.Subscription),
		Status: refund.Status(r.Status), FailureReason: r.FailureReason, CreditNoteNumber: r.CreditNoteNumber,
		RequestKey: r.RequestKey, ProcessorID: r.ProcessorID, Full: r.IsFull, Automatic: r.Automatic,
		CreatedAt: time.Time(r.CreatedAt), SettledAt: time.Time(r.SettledAt), Metadata: metadata.Restore(r.Metadata),
		Revision: r.Revision,
	}
}

var refundMapping = repo.Mapping[refundRow, refund.State]{
	Name: "refund", NewRow: newRefundRow, ToState: refundRow.toState,
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
