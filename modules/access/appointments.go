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
		if state.Source != access.Appointment || !given.Active() {
			continue
		}
		_, err := s.withLockedAccess(ctx, r, e.CreatorID, state.ExternalCustomerID,
			func(c *lockedAccess) (access.Cause, error) {
				g := c.find(state.ID)
				if g == nil || !g.Active() {
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
