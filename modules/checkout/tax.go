package checkout

import (
	"context"
	"fmt"
	"time"

	"sundry/core/checkout"
)

// applyTax computes the tax of a session's present buyer. Before their country is known there is none.
func (s *Service) applyTax(ctx context.Context, session *checkout.Session, now time.Time) error {
	result, err := s.taxes.Calculate(ctx, session.State().TaxSale(now))
	if err != nil {
		return fmt.Errorf("tax of %s: %w", session.State().ID, err)
	}
	session.ApplyTax(result)
	return nil
}
