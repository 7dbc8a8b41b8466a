package stripepay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
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
	params := disputeParams(ctx, "")
	return reportOf(call(ctx, "get "+processorID, func() (*stripe.Dispute, error) {
		return p.api.Disputes.Get(processorID, params)
	}))
}

// disputeParams has Stripe return the payment intent, too, whose metadata names our payment.
func disputeParams(ctx context.Context, key string) *stripe.DisputeParams {
	params := &stripe.DisputeParams{Params: keyed(ctx, key)}
	params.AddExpand("payment_intent")
	return params
}

// CheckFile implements ports.DisputeProcessor. It uploads the file, which SubmitEvidence then finds under its key.
func (p *Processor) CheckFile(ctx context.Context, processorID string, f ports.DisputeFile) error {
	_, err := p.uploadFile(ctx, processorID, f)
	if isRefused(err) {
		err = fmt.Errorf("%w: %w", ports.ErrFileRefused, err)
	}
	return err
}

// SubmitEvidence implements ports.DisputeProcessor. Files are uploaded first, each under a key of its own, so that what
// a crash has left uploaded is found again; the submission names them, and is made once.
func (p *Processor) SubmitEvidence(ctx context.Context, processorID string,
	e ports.DisputeEvidence) (ports.DisputeReport, error) {
	found, err := p.FindDispute(ctx, processorID)
	if err != nil || found.Status != dispute.NeedsResponse {
		return found, err
	}
	evidence := evidenceParams(e)
	if err := p.uploadEvidence(ctx, processorID, e, evidence); err != nil {
		return ports.DisputeReport{}, err
	}
	params := disputeParams(ctx, processorID+":evidence")
	params.Submit, params.Evidence = new(true), evidence
	return reportOf(call(ctx, "submit evidence", func() (*stripe.Dispute, error) {
		return p.api.Disputes.Update(processorID, params)
	}))
}

// evidenceParams are the texts of the evidence in the members that Stripe has for them.
func evidenceParams(e ports.DisputeEvidence) *stripe.DisputeEvidenceParams {
	params := &stripe.DisputeEvidenceParams{UncategorizedText: new(evidenceText(e.Evidence))}
	c := e.Collected
	if c == nil {
		return params
	}
	params.CustomerName, params.CustomerEmailAddress = limited(valueOf(c.Buyer.Name)), limited(valueOf(c.Buyer.Email))
	params.BillingAddress = limited(c.Buyer.Address())
	params.CustomerPurchaseIP = limited(addressOf(valueOf(c.Purchase.Network)))
	if at := c.ServiceDate(); !at.IsZero() {
		params.ServiceDate = new(at.UTC().Format(time.DateOnly))
	}
	if c.Receipt != nil {
		var items []string
		for _, item := range c.Receipt.Items {
			items = append(items, item.Description)
		}
		params.ProductDescription = limited(strings.Join(items, "\n"))
	}
	params.AccessActivityLog = limited(c.Text(dispute.SectionAccess, dispute.SectionActivity, dispute.SectionDownloads,
		dispute.SectionAppointments, dispute.SectionMails))
	if policy := valueOf(c.RefundPolicy); policy != "" {
		shown := "The buyer agreed to this refund policy with the payment button."
		if c.Consent != nil {
			shown = "The buyer agreed to this refund policy on " + c.Consent.AcceptedAt.UTC().Format(time.DateOnly) +
				": " + valueOf(c.Consent.Statement)
		}
		params.RefundPolicyDisclosure = limited(shown + "\n\n" + policy)
	}
	return params
}

// addressOf is an IP address, also where it was kept as the network of one; "" for anything wider.
func addressOf(network string) string {
	if network, err := netip.ParsePrefix(network); err == nil && network.IsSingleIP() {
		return network.Addr().String()
	}
	if address, err := netip.ParseAddr(network); err == nil {
		return address.String()
	}
	return ""
}

func valueOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// limited is a text as long as Stripe takes it; nil for none.
func limited(text string) *string {
	if text == "" {
		return nil
	}
	if utf8.RuneCountInString(text) > maxEvidence {
		text = string([]rune(text)[:maxEvidence])
	}
	return &text
}

// uploadEvidence uploads the receipt and the creator's files, and names them in the evidence. Stripe has one file to a
// member, so the files take the members that are for a service in turn. A file that Stripe refuses, which CheckFile
// finds unless Stripe is away, is left out: a response without it is better than none.
func (p *Processor) uploadEvidence(
	ctx context.Context, processorID string, e ports.DisputeEvidence, into *stripe.DisputeEvidenceParams,
) error {
	files, members := e.Files, []**string{
		&into.UncategorizedFile, &into.ServiceDocumentation, &into.CustomerCommunication, &into.ShippingDocumentation,
	}
	if e.Receipt != nil {
		files, members = append(slices.Clone(files), *e.Receipt), slices.Insert(members, len(files), &into.Receipt)
	}
	for i, f := range files {
		id, err := p.uploadFile(ctx, processorID, f)
		if err != nil && !isRefused(err) {
			return err
		}
		if err == nil {
			*members[i] = &id
		}
	}
	return nil
}

// isRefused reports whether Stripe refused a request, and will again.
func isRefused(err error) bool {
	return refusal(err) != nil && !errors.Is(err, ports.ErrOutcomeUnknown) &&
		!errors.Is(err, ports.ErrProcessorUnavailable)
}

func (p *Processor) uploadFile(ctx context.Context, processorID string, f ports.DisputeFile) (string, error) {
	uploaded, err := call(ctx, "upload "+f.ID, func() (*stripe.File, error) {
		return p.api.Files.New(&stripe.FileParams{
			Params: keyed(ctx, processorID+":file:"+f.ID), Purpose: new(string(stripe.FilePurposeDisputeEvidence)),
			Filename: new(f.Name), FileReader: bytes.NewReader(f.Content),
		})
	})
	if err != nil {
		return "", err
	}
	return uploaded.ID, nil
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
	params := disputeParams(ctx, processorID+":close")
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
