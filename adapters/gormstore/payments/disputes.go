package payments

import (
	"context"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/dispute"
	"sundry/ports"
)

type disputeRow struct {
	repo.Revised
	ReturnRow
	CreatorID   string
	ProcessorID string
	Reason      string
	Status      string
	Response    string
	Evidence    repo.JSONColumn[dispute.Evidence]
	Files       repo.JSONColumn[[]dispute.File]
	RespondBy   repo.UnixMillis
	CreatedAt   repo.UnixMillis `gorm:"autoCreateTime:false"`
	ClosedAt    repo.UnixMillis

	CreditNoteNumber string
}

// TableName implements gorm's tabler.
func (disputeRow) TableName() string { return "disputes" }

func newDisputeRow(d dispute.State) disputeRow {
	return disputeRow{
		Revised:   repo.Revised{ID: d.ID, Revision: d.Revision},
		ReturnRow: newReturnRow(d.Return), CreatorID: d.CreatorID, ProcessorID: d.ProcessorID,
		Reason: d.Reason, Status: string(d.Status), Response: string(d.Response), Evidence: repo.JSON(d.Evidence),
		RespondBy: repo.UnixMillis(d.RespondBy), CreatedAt: repo.UnixMillis(d.CreatedAt),
		ClosedAt: repo.UnixMillis(d.ClosedAt), CreditNoteNumber: d.CreditNoteNumber,
		Files: repo.JSON(append([]dispute.File{}, d.Files...)),
	}
}

func (r disputeRow) toState() dispute.State {
	return dispute.State{
		ID: r.ID, CreatorID: r.CreatorID, Return: r.toReturn(),
		ProcessorID: r.ProcessorID, Reason: r.Reason, Status: dispute.Status(r.Status),
		Response: dispute.Response(r.Response), Evidence: r.Evidence.V,
		RespondBy: time.Time(r.RespondBy), CreatedAt: time.Time(r.CreatedAt), ClosedAt: time.Time(r.ClosedAt),
		Revision: r.Revision, CreditNoteNumber: r.CreditNoteNumber, Files: r.Files.V,
	}
}

var disputeMapping = repo.Mapping[disputeRow, dispute.State]{
	Name: "dispute", NewRow: newDisputeRow, ToState: disputeRow.toState,
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
