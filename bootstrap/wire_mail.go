package bootstrap

import (
	"sundry/adapters/jobs"
	"sundry/adapters/web/layout"
	"sundry/modules/booking"
	"sundry/modules/checkout"
	"sundry/modules/customers"
	"sundry/modules/identity"
	"sundry/modules/mail"
)

func (a *App) wireMail(
	accounts *identity.Service, bookings *booking.Service, buyers *customers.Service, sales *checkout.Service,
) *mail.Service {
	module := mail.New(
		mail.Config{Live: a.live(), Seller: a.cfg.SellerName, Statement: a.cfg.StatementDescriptor,
			Sender: a.cfg.Sender().Address, BaseURL: a.cfg.BaseURL},
		mail.Deps{
			Store: a.store, Mails: a.store, Clock: a.clock, IDs: a.ids, Mailer: a.adapters.Mailer, Receipts: sales,
			Accounts: accounts, Buyers: sales, Bookings: bookings, Calendars: a.adapters.Calendars,
			Customers: buyers, Portal: buyers, Links: accounts,
			Images:    layout.ImageLinks{BaseURL: a.cfg.BaseURL, Keys: a.keys.Links("images")},
			Documents: a.documentLinks(),
		})

	a.bus.subscribe(module.Subscriptions()...)
	a.mux.Handle(mail.TaskSend, jobs.Default, module.Send)
	a.mux.Handle(mail.TaskSendLater, jobs.Default, module.SendLater)
	return module
}
