package bootstrap

import (
	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/adapters/web/appointment"
	"sundry/adapters/web/checkout"
	"sundry/adapters/web/dashboard"
	"sundry/adapters/web/docs"
	"sundry/adapters/web/document"
	"sundry/adapters/web/invoice"
	"sundry/adapters/web/layout"
	"sundry/adapters/web/portal"
	"sundry/adapters/web/receipt"
	"sundry/adapters/webhookhttp"
)

// site is the pages of one site.
type site interface{ Mount(app fiber.Router) }

// newLayout is what the pages of every site share.
func (a *App) newLayout() (*layout.Layout, error) {
	return layout.New(layout.Config{
		BaseURL: a.cfg.BaseURL, Sandbox: !a.cfg.Livemode(), CardForm: a.cardForm(), ClientAddress: a.clientAddress(), StatusOf: httpapi.StatusOf, Log: a.log,
		Images: webhookhttp.NewFetcher(a.receivers()), ImageKey: a.secrets.derive("images"), Uploads: a.modules.Images,
		Seller: layout.Seller{
			Name: a.cfg.SellerName, Address: a.cfg.SellerAddress, VATID: a.cfg.SellerVATID, Email: a.cfg.SellerEmail,
			TermsURL: a.cfg.TermsURL, PrivacyURL: a.cfg.PrivacyURL,
		},
	})
}

// mountPages puts every site in front of the modules. openapi is what the reference page shows.
func (a *App) mountPages(app fiber.Router, shared *layout.Layout, openapi []byte) error {
	for _, open := range []func() (site, error){
		func() (site, error) { return docs.New(shared, openapi) },
		func() (site, error) {
			return checkout.New(shared, a.modules.Checkout, a.modules.Booking, a.modules.Customers)
		},
		func() (site, error) {
			return receipt.New(shared, receipt.Deps{
				Sessions: a.modules.Checkout, Booking: a.modules.Booking, Documents: a.modules.Documents,
				Customers: a.modules.Customers,
			})
		},
		func() (site, error) { return invoice.New(shared, a.modules.Invoicing, a.modules.Documents) },
		func() (site, error) { return document.New(shared, a.modules.Documents) },
		func() (site, error) { return appointment.New(shared, a.modules.Booking, a.modules.Cancellations) },
		func() (site, error) {
			return portal.New(shared, portal.Deps{
				Customers: a.modules.Customers, Subscriptions: a.modules.Subscriptions, Payments: a.modules.Payments,
				Catalog: a.modules.Catalog, Checkout: a.modules.Checkout, Booking: a.modules.Booking,
				Invoicing: a.modules.Invoicing, Documents: a.modules.Documents,
			})
		},
		func() (site, error) {
			return dashboard.New(shared, dashboard.Deps{
				Clock: a.clock, Identity: a.modules.Identity, Catalog: a.modules.Catalog, Checkout: a.modules.Checkout, Booking: a.modules.Booking,
				Cancellations: a.modules.Cancellations, Payments: a.modules.Payments, Refunds: a.modules.Refunds, Disputes: a.modules.Disputes, Customers: a.modules.Customers,
				Access: a.modules.Access, Subscriptions: a.modules.Subscriptions, Usage: a.modules.Usage, Invoicing: a.modules.Invoicing,
				Treasury: a.modules.Treasury, Webhooks: a.modules.Webhooks, Requests: a.modules.Requests, Images: a.modules.Images, Sandbox: a.modules.Sandbox,
			})
		},
	} {
		pages, err := open()
		if err != nil {
			return err
		}
		pages.Mount(app)
	}
	shared.Mount(app)
	app.Use(shared.NotFound)
	return nil
}
