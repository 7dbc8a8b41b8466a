package bootstrap

import (
	"sundry/adapters/httpapi"
	invoicingapi "sundry/adapters/httpapi/invoicing"
	"sundry/adapters/jobs"
	"sundry/adapters/pdf"
	"sundry/core/document"
	"sundry/modules/invoicing"
)

func (a *App) wireInvoicing() error {
	a.wireDocuments()
	deps := invoicing.Deps{
		Store: a.store, IDs: a.ids, Bus: a.bus, Charges: a.modules.Payments, Accounts: a.modules.Identity, Taxes: a.taxes,
		Cards: a.processor,
	}
	module := invoicing.New(invoicing.Config{BaseURL: a.cfg.BaseURL, LinkKey: a.secrets.derive("invoices")}, deps)
	a.modules.Invoicing = module

	on(a.bus, module.OnPeriodClosed)
	on(a.bus, module.OnPaymentCompleted)
	on(a.bus, module.OnPaymentFailed)
	a.mux.Handle(invoicing.TaskRetry, jobs.Payments, module.Retry)
	a.verify(module.Verify)
	return nil
}

// wireDocuments issues documents for what the other areas publish.
func (a *App) wireDocuments() {
	documents := invoicing.NewDocuments(invoicing.DocumentDeps{
		Store: a.store, Accounts: a.modules.Identity, Payouts: a.modules.Treasury, Renderer: pdf.Renderer{}, Links: a.documentLinks(),
		Seller: document.Party{
			Name: a.cfg.SellerName, Address: a.cfg.SellerAddress, Country: a.cfg.SellerCountry, Email: a.cfg.SellerEmail, TaxID: a.cfg.SellerVATID,
		},
		Livemode: a.cfg.Livemode(),
	})
	a.modules.Documents = documents

	before(a.bus, documents.BeforePaymentCompleted)
	on(a.bus, documents.OnCheckoutPaid)
	on(a.bus, documents.OnPaymentCompleted)
	on(a.bus, documents.OnPaymentReversed)
	on(a.bus, documents.OnInvoiceFinalized)
	on(a.bus, documents.OnRefundCreated)
	on(a.bus, documents.OnDisputeClosed)
	on(a.bus, documents.OnPayoutPaid)
}

// documentLinks are the addresses of documents.
func (a *App) documentLinks() document.Links {
	return document.Links{BaseURL: a.cfg.BaseURL, Key: a.secrets.derive("documents")}
}

func (a *App) invoicingAPI() httpapi.Area {
	return httpapi.Area{Document: invoicingapi.Document, Routes: invoicingapi.Routes(invoicingapi.Deps{
		Sandbox: a.inSandbox(), Invoicing: a.modules.Invoicing,
	})}
}
