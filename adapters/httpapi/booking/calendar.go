package booking

import (
	"iter"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"sundry/core/apiformat"
	"sundry/core/appointment"
	"sundry/core/civil"
	"sundry/core/fault"
	"sundry/core/slot"
	"sundry/modules/booking"
)

// How many days one response may cover (contract §7).
const (
	mostDates    = 62
	mostSlotDays = 31
)

// calendarView is what the three public responses share.
type calendarView struct {
	ListingID string `json:"listingId"`
	// VariantID and DurationMinutes are null for a listing that is not for appointments.
	VariantID       *string `json:"variantId"`
	Timezone        string  `json:"timezone"`
	DurationMinutes *int    `json:"durationMinutes"`
}

func newCalendarView(a booking.Ask) calendarView {
	view := calendarView{ListingID: a.ListingID, VariantID: apiformat.Text(a.VariantID), Timezone: a.Timezone}
	if a.DurationMinutes > 0 {
		view.DurationMinutes = &a.DurationMinutes
	}
	return view
}

type slotView struct {
	StartsAt *string `json:"startsAt"`
	EndsAt   *string `json:"endsAt"`
}

func newSlotViews(slots []slot.Slot) []slotView {
	views := make([]slotView, len(slots))
	for i, s := range slots {
		views[i] = slotView{StartsAt: apiformat.Time(s.StartsAt()), EndsAt: apiformat.Time(s.EndsAt())}
	}
	return views
}

// openTimes asks the question that the three public routes share; first and last name the parameters of the range.
func (h handlers) openTimes(c *fiber.Ctx, first, last string, most int) (booking.Calendar, error) {
	c.Set(fiber.HeaderCacheControl, "no-store") // a time may be taken a moment later
	var f fault.Violations
	ask := booking.Ask{
		ListingID: c.Params("id"), VariantID: c.Query("variantId"), Timezone: c.Query("timezone"), MostDays: most, From: queryDate(c, &f, first),
	}
	if ask.To = ask.From; last != first {
		ask.To = queryDate(c, &f, last)
	}
	if raw := c.Query("durationMinutes"); raw != "" {
		minutes, err := strconv.Atoi(raw)
		f.Check(err == nil && booking.ValidDuration(minutes), "durationMinutes", fault.DetailOutOfRange, "Expected an integer from 5 to 1440.")
		ask.DurationMinutes = minutes
	}
	if ask.Timezone != "" {
		civil.CheckZone(&f, ask.Timezone)
	}
	if err := civil.AsInvalidTimezone(f.Err()); err != nil {
		return booking.Calendar{}, err
	}
	return h.Booking.Open(c.UserContext(), ask)
}

func queryDate(c *fiber.Ctx, f *fault.Violations, name string) civil.Date {
	raw := c.Query(name)
	if !f.Check(raw != "", name, fault.DetailRequired, "Expected a date such as 2026-03-08.") {
		return 0
	}
	date, ok := civil.ParseDate(raw)
	f.Check(ok, name, fault.DetailInvalid, "Expected a date such as 2026-03-08.")
	return date
}

type availableDatesView struct {
	calendarView
	From  string   `json:"from"`
	To    string   `json:"to"`
	Dates []string `json:"dates"`
}

func (h handlers) getAvailableDates(c *fiber.Ctx) error {
	calendar, err := h.openTimes(c, "from", "to", mostDates)
	if err != nil {
		return err
	}
	view := availableDatesView{calendarView: newCalendarView(calendar.Ask), From: calendar.From.String(), To: calendar.To.String(), Dates: []string{}}
	for day, slots := range byDate(calendar) {
		if len(slots) > 0 {
			view.Dates = append(view.Dates, day.String())
		}
	}
	return c.JSON(view)
}

type slotsView struct {
	calendarView
	Date          string                     `json:"date"`
	DeliveryModes []appointment.DeliveryMode `json:"deliveryModes"`
	Slots         []slotView                 `json:"slots"`
}

func (h handlers) getSlots(c *fiber.Ctx) error {
	calendar, err := h.openTimes(c, "date", "date", 1)
	if err != nil {
		return err
	}
	return c.JSON(slotsView{newCalendarView(calendar.Ask), calendar.From.String(), calendar.Modes, newSlotViews(calendar.Slots)})
}

type slotsRangeView struct {
	calendarView
	From          string                     `json:"from"`
	To            string                     `json:"to"`
	DeliveryModes []appointment.DeliveryMode `json:"deliveryModes"`
	Days          []dayView                  `json:"days"`
}

type dayView struct {
	Date  string     `json:"date"`
	Slots []slotView `json:"slots"`
}

func (h handlers) getSlotsRange(c *fiber.Ctx) error {
	calendar, err := h.openTimes(c, "from", "to", mostSlotDays)
	if err != nil {
		return err
	}
	view := slotsRangeView{
		calendarView: newCalendarView(calendar.Ask), From: calendar.From.String(), To: calendar.To.String(), DeliveryModes: calendar.Modes,
	}
	for day, slots := range byDate(calendar) {
		view.Days = append(view.Days, dayView{day.String(), newSlotViews(slots)})
	}
	return c.JSON(view)
}

// byDate goes through every day of the range, in order, with its open times.
func byDate(c booking.Calendar) iter.Seq2[civil.Date, []slot.Slot] {
	days := make([][]slot.Slot, c.To-c.From+1)
	for _, s := range c.Slots {
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
