package bootstrap

import (
	"sundry/adapters/httpapi"
	checkoutapi "sundry/adapters/httpapi/checkout"
	"sundry/adapters/jobs"
	core "sundry/core/checkout"
	"sundry/modules/access"
	"sundry/modules/booking"
	"sundry/modules/catalog"
	"sundry/modules/checkout"
	"sundry/modules/customers"
	"sundry/modules/identity"
	"sundry/modules/payments"
	"sundry/modules/subscriptions"
)

func (a *App) wireSales(offers *catalog.Service, bookings *booking.Service, grants *access.Service) *checkout.Sales {
	return checkout.NewSales(checkout.SaleDeps{
		IDs: a.ids, Bookings: bookings, Discounts: offers, Access: grants, Past: subscriptions.Past{},
		Secrets: a.checkoutSecrets(), RemembersCards: a.live(),
	})
}

func (a *App) checkoutSecrets() core.Secrets {
	return core.Secrets{Keys: a.keys.Links("checkout"), Lasting: a.keys.Lasting("checkout")}
}

func (a *App) wireCheckout(
	accounts *identity.Service, offers *catalog.Service, bookings *booking.Service, grants *access.Service,
	sales *checkout.Sales, attempts *payments.Attempts, buyers *customers.Service,
) *checkout.Service {
	provider := a.providers.Default()
	if !a.live() {
		provider.Fingerprints = nil // everybody pays with the same few test cards
	}
	module := checkout.New(
		checkout.Config{
			BaseURL: a.cfg.BaseURL, Live: a.live(), Secrets: a.checkoutSecrets(),
			SellerCountry: a.cfg.SellerCountry, Merchant: a.cfg.SellerName, TermsURL: a.cfg.TermsURL,
		},
		checkout.Deps{
			Bus:   a.bus,
			Store: a.store, Clock: a.clock, IDs: a.ids, Sales: sales, Charges: attempts, Runner: attempts,
			Cards: provider.Cards, Fingerprints: provider.Fingerprints,
			Offers: offers, Bookings: bookings, Queue: bookings, Access: grants, Accounts: accounts,
			Discounts: offers, Taxes: a.adapters.Taxes, VAT: a.adapters.VAT, Limiter: a.limiter,
			Past: subscriptions.Past{}, Portal: buyers, Standing: a.standing, Rates: a.standing,
		})

	on(a.bus, module.OnCustomerRenamed)
	on(a.bus, module.OnCustomerReaddressed)
	a.mux.Handle(checkout.TaskExpire, jobs.Payments, module.ExpireDue)
	a.verify("checkout", module.Verify)
	return module
}

func (a *App) checkoutAPI(m modules) httpapi.Area {
	return httpapi.Area{Document: checkoutapi.Document, Routes: checkoutapi.Routes(checkoutapi.Deps{
		Live: a.live(), Checkout: m.Checkout, ClientAddress: a.clientAddress(),
		ClientCountry: a.clientCountry(),
	})}
}
