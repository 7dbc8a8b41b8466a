package usage

import (
	"context"
	"errors"
	"slices"
	"time"

	"sundry/core/customer"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/quota"
	"sundry/core/usage"
	"sundry/ports"
)

// MaxBatch bounds the reports of one request.
const MaxBatch = 1000

// maxPlacements bounds how often a report is placed again because its stream changed meanwhile.
const maxPlacements = 8

// Reported is the result of one report; Err is its refusal.
type Reported struct {
	ID        string
	Duplicate bool
	Err       error
}

// reporting is a request under way.
type reporting struct {
	creatorID string
	drafts    []usage.ReportDraft
	outcomes  []Reported
	// large are the reports placed so far that are compared with a limit.
	large map[periodKey][]usage.Combined
	// subscriptions are those found for the customers that reports name.
	subscriptions map[customerMeter]string
	// reread are the streams that were read again, because a report was too large by the price that was remembered.
	reread map[streamKey]bool
}

// periodKey identifies a period of a stream.
type periodKey struct {
	streamID int64
	start    time.Time
}

// placement carries a report through its submission: its stream, what the intake gets, and its result.
type placement struct {
	key      streamKey
	incoming ports.IncomingReport
	index    int
}

// Report takes reports and returns once all that are accepted are durable, with one outcome each. A report with a
// fault of its own does not keep the others out. RATE_LIMITED when too many wait already, and when the account has
// reported too many.
func (s *Service) Report(ctx context.Context, creatorID string, drafts []usage.ReportDraft) ([]Reported, error) {
	if err := s.deps.Rates.Count(ctx, creatorID, quota.UsageEvents, len(drafts)); err != nil {
		return nil, err
	}
	q := reporting{
		creatorID: creatorID, drafts: drafts, outcomes: make([]Reported, len(drafts)),
		subscriptions: map[customerMeter]string{}, reread: map[streamKey]bool{},
	}
	open := make([]int, len(drafts))
	for i := range open {
		open[i] = i
	}
	for range maxPlacements {
		placed, err := s.placeAll(ctx, q, open, false)
		if err != nil {
			return nil, err
		}
		if open, err = s.submit(ctx, q, placed); err != nil {
			return nil, err
		}
		if len(open) == 0 {
			return q.outcomes, nil
		}
	}
	return nil, fault.New(
		fault.DatabaseBusy, "The billing of this subscription is being changed. Try again in a moment.",
	)
}

// placeAll finds the periods of the open reports, and gives those that are refused their outcome. By a price or a clock
// that is only remembered none is refused: the stream is read again, or the clock, and then all are placed again.
func (s *Service) placeAll(ctx context.Context, q reporting, open []int, read bool) ([]placement, error) {
	offset, remembered, err := s.clockOffset(ctx, q.creatorID, read)
	if err != nil {
		return nil, err
	}
	placed := make([]placement, 0, len(open))
	q.large = map[periodKey][]usage.Combined{}
	for _, i := range open {
		report, p, err := s.place(ctx, q, q.drafts[i], offset)
		if fault.Is(err, fault.LimitReached) && !q.reread[p.key] {
			q.reread[p.key] = true
			s.streams.drop(p.key)
			report, p, err = s.place(ctx, q, q.drafts[i], offset)
		}
		switch {
		case err == nil:
			p.index = i
			placed = append(placed, p)
		case fault.CodeOf(err) == fault.Internal:
			return nil, err
		case remembered && !fault.Is(err, fault.NotFoundCode):
			return s.placeAll(ctx, q, open, true)
		default:
			q.outcomes[i] = s.refused(ctx, q.creatorID, report, err)
		}
	}
	return placed, nil
}

// submit hands placed reports in and returns the indexes of those whose stream or clock has changed meanwhile.
func (s *Service) submit(ctx context.Context, q reporting, placed []placement) (again []int, err error) {
	if len(placed) == 0 {
		return nil, nil
	}
	incoming := make([]ports.IncomingReport, len(placed))
	for i, p := range placed {
		incoming[i] = p.incoming
	}
	results, err := s.deps.Intake.Accept(ctx, incoming)
	if err != nil {
		return nil, err
	}
	for i, result := range results {
		p := placed[i]
		switch {
		case result.Moved:
			s.streams.drop(p.key)
			s.offsets.drop(q.creatorID)
			again = append(again, p.index)
		case result.Duplicate && !result.SameBody:
			q.outcomes[p.index].Err = errKeyUsed()
		default:
			q.outcomes[p.index] = Reported{ID: result.ID, Duplicate: result.Duplicate}
		}
	}
	return again, nil
}

