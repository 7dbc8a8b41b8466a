package httpapi

import (
	"github.com/gofiber/fiber/v2"

	"sundry/core/appointment"
	"sundry/core/civil"
	"sundry/core/fault"
	"sundry/core/slot"
	"sundry/core/wire"
)

func (s *Server) schedulingRoutes() []Route {
	return []Route{
		{Method: fiber.MethodGet, Path: "/v1/scheduling/availability", Gate: Creator, Handle: s.getAvailability},
		{Method: fiber.MethodPut, Path: "/v1/scheduling/availability", Gate: Creator, Handle: s.putAvailability},
		{Method: fiber.MethodGet, Path: "/v1/scheduling/meeting-settings", Gate: Creator, Handle: s.getMeetingSettings},
		{Method: fiber.MethodPut, Path: "/v1/scheduling/meeting-settings", Gate: Creator, Handle: s.putMeetingSettings},
		{Method: fiber.MethodGet, Path: "/v1/scheduling/busy-calendars", Gate: Creator, Handle: s.listBusyCalendars},
		{Method: fiber.MethodGet, Path: "/v1/scheduling/feed", Gate: Creator, Handle: s.getFeed},
		{Method: fiber.MethodPost, Path: "/v1/scheduling/feed/rotate", Gate: Creator, Handle: bodiless(s.rotateFeed)},
		{Method: fiber.MethodGet, Path: "/calendar/:secret.ics", Handle: private(s.getCalendarFeed)},
		{Method: fiber.MethodGet, Path: "/v1/listings/:id/readiness", Gate: Creator, Handle: s.getReadiness},
		{Method: fiber.MethodGet, Path: "/v1/listings/:id/available-dates", Handle: s.getAvailableDates},
		{Method: fiber.MethodGet, Path: "/v1/listings/:id/slots", Handle: s.getSlots},
		{Method: fiber.MethodGet, Path: "/v1/listings/:id/slots/range", Handle: s.getSlotsRange},
	}
}

// availability is when a creator works (contract §7), as it is asked for and as it is answered.
type availability struct {
	Timezone         string             `json:"timezone"`
	Weekly           []slot.WeeklyHours `json:"weekly"`
	Overrides        []slot.Override    `json:"overrides"`
	BusyCalendarURLs []string           `json:"busyCalendarUrls"`
}

func availabilityOf(hours slot.Settings, busyCalendars []string) availability {
	view := availability{Timezone: hours.Timezone, Weekly: hours.Weekly, Overrides: hours.Overrides, BusyCalendarURLs: []string{}}
	view.BusyCalendarURLs = append(view.BusyCalendarURLs, busyCalendars...)
	return view
}

func (s *Server) getAvailability(c *fiber.Ctx) error {
	setup, err := s.Booking.Setup(c.UserContext(), account(c))
	if err != nil {
		return err
	}
	calendars, err := s.Booking.BusyCalendars(c.UserContext(), account(c))
	if err != nil {
		return err
	}
	var urls []string
	for _, calendar := range calendars {
		urls = append(urls, calendar.URL)
	}
	return c.JSON(availabilityOf(setup.Hours, urls))
}

func (s *Server) putAvailability(c *fiber.Ctx) error {
	in, reading := decode[availability](c)
	var f fault.Faults
	f.Check(in.Weekly != nil, "weekly", fault.DetailRequired, "Expected the weekly hours; an empty list for none.")
	hours := slot.Settings{Timezone: in.Timezone, Weekly: in.Weekly, Overrides: in.Overrides}.Clean()
	if err := civil.Refusal(together(reading, f.Err(), hours.Check(), s.Booking.CheckBusyCalendars(in.BusyCalendarURLs))); err != nil {
		return err
	}
	if err := s.Booking.SetHours(c.UserContext(), account(c), hours, in.BusyCalendarURLs...); err != nil {
		return err
	}
	return c.JSON(availabilityOf(hours, in.BusyCalendarURLs))
}

