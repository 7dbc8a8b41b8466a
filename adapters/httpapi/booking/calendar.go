package booking

import (
	"iter"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/core/apiformat"
	"sundry/core/appointment"
	"sundry/core/civil"
	"sundry/core/fault"
	"sundry/core/slot"
	"sundry/modules/booking"
)

// The most days that one response covers.
const (
	mostDates    = 62
	mostSlotDays = 31
)

// calendarView holds the members that the three public responses share.
type calendarView struct {
	ListingID string `json:"listingId"`
	// VariantID and DurationMinutes are null for a listing that is not for appointments.
	VariantID       *string `json:"variantId"`
	Timezone        string  `json:"timezone"`
	DurationMinutes *int    `json:"durationMinutes"`
}

func newCalendarView(q booking.CalendarQuery) calendarView {
	view := calendarView{ListingID: q.ListingID, VariantID: apiformat.Text(q.VariantID), Timezone: q.Timezone}
	if q.DurationMinutes > 0 {
		view.DurationMinutes = &q.DurationMinutes
	}
	return view
}

// slotBytes is the length of a slot as JSON, and dayBytes that of the rest of a day of the range.
const slotBytes, dayBytes = 100, 36

// appendSlots appends slots as a JSON array of {startsAt, endsAt}. A month has a thousand, so it bypasses
// encoding/json, which would cost a hundred times as much as finding them. Those of a variant that several buyers share
// have their remainingSeats, too.
func appendSlots(b []byte, slots []slot.Slot, shared bool) []byte {
	b = append(b, '[')
	for i, s := range slots {
		if i > 0 {
			b = append(b, ',')
		}
		b = apiformat.AppendInstant(append(b, `{"startsAt":"`...), s.StartsAt())
		b = append(apiformat.AppendInstant(append(b, `","endsAt":"`...), s.EndsAt()), '"')
		if shared {
			b = strconv.AppendInt(append(b, `,"remainingSeats":`...), int64(s.Seats()), 10)
		}
		b = append(b, '}')
	}
	return append(b, ']')
}

// withMember is an object as JSON with one more member at its end, of at most so many bytes; write appends its value.
func withMember(object any, name string, most int, write func(b []byte) []byte) ([]byte, error) {
	head, err := apiformat.JSON(object)
	if err != nil {
		return nil, err
	}
	b := make([]byte, 0, len(head)+len(name)+most+4)
	b = append(b, head[:len(head)-1]...)
	b = append(append(append(b, `,"`...), name...), `":`...)
	return append(write(b), '}'), nil
}

// renderer makes the bodies of a route.
func renderer(name string, body func(c booking.Calendar) ([]byte, error)) booking.Renderer {
	return booking.Renderer{Name: name, Render: func(c booking.Calendar) (booking.Rendering, error) {
		raw, err := body(c)
		return booking.Rendering{Body: raw, ETag: httpapi.ETagOf(raw)}, err
	}}
}

// sendCalendar responds with the calendar that the three public routes query; first and last name the parameters of
// the range.
func (h handlers) sendCalendar(c *fiber.Ctx, first, last string, most int, by booking.Renderer) error {
	c.Set(fiber.HeaderCacheControl, "no-store") // of an error; a calendar may be kept and must be asked about
	var f fault.Violations
	query := booking.CalendarQuery{
		ListingID: c.Params("id"), VariantID: c.Query("variantId"), Timezone: c.Query("timezone"), MostDays: most,
		From: queryDate(c, &f, first),
	}
	if query.To = query.From; last != first {
		query.To = queryDate(c, &f, last)
	}
	if raw := c.Query("durationMinutes"); raw != "" {
		minutes, err := strconv.Atoi(raw)
		f.Check(
			err == nil && booking.ValidDuration(minutes), "durationMinutes", fault.DetailOutOfRange,
			"Expected an integer from 5 to 1440.",
		)
		query.DurationMinutes = minutes
	}
	if query.Timezone != "" {
		civil.CheckZone(&f, query.Timezone)
	}
	if err := civil.AsInvalidTimezone(f.Err()); err != nil {
		return err
	}
	shown, err := h.Booking.Rendered(c.UserContext(), query, by)
	if err != nil {
		return err
	}
	return httpapi.SendWithETag(c, shown.ETag, shown.Body)
}

