package checkout

import (
	"context"
	"fmt"
	"time"

	"sundry/core/checkout"
	"sundry/core/fault"
	"sundry/core/tax"
)

// applyTax computes the tax of a session's present buyer. Before their country is known there is none.
func (s *Service) applyTax(ctx context.Context, session *checkout.Session, now time.Time) error {
	result, err := s.deps.Taxes.Calculate(ctx, session.State().TaxSale(now))
	if err != nil {
		return fmt.Errorf("tax of %s: %w", session.State().ID, err)
	}
	session.ApplyTax(result)
	return nil
}

// applyFinalTax applies the tax for a payment. VALIDATION_FAILED if the country alone does not decide the tax and the
// postal code is missing.
func (s *Service) applyFinalTax(ctx context.Context, session *checkout.Session, now time.Time) error {
	if err := s.applyTax(ctx, session, now); err != nil {
		return err
	}
	state := session.State()
	if state.TaxDetails.Treatment == tax.Undetermined && state.Buyer.Country != "" && state.Total.Minor > 0 {
		return fault.Invalid(fault.Detail{
			Field: "postalCode", Code: fault.DetailInvalid,
			Message: "Enter the postal code of your billing address: the tax depends on it.",
		})
	}
	return nil
}
