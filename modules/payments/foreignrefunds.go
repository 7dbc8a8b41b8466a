package payments

import (
	"context"
	"errors"
	"fmt"

	"sundry/core/payment"
	"sundry/core/refund"
	"sundry/ports"
)

// find returns the current outcome of a refund that was made at the processor.
func (s *Refunds) find(ctx context.Context, paid payment.State, processorID string) (refund.Outcome, error) {
	made, err := s.list(ctx, paid)
	if err != nil {
		return refund.Outcome{}, err
	}
	for _, report := range made {
		if report.ProcessorID == processorID {
			return report.Outcome, nil
		}
	}
	return refund.Outcome{}, fmt.Errorf("refund %s of %s: %w", processorID, paid.ID, ports.ErrNotFound)
}

// foreign lists the refunds of a payment that were made at the processor without us.
func (s *Refunds) foreign(ctx context.Context, paid payment.State) ([]ports.RefundReport, error) {
	if paid.ProcessorID == "" {
		return nil, nil
	}
	made, err := s.list(ctx, paid)
	var foreign []ports.RefundReport
	for _, report := range made {
		if report.RefundID == "" {
			foreign = append(foreign, report)
		}
	}
	return foreign, err
}

// list asks the provider that took a payment for every refund of it.
func (s *Refunds) list(ctx context.Context, paid payment.State) ([]ports.RefundReport, error) {
	provider, err := s.deps.Providers.Get(paid.Provider)
	if err != nil {
		return nil, err
	}
	return within(ctx, ports.ProcessorTimeout, func(ctx context.Context) ([]ports.RefundReport, error) {
		return provider.RefundLister.ListRefunds(ctx, paid.ProcessorID)
	})
}

// adopt records a refund that was made at the processor, or its later outcome. Nothing but the record can be refused,
// because the buyer has the money already; then the task fails until somebody investigates.
func (s *Refunds) adopt(ctx context.Context, r ports.Repos, paymentID string, report ports.RefundReport) error {
	known, err := r.Payments.Refunds.GetByProcessorID(ctx, report.ProcessorID)
	if errors.Is(err, ports.ErrNotFound) {
		if report.Outcome.Status == refund.Failed {
			return nil // no money moved
		}
		known, err = s.record(ctx, r, paymentID, report)
	}
	if err != nil {
		return fmt.Errorf("refund %s at the processor: %w", report.ProcessorID, err)
	}
	_, err = s.settle(ctx, r, known.ID, report.Outcome)
	return err
}

// record is the intent of a refund that was made already. Its task asks about it while its outcome is open.
// errUnsettled for a payment that may have no customer yet.
func (s *Refunds) record(
	ctx context.Context, r ports.Repos, paymentID string, report ports.RefundReport,
) (refund.State, error) {
	paid, err := r.Payments.Payments.Get(ctx, paymentID)
	switch {
	case err != nil:
		return refund.State{}, err
	case !paid.Status.Final():
		return refund.State{}, errUnsettled
	case paid.Status != payment.Succeeded:
		return refund.State{}, fmt.Errorf("payment %s is %s", paymentID, paid.Status)
	}
	now, err := r.Clock.Now(ctx, paid.CreatorID)
	if err != nil {
		return refund.State{}, err
	}
	made, err := s.intend(
		ctx, r, paid,
		refund.Request{Minor: &report.Amount.Minor, Reason: refund.AtProcessor, ProcessorID: report.ProcessorID}, now,
	)
	if err != nil {
		return refund.State{}, err
	}
	return made, r.Tasks.Schedule(ctx, TaskRefundRequest, made.ID, made.CreatorID, now.Add(firstRefundCheck))
}
