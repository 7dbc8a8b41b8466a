package bootstrap

import (
	"sundry/adapters/httpapi"
	customersapi "sundry/adapters/httpapi/customers"
	"sundry/modules/customers"
)

func (a *App) wireCustomers() error {
	module := customers.New(
		customers.Config{BaseURL: a.cfg.BaseURL, Sandbox: a.inSandbox(), PortalKey: a.secrets.derive("portal")},
		customers.Deps{Store: a.store, Clock: a.clock, IDs: a.ids, Bus: a.bus, Accounts: a.modules.Identity})
	a.modules.Customers = module

	before(a.bus, module.BeforeCheckoutPaid)
	on(a.bus, module.OnCheckoutPaid)
	return nil
}

func (a *App) customersAPI() httpapi.Area {
	return httpapi.Area{Document: customersapi.Document, Routes: customersapi.Routes(customersapi.Deps{
		Livemode: a.cfg.Livemode(), Customers: a.modules.Customers, Payments: a.modules.Payments,
	})}
}
