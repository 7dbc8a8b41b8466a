package httpapi

import (
	"github.com/gofiber/fiber/v2"

	"sundry/core/appointment"
	"sundry/core/civil"
	"sundry/core/fault"
	"sundry/core/slot"
)

func (s *Server) schedulingRoutes() []Route {
	return []Route{
		{Method: fiber.MethodGet, Path: "/v1/scheduling/availability", Gate: Creator, Handle: s.getAvailability},
		{Method: fiber.MethodPut, Path: "/v1/scheduling/availability", Gate: Creator, Handle: s.putAvailability},
		{Method: fiber.MethodGet, Path: "/v1/scheduling/meeting-settings", Gate: Creator, Handle: s.getMeetingSettings},
		{Method: fiber.MethodPut, Path: "/v1/scheduling/meeting-settings", Gate: Creator, Handle: s.putMeetingSettings},
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

func availabilityOf(hours slot.Settings) availability {
	return availability{Timezone: hours.Timezone, Weekly: hours.Weekly, Overrides: hours.Overrides, BusyCalendarURLs: []string{}}
}

func (s *Server) getAvailability(c *fiber.Ctx) error {
	setup, err := s.Booking.Setup(c.UserContext(), account(c))
	if err != nil {
		return err
	}
	return c.JSON(availabilityOf(setup.Hours))
}

func (s *Server) putAvailability(c *fiber.Ctx) error {
	in, reading := decode[availability](c)
	var f fault.Faults
	f.Check(in.Weekly != nil, "weekly", fault.DetailRequired, "Expected the weekly hours; an empty list for none.")
	f.Check(len(in.BusyCalendarURLs) == 0, "busyCalendarUrls", fault.DetailNotAllowed, "Busy times of other calendars are not read: expected an empty list.")
	hours := slot.Settings{Timezone: in.Timezone, Weekly: in.Weekly, Overrides: in.Overrides}.Clean()
	if err := civil.Refusal(together(reading, f.Err(), hours.Check())); err != nil {
		return err
	}
	if err := s.Booking.SetHours(c.UserContext(), account(c), hours); err != nil {
		return err
	}
	return c.JSON(availabilityOf(hours))
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
		view.Virtual = &virtualMeeting{string(m.Virtual.Provider), orNull(m.Virtual.URL)}
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
