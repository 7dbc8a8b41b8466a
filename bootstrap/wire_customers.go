package bootstrap

import (
	"sundry/adapters/httpapi"
	customersapi "sundry/adapters/httpapi/customers"
	"sundry/adapters/jobs"
	"sundry/core/customer"
	"sundry/modules/customers"
	"sundry/modules/identity"
)

func (a *App) wireCustomers(accounts *identity.Service) *customers.Service {
	module := customers.New(
		customers.Config{
			BaseURL: a.cfg.BaseURL, Live: a.live(), PortalKeys: customer.PortalKeys(a.keys.Links("portal")),
		},
		customers.Deps{Store: a.store, Clock: a.clock, IDs: a.ids, Bus: a.bus, Accounts: accounts, Limiter: a.limiter})

	on(a.bus, module.OnCheckoutPaid)
	a.mux.Handle(customers.TaskFind, jobs.Default, module.MailFound)
	return module
}

func (a *App) customersAPI(m modules) httpapi.Area {
	return httpapi.Area{Document: customersapi.Document, Routes: customersapi.Routes(customersapi.Deps{
		Live: a.live(), Customers: m.Customers, Payments: m.Payments,
	})}
}
