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
	for _, check := range []struct {
		find func(ctx context.Context, limit int) ([]string, error)
		says string
	}{
		{audit.UnbalancedPayments, "session %s is paid, but its payment does not match its total"},
		{audit.MissingAppointments, "session %s is paid, but does not have all its appointments"},
		{audit.StrayHolds, "session %s is not open any more, but still holds a time"},
		{audit.KeptMoney, "payment %s was taken for a session that is not paid, and does not go back"},
	} {
		ids, err := check.find(ctx, maxViolations)
		if err != nil {
			return nil, fmt.Errorf("verify selling: %w", err)
		}
		for _, id := range ids {
			lines = append(lines, fmt.Sprintf(check.says, id))
		}
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
