package bootstrap

import (
	"sundry/adapters/httpapi"
	bookingapi "sundry/adapters/httpapi/booking"
	"sundry/adapters/jobs"
	"sundry/adapters/system"
	"sundry/adapters/webhookhttp"
	"sundry/modules/booking"
	"sundry/modules/catalog"
	"sundry/modules/identity"
)

func (a *App) wireBooking(accounts *identity.Service, listings *catalog.Service) *booking.Service {
	module := booking.New(
		booking.Config{
			BaseURL: a.cfg.BaseURL, LinkKeys: a.keys.Links("appointments"), LastingKey: a.keys.Lasting("appointments"),
			Fetching: a.receivers(),
		},
		booking.Deps{
			Store: a.store, Clock: a.clock, Sleeper: system.Clock{}, IDs: a.ids, Bus: a.bus, Listings: listings,
			Accounts: accounts, Locks: a.slotLocks(), Calendars: a.adapters.Calendars, Reader: a.adapters.CalendarReader,
			Fetcher: webhookhttp.NewFetcher(a.receivers()), MeetingHosts: a.adapters.MeetingHosts,
			Encrypter: a.encrypter("meeting-accounts"),
		})

	on(a.bus, module.OnCustomerRenamed)
	a.mux.Handle(booking.TaskRemind, jobs.Default, module.Remind)
	a.mux.Handle(booking.TaskReadCalendar, jobs.Default, module.ReadCalendar)
	a.mux.Handle(booking.TaskHostMeeting, jobs.Default, module.HostMeeting)
	a.verify("booking", module.Verify)
	return module
}

func (a *App) bookingAPI(m modules) httpapi.Area {
	return httpapi.Area{Document: bookingapi.Document, Routes: bookingapi.Routes(bookingapi.Deps{
		Live: a.live(), Booking: m.Booking, Cancellations: m.Cancellations,
	})}
}
