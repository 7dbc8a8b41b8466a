package invoicing

import (
	"context"

	"sundry/ports"
)

// Verify checks invoices against payments. It returns one line per violation.
func (s *Service) Verify(ctx context.Context) ([]string, error) {
	audit := s.deps.Store.Read(ctx).Invoicing.Audit
	return ports.Checks{
		{Find: audit.Unbalanced, Message: "invoice %s: its status is not that of its payment"},
		{Find: audit.PaidTwice, Message: "invoice %s: a second payment took money and does not go back"},
		{Find: audit.Misstated, Message: "invoice %s does not add up"},
		{
			Find:    audit.DocumentGaps,
			Message: "document series %s has a gap, a number used twice or one that is no number",
		},
		{Find: audit.Undocumented, Message: "%s has no document with its number, amounts and day"},
		{Find: audit.MisstatedDocuments, Message: "document %s differs from its snapshot, or that does not add up"},
		{Find: audit.BilledTwice, Message: "billing plan %s: two invoices bill one period"},
	}.Run(ctx)
}
