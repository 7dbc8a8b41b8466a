package checkout

import (
	"context"
	"time"

	"sundry/core/checkout"
	"sundry/core/customer"
	"sundry/core/fault"
	"sundry/core/intake"
	"sundry/ports"
)

// Description holds the buyer's details and answers, sent before the card.
type Description struct {
	Email  string
	Buyer  customer.Details
	Intake intake.Given
}

// Describe takes what the buyer says before the card. network is where the buyer comes from.
func (s *Service) Describe(
	ctx context.Context, secret string, d Description, network string,
) (checkout.State, error) {
	if err := s.countDescribed(ctx, network); err != nil {
		return checkout.State{}, err
	}
	opened, err := s.bySecret(ctx, secret)
	if err != nil {
		return checkout.State{}, err
	}
	var f fault.Violations
	checkBuyer(d.Email, d.Buyer, &f)
	opened.CheckIntake(&f, d.Intake, false)
	if err := f.Err(); err != nil {
		return checkout.State{}, err
	}
	check, err := s.checkVAT(ctx, d.Buyer, opened.Buyer, opened.TaxDetails.Evidence.VATCheck, "taxId")
	if err != nil {
		return checkout.State{}, err
	}
	change := func(ctx context.Context, r ports.Repos, aggregate *checkout.Session, now time.Time) error {
		if err := aggregate.UpdateBuyer(d.Email, d.Buyer, now); err != nil {
			return err
		}
		if err := aggregate.TakeIntake(d.Intake, false); err != nil {
			return err
		}
		aggregate.NoteVATCheck(check)
		_, err := s.withoutTrial(ctx, r, aggregate, "", now)
		return err
	}
	return s.reprice(ctx, opened.ID, change)
}

// CheckBuyer checks a buyer's details. VALIDATION_FAILED with every fault.
func CheckBuyer(email string, buyer customer.Details) error {
	var f fault.Violations
	checkBuyer(email, buyer, &f)
	return f.Err()
}

func checkBuyer(email string, buyer customer.Details, f *fault.Violations) {
	if email != "" {
		customer.ValidateEmail("email", email, f)
	}
	buyer.Validate(f)
}
