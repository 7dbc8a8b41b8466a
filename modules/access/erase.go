package access

import (
	"context"
	"fmt"
	"slices"

	"sundry/core/access"
	"sundry/core/customer"
	"sundry/ports"
)

// OnCustomerErased takes back all that a customer may use, and what is suspended.
func (s *Service) OnCustomerErased(ctx context.Context, r ports.Repos, e customer.Erased) error {
	key := customer.AccessKey(e.ExternalCustomerID, e.ID)
	_, err := s.withLockedAccess(ctx, r, e.CreatorID, key, func(c *lockedAccess) (access.Cause, error) {
		suspended, err := suspendedOf(ctx, r, e.CreatorID, key)
		if err != nil {
			return access.Cause{}, err
		}
		for _, g := range slices.Concat(c.grants, suspended) {
			if !g.EndErased(c.now) {
				continue
			}
			if err := c.repos.Access.Grants.Update(ctx, g); err != nil {
				return access.Cause{}, err
			}
			if err := r.Tasks.Cancel(ctx, TaskExpire, g.State().ID); err != nil {
				return access.Cause{}, err
			}
		}
		return access.Cause{Kind: access.CustomerErased, ID: e.ID}, nil
	})
	if err != nil {
		return fmt.Errorf("erase %s: %w", e.ID, err)
	}
	return nil
}
