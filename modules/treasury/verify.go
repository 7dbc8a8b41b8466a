package treasury

import (
	"context"

	"sundry/ports"
)

// Verify checks the invariants of the ledger and the records beside it, and returns one line per violation.
func (s *Service) Verify(ctx context.Context) ([]string, error) {
	audit := s.deps.Store.Read(ctx).Treasury.Audit
	return ports.Checks{
		{Find: audit.UnbalancedPostings, Message: "posting %s does not sum to zero"},
		{Find: audit.UnpostedPayments, Message: "payment %s succeeded, but the ledger has no such sale"},
		{Find: audit.MispostedSales, Message: "sale %s differs from its ledger entries"},
		{Find: audit.MisreleasedSales, Message: "sale %s is released at another time than it ought to be"},
		{Find: audit.LostPayouts, Message: "payout %s is gone, but the ledger has postings of it"},
		{
			Find:    audit.MisstatedPayments,
			Message: "payment %s: its breakdown does not add up, or its tax is not that of the ledger",
		},
		{
			Find:    audit.ChargedTwice,
			Message: "%s was charged again after it had been paid, and no refund gives a reason",
		},
		{Find: audit.OverReturnedSales, Message: "payment %s returned more than was paid, or not exactly its tax"},
		{Find: audit.MispostedRefunds, Message: "refund %s differs from its ledger entries"},
		{
			Find:    audit.MiscountedRefunds,
			Message: "payment %s records that another amount went back than its refunds and disputes",
		},
		{Find: audit.MisjudgedRefunds, Message: "refund %s is wrong about whether it left nothing of its payment"},
		{Find: audit.MispostedDisputes, Message: "dispute %s differs from its ledger entries"},
		{Find: audit.MispostedPayouts, Message: "payout %s differs from its ledger entries"},
		{Find: audit.MistaxedDocuments, Message: "%s has a document with another tax than the ledger"},
		{Find: audit.RefundedAccess, Message: "refund %s left nothing of its payment, which still gives access"},
		{Find: audit.MiscountedPending, Message: "the pending or reserved balance of %s is not that of its sales"},
		{Find: audit.MisstatedBalances, Message: "the stored balance of %s is not the sum of its ledger entries"},
		{Find: audit.MisstatedDays, Message: "the stored figures of a day of %s are not the sums of its ledger entries"},
	}.Run(ctx)
}
