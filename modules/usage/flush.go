package usage

import (
	"context"

	"sundry/core/usage"
	"sundry/ports"
)

const (
	// flushStep bounds the reports that one transaction counts, and maxFlushSteps what one flush does in all.
	flushStep     = 100_000
	maxFlushSteps = 1_000
)

// Flush counts the reports that wait, in their periods and then in their days. It runs every minute.
func (s *Service) Flush(ctx context.Context) error {
	if err := s.countPeriods(ctx); err != nil {
		return err
	}
	more := true
	for range maxFlushSteps {
		err := s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) (err error) {
			more, err = r.Usage.Rollups.CountDays(ctx, flushStep)
			return err
		})
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// countPeriods counts the reports that wait in their periods, which is all that the closing of one needs.
func (s *Service) countPeriods(ctx context.Context) error {
	end, err := s.deps.Intake.Position(ctx)
	if err != nil {
		return err
	}
	for range maxFlushSteps {
		var step ports.FlushStep
		err := s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
			var err error
			if step, err = r.Usage.Rollups.Flush(ctx, end, flushStep, s.deps.Clock.Real()); err != nil || step.Rows == 0 {
				return err
			}
			return s.flushed(ctx, r, step.Number)
		})
		if err != nil || !step.More {
			return err
		}
	}
	return nil
}

// MakePartitions makes the partitions for the reports of the next months.
func (s *Service) MakePartitions(ctx context.Context) error {
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		return r.Usage.Reports.EnsurePartitions(ctx, s.deps.Clock.Real())
	})
}

// flushed publishes what a step of counting has changed.
func (s *Service) flushed(ctx context.Context, r ports.Repos, step int64) error {
	customers, err := r.Usage.Rollups.ListFlushedCustomers(ctx, step)
	if err != nil {
		return err
	}
	for _, c := range customers {
		if err := s.deps.Bus.Publish(ctx, r, usage.Counted(c)); err != nil {
			return err
		}
	}
	alerts, err := r.Usage.Alerts.ListFlushed(ctx, step)
	if err != nil {
		return err
	}
	for _, a := range alerts {
		if err := s.alert(ctx, r, a); err != nil {
			return err
		}
	}
	return nil
}

// alert emits usage.threshold_reached once for an alert and period.
func (s *Service) alert(ctx context.Context, r ports.Repos, a ports.AlertedUsage) error {
	if !a.Alert.Reached(a.Rollup.Total.Quantity, a.Stream.Included) {
		return nil
	}
	now, err := r.Clock.Now(ctx, a.Alert.CreatorID)
	if err != nil {
		return err
	}
	p := a.Stream.Schedule.At(a.Rollup.PeriodStart)
	if !p.Start.Equal(a.Rollup.PeriodStart) { // a period of before the billing plan
		return nil
	}
	first, err := r.Usage.Alerts.MarkReached(ctx, a.Alert, p.Start)
	if err != nil || !first {
		return err
	}
	return s.deps.Bus.Publish(ctx, r, usage.ThresholdReached{
		Alert: a.Alert, Meter: a.Stream.EventName, CustomerID: a.Stream.CustomerID,
		ExternalCustomerID: a.Stream.ExternalCustomerID,
		Quantity:           a.Rollup.Total.Quantity, Included: a.Stream.Included, Period: p, At: now,
	})
}