// busyCalendarView is another calendar of a creator and what reading it last came to.
type busyCalendarView struct {
	URL string `json:"url"`
	// ReadAt is null before the first time, FailedAt and Failure when the last time went well.
	ReadAt   *string `json:"readAt"`
	FailedAt *string `json:"failedAt"`
	Failure  *string `json:"failure"`
}

func (s *Server) listBusyCalendars(c *fiber.Ctx) error {
	calendars, err := s.Booking.BusyCalendars(c.UserContext(), account(c))
	if err != nil {
		return err
	}
	views := make([]busyCalendarView, len(calendars))
	for i, b := range calendars {
		views[i] = busyCalendarView{b.URL, wire.Time(b.ReadAt), wire.Time(b.FailedAt), wire.Text(b.Failure)}
	}
	return c.JSON(listView[busyCalendarView]{Data: views})
}

func (s *Server) getMeetingSettings(c *fiber.Ctx) error {
	setup, err := s.Booking.Setup(c.UserContext(), account(c))
	if err != nil {
		return err
	}
	return c.JSON(meetingSettingsOf(setup.Meetings))
}

// meetingSettings is where a creator meets buyers (contract §7).
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

func meetingSettingsOf(m appointment.MeetingSettings) (view meetingSettings) {
	if m.Virtual != nil {
		view.Virtual = &virtualMeeting{string(m.Virtual.Provider), wire.Text(m.Virtual.URL)}
	}
	if m.InPerson != nil {
		view.InPerson = &place{m.InPerson.Address}
	}
	return view
}

func (s *Server) putMeetingSettings(c *fiber.Ctx) error {
	in, reading := decode[meetingSettings](c)
	var m appointment.MeetingSettings
	if in.Virtual != nil {
		m.Virtual = &appointment.VirtualMeeting{Provider: appointment.Provider(in.Virtual.Provider), URL: or(in.Virtual.URL)}
	}
	if in.InPerson != nil {
		m.InPerson = &appointment.Place{Address: in.InPerson.Address}
	}
	if err := together(reading, m.Check()); err != nil {
		return err
	}
	if err := s.Booking.SetMeetings(c.UserContext(), account(c), m); err != nil {
		return err
	}
	return c.JSON(meetingSettingsOf(m))
}

// readinessView says whether a listing can be booked and, if not, what is missing.
type readinessView struct {
	ListingID string        `json:"listingId"`
	Ready     bool          `json:"ready"`
	Missing   []missingView `json:"missing"`
}

type missingView struct {
	// Field is where to mend it: a member of the listing, of the availability or of the meeting settings.
	Field   string `json:"field"`
	Message string `json:"message"`
}

func (s *Server) getReadiness(c *fiber.Ctx) error {
	missing, err := s.Booking.Readiness(c.UserContext(), account(c), c.Params("id"), c.Query("variantId"))
	if err != nil {
		return err
	}
	view := readinessView{ListingID: c.Params("id"), Ready: len(missing) == 0, Missing: make([]missingView, len(missing))}
	for i, m := range missing {
		view.Missing[i] = missingView{m.Field, m.Message}
	}
	return c.JSON(view)
}

// feedView is where a creator's calendar can be subscribed to.
type feedView struct {
	URL string `json:"url"`
}

func (s *Server) getFeed(c *fiber.Ctx) error {
	url, err := s.Booking.FeedURL(c.UserContext(), account(c))
	if err != nil {
		return err
	}
	return c.JSON(feedView{url})
}

func (s *Server) rotateFeed(c *fiber.Ctx) error {
	url, err := s.Booking.RotateFeed(c.UserContext(), account(c))
	if err != nil {
		return err
	}
	return c.JSON(feedView{url})
}

func (s *Server) getCalendarFeed(c *fiber.Ctx) error {
	calendar, err := s.Booking.Feed(c.UserContext(), c.Params("secret"))
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, "text/calendar; charset=utf-8")
	c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	return c.Send(calendar)
}