// place finds the period that a report counts in. VALIDATION_FAILED, NOT_FOUND, PERIOD_CLOSED, LIMIT_REACHED.
func (s *Service) place(
	ctx context.Context, q reporting, draft usage.ReportDraft, offset time.Duration,
) (usage.Report, placement, error) {
	var f fault.Violations
	received := s.deps.Clock.Real()
	report := draft.Parse(&f, received.Add(offset))
	if err := f.Err(); err != nil {
		return report, placement{}, err
	}
	p := placement{key: streamKey{q.creatorID, report.SubscriptionID, report.EventName}}
	if report.SubscriptionID == "" {
		var err error
		if p.key.subscriptionID, err = s.subscriptionOf(ctx, q, report); err != nil {
			return report, p, err
		}
	}
	stream, err := s.stream(ctx, p.key)
	if err != nil {
		return report, p, err
	}
	stream.meter.Check(&f, report)
	if err := f.Err(); err != nil {
		return report, p, err
	}
	if stream.Closed {
		return report, p, fault.New(fault.PeriodClosed, "The billing plan has had its last invoice.")
	}
	if err := stream.Schedule.Takes(report.At); err != nil {
		return report, p, err
	}
	p.incoming = ports.IncomingReport{
		ID: s.deps.IDs.New(id.UsageEvent), CreatorID: q.creatorID, Key: report.Key, Fingerprint: report.Fingerprint,
		StreamID:      stream.ID,
		StreamVersion: stream.Version, ClockOffset: offset, PeriodStart: stream.Schedule.At(report.At).Start,
		At: report.At, ReceivedAt: received,
		Quantity: report.Quantity, UniqueValue: stream.meter.UniqueValue(report),
		Dimensions: stream.meter.Values(report),
	}
	p.incoming.Ordered = stream.Aggregation != usage.Sum || p.incoming.UniqueValue != nil
	return report, p, s.checkLimit(ctx, q, stream, p.incoming)
}

// checkLimit refuses with LIMIT_REACHED a report with which its period's amount would exceed that of an invoice.
// What others report at the same time is not seen: the closing of the period is the last to look.
func (s *Service) checkLimit(
	ctx context.Context, q reporting, stream pricedStream, report ports.IncomingReport,
) error {
	if !stream.price.Large(report.Quantity) {
		return nil
	}
	key := periodKey{stream.ID, report.PeriodStart}
	one := usage.Combined{Values: report.Dimensions, Quantity: report.Quantity}
	all := []usage.Combined{one}
	if stream.Aggregation == usage.Sum {
		counted, err := s.current(ctx, stream, report.PeriodStart)
		if err != nil {
			return err
		}
		all = slices.Concat(counted, q.large[key], all)
	}
	if !fits(stream, report.PeriodStart, all) {
		return fault.New(fault.LimitReached, "With this report the usage of its period would cost more than 99999999999 "+
			"minor units, which is the most that an invoice can charge. Check its quantity, and the unit that the price is for.")
	}
	q.large[key] = append(q.large[key], one)
	return nil
}

// fits reports whether an invoice can charge the use of a period.
func fits(stream pricedStream, start time.Time, all []usage.Combined) bool {
	quantities, ok := stream.price.Split(all)
	if !ok {
		return false
	}
	use := usage.Use{
		Price: stream.price, Period: usage.Period{Start: start, End: start.Add(time.Millisecond)},
		Quantity: quantities[0], Included: stream.Included,
	}
	for _, q := range quantities {
		use.Parts = append(use.Parts, usage.Part{Quantity: q})
	}
	return !use.RateAll()[0].Waits
}

// current returns the use of a period with the reports that are not counted yet, told apart where the price has rates.
func (s *Service) current(ctx context.Context, stream pricedStream, start time.Time) ([]usage.Combined, error) {
	var all []usage.Combined
	err := s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) (err error) {
		if err = r.Usage.Rollups.Lock(ctx); err != nil {
			return err
		}
		if len(stream.price.Rates) > 0 {
			all, err = r.Usage.Rollups.ListParts(ctx, stream.UsageStream, start)
			return err
		}
		u, err := r.Usage.Rollups.GetCurrent(ctx, stream.UsageStream, start)
		all = []usage.Combined{{Quantity: u.Total.Quantity}}
		return err
	})
	return all, err
}

