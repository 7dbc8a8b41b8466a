package payments

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sundry/core/fault"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/refund"
	"sundry/ports"
)

// clockMargin makes a reconciliation look further back: the clocks of the processor and of the database differ.
// What is known already costs a read.
const clockMargin = time.Hour

// Remedy names the action of a reconciliation on one difference.
type Remedy string

// The remedies. LeftOpen means that a person has to decide.
const (
	Settled        Remedy = "settled"
	Refunded       Remedy = "refunded"
	RefundRecorded Remedy = "refund recorded"
	PayoutRecorded Remedy = "payout recorded"
	LeftOpen       Remedy = "left open"
)

// Finding is a charge or a payout that the processor and the database disagree about, and what was done about it.
type Finding struct {
	// ID is the id of the payment or payout.
	ID, CreatorID string
	At            time.Time
	Amount        money.Amount
	Provider      string
	// charge is the provider's report of a payment's charge.
	charge ports.ChargeReport
	Remedy Remedy
	// Why explains the remedy.
	Why string
}

// ReconciliationDeps holds the dependencies of a reconciliation.
type ReconciliationDeps struct {
	Store     ports.Store
	Providers ports.Providers
	Attempts  *Attempts
	Refunds   *Refunds
	Checkouts ports.CheckoutPayments
	Accounts  ports.AccountReader
	Payouts   ports.LostPayouts
}

// Reconciliation finds what the processors did that the database does not know, after it was restored to a point in
// time.
type Reconciliation struct{ deps ReconciliationDeps }

// NewReconciliation returns the use case.
func NewReconciliation(d ReconciliationDeps) *Reconciliation { return &Reconciliation{d} }

// errDryRun rolls a transaction back that was made to see whether it succeeds.
var errDryRun = errors.New("dry run")

// Run compares what each provider charged, refunded and paid out since a time with the books, and reports each
// difference. A payment of unknown outcome is settled. A charge without a payment is settled where its checkout session
// would be charged the same today, and refunded otherwise. Refunds and payouts that are missing are recorded. Without
// apply it changes nothing and reports what it would do. Again, it finds nothing but what a person has to decide.
func (s *Reconciliation) Run(ctx context.Context, since time.Time, apply bool, report func(Finding) error) error {
	since = since.Add(-clockMargin)
	for _, provider := range s.deps.Providers {
		err := s.runCharges(ctx, provider, since, apply, report)
		if err == nil {
			err = s.runPayouts(ctx, provider, since, apply, report)
		}
		if err != nil {
			return fmt.Errorf("reconcile with %s: %w", provider.Name, err)
		}
	}
	return nil
}

func (s *Reconciliation) runCharges(
	ctx context.Context, provider ports.Provider, since time.Time, apply bool, report func(Finding) error,
) error {
	if provider.ChargeLister == nil {
		return nil
	}
	charges, err := provider.ChargeLister.ListCharges(ctx, since)
	if err != nil {
		return err
	}
	for _, c := range charges {
		f := Finding{
			ID: c.PaymentID, CreatorID: c.CreatorID, At: c.At, Amount: c.Amount, Provider: provider.Name, charge: c,
		}
		err := s.compare(ctx, &f, apply)
		if err := reportDifference(f, err, report); err != nil {
			return err
		}
	}
	return nil
}

func (s *Reconciliation) runPayouts(
	ctx context.Context, provider ports.Provider, since time.Time, apply bool, report func(Finding) error,
) error {
	if provider.PayoutLister == nil {
		return nil
	}
	payouts, err := provider.PayoutLister.ListPayouts(ctx, since)
	if err != nil {
		return err
	}
	for _, p := range payouts {
		f := Finding{ID: p.PayoutID, CreatorID: p.CreatorID, At: p.At, Amount: p.Amount, Provider: provider.Name}
		err := s.comparePayout(ctx, &f, p, apply)
		if err := reportDifference(f, err, report); err != nil {
			return err
		}
	}
	return nil
}

// reportDifference reports what a comparison found, unless it failed or found nothing.
func reportDifference(f Finding, failed error, report func(Finding) error) error {
	switch {
	case failed != nil:
		return fmt.Errorf("%s: %w", f.ID, failed)
	case f.Remedy == "":
		return nil
	}
	return report(f)
}

// comparePayout records a payout that is lost, so that its money is not paid out again.
func (s *Reconciliation) comparePayout(ctx context.Context, f *Finding, sent ports.PayoutReport, apply bool) error {
	lost, err := s.deps.Payouts.IsLost(ctx, s.deps.Store.Read(ctx), sent.PayoutID)
	if err != nil || !lost {
		return err
	}
	if known, err := s.knowsAccount(ctx, f); err != nil || !known {
		return err
	}
	err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		if err := s.deps.Payouts.RecordLost(ctx, r, sent); err != nil || apply {
			return err
		}
		return errDryRun
	})
	f.Remedy, f.Why = PayoutRecorded, "the payout was lost"
	if refused, ok := errors.AsType[*fault.Error](err); ok {
		f.Remedy, f.Why = LeftOpen, "the payout can't be recorded: "+refused.Message
		return nil
	}
	if errors.Is(err, errDryRun) {
		return nil
	}
	return err
}

// knowsAccount reports whether the account of a finding is in the database, and leaves the finding open if it is not.
func (s *Reconciliation) knowsAccount(ctx context.Context, f *Finding) (bool, error) {
	_, err := s.deps.Accounts.SellerName(ctx, s.deps.Store.Read(ctx), f.CreatorID)
	if errors.Is(err, ports.ErrNotFound) {
		f.Remedy, f.Why = LeftOpen, "the account is not in this database; another deployment may have it"
		return false, nil
	}
	return err == nil, err
}

