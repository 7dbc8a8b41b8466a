package ports

import (
	"context"

	"sundry/core/dispute"
	"sundry/core/file"
	"sundry/core/payment"
)

// EvidenceSource adds what an area knows about a disputed payment to the evidence, for payments; the areas that know
// something implement it. Sources are asked one after the other, and may read what those before have added.
type EvidenceSource interface {
	AddEvidence(ctx context.Context, r Repos, paid payment.State, into *dispute.Collected) error
}

// DisputeFiles keeps the files of disputes, for payments; files implements it.
type DisputeFiles interface {
	Network
	// StoreForDispute stores the bytes of a file, which does not exist for anybody until AttachStored.
	// VALIDATION_FAILED, LIMIT_REACHED.
	StoreForDispute(ctx context.Context, f NewDisputeFile) (file.State, error)
	// DisputeFileContent reads a file of the account's dispute. NOT_FOUND.
	DisputeFileContent(ctx context.Context, creatorID, disputeID, fileID string) ([]byte, error)
}

// DisputeFileRecords changes which files of disputes there are, inside the caller's transaction; files implements it.
type DisputeFileRecords interface {
	// AttachStored makes a stored file one of its dispute.
	AttachStored(ctx context.Context, r Repos, creatorID, fileID string) error
	// DiscardAttached takes a file away again. A task deletes its bytes.
	DiscardAttached(ctx context.Context, r Repos, creatorID, fileID string) error
}

// NewDisputeFile is a file for the bank.
type NewDisputeFile struct {
	CreatorID, DisputeID string
	Name, ContentType    string
	Content              []byte
}

// SaleDocuments renders the documents of sales, for payments; invoicing implements it.
type SaleDocuments interface {
	// SalePDF is the receipt of a payment, or the invoice that it paid, as it was issued. NOT_FOUND where there is
	// none.
	SalePDF(ctx context.Context, paid payment.State) ([]byte, error)
	// EvidencePDF prints what was collected about a payment of a dispute.
	EvidencePDF(d dispute.State, c dispute.Collected) ([]byte, error)
}

// DisputeEvidence is a response to a bank.
type DisputeEvidence struct {
	dispute.Evidence
	// Files are those of FileIDs, in their order.
	Files []DisputeFile
	// Receipt is the receipt of the payment; nil where it has none.
	Receipt *DisputeFile
}

// DisputeFile is a file with its bytes.
type DisputeFile struct {
	ID          string // unique in its dispute, and the same each time
	Name        string
	ContentType string
	Content     []byte
}
