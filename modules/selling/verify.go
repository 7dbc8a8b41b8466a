package selling

import (
	"context"
	"fmt"
	"time"
)

// maxViolations bounds how many lines of one kind are listed.
const maxViolations = 100

// expiryGrace is how long past its time a session may wait for a worker before it counts as forgotten.
const expiryGrace = 5 * time.Minute

// Verify checks what must always hold of sessions, payments and receipts, and returns one line per violation.
func (s *Service) Verify(ctx context.Context) ([]string, error) {
	audit := s.store.Read(ctx).SellingAudit
	var lines []string
	unbalanced, err := audit.UnbalancedPayments(ctx, maxViolations)
	if err != nil {
		return nil, fmt.Errorf("verify selling: %w", err)
	}
	for _, id := range unbalanced {
		lines = append(lines, "session "+id+" is paid, but its payment does not match its total")
	}
	overdue, err := audit.OverdueSessions(ctx, s.clock.Real().Add(-expiryGrace), maxViolations)
	if err != nil {
		return nil, fmt.Errorf("verify selling: %w", err)
	}
	for _, id := range overdue {
		lines = append(lines, "session "+id+" is past its expiry and still open")
	}
	series, err := audit.DocumentGaps(ctx)
	if err != nil {
		return nil, fmt.Errorf("verify selling: %w", err)
	}
	for _, name := range series {
		lines = append(lines, "document series "+name+" has a gap or a number used twice")
	}
	return lines, nil
}