func queryDate(c *fiber.Ctx, f *fault.Violations, name string) civil.Date {
	f.Check(c.Query(name) != "", name, fault.DetailRequired, "Expected a date such as 2026-03-08.")
	return httpapi.QueryDay(c, f, name)
}

type availableDatesView struct {
	calendarView
	From  string   `json:"from"`
	To    string   `json:"to"`
	Dates []string `json:"dates"`
}

// availableDatesBody is the response of getAvailableDates.
func availableDatesBody(calendar booking.Calendar) ([]byte, error) {
	view := availableDatesView{
		calendarView: newCalendarView(calendar.CalendarQuery), From: calendar.From.String(), To: calendar.To.String(),
		Dates: []string{},
	}
	for day, slots := range byDate(calendar) {
		if len(slots) > 0 {
			view.Dates = append(view.Dates, day.String())
		}
	}
	return apiformat.JSON(view)
}

func (h handlers) getAvailableDates(c *fiber.Ctx) error {
	return h.sendCalendar(c, "from", "to", mostDates, renderer("dates", availableDatesBody))
}

type slotsView struct {
	calendarView
	Date          string                     `json:"date"`
	DeliveryModes []appointment.DeliveryMode `json:"deliveryModes"`
}

// slotsBody is the response of getSlots.
func slotsBody(calendar booking.Calendar) ([]byte, error) {
	view := slotsView{newCalendarView(calendar.CalendarQuery), calendar.From.String(), calendar.Modes}
	return withMember(
		view, "slots", slotBytes*len(calendar.Slots), func(b []byte) []byte { return appendSlots(b, calendar.Slots, calendar.Shared) },
	)
}

func (h handlers) getSlots(c *fiber.Ctx) error {
	return h.sendCalendar(c, "date", "date", 1, renderer("slots", slotsBody))
}

type slotsRangeView struct {
	calendarView
	From          string                     `json:"from"`
	To            string                     `json:"to"`
	DeliveryModes []appointment.DeliveryMode `json:"deliveryModes"`
}

// slotsRangeBody is the response of getSlotsRange.
func slotsRangeBody(calendar booking.Calendar) ([]byte, error) {
	view := slotsRangeView{
		newCalendarView(calendar.CalendarQuery), calendar.From.String(), calendar.To.String(), calendar.Modes,
	}
	most := slotBytes*len(calendar.Slots) + dayBytes*int(calendar.To-calendar.From+1)
	return withMember(view, "days", most, func(b []byte) []byte {
		b = append(b, '[')
		for day, slots := range byDate(calendar) {
			if day > calendar.From {
				b = append(b, ',')
			}
			b = append(append(b, `{"date":"`...), day.String()...)
			b = append(appendSlots(append(b, `","slots":`...), slots, calendar.Shared), '}')
		}
		return append(b, ']')
	})
}

func (h handlers) getSlotsRange(c *fiber.Ctx) error {
	return h.sendCalendar(c, "from", "to", mostSlotDays, renderer("range", slotsRangeBody))
}

// byDate goes through every day of the range, in order, with its open times.
func byDate(c booking.Calendar) iter.Seq2[civil.Date, []slot.Slot] {
	days := make([][]slot.Slot, c.To-c.From+1)
	for _, s := range c.Slots { // not in order where clocks go back over midnight
		days[s.Date-c.From] = append(days[s.Date-c.From], s)
	}
	return func(yield func(civil.Date, []slot.Slot) bool) {
		for i, slots := range days {
			if !yield(c.From+civil.Date(i), slots) {
				return
			}
		}
	}
}
