package appointment

import (
	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/layout"
	"sundry/core/apiformat"
	"sundry/core/civil"
	"sundry/core/fault"
	"sundry/modules/booking"
)

// mostDays bounds the days of open times that one request reads: two months and the days around them.
const mostDays = 66

// calendarData is the JSON that move.js reads.
type calendarData struct {
	Path        string `json:"path"`
	Locale      string `json:"locale"`
	TwelveHours bool   `json:"twelveHours"`
	// FirstWeekday is the first day of the reader's week, 0 is Sunday.
	FirstWeekday int               `json:"firstWeekday"`
	Now          int64             `json:"now"` // milliseconds, the account's clock
	Zone         string            `json:"zone"`
	SellerZone   string            `json:"sellerZone"`
	Until        string            `json:"until"`
	Text         map[string]string `json:"text"`
}

// Planner returns the calendar of the page.
func (p page) Planner() layout.Planner {
	return layout.Planner{Sessions: 1, Hour12: p.reader.Hour12, Confirm: p.reader.Text("js.move_confirm"),
		Zones: layout.ZoneGroups(p.reader, p.now)}
}

// calendarData returns what the page's script needs. A listing that is no longer sold has no window of its own; its
// appointments can still be moved for a year.
func (r *Routes) calendarData(c *fiber.Ctx, p page, m booking.Managed) (*calendarData, error) {
	window, ok, err := r.booking.Window(c.UserContext(), m.ListingID, m.VariantID)
	if err != nil {
		return nil, err
	}
	zone, err := civil.ParseZone(m.Timezone)
	if err != nil {
		return nil, err
	}
	if !ok {
		window = booking.Window{Timezone: m.Timezone, Until: civil.DateIn(zone, m.Now) + 365}
	}
	text := p.reader.WithPrefix("js.")
	text["confirm"] = text["move_confirm"]
	return &calendarData{
		Path: p.Path, Locale: p.reader.Tag(), TwelveHours: p.reader.Hour12,
		FirstWeekday: int(p.reader.FirstWeekday()), Now: m.Now.UnixMilli(),
		Zone: m.Timezone, SellerZone: window.Timezone, Until: window.Until.String(), Text: text,
	}, nil
}

// sendCalendarPage responds with the open times, as a calendar and, for readers without scripts, as a list.
func (r *Routes) sendCalendarPage(c *fiber.Ctx, p page, data *calendarData) error {
	p.Moving = true
	view := r.view("apt.move.title", p)
	view.Nonce, view.Script, view.Data = layout.NewNonce(), "move.js", data
	html, err := r.pages.Render(p.reader, "appointment_times.html", view)
	if err != nil {
		return err
	}
	return layout.SendPrivate(c, html, layout.Policy{Forms: true, Scripts: layout.Nonce(view.Nonce)})
}

// openTimesView are the times that the appointment can be moved to, on some of the buyer's days.
type openTimesView struct {
	Slots []slotView `json:"slots"`
}

type slotView struct {
	StartsAt string `json:"startsAt"`
	EndsAt   string `json:"endsAt"`
}

// openTimes serves the open times of the days from and to, both included, in the buyer's zone.
func (r *Routes) openTimes(c *fiber.Ctx) error {
	c.Set(fiber.HeaderCacheControl, "no-store")
	c.Set(fiber.HeaderReferrerPolicy, "no-referrer")
	from, isFrom := civil.ParseDate(c.Query("from"))
	to, isTo := civil.ParseDate(c.Query("to"))
	if !isFrom || !isTo || to < from || to-from >= mostDays {
		return c.SendStatus(fiber.StatusBadRequest)
	}
	secret := c.Params("secret")
	m, err := r.booking.Managed(c.UserContext(), secret)
	if err != nil {
		return c.SendStatus(r.layout.Config().StatusOf(err))
	}
	open, err := r.booking.Alternatives(c.UserContext(), secret, from, int(to-from)+1)
	if err != nil && !fault.Is(err, fault.StateConflict) {
		return c.SendStatus(r.layout.Config().StatusOf(err))
	}
	view := openTimesView{Slots: []slotView{}}
	for _, s := range open.Slots {
		if !s.StartsAt().Equal(m.StartsAt) {
			view.Slots = append(view.Slots, slotView{apiformat.Instant(s.StartsAt()), apiformat.Instant(s.EndsAt())})
		}
	}
	return c.JSON(view)
}
