package usage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sundry/core/apiformat"
	"sundry/ports"
)

const miscounted ports.Violation = "usage %s: the count of the period is not that of its reports"

// Verify checks every count against its reports, and what was billed against the counts. It returns one line per
// violation.
func (s *Service) Verify(ctx context.Context) ([]string, error) {
	audit := s.deps.Store.Read(ctx).Usage.Audit
	return ports.Checks{
		{Find: s.named(audit.Miscounted), Message: miscounted},
		{Find: s.named(audit.Repeated), Message: "usage %s: the reports that count are not one for each value"},
		{
			Find:    s.named(audit.Misdivided),
			Message: "usage %s: the parts by the meter's dimensions are not what the period has in all",
		},
		{Find: audit.MiscountedDays, Message: "meter %s: the use of its days is not what its periods have in all"},
		{
			Find:    audit.Misbilled,
			Message: "billing plan %s: what was billed is not what its invoices and its price make it",
		},
		{Find: audit.Unbilled, Message: "billing plan %s: no invoice has asked for all of its use"},
		{
			Find:    audit.Miscredited,
			Message: "usage credit %s: what was used, returned, expired and is left of it is not what was granted",
		},
		{Find: audit.Misprepaid, Message: "invoice %s: its prepaid lines are not what it used of usage credits"},
	}.Run(ctx)
}

// named adds the ids by which an operator finds a stream to what a check finds, which is stream/period.
func (s *Service) named(
	find func(ctx context.Context, limit int) ([]string, error),
) func(ctx context.Context, limit int) ([]string, error) {
	return func(ctx context.Context, limit int) ([]string, error) {
		found, err := find(ctx, limit)
		for i := range found {
			var streamID, start int64
			if _, err := fmt.Sscanf(found[i], "%d/%d", &streamID, &start); err != nil {
				return nil, fmt.Errorf("verify usage %s: %w", found[i], err)
			}
			stream, err := s.deps.Store.Read(ctx).Usage.Streams.GetByID(ctx, streamID)
			if errors.Is(err, ports.ErrNotFound) {
				continue
			}
			if err != nil {
				return nil, err
			}
			found[i] += fmt.Sprintf(" (subscription %s, meter %s %q, period from %s)", stream.SubscriptionID, stream.MeterID,
				stream.EventName, apiformat.Instant(time.UnixMilli(start)))
		}
		return found, err
	}
}

// checkedPage bounds the reports that one transaction of VerifyNew counts.
const checkedPage = 100_000

// VerifyNew verifies what was counted since its last run, in pages: its cost does not grow with the number of stored
// reports.
func (s *Service) VerifyNew(ctx context.Context) ([]string, error) {
	return ports.Checks{{Find: s.named(s.checkNew), Message: miscounted}}.Run(ctx)
}

func (s *Service) checkNew(ctx context.Context, limit int) (found []string, err error) {
	for more := true; more; {
		err = s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
			found, more, err = r.Usage.Audit.CheckPage(ctx, checkedPage, limit)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}
