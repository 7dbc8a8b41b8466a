package web

import (
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/compress"

	"sundry/core/appointment"
	"sundry/core/civil"
	"sundry/core/fault"
	"sundry/core/wire"
	"sundry/modules/booking"
)

// AppointmentRoutes are the pages on which a buyer sees, moves and cancels an appointment. They are forms and links:
// nothing on them needs a script. The secret in the address is the authorisation, and there is no cookie that another
// site could use.
type AppointmentRoutes struct {
	pages   *Pages
	booking *booking.Service
	// fail answers what cannot be shown, as on every other page.
	fail func(c *fiber.Ctx, err error) error
}

// NewAppointmentRoutes ties the pages to the appointments.
func NewAppointmentRoutes(pages *Pages, book *booking.Service, statusOf func(error) int, log *slog.Logger) *AppointmentRoutes {
	return &AppointmentRoutes{pages, book, (&Routes{pages: pages, statusOf: statusOf, log: log}).fail}
}

// Mount adds the pages to the application.
func (r *AppointmentRoutes) Mount(app fiber.Router) {
	squeeze := compress.New()
	app.Get("/a/:secret", squeeze, r.show)
	app.Get("/a/:secret/calendar.ics", squeeze, r.calendar)
	app.Get("/a/:secret/reschedule", squeeze, r.choose)
	app.Post("/a/:secret/reschedule", squeeze, r.move)
	app.Get("/a/:secret/cancel", squeeze, r.askCancel)
	app.Post("/a/:secret/cancel", squeeze, r.cancel)
}

// AppointmentPage is what the pages of an appointment show.
type AppointmentPage struct {
	Path string // /a/{secret}
	// State is one of confirmed, begun and canceled.
	State  string
	Title  string
	Seller string
	Span   Span
	// MeetingURL or Address says where.
	MeetingURL string
	Address    string
	Reason     string // why it was canceled
	// Done is what the buyer has just done: moved, canceled or nothing.
	Done string
	// Problem is why what they asked for cannot be done; "" when nothing is wrong.
	Problem string
	// Target is the time that they chose and have yet to confirm.
	Target *Span
	// Days, Earlier and Later are the times to choose from and the weeks around them, "" where there is none.
	Days           []AppointmentDay
	Earlier, Later string
}

// Span is a time in the buyer's zone, in words.
type Span struct {
	Date, Clock, Zone string
	StartsAt, EndsAt  time.Time
}

// AppointmentDay is a day with its open times.
type AppointmentDay struct {
	Name  string
	Times []AppointmentTime
}

// AppointmentTime is an open time: its clock and where choosing it leads.
type AppointmentTime struct {
	Clock    string
	StartsAt time.Time
	Href     string
}

// daysShown is how many days of open times stand on one page.
const daysShown = 14

func (r *AppointmentRoutes) show(c *fiber.Ctx) error {
	m, err := r.booking.Managed(c.UserContext(), c.Params("secret"))
	if err != nil {
		return r.fail(c, err)
	}
	page, err := appointmentPage(c, m)
	if err != nil {
		return r.fail(c, err)
	}
	if done := c.Query("done"); done == "moved" && page.State == "confirmed" || done == "canceled" && page.State == "canceled" {
		page.Done = done
	}
	return r.send(c, "appointment.html", "title.apt_"+page.State, page)
}

// appointmentPage is the part that every page of an appointment shows.
func appointmentPage(c *fiber.Ctx, m booking.Managed) (AppointmentPage, error) {
	zone, err := civil.ParseZone(m.Timezone)
	page := AppointmentPage{
		Path: "/a/" + c.Params("secret"), State: "confirmed", Title: m.Title, Seller: m.SellerName, MeetingURL: m.MeetingURL, Address: m.Address,
		Reason: m.CancelReason,
	}
	if err != nil {
		return page, err
	}
	page.Span = spanIn(zone, m.StartsAt, m.EndsAt)
	switch {
	case m.Status == appointment.StatusCanceled:
		page.State = "canceled"
	case !m.Changeable:
		page.State = "begun"
	}
	return page, nil
}

func spanIn(zone *time.Location, starts, ends time.Time) Span {
	return Span{
		Date: formatDay(starts.In(zone)), Clock: formatClock(starts.In(zone)) + "–" + formatClock(ends.In(zone)),
		Zone:     zone.String() + ", " + civil.Offset(starts, zone),
		StartsAt: starts, EndsAt: ends,
	}
}

func (r *AppointmentRoutes) calendar(c *fiber.Ctx) error {
	raw, err := r.booking.CalendarOf(c.UserContext(), c.Params("secret"))
	if err != nil {
		return r.fail(c, err)
	}
	c.Set(fiber.HeaderContentDisposition, `attachment; filename="appointment.ics"`)
	return sendCalendar(c, raw)
}

// sendCalendar answers a calendar that nobody else may keep.
func sendCalendar(c *fiber.Ctx, raw []byte) error {
	c.Set(fiber.HeaderContentType, "text/calendar; charset=utf-8")
	c.Set(fiber.HeaderCacheControl, "no-store")
	c.Set(fiber.HeaderReferrerPolicy, "no-referrer")
	c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	return c.Send(raw)
}

// choose shows the open times, or asks about the one that was chosen.
func (r *AppointmentRoutes) choose(c *fiber.Ctx) error { return r.times(c, "") }

