package payments

import (
	"context"
	"errors"
	"fmt"

	"sundry/core/dispute"
	"sundry/core/fault"
	"sundry/core/identity"
	"sundry/core/payment"
	"sundry/ports"
)

// Evidence returns a dispute with the evidence about its payment: as it was sent with the response or, before a
// response, as collected now. NOT_FOUND.
func (s *Disputes) Evidence(
	ctx context.Context, creatorID, disputeID string,
) (dispute.State, dispute.Collected, error) {
	r := s.deps.Store.Read(ctx)
	d, err := owned(ctx, r, creatorID, disputeID)
	if err != nil {
		return d, dispute.Collected{}, err
	}
	if d.Evidence.Collected != nil {
		return d, *d.Evidence.Collected, nil
	}
	now, err := r.Clock.Now(ctx, creatorID)
	if err != nil {
		return d, dispute.Collected{}, err
	}
	into := dispute.NewCollected(now)
	paid, err := r.Payments.Payments.Get(ctx, d.PaymentID)
	if err != nil {
		return d, *into, fmt.Errorf("collect evidence of %s: %w", d.ID, err)
	}
	if err := addPayment(ctx, r, paid, into); err != nil {
		return d, *into, fmt.Errorf("collect evidence of %s: %w", d.ID, err)
	}
	for _, source := range s.deps.Sources {
		if err := source.AddEvidence(ctx, r, paid, into); err != nil {
			return d, *into, fmt.Errorf("collect evidence of %s: %w", d.ID, err)
		}
	}
	return d, *into, nil
}

// addPayment adds how it was paid, and what went back.
func addPayment(ctx context.Context, r ports.Repos, paid payment.State, into *dispute.Collected) error {
	into.Purchase.PaidAt = dispute.Moment{Time: paid.SettledAt}
	into.Purchase.AmountInCents, into.Purchase.Currency = paid.Amount.Minor, string(paid.Amount.Currency)
	if paid.Last4 != "" {
		into.Purchase.Card = new(paid.Brand + " " + paid.Last4)
	}
	list, err := r.Payments.Refunds.List(ctx, paid.CreatorID, paid.ID, ports.Page{Limit: dispute.MaxCollected})
	for _, f := range list.Items {
		into.Refunds = append(into.Refunds, dispute.Refund{
			ID: f.ID, AmountInCents: f.Share.Amount.Minor, Reason: f.Reason, Status: string(f.Status),
			CreatedAt: dispute.Moment{Time: f.CreatedAt},
		})
	}
	return err
}

// EvidencePDF prints what was collected.
func (s *Disputes) EvidencePDF(d dispute.State, c dispute.Collected) ([]byte, error) {
	return s.deps.Documents.EvidencePDF(d, c)
}

// UploadFile stores a file that may be sent with the response. VALIDATION_FAILED, also for a file that the processor
// refuses, NOT_FOUND, LIMIT_REACHED, and STATE_CONFLICT once a response was given.
func (s *Disputes) UploadFile(
	ctx context.Context, creatorID, disputeID, name string, content []byte,
) (dispute.File, error) {
	contentType, err := dispute.CheckFile(name, content)
	if err != nil {
		return dispute.File{}, err
	}
	known, err := owned(ctx, s.deps.Store.Read(ctx), creatorID, disputeID)
	if err != nil {
		return dispute.File{}, err
	}
	if err := dispute.Restore(known).CheckMoreFiles(); err != nil {
		return dispute.File{}, err
	}
	stored, err := s.deps.Files.StoreForDispute(ctx, ports.NewDisputeFile{
		CreatorID: creatorID, DisputeID: disputeID, Name: name, ContentType: contentType, Content: content,
	})
	if err != nil {
		return dispute.File{}, err
	}
	err = s.checkFile(ctx, known, ports.DisputeFile{
		ID: stored.ID, Name: name, ContentType: contentType, Content: content,
	})
	if err != nil {
		return dispute.File{}, err
	}
	added := dispute.File{ID: stored.ID, Name: name, ContentType: contentType, Size: stored.Size}
	_, err = s.change(ctx, creatorID, disputeID, identity.DisputeFileAdded, stored.ID, func(
		ctx context.Context, r ports.Repos, d *dispute.Dispute,
	) error {
		if added.CreatedAt, err = r.Clock.Now(ctx, creatorID); err != nil {
			return err
		}
		if err := d.AddFile(added); err != nil {
			return err
		}
		return s.deps.Records.AttachStored(ctx, r, creatorID, stored.ID)
	})
	return added, err
}

// checkFile refuses a file that the processor does not take, while the creator can still choose another. A processor
// that does not respond now is asked again with the response. VALIDATION_FAILED.
func (s *Disputes) checkFile(ctx context.Context, d dispute.State, f ports.DisputeFile) error {
	_, provider, err := s.paidAt(ctx, d)
	if err != nil {
		return err
	}
	_, err = within(ctx, ports.ProcessorTimeout, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, provider.DisputeProcessor.CheckFile(ctx, d.ProcessorID, f)
	})
	if errors.Is(err, ports.ErrFileRefused) {
		return fault.Invalid(fault.Detail{
			Field: "file", Code: fault.DetailInvalid,
			Message: "The card processor refused this file. Save it again, without a password, and upload that.",
		})
	}
	return nil
}

// DeleteFile takes a file out of a dispute. NOT_FOUND, and STATE_CONFLICT once a response was given.
func (s *Disputes) DeleteFile(ctx context.Context, creatorID, disputeID, fileID string) (dispute.State, error) {
	return s.change(ctx, creatorID, disputeID, identity.DisputeFileDeleted, fileID, func(
		ctx context.Context, r ports.Repos, d *dispute.Dispute,
	) error {
		if err := d.RemoveFile(fileID); err != nil {
			return err
		}
		return s.deps.Records.DiscardAttached(ctx, r, creatorID, fileID)
	})
}

// load reads the bytes of what is sent.
func (s *Disputes) load(ctx context.Context, d dispute.State, paid payment.State) (ports.DisputeEvidence, error) {
	evidence := ports.DisputeEvidence{Evidence: d.Evidence}
	for _, fileID := range d.Evidence.FileIDs {
		f, ok := d.File(fileID)
		if !ok {
			return evidence, fmt.Errorf("dispute %s has lost the file %s", d.ID, fileID)
		}
		content, err := s.deps.Files.DisputeFileContent(ctx, d.CreatorID, d.ID, fileID)
		if err != nil {
			return evidence, err
		}
		evidence.Files = append(evidence.Files, ports.DisputeFile{
			ID: f.ID, Name: f.Name, ContentType: f.ContentType, Content: content,
		})
	}
	receipt, err := s.deps.Documents.SalePDF(ctx, paid)
	if fault.Is(err, fault.NotFoundCode) {
		return evidence, nil
	}
	if err != nil {
		return evidence, fmt.Errorf("receipt of %s: %w", paid.ID, err)
	}
	evidence.Receipt = &ports.DisputeFile{
		ID: "receipt", Name: "receipt.pdf", ContentType: "application/pdf", Content: receipt,
	}
	return evidence, nil
}
