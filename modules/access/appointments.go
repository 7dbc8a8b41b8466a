package access

import (
	"context"
	"slices"
	"time"

	"sundry/core/access"
	"sundry/core/appointment"
	"sundry/ports"
)

// OnAllCanceled ends the grant of a session whose appointments are all canceled.
func (s *Service) OnAllCanceled(ctx context.Context, r ports.Repos, e appointment.AllCanceled) error {
	given, err := r.Access.Grants.ListByCheckout(ctx, e.CreatorID, e.CheckoutID)
	if err != nil {
		return err
	}
	given = slices.DeleteFunc(given, func(g *access.Grant) bool {
		return g.State().Source != access.Appointment || !g.Active() && !g.Suspended()
	})
	cause := access.Cause{Kind: access.AppointmentsCanceled, ID: e.CheckoutID}
	return s.changeGrants(ctx, r, given, cause, func(g *access.Grant, now time.Time) bool {
		return g.EndWithAppointments(now) == nil
	})
}
