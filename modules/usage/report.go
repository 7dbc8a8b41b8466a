package usage

import (
	"context"
	"errors"

	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/usage"
	"sundry/ports"
)

// MaxBatch is how many reports one request may bring.
const MaxBatch = 1000

// maxPlacements bounds how often a report is placed again because its stream changed meanwhile.
const maxPlacements = 8

// Reported is what became of a report: Err is why it was refused.
type Reported struct {
	ID        string
	Duplicate bool
	Err       error
}

// placement is a report on its way.
type placement struct {
	report usage.Report
	key    streamKey
	index  int // of its outcome
}

// Report takes reports and returns once all that are accepted are durable, with one outcome each. A report with a fault of
// its own does not keep the others out. RATE_LIMITED when too many wait already.
func (s *Service) Report(ctx context.Context, creatorID string, drafts []usage.ReportDraft) ([]Reported, error) {
	now, err := s.times.now(ctx, creatorID)
	if err != nil {
		return nil, err
	}
	outcomes := make([]Reported, len(drafts))
	open := make([]placement, 0, len(drafts))
	for i, draft := range drafts {
		var f fault.Violations
		report := draft.Parse(&f, now)
		if outcomes[i].Err = f.Err(); outcomes[i].Err == nil {
			open = append(open, placement{report, streamKey{creatorID, report.SubscriptionID, report.EventName}, i})
		}
	}
	for range maxPlacements {
		if open, err = s.submit(ctx, creatorID, open, outcomes); err != nil || len(open) == 0 {
			return outcomes, err
		}
	}
	return nil, fault.New(fault.DatabaseBusy, "The billing of this subscription is being changed. Try again in a moment.")
}

// submit places reports and hands them in. Those whose stream has changed meanwhile come back.
func (s *Service) submit(ctx context.Context, creatorID string, open []placement, outcomes []Reported) (again []placement, err error) {
	placed := make([]placement, 0, len(open))
	incoming := make([]ports.IncomingReport, 0, len(open))
	for _, p := range open {
		report, err := s.place(ctx, creatorID, p)
		if fault.CodeOf(err) == fault.Internal {
			return nil, err
		}
		if err != nil {
			outcomes[p.index] = s.refused(ctx, creatorID, p.report, err)
			continue
		}
		placed, incoming = append(placed, p), append(incoming, report)
	}
	if len(incoming) == 0 {
		return nil, nil
	}
	results, err := s.intake.Accept(ctx, incoming)
	if err != nil {
		return nil, err
	}
	for i, result := range results {
		switch {
		case result.Moved:
			s.streams.drop(placed[i].key)
			again = append(again, placed[i])
		case result.Duplicate && !result.SameBody:
			outcomes[placed[i].index].Err = fault.New(fault.IdempotencyKeyMismatch, "The idempotency key was used before for another report.")
		default:
			outcomes[placed[i].index] = Reported{ID: result.ID, Duplicate: result.Duplicate}
		}
	}
	return again, nil
}

// place finds the period that a report counts in. NOT_FOUND, VALIDATION_FAILED, PERIOD_CLOSED.
func (s *Service) place(ctx context.Context, creatorID string, p placement) (ports.IncomingReport, error) {
	stream, err := s.stream(ctx, p.key)
	if err != nil {
		return ports.IncomingReport{}, err
	}
	var f fault.Violations
	stream.Aggregation.Check(&f, "quantity", p.report.Quantity)
	if err := f.Err(); err != nil {
		return ports.IncomingReport{}, err
	}
	if stream.Closed {
		return ports.IncomingReport{}, fault.New(fault.PeriodClosed, "The billing plan has had its last invoice.")
	}
	if err := stream.Schedule.Takes(p.report.At); err != nil {
		return ports.IncomingReport{}, err
	}
	return ports.IncomingReport{
		ID: s.ids.New(id.UsageEvent), CreatorID: creatorID, Key: p.report.Key, Fingerprint: p.report.Fingerprint, StreamID: stream.ID,
		StreamVersion: stream.Version, PeriodStart: stream.Schedule.At(p.report.At).Start, At: p.report.At, ReceivedAt: s.clock.Real(),
		Quantity: p.report.Quantity, Ordered: stream.Aggregation != usage.Sum,
	}, nil
}

// refused is the outcome of a report that came too late, unless it is one that was accepted in time and is sent again.
func (s *Service) refused(ctx context.Context, creatorID string, report usage.Report, refusal error) Reported {
	if !fault.Is(refusal, fault.PeriodClosed) {
		return Reported{Err: refusal}
	}
	before, err := s.store.Read(ctx).Usage.Reports.Get(ctx, creatorID, report.Key)
	switch {
	case errors.Is(err, ports.ErrNotFound):
		return Reported{Err: refusal}
	case err != nil:
		return Reported{Err: err}
	case before.Fingerprint != report.Fingerprint:
		return Reported{Err: fault.New(fault.IdempotencyKeyMismatch, "The idempotency key was used before for another report.")}
	}
	return Reported{ID: before.ID, Duplicate: true}
}

// Void takes a report back by its key, as if it had never been made; again, it changes nothing. NOT_FOUND, PERIOD_CLOSED
// once an invoice has asked for it.
func (s *Service) Void(ctx context.Context, creatorID, key string) (reportID string, err error) {
	err = s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		if err := r.Usage.Rollups.Lock(ctx); err != nil {
			return err
		}
		report, err := r.Usage.Reports.Get(ctx, creatorID, key)
		if err != nil {
			return missing(err, "usage report")
		}
		if reportID = report.ID; report.Voided {
			return nil
		}
		stream, err := r.Usage.Streams.GetByID(ctx, report.StreamID)
		if err != nil {
			return err
		}
		counted, err := r.Usage.Rollups.Get(ctx, stream, report.PeriodStart)
		if err != nil {
			return err
		}
		if counted.InvoiceID != "" && !report.ReceivedAt.After(counted.BilledAt) {
			return fault.New(fault.PeriodClosed, "The report is on an invoice that is final.")
		}
		now, err := r.Clock.Now(ctx, creatorID)
		if err != nil {
			return err
		}
		if err := r.Usage.Reports.Void(ctx, report, now); err != nil {
			return err
		}
		return s.changed(ctx, r, stream)
	})
	return reportID, err
}

// changed publishes that the counts of a customer whom the integrator named are others now.
func (s *Service) changed(ctx context.Context, r ports.Repos, stream ports.UsageStream) error {
	if stream.ExternalCustomerID == "" {
		return nil
	}
	return s.bus.Publish(ctx, r, usage.Counted{CreatorID: stream.CreatorID, ExternalCustomerID: stream.ExternalCustomerID})
}
