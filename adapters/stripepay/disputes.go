package stripepay

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/stripe/stripe-go/v76"

	"sundry/core/dispute"
	"sundry/ports"
)

// maxEvidence bounds the text of evidence, in characters, as Stripe does.
const maxEvidence = 20_000

// FindDispute implements ports.DisputeProcessor. An inquiry, which holds no money, is no dispute: ErrNotFound until it
// becomes one.
func (p *Processor) FindDispute(ctx context.Context, processorID string) (ports.DisputeReport, error) {
	params := &stripe.DisputeParams{Params: keyed(ctx, "")}
	params.AddExpand("payment_intent")
	return reportOf(call(ctx, "get "+processorID, func() (*stripe.Dispute, error) {
		return p.api.Disputes.Get(processorID, params)
	}))
}

// SubmitEvidence implements ports.DisputeProcessor. Stripe takes files by upload only, so their addresses follow the
// text.
func (p *Processor) SubmitEvidence(ctx context.Context, processorID string,
	e dispute.Evidence) (ports.DisputeReport, error) {
	found, err := p.FindDispute(ctx, processorID)
	if err != nil || found.Status != dispute.NeedsResponse {
		return found, err
	}
	params := &stripe.DisputeParams{
		Params: keyed(ctx, processorID+":evidence"), Submit: new(true),
		Evidence: &stripe.DisputeEvidenceParams{UncategorizedText: new(evidenceText(e))},
	}
	params.AddExpand("payment_intent")
	return reportOf(call(ctx, "submit evidence", func() (*stripe.Dispute, error) {
		return p.api.Disputes.Update(processorID, params)
	}))
}

// evidenceText is the text with the addresses of the files, which are never cut off.
func evidenceText(e dispute.Evidence) string {
	if len(e.FileURLs) == 0 {
		return e.Text
	}
	files := "\n\n" + strings.Join(e.FileURLs, "\n")
	text := []rune(e.Text)
	return string(text[:max(0, min(len(text), maxEvidence-utf8.RuneCountInString(files)))]) + files
}

// AcceptDispute implements ports.DisputeProcessor.
func (p *Processor) AcceptDispute(ctx context.Context, processorID string) (ports.DisputeReport, error) {
	found, err := p.FindDispute(ctx, processorID)
	if err != nil || found.Status.Closed() {
		return found, err
	}
	params := &stripe.DisputeParams{Params: keyed(ctx, processorID+":close")}
	params.AddExpand("payment_intent")
	return reportOf(call(ctx, "close dispute", func() (*stripe.Dispute, error) {
		return p.api.Disputes.Close(processorID, params)
	}))
}

func reportOf(d *stripe.Dispute, err error) (ports.DisputeReport, error) {
	if err != nil {
		return ports.DisputeReport{}, err
	}
	status, ok := disputeStatuses[d.Status]
	if !ok || d.PaymentIntent == nil || d.PaymentIntent.Metadata["payment_id"] == "" {
		return ports.DisputeReport{}, fmt.Errorf("stripe dispute %s is %q of nothing that is known: %w", d.ID, d.Status,
			ports.ErrNotFound)
	}
	report := ports.DisputeReport{
		ProcessorID: d.ID, PaymentID: d.PaymentIntent.Metadata["payment_id"],
		CreatorID: d.PaymentIntent.Metadata["creator_id"],
		Amount:    amountOf(d.Amount, d.Currency), Reason: string(d.Reason), Status: status,
	}
	if d.EvidenceDetails != nil && d.EvidenceDetails.DueBy > 0 {
		report.RespondBy = time.Unix(d.EvidenceDetails.DueBy, 0).UTC()
	}
	return report, nil
}

// disputeStatuses are the statuses in which money is held or decided.
var disputeStatuses = map[stripe.DisputeStatus]dispute.Status{
	stripe.DisputeStatusNeedsResponse: dispute.NeedsResponse,
	stripe.DisputeStatusUnderReview:   dispute.UnderReview,
	stripe.DisputeStatusWon:           dispute.Won,
	stripe.DisputeStatusLost:          dispute.Lost,
}
