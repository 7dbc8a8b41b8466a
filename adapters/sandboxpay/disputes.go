package sandboxpay

import (
	"context"
	"fmt"
	"strings"

	"sundry/core/dispute"
	"sundry/core/id"
	"sundry/ports"
)

// taskEmit sends an event to the inbound route as a real processor would; its subject is the dispute, with a suffix for
// each event about it.
const taskEmit = "sandbox.emit"

// What a creator writes as evidence to decide a dispute in the sandbox. Any other text leaves it under review.
const (
	winningEvidence = "winning_evidence"
	losingEvidence  = "losing_evidence"
)

// disputePrefix begins the sandbox's own ids of disputes.
const disputePrefix = "dp_sandbox_"

var _ ports.DisputeProcessor = (*Processor)(nil)

// dispute opens a dispute of a charge, and makes the events about it due: now, and when the time to respond is over.
func (p *Processor) dispute(ctx context.Context, repos ports.Repos, r ports.ChargeRequest) error {
	now, err := repos.Clock.Now(ctx, r.CreatorID)
	if err != nil {
		return err
	}
	report := ports.DisputeReport{
		ProcessorID: disputePrefix + id.Body(r.PaymentID), PaymentID: r.PaymentID, CreatorID: r.CreatorID, Amount: r.Amount,
		Status: dispute.NeedsResponse, RespondBy: now.Add(dispute.ResponseTime),
	}
	if err := repos.Sandbox.Disputes.Insert(ctx, report); err != nil {
		return err
	}
	if err := repos.Tasks.Schedule(ctx, taskEmit, report.ProcessorID+"/opened", r.CreatorID, now); err != nil {
		return err
	}
	return repos.Tasks.Schedule(ctx, taskEmit, report.ProcessorID+"/overdue", r.CreatorID, report.RespondBy)
}

// FindDispute implements ports.DisputeProcessor. A dispute that nobody responded to in time is lost.
func (p *Processor) FindDispute(ctx context.Context, processorID string) (ports.DisputeReport, error) {
	return p.decide(ctx, processorID, func(d ports.DisputeReport, overdue bool) dispute.Status {
		if overdue && d.Status == dispute.NeedsResponse {
			return dispute.Lost
		}
		return d.Status
	})
}

// CheckFile implements ports.DisputeProcessor. The sandbox's bank reads no file.
func (p *Processor) CheckFile(context.Context, string, ports.DisputeFile) error { return nil }

// SubmitEvidence implements ports.DisputeProcessor.
func (p *Processor) SubmitEvidence(ctx context.Context, processorID string,
	e ports.DisputeEvidence) (ports.DisputeReport, error) {
	return p.decide(ctx, processorID, func(d ports.DisputeReport, _ bool) dispute.Status {
		switch {
		case d.Status.Closed():
			return d.Status
		case strings.Contains(e.Text, winningEvidence):
			return dispute.Won
		case strings.Contains(e.Text, losingEvidence):
			return dispute.Lost
		}
		return dispute.UnderReview
	})
}

// AcceptDispute implements ports.DisputeProcessor.
func (p *Processor) AcceptDispute(ctx context.Context, processorID string) (ports.DisputeReport, error) {
	return p.decide(ctx, processorID, func(d ports.DisputeReport, _ bool) dispute.Status {
		if d.Status.Closed() {
			return d.Status
		}
		return dispute.Lost
	})
}

func (p *Processor) decide(ctx context.Context, processorID string,
	next func(d ports.DisputeReport, overdue bool) dispute.Status) (ports.DisputeReport, error) {
	var report ports.DisputeReport
	err := p.store.Atomically(ctx, func(ctx context.Context, repos ports.Repos) error {
		var err error
		if report, err = repos.Sandbox.Disputes.Get(ctx, processorID); err != nil {
			return err
		}
		now, err := repos.Clock.Now(ctx, report.CreatorID)
		if err != nil {
			return err
		}
		before := report.Status
		if report.Status = next(report, !now.Before(report.RespondBy)); report.Status == before {
			return nil
		}
		return repos.Sandbox.Disputes.UpdateStatus(ctx, processorID, report.Status)
	})
	if err != nil {
		return ports.DisputeReport{}, fmt.Errorf("sandbox dispute %s: %w", processorID, err)
	}
	return report, nil
}
