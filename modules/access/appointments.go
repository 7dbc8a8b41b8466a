package access

import (
	"context"

	"sundry/core/access"
	"sundry/core/appointment"
	"sundry/ports"
)

// OnAllCanceled ends the grant of a session whose appointments are all canceled.
func (s *Service) OnAllCanceled(ctx context.Context, r ports.Repos, e appointment.AllCanceled) error {
	grants, err := r.Access.Grants.ListByCheckout(ctx, e.CreatorID, e.CheckoutID)
	if err != nil {
		return err
	}
	for _, given := range grants {
		state := given.State()
		if state.Source != access.Appointment || !given.Active() && !given.Suspended() {
			continue
		}
		_, err := s.withLockedAccess(ctx, r, e.CreatorID, state.ExternalCustomerID,
			func(c *lockedAccess) (access.Cause, error) {
				g := c.find(state.ID)
				if g == nil { // it has ended: read it again behind the lock
					var err error
					if g, err = r.Access.Grants.Get(ctx, e.CreatorID, state.ID); err != nil {
						return access.Cause{}, err
					}
				}
				if !g.Active() && !g.Suspended() {
					return access.Cause{}, nil
				}
				return access.Cause{Kind: access.AppointmentsCanceled, ID: e.CheckoutID}, c.edit(
					ctx, g, g.EndWithAppointments(c.now),
				)
			})
		if err != nil {
			return err
		}
	}
	return nil
}
