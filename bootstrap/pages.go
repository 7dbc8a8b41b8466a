package bootstrap

import (
	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/adapters/web/appointment"
	"sundry/adapters/web/checkout"
	"sundry/adapters/web/dashboard"
	"sundry/adapters/web/docs"
	"sundry/adapters/web/document"
	"sundry/adapters/web/download"
	"sundry/adapters/web/invoice"
	"sundry/adapters/web/layout"
	"sundry/adapters/web/portal"
	"sundry/adapters/web/receipt"
	"sundry/adapters/webhookhttp"
	"sundry/modules/images"
)

// site is the pages of one site.
type site interface{ Mount(app fiber.Router) }

// newLayout returns what the pages of every site share.
func (a *App) newLayout(uploads *images.Service) (*layout.Layout, error) {
	return layout.New(layout.Config{
		BaseURL: a.cfg.BaseURL, Live: a.live(), Form: a.providers.Default().Form,
		ClientAddress: a.clientAddress(), ClientCountry: a.clientCountry(),
		StatusOf: httpapi.StatusOf, Log: a.log,
		Images: webhookhttp.NewImageFetcher(a.receivers()), ImageKeys: a.keys.Links("images"), Uploads: uploads,
		Seller: layout.Seller{
			Name: a.cfg.SellerName, Address: a.cfg.SellerAddress, VATID: a.cfg.SellerVATID, Email: a.cfg.SellerEmail,
			Statement: a.cfg.StatementDescriptor,
			TermsURL:  a.cfg.TermsURL, PrivacyURL: a.cfg.PrivacyURL,
		},
	})
}

// mountPages puts every site in front of the modules. openapi is the document of the reference page.
func (a *App) mountPages(m modules, app fiber.Router, shared *layout.Layout, openapi func() ([]byte, error)) error {
	hosted, err := checkout.New(shared, checkout.Deps{
		Sessions: m.Checkout, Booking: m.Booking, Customers: m.Customers, Files: m.Files,
	})
	if err != nil {
		return err
	}
	app.Use(shared.CheckForm)
	for _, open := range []func() (site, error){
		func() (site, error) { return docs.New(shared, openapi) },
		func() (site, error) { return hosted, nil },
		func() (site, error) {
			return receipt.New(shared, receipt.Deps{
				Sessions: m.Checkout, Booking: m.Booking, Documents: m.Documents,
				Customers: m.Customers, Files: m.Files,
			})
		},
		func() (site, error) { return download.New(shared, m.Checkout, m.Files), nil },
		func() (site, error) { return invoice.New(shared, m.Invoicing, m.Documents) },
		func() (site, error) { return document.New(shared, m.Documents) },
		func() (site, error) { return appointment.New(shared, m.Booking, m.Cancellations) },
		func() (site, error) {
			return portal.New(shared, portal.Deps{
				Customers: m.Customers, Subscriptions: m.Subscriptions, Payments: m.Payments,
				Catalog: m.Catalog, Checkout: m.Checkout, Booking: m.Booking, Files: m.Files,
				Invoicing: m.Invoicing, Documents: m.Documents, Usage: m.Usage,
			})
		},
		func() (site, error) {
			paying, _ := a.providers.PaidOutBy()
			return dashboard.New(shared, dashboard.Deps{
				Clock: a.clock, PaysOut: paying, Identity: m.Identity, Catalog: m.Catalog, Checkout: m.Checkout, Booking: m.Booking,
				Cancellations: m.Cancellations, Payments: m.Payments, Refunds: m.Refunds, Disputes: m.Disputes,
				Customers: m.Customers,
				Access:    m.Access, Subscriptions: m.Subscriptions, Usage: m.Usage, Invoicing: m.Invoicing,
				Documents: m.Documents,
				Treasury:  m.Treasury, Webhooks: m.Webhooks, Requests: m.Requests, Images: m.Images, Files: m.Files,
				Sandbox: m.Sandbox, SendPreview: hosted.SendPreview,
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
