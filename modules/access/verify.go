package access

import (
	"context"

	"sundry/core/access"
	"sundry/ports"
)

const (
	verifyPage = 500

	notTheFold    ports.Violation = "access of customer %q of %s: version %d is not the fold of the grants"
	unevenHistory ports.Violation = "access of customer %q of %s: version %d has %d changes on record, the last of them %d"
)

// Verify checks every customer's snapshot against the fold of their grants, their history for gaps, and the uses of
// credits. It returns one line per violation. The service may go on meanwhile.
func (s *Service) Verify(ctx context.Context) ([]string, error) {
	audit := s.deps.Store.Read(ctx).Access.Audit
	lines, err := ports.Checks{
		{Find: audit.LostSnapshots, Message: "access of customer %s: the snapshot is gone"},
		{Find: audit.LostCreditUses, Message: "credit use %s is not complete"},
	}.Run(ctx)
	if err != nil {
		return nil, err
	}
	for last := (access.Document{}); ; {
		page, err := audit.ListCustomers(ctx, last, verifyPage)
		if err != nil {
			return lines, err
		}
		for _, c := range page {
			lines = append(lines, s.violationsOf(c)...)
		}
		if len(page) < verifyPage {
			return lines, nil
		}
		last = page[len(page)-1].Document
	}
}

// violationsOf checks one customer.
func (s *Service) violationsOf(c ports.CustomerAccess) (violations []string) {
	d := c.Document
	if !d.Matches(access.Fold(c.Grants), s.deps.Live) {
		violations = append(violations, notTheFold.Of(d.ExternalCustomerID, d.CreatorID, d.Version))
	}
	if c.Changes != d.Version || c.Highest != d.Version {
		violations = append(violations,
			unevenHistory.Of(d.ExternalCustomerID, d.CreatorID, d.Version, c.Changes, c.Highest))
	}
	return violations
}
