package stripepay

import (
	"github.com/stripe/stripe-go/v76"
	"github.com/stripe/stripe-go/v76/account"
	"github.com/stripe/stripe-go/v76/accountlink"
	"github.com/stripe/stripe-go/v76/confirmationtoken"
	"github.com/stripe/stripe-go/v76/customer"
	"github.com/stripe/stripe-go/v76/dispute"
	"github.com/stripe/stripe-go/v76/file"
	"github.com/stripe/stripe-go/v76/invoice"
	"github.com/stripe/stripe-go/v76/invoiceitem"
	"github.com/stripe/stripe-go/v76/paymentintent"
	"github.com/stripe/stripe-go/v76/price"
	"github.com/stripe/stripe-go/v76/product"
	"github.com/stripe/stripe-go/v76/refund"
	"github.com/stripe/stripe-go/v76/setupintent"
	"github.com/stripe/stripe-go/v76/subscription"
	"github.com/stripe/stripe-go/v76/tax/calculation"
	"github.com/stripe/stripe-go/v76/transfer"
)

// api has the resources of Stripe that are used here. The library's client.API has all of them, which would be a
// megabyte of the program.
type api struct {
	Accounts           account.Client
	AccountLinks       accountlink.Client
	ConfirmationTokens confirmationtoken.Client
	Customers          customer.Client
	Disputes           dispute.Client
	Files              file.Client
	Invoices           invoice.Client
	InvoiceItems       invoiceitem.Client
	PaymentIntents     paymentintent.Client
	Prices             price.Client
	Products           product.Client
	Refunds            refund.Client
	SetupIntents       setupintent.Client
	Subscriptions      subscription.Client
	TaxCalculations    calculation.Client
	Transfers          transfer.Client
}

func newAPI(backend, uploads stripe.Backend, key string) api {
	return api{
		Accounts:           account.Client{B: backend, Key: key},
		AccountLinks:       accountlink.Client{B: backend, Key: key},
		ConfirmationTokens: confirmationtoken.Client{B: backend, Key: key},
		Customers:          customer.Client{B: backend, Key: key},
		Disputes:           dispute.Client{B: backend, Key: key},
		Files:              file.Client{B: backend, BUploads: uploads, Key: key},
		Invoices:           invoice.Client{B: backend, Key: key},
		InvoiceItems:       invoiceitem.Client{B: backend, Key: key},
		PaymentIntents:     paymentintent.Client{B: backend, Key: key},
		Prices:             price.Client{B: backend, Key: key},
		Products:           product.Client{B: backend, Key: key},
		Refunds:            refund.Client{B: backend, Key: key},
		SetupIntents:       setupintent.Client{B: backend, Key: key},
		Subscriptions:      subscription.Client{B: backend, Key: key},
		TaxCalculations:    calculation.Client{B: backend, Key: key},
		Transfers:          transfer.Client{B: backend, Key: key},
	}
}
