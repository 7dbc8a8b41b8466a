package booking

import (
	"context"
	"fmt"
)

// mostViolations bounds each list of `sundry verify`.
const mostViolations = 100

// Verify lists what contradicts the promises of booking (contract §14), one line each.
func (s *Service) Verify(ctx context.Context) ([]string, error) {
	audit := s.store.Read(ctx).BookingAudit
	var violations []string
	for _, check := range []struct {
		find func(ctx context.Context, limit int) ([]string, error)
		says string
	}{
		{audit.Overlaps, "claim %s overlaps another of its creator"},
		{audit.Unmatched, "%s: an appointment and its claim do not match"},
	} {
		ids, err := check.find(ctx, mostViolations)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			violations = append(violations, fmt.Sprintf(check.says, id))
		}
	}
	return violations, nil
}