func errKeyUsed() error {
	return fault.New(fault.IdempotencyKeyMismatch, "The idempotency key was used before for another report.")
}

// refused is the outcome of a report that cannot be accepted, unless it is one that was accepted before and is sent
// again: meanwhile it may have become too late or too much, or its customer may have another subscription.
func (s *Service) refused(ctx context.Context, creatorID string, report usage.Report, refusal error) Reported {
	before, err := s.deps.Store.Read(ctx).Usage.Reports.Get(ctx, creatorID, report.Key)
	switch {
	case errors.Is(err, ports.ErrNotFound):
		return Reported{Err: refusal}
	case err != nil:
		return Reported{Err: err}
	case before.Fingerprint == report.Fingerprint:
		return Reported{ID: before.ID, Duplicate: true}
	case fault.Is(refusal, fault.PeriodClosed), fault.Is(refusal, fault.LimitReached):
		return Reported{Err: errKeyUsed()}
	}
	return Reported{Err: refusal}
}

// Void removes a report by its key, as if it had never been made. Voiding it again changes nothing. NOT_FOUND,
// PERIOD_CLOSED once it was invoiced.
func (s *Service) Void(ctx context.Context, creatorID, key string) (reportID string, err error) {
	err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		stream, report, err := s.lockReport(ctx, r, creatorID, key)
		if err != nil {
			return err
		}
		if reportID = report.ID; report.Voided {
			return nil
		}
		counted, err := r.Usage.Rollups.Get(ctx, stream, report.PeriodStart)
		if err != nil {
			return err
		}
		if counted.InvoiceID != "" && !report.ReceivedAt.After(counted.BilledAt) {
			return fault.New(fault.PeriodClosed, "The report is on an invoice that is final.")
		}
		if report.Deleted || counted.Incomplete {
			return fault.New(fault.PeriodClosed, "Old reports of this period are deleted, so that its count is final.")
		}
		now, err := r.Clock.Now(ctx, creatorID)
		if err != nil {
			return err
		}
		if err := r.Usage.Reports.Void(ctx, report, now); err != nil {
			return err
		}
		return s.publishCountsChanged(ctx, r, stream)
	})
	return reportID, err
}

// lockReport loads a report and its stream, and keeps counts as they are until the transaction ends. Of a UNIQUE meter
// no other report is accepted meanwhile: one with the same value might have to count in its place. NOT_FOUND.
func (s *Service) lockReport(
	ctx context.Context, r ports.Repos, creatorID, key string,
) (stream ports.UsageStream, report ports.StoredReport, err error) {
	if report, err = r.Usage.Reports.Get(ctx, creatorID, key); err != nil {
		return stream, report, ports.Missing(err, "usage report")
	}
	if stream, err = r.Usage.Streams.GetByID(ctx, report.StreamID); err != nil {
		return stream, report, err
	}
	meter, err := r.Usage.Catalog.GetMeter(ctx, creatorID, stream.MeterID)
	if err == nil && meter.Aggregation == usage.Unique {
		err = r.Usage.Streams.LockIntake(ctx)
	}
	if err == nil {
		err = r.Usage.Rollups.Lock(ctx)
	}
	if err != nil {
		return stream, report, err
	}
	report, err = r.Usage.Reports.Get(ctx, creatorID, key) // as it is under the locks
	return stream, report, err
}

// publishCountsChanged publishes usage.Counted for a stream's customer.
func (s *Service) publishCountsChanged(ctx context.Context, r ports.Repos, stream ports.UsageStream) error {
	return s.publishCounted(ctx, r, stream.CreatorID,
		customer.AccessKey(stream.ExternalCustomerID, stream.CustomerID))
}

// publishCounted publishes usage.Counted for the customer whose access has a key.
func (s *Service) publishCounted(ctx context.Context, r ports.Repos, creatorID, accessKey string) error {
	return s.deps.Bus.Publish(ctx, r, usage.Counted{CreatorID: creatorID, AccessKey: accessKey})
}
