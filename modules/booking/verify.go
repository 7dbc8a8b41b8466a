package booking

import (
	"context"

	"sundry/ports"
)

// Verify checks the invariants of booking and returns one line per violation.
func (s *Service) Verify(ctx context.Context) ([]string, error) {
	audit := s.deps.Store.Read(ctx).Booking.Audit
	return ports.Checks{
		{Find: audit.ListOverlaps, Message: "reservation %s overlaps another of its creator"},
		{Find: audit.ListUnmatched, Message: "%s: an appointment and its reservation do not match"},
		{Find: audit.ListMisseated, Message: "%s: a group and its seats do not match"},
	}.Run(ctx)
}
