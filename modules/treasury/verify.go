package treasury

import (
	"context"

	"sundry/ports"
)

// Verify checks what must always hold of the ledger and what it states, and returns one line per violation.
func (s *Service) Verify(ctx context.Context) ([]string, error) {
	audit := s.store.Read(ctx).Treasury.Audit
	return ports.Checks{
		{Find: audit.UnbalancedPostings, Says: "posting %s does not sum to zero"},
		{Find: audit.UnbalancedCurrencies, Says: "the ledger does not sum to zero in %s"},
		{Find: audit.UnpostedPayments, Says: "payment %s succeeded, but the ledger has no such sale"},
		{Find: audit.MispostedSales, Says: "sale %s differs from its ledger entries"},
		{Find: audit.OverReturnedSales, Says: "payment %s returned more than was paid, or not exactly its tax"},
		{Find: audit.MispostedRefunds, Says: "refund %s differs from its ledger entries"},
		{Find: audit.MiscountedRefunds, Says: "payment %s says that another amount went back than its refunds and disputes"},
		{Find: audit.MispostedDisputes, Says: "dispute %s differs from its ledger entries"},
		{Find: audit.MispostedPayouts, Says: "payout %s differs from its ledger entries"},
		{Find: audit.RefundedAccess, Says: "refund %s left nothing of its payment, which still gives access"},
		{Find: audit.MiscountedPending, Says: "the pending or reserved balance of %s is not what its sales say"},
	}.Run(ctx)
}
