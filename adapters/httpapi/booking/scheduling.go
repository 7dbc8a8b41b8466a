package booking

import (
	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/core/apiformat"
	"sundry/core/appointment"
	"sundry/core/civil"
	"sundry/core/fault"
	"sundry/core/slot"
	"sundry/ports"
)

func (h handlers) schedulingRoutes() []httpapi.Route {
	return []httpapi.Route{
		{
			Method: fiber.MethodGet, Path: "/v1/scheduling/availability", Auth: httpapi.AccessToken,
			Handle: h.getAvailability,
		},
		{
			Method: fiber.MethodPut, Path: "/v1/scheduling/availability", Auth: httpapi.AccessToken,
			Handle: h.putAvailability,
		},
		{
			Method: fiber.MethodGet, Path: "/v1/scheduling/meeting-settings", Auth: httpapi.AccessToken,
			Handle: h.getMeetingSettings,
		},
		{
			Method: fiber.MethodPut, Path: "/v1/scheduling/meeting-settings", Auth: httpapi.AccessToken,
			Handle: h.putMeetingSettings,
		},
		{
			Method: fiber.MethodGet, Path: "/v1/scheduling/meeting-accounts", Auth: httpapi.AccessToken,
			Handle: h.listMeetingAccounts,
		},
		{
			Method: fiber.MethodDelete, Path: "/v1/scheduling/meeting-accounts/:provider", Auth: httpapi.AccessToken,
			Handle: h.deleteMeetingAccount,
		},
		{
			Method: fiber.MethodGet, Path: "/v1/scheduling/busy-calendars", Auth: httpapi.AccessToken,
			Handle: h.listBusyCalendars,
		},
		{Method: fiber.MethodGet, Path: "/v1/scheduling/feed", Auth: httpapi.AccessToken, Handle: h.getFeed},
		{
			Method: fiber.MethodPost, Path: "/v1/scheduling/feed/rotate", Auth: httpapi.AccessToken,
			Handle: httpapi.WithoutBody(h.rotateFeed),
		},
		{Method: fiber.MethodGet, Path: "/calendar/:secret.ics", Handle: httpapi.Private(h.getCalendarFeed)},
		{
			Method: fiber.MethodGet, Path: "/v1/listings/:id/readiness", Auth: httpapi.AccessToken,
			Handle: h.getReadiness,
		},
		{Method: fiber.MethodGet, Path: "/v1/listings/:id/available-dates", Handle: h.getAvailableDates},
		{Method: fiber.MethodGet, Path: "/v1/listings/:id/slots", Handle: h.getSlots},
		{Method: fiber.MethodGet, Path: "/v1/listings/:id/slots/range", Handle: h.getSlotsRange},
	}
}

// availability holds the hours at which a creator works, in requests and in responses.
type availability struct {
	Timezone         string             `json:"timezone"`
	Weekly           []slot.WeeklyHours `json:"weekly"`
	Overrides        []slot.Override    `json:"overrides"`
	BusyCalendarURLs []string           `json:"busyCalendarUrls"`
}

func newAvailability(hours slot.Settings, busyCalendars []string) availability {
	view := availability{
		Timezone: hours.Timezone, Weekly: hours.Weekly, Overrides: hours.Overrides, BusyCalendarURLs: []string{},
	}
	view.BusyCalendarURLs = append(view.BusyCalendarURLs, busyCalendars...)
	return view
}

func (h handlers) getAvailability(c *fiber.Ctx) error {
	setup, err := h.Booking.Setup(c.UserContext(), httpapi.Account(c))
	if err != nil {
		return err
	}
	calendars, err := h.Booking.BusyCalendars(c.UserContext(), httpapi.Account(c))
	if err != nil {
		return err
	}
	var urls []string
	for _, calendar := range calendars {
		urls = append(urls, calendar.URL)
	}
	return c.JSON(newAvailability(setup.Hours, urls))
}

func (h handlers) putAvailability(c *fiber.Ctx) error {
	in, reading := httpapi.Decode[availability](c)
	var f fault.Violations
	f.Check(in.Weekly != nil, "weekly", fault.DetailRequired, "Expected the weekly hours; an empty list for none.")
	hours := slot.Settings{Timezone: in.Timezone, Weekly: in.Weekly, Overrides: in.Overrides}.Clean()
	if err := civil.AsInvalidTimezone(
		httpapi.MergeFieldErrors(reading, f.Err(), hours.Check(), h.Booking.CheckBusyCalendars(in.BusyCalendarURLs)),
	); err != nil {
		return err
	}
	if err := h.Booking.SetHours(c.UserContext(), httpapi.Account(c), hours, in.BusyCalendarURLs...); err != nil {
		return err
	}
	return c.JSON(newAvailability(hours, in.BusyCalendarURLs))
}

// busyCalendarView shows another calendar of a creator and the result of the last reading.
type busyCalendarView struct {
	URL string `json:"url"`
	// ReadAt is null before the first time, FailedAt and Failure when the last time went well.
	ReadAt   *string `json:"readAt"`
	FailedAt *string `json:"failedAt"`
	Failure  *string `json:"failure"`
}

