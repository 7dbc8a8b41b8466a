package bootstrap

import (
	"sundry/adapters/httpapi"
	invoicingapi "sundry/adapters/httpapi/invoicing"
	"sundry/adapters/jobs"
	"sundry/core/document"
	"sundry/core/invoice"
	"sundry/modules/identity"
	"sundry/modules/invoicing"
	"sundry/modules/payments"
	"sundry/modules/subscriptions"
	"sundry/modules/treasury"
)

func (a *App) wireInvoicing(
	accounts *identity.Service, charges *payments.Attempts, cards *payments.Service,
) *invoicing.Service {
	deps := invoicing.Deps{
		Store: a.store, IDs: a.ids, Bus: a.bus, Charges: charges, Runner: charges, Accounts: accounts,
		Taxes: a.adapters.Taxes, Disputed: subscriptions.Disputed{},
		Cards: a.providers.Default().Cards, Tries: cards,
	}
	module := invoicing.New(invoicing.Config{Pages: a.invoicePages(), Live: a.live(), Merchant: a.cfg.SellerName}, deps)

	on(a.bus, module.OnCustomerRenamed)
	on(a.bus, module.OnPeriodClosed)
	on(a.bus, module.OnPaymentCompleted)
	on(a.bus, module.OnPaymentFailed)
	a.mux.Handle(invoicing.TaskRetry, jobs.Payments, module.Retry)
	a.verify("invoicing", module.Verify)
	return module
}

// invoicePages are the addresses of invoices.
func (a *App) invoicePages() invoice.Pages {
	return invoice.Pages{BaseURL: a.cfg.BaseURL, Keys: a.keys.Links("invoices")}
}

// wireDocuments issues documents for what the other areas publish.
func (a *App) wireDocuments(accounts *identity.Service, payouts *treasury.Service) *invoicing.Documents {
	documents := invoicing.NewDocuments(invoicing.DocumentDeps{
		Store: a.store, Accounts: accounts, Payouts: payouts, Renderer: a.adapters.Documents, Links: a.documentLinks(),
		Seller: document.Party{
			Name: a.cfg.SellerName, Address: a.cfg.SellerAddress, Country: a.cfg.SellerCountry, Email: a.cfg.SellerEmail,
			TaxID: a.cfg.SellerVATID,
		},
		Live: a.live(),
	})

	on(a.bus, documents.OnCheckoutPaid)
	on(a.bus, documents.OnPaymentCompleted)
	on(a.bus, documents.OnPaymentReversed)
	on(a.bus, documents.OnInvoiceFinalized)
	on(a.bus, documents.OnRefundCreated)
	on(a.bus, documents.OnDisputeClosed)
	on(a.bus, documents.OnPayoutPaid)
	return documents
}

// documentLinks are the addresses of documents.
func (a *App) documentLinks() document.Links {
	return document.Links{BaseURL: a.cfg.BaseURL, Keys: a.keys.Links("documents")}
}

func (a *App) invoicingAPI(m modules) httpapi.Area {
	return httpapi.Area{Document: invoicingapi.Document, Routes: invoicingapi.Routes(invoicingapi.Deps{
		Live: a.live(), Invoicing: m.Invoicing,
	})}
}
