package bootstrap

import (
	"sundry/adapters/httpapi"
	bookingapi "sundry/adapters/httpapi/booking"
	"sundry/adapters/ical"
	"sundry/adapters/jobs"
	"sundry/adapters/system"
	"sundry/adapters/webhookhttp"
	"sundry/modules/booking"
)

func (a *App) wireBooking() error {
	module := booking.New(
		booking.Config{BaseURL: a.cfg.BaseURL, LinkKey: a.secrets.derive("appointments"), Fetching: a.receivers()},
		booking.Deps{
			Store: a.store, Clock: a.clock, Sleeper: system.Clock{}, IDs: a.ids, Bus: a.bus, Listings: a.modules.Catalog,
			Accounts: a.modules.Identity, Locks: a.slotLocks(), Calendars: ical.Calendars{}, Reader: ical.Calendars{},
			Fetcher: webhookhttp.NewFetcher(a.receivers()),
		})
	a.modules.Booking = module

	a.mux.Handle(booking.TaskRemind, jobs.Default, module.Remind)
	a.mux.Handle(booking.TaskReadCalendar, jobs.Default, module.ReadCalendar)
	a.verify(module.Verify)
	return nil
}

// wireCancellations comes after payments: canceling refunds.
func (a *App) wireCancellations() error {
	a.modules.Cancellations = booking.NewCancellations(a.modules.Booking, a.modules.Refunds)
	return nil
}

func (a *App) bookingAPI() httpapi.Area {
	return httpapi.Area{Document: bookingapi.Document, Routes: bookingapi.Routes(bookingapi.Deps{
		Sandbox: a.inSandbox(), Booking: a.modules.Booking, Cancellations: a.modules.Cancellations,
	})}
}