func newBusyCalendarView(b ports.BusyCalendar) busyCalendarView {
	return busyCalendarView{
		b.URL, apiformat.Time(b.ReadAt), apiformat.Time(b.FailedAt), apiformat.Text(b.Failure),
	}
}

func (h handlers) listBusyCalendars(c *fiber.Ctx) error {
	return httpapi.RespondAll(c, newBusyCalendarView)(h.Booking.BusyCalendars(c.UserContext(), httpapi.Account(c)))
}

func (h handlers) getMeetingSettings(c *fiber.Ctx) error {
	setup, err := h.Booking.Setup(c.UserContext(), httpapi.Account(c))
	if err != nil {
		return err
	}
	return c.JSON(newMeetingSettings(setup.Meetings))
}

// meetingSettings holds the places and links at which a creator meets buyers.
type meetingSettings struct {
	Virtual  *virtualMeeting `json:"virtual"`
	InPerson *place          `json:"inPerson"`
}

type virtualMeeting struct {
	Provider string `json:"provider"`
	// URL is null for the public server of the provider.
	URL *string `json:"url"`
}

type place struct {
	Address string `json:"address"`
}

func newMeetingSettings(m appointment.MeetingSettings) (view meetingSettings) {
	if m.Virtual != nil {
		view.Virtual = &virtualMeeting{string(m.Virtual.Provider), apiformat.Text(m.Virtual.URL)}
	}
	if m.InPerson != nil {
		view.InPerson = &place{m.InPerson.Address}
	}
	return view
}

func (h handlers) putMeetingSettings(c *fiber.Ctx) error {
	in, reading := httpapi.Decode[meetingSettings](c)
	var m appointment.MeetingSettings
	if in.Virtual != nil {
		m.Virtual = &appointment.VirtualMeeting{
			Provider: appointment.Provider(in.Virtual.Provider), URL: httpapi.ValueOf(in.Virtual.URL),
		}
	}
	if in.InPerson != nil {
		m.InPerson = &appointment.Place{Address: in.InPerson.Address}
	}
	if err := httpapi.MergeFieldErrors(reading, m.Check()); err != nil {
		return err
	}
	if err := h.Booking.SetMeetings(c.UserContext(), httpapi.Account(c), m); err != nil {
		return err
	}
	return c.JSON(newMeetingSettings(m))
}

// meetingAccountView is a creator's account at a provider of meetings.
type meetingAccountView struct {
	Provider    string  `json:"provider"`
	Name        *string `json:"name"`
	ConnectedAt *string `json:"connectedAt"`
	FailedAt    *string `json:"failedAt"`
}

func newMeetingAccountView(a appointment.MeetingAccount) meetingAccountView {
	return meetingAccountView{
		string(a.Provider), apiformat.Text(a.Name), apiformat.Time(a.ConnectedAt), apiformat.Time(a.FailedAt),
	}
}

func (h handlers) listMeetingAccounts(c *fiber.Ctx) error {
	return httpapi.RespondAll(c, newMeetingAccountView)(h.Booking.MeetingAccounts(c.UserContext(), httpapi.Account(c)))
}

func (h handlers) deleteMeetingAccount(c *fiber.Ctx) error {
	provider := appointment.Provider(c.Params("provider"))
	if err := h.Booking.DisconnectMeetings(c.UserContext(), httpapi.Account(c), provider); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// readinessView reports whether a listing can be booked and, if not, what is missing.
type readinessView struct {
	ListingID string        `json:"listingId"`
	Ready     bool          `json:"ready"`
	Missing   []missingView `json:"missing"`
}

type missingView struct {
	// Field names the member to fix: of the listing, of the availability or of the meeting settings.
	Field   string `json:"field"`
	Message string `json:"message"`
}

func (h handlers) getReadiness(c *fiber.Ctx) error {
	missing, err := h.Booking.Readiness(c.UserContext(), httpapi.Account(c), c.Params("id"), c.Query("variantId"))
	if err != nil {
		return err
	}
	view := readinessView{
		ListingID: c.Params("id"), Ready: len(missing) == 0, Missing: make([]missingView, len(missing)),
	}
	for i, m := range missing {
		view.Missing[i] = missingView{m.Field, m.Message}
	}
	return c.JSON(view)
}

// feedView shows the address at which a creator's calendar can be subscribed to.
type feedView struct {
	URL string `json:"url"`
}

func newFeedView(url string) feedView { return feedView{url} }

func (h handlers) getFeed(c *fiber.Ctx) error {
	return httpapi.Respond(c, newFeedView)(h.Booking.FeedURL(c.UserContext(), httpapi.Account(c)))
}

func (h handlers) rotateFeed(c *fiber.Ctx) error {
	return httpapi.Respond(c, newFeedView)(h.Booking.RotateFeed(c.UserContext(), httpapi.Account(c)))
}

func (h handlers) getCalendarFeed(c *fiber.Ctx) error {
	calendar, err := h.Booking.Feed(c.UserContext(), c.Params("secret"))
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, "text/calendar; charset=utf-8")
	return c.Send(calendar)
}
