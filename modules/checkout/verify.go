package checkout

import (
	"context"
	"time"

	"sundry/ports"
)

// expiryGrace bounds how long after its time a session may wait for a worker before Verify reports it.
const expiryGrace = 5 * time.Minute

// Verify checks what must always hold of sessions, payments and receipts, and returns one line per violation.
func (s *Service) Verify(ctx context.Context) ([]string, error) {
	audit := s.deps.Store.Read(ctx).Checkout.Audit
	overdue := func(ctx context.Context, limit int) ([]string, error) {
		return audit.OverdueSessions(ctx, s.deps.Clock.Real().Add(-expiryGrace), limit)
	}
	kept := func(ctx context.Context, limit int) ([]string, error) {
		return audit.KeptMoney(ctx, ports.TaskRefundPayment, limit)
	}
	return ports.Checks{
		{Find: audit.UnbalancedPayments, Message: "session %s is paid, but its payment does not match its total"},
		{Find: audit.UnbalancedSessions, Message: "session %s is open, but its total is not what its parts come to"},
		{Find: audit.LostPayments, Message: "session %s is open, but its live payment does not exist"},
		{Find: audit.MissingAppointments, Message: "session %s is paid, but does not have all its appointments"},
		{Find: audit.StrayHolds, Message: "session %s is not open any more, but still holds a time"},
		{Find: kept, Message: "payment %s is not what its session was paid with, and does not go back"},
		{Find: overdue, Message: "session %s is past its expiry and still open"},
	}.Run(ctx)
}
