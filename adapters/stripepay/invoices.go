package stripepay

import (
	"context"
	"fmt"
	"strconv"

	"github.com/stripe/stripe-go/v76"

	"sundry/ports"
)

// invoiced reports whether an attempt is made through an invoice of Stripe: one for a saved card, with the customer
// away. Stripe pays no invoice with a card that is just being typed.
func invoiced(r ports.ChargeRequest) bool { return len(r.Lines) > 0 && r.OffSession }

// createInvoice makes the invoice of an attempt with an item per line, and finalizes it: then it has a payment intent.
// Each attempt has an invoice of its own, which is voided when it ends unpaid. The items are given the invoice: Stripe
// would leave them for the customer's next one otherwise.
func (p *Processor) createInvoice(ctx context.Context, r ports.ChargeRequest, customer string,
	about map[string]string) (intent, error) {
	key, currency := r.PaymentID+":invoice", new(string(r.Amount.Currency))
	_, method := splitMethod(r.Method)
	draft, err := call(ctx, "create invoice", func() (*stripe.Invoice, error) {
		return p.api.Invoices.New(&stripe.InvoiceParams{
			Params: keyed(ctx, key), Customer: new(customer), Currency: currency, Metadata: about,
			CollectionMethod: stripe.String(string(stripe.InvoiceCollectionMethodChargeAutomatically)),
			AutoAdvance:      new(false), DefaultPaymentMethod: new(method),
			PendingInvoiceItemsBehavior: new("exclude"),
		})
	})
	if err != nil {
		return intent{}, err
	}
	item := func(n int, description string, minor int64) error {
		_, err := call(ctx, "create invoice item", func() (*stripe.InvoiceItem, error) {
			return p.api.InvoiceItems.New(&stripe.InvoiceItemParams{
				Params: keyed(ctx, key+":"+strconv.Itoa(n)), Customer: new(customer), Invoice: new(draft.ID),
				Currency: currency, Amount: new(minor), Description: new(description),
			})
		})
		return err
	}
	rest := units(r.Amount)
	for n, line := range r.Lines {
		rest -= units(line.Amount)
		if err := item(n, line.Description, units(line.Amount)); err != nil {
			return intent{}, err
		}
	}
	if rest != 0 { // tax on top, a discount, or credit
		if err := item(len(r.Lines), "Tax and adjustments", rest); err != nil {
			return intent{}, err
		}
	}
	params := &stripe.InvoiceFinalizeInvoiceParams{Params: keyed(ctx, key+":finalize"), AutoAdvance: new(false)}
	final, err := call(ctx, "finalize "+draft.ID, func() (*stripe.Invoice, error) {
		return p.api.Invoices.FinalizeInvoice(draft.ID, params)
	})
	if err != nil {
		return intent{}, err
	}
	if final.PaymentIntent == nil {
		return intent{}, fmt.Errorf("stripe invoice %s has nothing to pay: %w", draft.ID, ports.ErrOutcomeUnknown)
	}
	// Stripe's events and disputes name the payment intent: it names its owner.
	named, err := call(ctx, "name "+final.PaymentIntent.ID, func() (*stripe.PaymentIntent, error) {
		return p.api.PaymentIntents.Update(final.PaymentIntent.ID,
			&stripe.PaymentIntentParams{Params: keyed(ctx, key+":name"), Metadata: about})
	})
	if err != nil {
		return intent{}, err
	}
	i := fromPayment(named)
	i.invoice = draft.ID
	return stale(i), nil
}
