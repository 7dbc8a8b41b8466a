package files

import (
	"context"
	"fmt"
	"io"

	"sundry/core/customer"
	"sundry/core/dispute"
	"sundry/core/fault"
	"sundry/core/file"
	"sundry/core/id"
	"sundry/core/payment"
	"sundry/ports"
)

var (
	_ ports.DisputeFiles       = (*Service)(nil)
	_ ports.DisputeFileRecords = (*Service)(nil)
	_ ports.EvidenceSource     = (*Service)(nil)
)

// StoreForDispute implements ports.DisputeFiles. What is not attached within a day is swept like any upload.
func (s *Service) StoreForDispute(ctx context.Context, f ports.NewDisputeFile) (file.State, error) {
	begun, err := file.Begin(
		file.Proposal{Name: f.Name, ContentType: f.ContentType, Size: int64(len(f.Content))},
		file.Origin{
			ID: s.deps.IDs.New(id.File), CreatorID: f.CreatorID, DisputeID: f.DisputeID, MaxSize: dispute.MaxFileSize,
		}, s.deps.Clock.Real(),
	)
	if err != nil {
		return file.State{}, err
	}
	state := begun.State()
	err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		if err := r.Files.Lock(ctx, f.CreatorID); err != nil {
			return err
		}
		return s.insert(ctx, r, state)
	})
	if err != nil {
		return file.State{}, err
	}
	return state, s.store(ctx, state, 1, f.Content, ofDispute)
}

// AttachStored implements ports.DisputeFileRecords.
func (s *Service) AttachStored(ctx context.Context, r ports.Repos, creatorID, fileID string) error {
	state, err := ofDispute(ctx, r, creatorID, fileID)
	if err != nil {
		return err
	}
	parts, err := r.Files.ListParts(ctx, fileID)
	if err != nil {
		return err
	}
	f := file.Restore(state)
	if _, err := f.Complete(parts, 1); err != nil {
		return err
	}
	return r.Files.Update(ctx, f.State())
}

// DiscardAttached implements ports.DisputeFileRecords.
func (s *Service) DiscardAttached(ctx context.Context, r ports.Repos, creatorID, fileID string) error {
	state, err := ofDispute(ctx, r, creatorID, fileID)
	if err != nil {
		return err
	}
	return s.discard(ctx, r, state)
}

func (s *Service) discard(ctx context.Context, r ports.Repos, state file.State) error {
	f := file.Restore(state)
	if !f.Delete() {
		return nil
	}
	if err := r.Files.Update(ctx, f.State()); err != nil {
		return err
	}
	return s.scheduleDeletion(ctx, r, state)
}

func ofDispute(ctx context.Context, r ports.Repos, creatorID, fileID string) (file.State, error) {
	state, err := r.Files.Get(ctx, creatorID, fileID)
	return ports.Visible(state, err, state.Status != file.Deleted && state.DisputeID != "", "file")
}

// OpenDisputeFile returns a file of the account's dispute, for Bytes. NOT_FOUND.
func (s *Service) OpenDisputeFile(ctx context.Context, creatorID, disputeID, fileID string) (file.State, error) {
	state, err := ofDispute(ctx, s.deps.Store.Read(ctx), creatorID, fileID)
	if err == nil && (state.Status != file.Ready || state.DisputeID != disputeID) {
		err = fault.NotFound("file")
	}
	return state, err
}

// DisputeFileContent implements ports.DisputeFiles.
func (s *Service) DisputeFileContent(ctx context.Context, creatorID, disputeID, fileID string) ([]byte, error) {
	state, err := s.OpenDisputeFile(ctx, creatorID, disputeID, fileID)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(s.Bytes(ctx, state, file.Range{Last: state.Size - 1}))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", fileID, err)
	}
	return content, nil
}

// OnCustomerErased deletes the files of the customer's disputes: they may show anything of a person.
func (s *Service) OnCustomerErased(ctx context.Context, r ports.Repos, e customer.Erased) error {
	all, err := r.Files.ListByDisputesOf(ctx, e.CreatorID, e.ID)
	if err != nil {
		return err
	}
	for _, state := range all {
		if err := s.discard(ctx, r, state); err != nil {
			return err
		}
	}
	return nil
}

// AddEvidence implements ports.EvidenceSource: what the buyer downloaded.
func (s *Service) AddEvidence(ctx context.Context, r ports.Repos, paid payment.State, into *dispute.Collected) error {
	if paid.CheckoutID() == "" {
		return nil
	}
	all, err := r.Files.ListDownloads(ctx, paid.CreatorID, paid.CheckoutID(), dispute.MaxCollected)
	for _, d := range all {
		into.Downloads = append(into.Downloads, dispute.Download{
			Name: d.Name, Count: d.Count, LastDownloadedAt: dispute.Moment{Time: d.LastAt},
		})
	}
	return err
}
