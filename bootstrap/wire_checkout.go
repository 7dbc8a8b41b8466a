package bootstrap

import (
	"sundry/adapters/httpapi"
	checkoutapi "sundry/adapters/httpapi/checkout"
	"sundry/adapters/jobs"
	"sundry/adapters/vies"
	core "sundry/core/checkout"
	"sundry/modules/access"
	"sundry/modules/booking"
	"sundry/modules/catalog"
	"sundry/modules/checkout"
	"sundry/modules/identity"
	"sundry/modules/payments"
	"sundry/ports"
)

func (a *App) wireSales(offers *catalog.Service, bookings *booking.Service, grants *access.Service) *checkout.Sales {
	return checkout.NewSales(checkout.SaleDeps{IDs: a.ids, Bookings: bookings, Discounts: offers, Access: grants})
}

func (a *App) wireCheckout(
	accounts *identity.Service, offers *catalog.Service, bookings *booking.Service, grants *access.Service,
	sales *checkout.Sales, attempts *payments.Attempts,
) *checkout.Service {
	module := checkout.New(
		checkout.Config{
			BaseURL: a.cfg.BaseURL, Sandbox: a.inSandbox(), Secrets: core.Secrets{Key: a.secrets.derive("checkout")},
			SellerCountry: a.cfg.SellerCountry,
		},
		checkout.Deps{
			Store: a.store, Clock: a.clock, IDs: a.ids, Sales: sales, Charges: attempts, Runner: attempts, Cards: a.processor,
			Offers: offers, Bookings: bookings, Queue: bookings, Access: grants, Accounts: accounts,
			Discounts: offers, Taxes: a.taxes, VAT: a.vatRegister(), Limiter: a.limiter,
		})

	a.mux.Handle(checkout.TaskExpire, jobs.Payments, module.ExpireDue)
	a.verify(module.Verify)
	return module
}

// vatRegister is VIES where it is enabled; nil checks the shape of VAT ids alone.
func (a *App) vatRegister() ports.VATRegister {
	if !a.cfg.VIESEnabled {
		return nil
	}
	return vies.New(vies.Config{APIBase: a.cfg.VIESAPIBase, RequesterVATID: a.cfg.SellerVATID}, a.clock.Real)
}

func (a *App) checkoutAPI(m modules) httpapi.Area {
	return httpapi.Area{Document: checkoutapi.Document, Routes: checkoutapi.Routes(checkoutapi.Deps{
		Sandbox: a.inSandbox(), Checkout: m.Checkout, ClientAddress: a.clientAddress(),
		ClientCountry: httpapi.TrustedProxies(a.cfg.Proxies()).ClientCountry(a.cfg.ClientCountryHeader),
	})}
}
