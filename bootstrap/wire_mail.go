package bootstrap

import (
	"sundry/adapters/ical"
	"sundry/adapters/jobs"
	"sundry/adapters/web/layout"
	"sundry/modules/mail"
)

func (a *App) wireMail() error {
	module := mail.New(
		mail.Config{Livemode: a.cfg.Livemode(), Sender: a.cfg.Sender().Address, BaseURL: a.cfg.BaseURL},
		mail.Deps{
			Store: a.store, Clock: a.clock, IDs: a.ids, Mailer: a.mailer(), Receipts: a.modules.Checkout, Accounts: a.modules.Identity,
			Buyers: a.modules.Checkout, Bookings: a.modules.Booking, Calendars: ical.Calendars{},
			Customers: a.modules.Customers, Portal: a.modules.Customers, Passwords: a.modules.Identity,
			Images: layout.ImageLinks{BaseURL: a.cfg.BaseURL, Key: a.secrets.derive("images")},
		})

	before(a.bus, module.BeforeCheckoutPaid)
	on(a.bus, module.OnCheckoutPaid)
	on(a.bus, module.OnAppointmentBooked)
	on(a.bus, module.OnAppointmentRescheduled)
	on(a.bus, module.OnAppointmentCanceled)
	on(a.bus, module.OnAppointmentReminderDue)
	on(a.bus, module.OnEndpointDisabled)
	on(a.bus, module.OnPasswordResetAsked)
	on(a.bus, module.OnPortalLinkAsked)
	on(a.bus, module.OnSubscriptionRenewalDue)
	on(a.bus, module.OnSubscriptionChargeFailed)
	on(a.bus, module.OnSubscriptionChargePaid)
	a.mux.Handle(mail.TaskSend, jobs.Default, module.Send)
	a.mux.Handle(mail.TaskSendLater, jobs.Default, module.SendLater)
	return nil
}