// Unlisted names the providers of which nothing is compared.
func (s *Reconciliation) Unlisted() (names []string) {
	for _, provider := range s.deps.Providers {
		if provider.ChargeLister == nil {
			names = append(names, provider.Name)
		}
	}
	return names
}

// compare finds the remedy of a charge and, with apply, carries it out. It leaves the remedy of a charge empty that is
// known as it is.
func (s *Reconciliation) compare(ctx context.Context, f *Finding, apply bool) error {
	known, err := s.deps.Store.Read(ctx).Payments.Payments.Get(ctx, f.ID)
	switch {
	case errors.Is(err, ports.ErrNotFound):
		return s.compareLost(ctx, f, apply)
	case err != nil:
		return err
	case known.Status == payment.Declined:
		f.Remedy, f.Why = LeftOpen, "the payment is declined here"
		return nil
	case known.Status != payment.Succeeded:
		f.Remedy, f.Why = Settled, "the payment was "+string(known.Status)
		if !apply {
			return nil
		}
		return s.findAndSettle(ctx, known, *f)
	case f.charge.Refunded.Minor > known.Refunded.Minor:
		return s.recordRefunds(ctx, f, known, apply)
	}
	return nil
}

// compareLost settles or refunds a charge whose payment is lost.
func (s *Reconciliation) compareLost(ctx context.Context, f *Finding, apply bool) error {
	if f.charge.Refunded.Minor >= f.Amount.Minor {
		return nil
	}
	if known, err := s.knowsAccount(ctx, f); err != nil || !known {
		return err
	}
	attempt, err := s.begin(ctx, *f, apply)
	refused, isRefused := errors.AsType[*fault.Error](err)
	switch {
	case err == nil && apply:
		f.Remedy, f.Why = Settled, "the payment was lost, its checkout session was not"
		return s.findAndSettle(ctx, attempt, *f)
	case errors.Is(err, errDryRun):
		f.Remedy, f.Why = Settled, "the payment is lost, its checkout session is not"
		return nil
	case isRefused:
		f.Remedy, f.Why = Refunded, refused.Message
		if !apply {
			return nil
		}
		return s.refund(ctx, f)
	}
	return err
}

// begin writes the attempt behind a charge. A charge that was refunded in part, and one of no checkout session, is
// refused: renewals and invoices are charged again by themselves.
func (s *Reconciliation) begin(ctx context.Context, f Finding, apply bool) (attempt payment.State, err error) {
	if f.charge.Refunded.Minor > 0 {
		return attempt, fault.New(fault.StateConflict, "A part of it was refunded already.")
	}
	err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		if attempt, err = s.deps.Checkouts.BeginAgain(ctx, r, f.Provider, f.charge); err == nil && !apply {
			return errDryRun
		}
		return err
	})
	return attempt, err
}

// findAndSettle applies a charge to its payment.
func (s *Reconciliation) findAndSettle(ctx context.Context, attempt payment.State, f Finding) error {
	request := ports.ChargeOf(attempt)
	request.ProcessorID = f.charge.ProcessorID
	outcome, err := s.deps.Attempts.call(ctx, ports.ProcessorTimeout, attempt, request, ports.Processor.Find)
	if err != nil {
		return err
	}
	_, err = s.deps.Attempts.settle(ctx, attempt, outcome)
	return err
}

// refund makes what is left of a charge go back that no payment belongs to.
func (s *Reconciliation) refund(ctx context.Context, f *Finding) error {
	left, err := f.Amount.Sub(f.charge.Refunded)
	if err != nil {
		return err
	}
	outcome, err := requestRefund(ctx, s.deps.Providers, f.Provider, ports.RefundRequest{
		RefundID: refund.AutomaticID(f.ID), PaymentID: f.ID, ProcessorID: f.charge.ProcessorID,
		CreatorID: f.CreatorID, Amount: left,
	})
	if err == nil && outcome.Status == refund.Failed {
		f.Remedy, f.Why = LeftOpen, "the processor refused the refund: "+outcome.Reason
	}
	return err
}

// recordRefunds records the refunds of a payment that only the processor knows.
func (s *Reconciliation) recordRefunds(ctx context.Context, f *Finding, paid payment.State, apply bool) error {
	made, err := s.deps.Refunds.list(ctx, paid)
	if err != nil {
		return err
	}
	for _, report := range made {
		lost, err := s.isLost(ctx, report)
		if err != nil {
			return err
		}
		if !lost {
			continue // its task, or the processor's event, finishes it
		}
		f.Remedy, f.Why = RefundRecorded, "the refund was lost"
		if !apply {
			continue
		}
		err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
			return s.deps.Refunds.adopt(ctx, r, paid.ID, report)
		})
		if refused, ok := errors.AsType[*fault.Error](err); ok {
			f.Remedy, f.Why = LeftOpen, "the refund can't be recorded: "+refused.Message
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isLost reports whether money went back by a refund that is not in the database.
func (s *Reconciliation) isLost(ctx context.Context, report ports.RefundReport) (bool, error) {
	if report.Outcome.Status == refund.Failed {
		return false, nil
	}
	refunds := s.deps.Store.Read(ctx).Payments.Refunds
	_, err := refunds.GetByProcessorID(ctx, report.ProcessorID)
	if errors.Is(err, ports.ErrNotFound) && report.RefundID != "" {
		_, err = refunds.Get(ctx, report.RefundID)
	}
	if errors.Is(err, ports.ErrNotFound) {
		return true, nil
	}
	return false, err
}
