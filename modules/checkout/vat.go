package checkout

import (
	"context"
	"time"

	"sundry/core/customer"
	"sundry/core/fault"
	"sundry/core/tax"
)

// vatTimeout bounds one question to the register of VAT ids, for which a buyer waits.
const vatTimeout = 5 * time.Second

// checkVAT looks the VAT id of a sale up in the register. buyer's details have precedence over earlier ones. The
// check is the zero value if no id affects the tax, if it was checked for this sale before, or if the register did
// not decide: then the check of its shape decides. VALIDATION_FAILED at field for an id that is not registered.
func (s *Service) checkVAT(
	ctx context.Context, buyer, earlier customer.Details, known tax.VATCheck, field string,
) (tax.VATCheck, error) {
	if !s.asksRegister(buyer, earlier, known) {
		return tax.VATCheck{}, nil
	}
	whole := buyer.Over(earlier)
	ctx, cancel := context.WithTimeout(ctx, vatTimeout)
	defer cancel()
	check, err := s.deps.VAT.Check(ctx, whole.Country, whole.TaxID)
	if err != nil {
		return tax.VATCheck{}, nil //nolint:nilerr // a register that does not decide must not stop a sale
	}
	if !check.Registered {
		return tax.VATCheck{}, fault.Invalid(fault.Detail{
			Field: field, Code: fault.DetailInvalid,
			Message: "This VAT ID isn't registered for sales between EU countries. Check it, or leave it out.",
		})
	}
	return check, nil
}

// asksRegister reports whether checkVAT has a question to the register.
func (s *Service) asksRegister(buyer, earlier customer.Details, known tax.VATCheck) bool {
	whole := buyer.Over(earlier)
	return s.deps.VAT != nil && !known.Covers(whole.Country, whole.TaxID) &&
		tax.DependsOnVATID(s.cfg.SellerCountry, whole.Country, whole.TaxID)
}