// times shows the open times with what is wrong with an earlier choice.
func (r *AppointmentRoutes) times(c *fiber.Ctx, problem string) error {
	secret := c.Params("secret")
	m, err := r.booking.Managed(c.UserContext(), secret)
	if err != nil {
		return r.fail(c, err)
	}
	if !m.Changeable {
		return seeOther(c, "/a/"+secret)
	}
	page, err := appointmentPage(c, m)
	if err != nil {
		return r.fail(c, err)
	}
	page.Problem = problem
	if to, ok := chosen(c.Query("to")); ok && problem == "" {
		zone, _ := civil.ParseZone(m.Timezone) // parsed above
		target := spanIn(zone, to, to.Add(m.EndsAt.Sub(m.StartsAt)))
		page.Target = &target
		return r.send(c, "appointment_confirm.html", "apt.move.title", page)
	}
	from, _ := civil.ParseDate(c.Query("from")) // anything else is today
	open, err := r.booking.Alternatives(c.UserContext(), secret, from, daysShown)
	if err != nil {
		return r.fail(c, err)
	}
	page.list(m, open)
	return r.send(c, "appointment_times.html", "apt.move.title", page)
}

// chosen reads a time of the page's own links.
func chosen(text string) (time.Time, bool) {
	at, err := time.Parse(time.RFC3339, text)
	return at.UTC(), err == nil && at.Year() >= 1970 && at.Year() <= 9999
}

// list fills in the open times of a calendar, without the present one.
func (p *AppointmentPage) list(m booking.Managed, c booking.Calendar) {
	zone, _ := civil.ParseZone(m.Timezone) // the calendar was made in it
	base := p.Path + "/reschedule?"
	for _, s := range c.Slots {
		if s.StartsAt().Equal(m.StartsAt) {
			continue
		}
		starts := s.StartsAt().In(zone)
		if name := formatDay(starts); len(p.Days) == 0 || p.Days[len(p.Days)-1].Name != name {
			p.Days = append(p.Days, AppointmentDay{Name: name})
		}
		day := &p.Days[len(p.Days)-1]
		day.Times = append(day.Times, AppointmentTime{
			Clock: formatClock(starts), StartsAt: starts, Href: base + url.Values{"to": {wire.Instant(starts)}}.Encode(),
		})
	}
	if today := civil.DateIn(zone, m.Now); c.From > today {
		p.Earlier = base + url.Values{"from": {max(today, c.From-daysShown).String()}}.Encode()
	}
	p.Later = base + url.Values{"from": {(c.To + 1).String()}}.Encode()
}

func (r *AppointmentRoutes) move(c *fiber.Ctx) error {
	secret := c.Params("secret")
	to, ok := chosen(c.FormValue("startsAt"))
	if !ok {
		return seeOther(c, "/a/"+secret+"/reschedule")
	}
	_, err := r.booking.RescheduleByBuyer(c.UserContext(), secret, to)
	switch {
	case err == nil:
		return seeOther(c, "/a/"+secret+"?done=moved")
	case fault.Is(err, fault.StateConflict):
		return seeOther(c, "/a/"+secret) // which says why
	case fault.Is(err, fault.SlotTaken), fault.Is(err, fault.SlotInPast):
		c.Status(fiber.StatusConflict)
		return r.times(c, text("apt.move.taken"))
	}
	return r.fail(c, err)
}

func (r *AppointmentRoutes) askCancel(c *fiber.Ctx) error { return r.askAgain(c, "") }

// askAgain asks whether to cancel, with what is wrong with an earlier answer.
func (r *AppointmentRoutes) askAgain(c *fiber.Ctx, problem string) error {
	m, err := r.booking.Managed(c.UserContext(), c.Params("secret"))
	if err != nil {
		return r.fail(c, err)
	}
	if !m.Changeable {
		return seeOther(c, "/a/"+c.Params("secret"))
	}
	page, err := appointmentPage(c, m)
	if err != nil {
		return r.fail(c, err)
	}
	page.Problem = problem
	return r.send(c, "appointment_cancel.html", "apt.cancel.title", page)
}

func (r *AppointmentRoutes) cancel(c *fiber.Ctx) error {
	secret := c.Params("secret")
	_, err := r.booking.CancelByBuyer(c.UserContext(), secret, c.FormValue("reason"))
	switch {
	case err == nil:
		return seeOther(c, "/a/"+secret+"?done=canceled")
	case fault.Is(err, fault.StateConflict):
		return seeOther(c, "/a/"+secret)
	case fault.Is(err, fault.ValidationFailed):
		c.Status(fiber.StatusBadRequest)
		return r.askAgain(c, text("apt.cancel.too_long"))
	}
	return r.fail(c, err)
}

func (r *AppointmentRoutes) send(c *fiber.Ctx, template, title string, page AppointmentPage) error {
	html, err := r.pages.AppointmentHTML(template, title, page)
	if err != nil {
		return r.fail(c, err)
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return sendForm(c, html)
}

// AppointmentHTML renders one of the pages of an appointment.
func (p *Pages) AppointmentHTML(template, title string, page AppointmentPage) ([]byte, error) {
	html, err := p.render(template, view{Title: text(title) + " · " + page.Title, Classes: "sheet", Page: page})
	if err != nil {
		return nil, fmt.Errorf("appointment: %w", err)
	}
	return html, nil
}
