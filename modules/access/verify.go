package access

import (
	"context"
	"fmt"

	"sundry/core/access"
	"sundry/ports"
)

const verifyPage = 200

// Verify checks every customer's snapshot against the fold of their grants, and their history for gaps. It returns one
// line per violation. The service may go on meanwhile.
func (s *Service) Verify(ctx context.Context) ([]string, error) {
	var faults []string
	for last := (access.Document{}); ; {
		page, err := s.store.Read(ctx).Access.Snapshots.ListAll(ctx, last, verifyPage)
		if err != nil {
			return faults, err
		}
		for _, d := range page {
			found, err := s.verify(ctx, d)
			if err != nil {
				return faults, err
			}
			faults = append(faults, found...)
		}
		if len(page) < verifyPage {
			return faults, nil
		}
		last = page[len(page)-1]
	}
}

// verify checks one customer without a lock first: only what seems wrong is worth holding up a writer for.
func (s *Service) verify(ctx context.Context, d access.Document) ([]string, error) {
	faults, err := s.faultsOf(ctx, s.store.Read(ctx), d)
	if err != nil || len(faults) == 0 {
		return nil, err
	}
	err = s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		locked, err := r.Access.Snapshots.Lock(ctx, access.Empty(d.CreatorID, d.ExternalCustomerID, s.livemode))
		if err != nil {
			return err
		}
		faults, err = s.faultsOf(ctx, r, locked)
		return err
	})
	return faults, err
}

func (s *Service) faultsOf(ctx context.Context, r ports.Repos, d access.Document) ([]string, error) {
	grants, err := r.Access.Grants.ListActive(ctx, d.CreatorID, d.ExternalCustomerID)
	if err != nil {
		return nil, err
	}
	count, highest, err := r.Access.Snapshots.CountHistory(ctx, d.CreatorID, d.ExternalCustomerID)
	if err != nil {
		return nil, err
	}
	var faults []string
	who := fmt.Sprintf("access of customer %q of %s", d.ExternalCustomerID, d.CreatorID)
	if !d.Matches(access.Fold(grants), s.livemode) {
		faults = append(faults, fmt.Sprintf("%s: version %d is not the fold of the grants", who, d.Version))
	}
	if count != d.Version || highest != d.Version {
		faults = append(faults, fmt.Sprintf("%s: version %d has %d changes on record, the last of them %d", who, d.Version, count, highest))
	}
	return faults, nil
}
