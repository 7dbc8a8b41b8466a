package bootstrap

import (
	"sundry/adapters/httpapi"
	checkoutapi "sundry/adapters/httpapi/checkout"
	"sundry/adapters/jobs"
	"sundry/adapters/vies"
	core "sundry/core/checkout"
	"sundry/modules/checkout"
	"sundry/ports"
)

func (a *App) wireCheckout() error {
	module := checkout.New(
		checkout.Config{
			BaseURL: a.cfg.BaseURL, Sandbox: a.inSandbox(), Secrets: core.Secrets{Key: a.secrets.derive("checkout")}, SellerCountry: a.cfg.SellerCountry,
		},
		checkout.Deps{
			Store: a.store, Clock: a.clock, IDs: a.ids, Bus: a.bus, Processor: a.processor, Cards: a.processor,
			Offers: a.modules.Catalog, Bookings: a.modules.Booking, Access: a.modules.Access, Accounts: a.modules.Identity,
			Discounts: a.modules.Catalog, Taxes: a.taxes, VAT: a.vatRegister(), Limiter: a.limiter,
		})
	a.modules.Checkout = module

	a.mux.Handle(checkout.TaskReconcile, jobs.Payments, module.Reconcile)
	a.mux.Handle(checkout.TaskExpire, jobs.Payments, module.ExpireDue)
	a.beforeAdvance = append(a.beforeAdvance, module.ReconcileSoon)
	a.verify(module.Verify)
	return nil
}

// vatRegister is VIES where it is enabled; nil checks the shape of VAT ids alone.
func (a *App) vatRegister() ports.VATRegister {
	if !a.cfg.VIESEnabled {
		return nil
	}
	return vies.New(vies.Config{APIBase: a.cfg.VIESAPIBase, RequesterVATID: a.cfg.SellerVATID}, a.clock.Real)
}

func (a *App) checkoutAPI() httpapi.Area {
	return httpapi.Area{Document: checkoutapi.Document, Routes: checkoutapi.Routes(checkoutapi.Deps{
		Sandbox: a.inSandbox(), Checkout: a.modules.Checkout, ClientAddress: a.clientAddress(),
		ClientCountry: httpapi.TrustedProxies(a.cfg.Proxies()).ClientCountry(a.cfg.ClientCountryHeader),
	})}
}
