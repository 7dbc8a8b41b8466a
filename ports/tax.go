package ports

import (
	"context"

	"sundry/core/tax"
)

// TaxCalculator taxes a sale of the deployment's seller of record, whose country it knows: SellerCountry of the sale is
// not read. It is called inside transactions and never waits for the network: where it needs that, it returns a
// *PrefetchError.
type TaxCalculator interface {
	// Calculate returns what the buyer pays and how much of it is tax. Before the buyer's country is known the treatment
	// is tax.Undetermined and the tax zero.
	Calculate(ctx context.Context, s tax.Sale) (tax.Result, error)
}

// VATRegister knows which VAT ids are registered, as the European Commission's VIES does. It is never called inside a
// transaction.
type VATRegister interface {
	Network
	// Check looks up a well-formed VAT id in the register. On an error the id is unconfirmed, and the check of its shape
	// decides.
	Check(ctx context.Context, country, vatID string) (tax.VATCheck, error)
}
