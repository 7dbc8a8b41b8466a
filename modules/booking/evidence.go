package booking

import (
	"context"

	"sundry/core/apiformat"
	"sundry/core/dispute"
	"sundry/core/payment"
	"sundry/ports"
)

var _ ports.EvidenceSource = (*Service)(nil)

// AddEvidence implements ports.EvidenceSource: the times that the buyer booked, and whether they came.
func (s *Service) AddEvidence(ctx context.Context, r ports.Repos, paid payment.State, into *dispute.Collected) error {
	if paid.CheckoutID() == "" {
		return nil
	}
	all, err := s.Booked(ctx, r, paid.CreatorID, paid.CheckoutID())
	for _, a := range all[:min(len(all), dispute.MaxCollected)] {
		into.Appointments = append(into.Appointments, dispute.Appointment{
			ID: a.ID, Title: a.Title, StartsAt: dispute.Moment{Time: a.StartsAt}, EndsAt: dispute.Moment{Time: a.EndsAt},
			Status: string(a.Status), Outcome: apiformat.Text(a.Outcome),
		})
	}
	return err
}
