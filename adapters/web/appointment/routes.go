// Package appointment serves the pages on which a buyer sees, moves and cancels an appointment. They are forms and
// links: nothing on them needs a script, and the calendar of open times is a list without one. The secret in the
// address is the authorization, and there is no cookie that another site could use.
package appointment

import (
	"embed"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/layout"
	"sundry/core/apiformat"
	"sundry/core/appointment"
	"sundry/core/civil"
	"sundry/core/fault"
	"sundry/core/identity"
	"sundry/core/intake"
	"sundry/core/locale"
	"sundry/modules/booking"
)

//go:embed templates static
var files embed.FS

// Routes serves a buyer's pages of appointments.
type Routes struct {
	layout        *layout.Layout
	pages         *layout.Pages
	booking       *booking.Service
	cancellations *booking.Cancellations
}

// New ties the pages to the appointments.
func New(l *layout.Layout, book *booking.Service, cancellations *booking.Cancellations) (*Routes, error) {
	pages, err := l.Pages(layout.Files{Name: "appointment", FS: files})
	if err != nil {
		return nil, err
	}
	return &Routes{l, pages, book, cancellations}, nil
}

// Mount adds the pages to the application.
func (r *Routes) Mount(app fiber.Router) {
	handle := r.layout.Handle
	compress := layout.Compress()
	app.Get("/a/:secret", compress, handle(r.show))
	app.Get("/a/:secret/calendar.ics", compress, handle(r.calendar))
	app.Get("/a/:secret/reschedule", compress, handle(r.choose))
	app.Post("/a/:secret/reschedule", compress, handle(r.move))
	app.Get("/a/:secret/times", compress, r.openTimes)
	app.Get("/a/:secret/cancel", compress, handle(r.askCancel))
	app.Post("/a/:secret/cancel", compress, handle(r.cancel))
	app.Get("/m/:room", compress, handle(r.meeting))
}

// page holds what the pages of an appointment show.
type page struct {
	reader locale.Locale
	now    time.Time // the account's clock
	Path   string    // /a/{secret}
	// State is confirmed, begun or canceled.
	State  string
	Title  string
	Seller string
	// Storefront is the rest of what buyers see of the seller.
	Storefront identity.Profile
	Span       span
	// MeetingURL or Address is the place of the meeting.
	MeetingURL string
	Address    string
	Reason     string // why it was canceled, or what a form that was refused says of it
	// Said holds the buyer's answers, notes and guests.
	Said []said
	// Canceler says who canceled it, and Money what canceling does or did to the payment; "" where nothing was paid.
	// Expected is the refund that the buyer is asked to accept, in minor units.
	Canceler, Money string
	Expected        int64
	// Policy says until when canceling is refunded in full; "" when it isn't.
	Policy string
	// Done names the buyer's last action, moved; "" for none.
	Done string
	// Problem explains why the buyer's request failed; "" when it did not.
	Problem string
	// Target is the time that they chose and have yet to confirm.
	Target *span
	// Moving reports whether the page has the calendar of open times.
	Moving bool
	// Days, Earlier and Later are the times to choose from and the weeks around them, "" where there is none.
	Days           []day
	Earlier, Later string
}

// Links add the appointment to a calendar.
func (p page) Links() appointment.CalendarLinks {
	where := p.MeetingURL
	if where == "" {
		where = p.Address
	}
	return appointment.NewCalendarLinks(p.Title, where, p.Span.StartsAt, p.Span.EndsAt, p.Path+"/calendar.ics")
}

// said is an answer of the buyer's behind its question.
type said struct{ Label, Value string }

func saidOf(reader locale.Locale, r intake.Response) (all []said) {
	for _, a := range r.Answers {
		if a.Type == intake.Checkbox {
			a.Value = map[string]string{"true": reader.Text("apt.true"), "false": reader.Text("apt.false")}[a.Value]
		}
		all = append(all, said{a.Label, a.Value})
	}
	if r.Notes != "" {
		all = append(all, said{reader.Text("apt.notes"), r.Notes})
	}
	if len(r.Guests) > 0 {
		all = append(all, said{reader.Text("apt.guests"), strings.Join(r.Guests, "\n")})
	}
	return all
}

// span is a time in the buyer's zone, in words.
type span struct {
	Date, Clock, Zone string
	StartsAt, EndsAt  time.Time
}

// day is a day with its open times.
type day struct {
	Name  string
	Times []openTime
}

// openTime is an open time: its clock and where choosing it leads.
type openTime struct {
	Clock    string
	StartsAt time.Time
	Href     string
}

// daysShown is the number of days of open times on one page.
const daysShown = 14

func (r *Routes) show(c *fiber.Ctx) error {
	m, err := r.booking.Managed(c.UserContext(), c.Params("secret"))
	if err != nil {
		return err
	}
	page, err := newPage(c, m)
	if err != nil {
		return err
	}
	if err := r.addMoney(c, &page, m); err != nil {
		return err
	}
	if c.Query("done") == "moved" && page.State == "confirmed" {
		page.Done = "moved"
	}
	return r.send(c, "appointment.html", "title.apt_"+page.State, page)
}

// newPage is the part that every page of an appointment shows.
func newPage(c *fiber.Ctx, m booking.Managed) (page, error) {
	zone, err := civil.ParseZone(m.Timezone)
	page := page{
		reader: layout.ReaderOf(c, ""), now: m.Now,
		Path: "/a/" + c.Params("secret"), State: "confirmed", Title: m.Title, Seller: m.Seller.Name,
		Storefront: m.Seller.Profile, MeetingURL: m.MeetingURL, Address: m.Address,
		Reason: m.CancelReason,
	}
	page.Said = saidOf(page.reader, m.Intake)
	if err != nil {
		return page, err
	}
	page.Span = newSpan(page.reader, zone, m.StartsAt, m.EndsAt)
	switch {
	case m.Status == appointment.StatusCanceled:
		page.State = "canceled"
	case !m.Changeable:
		page.State = "begun"
	}
	return page, nil
}

func newSpan(reader locale.Locale, zone *time.Location, starts, ends time.Time) span {
	return span{
		Date: reader.Day(starts.In(zone)), Clock: reader.Clock(starts.In(zone)) + "–" +
			reader.ClockAfter(starts.In(zone), ends.In(zone)),
		Zone:     civil.ZoneLabel(starts, zone),
		StartsAt: starts, EndsAt: ends,
	}
}

func (r *Routes) calendar(c *fiber.Ctx) error {
	raw, err := r.booking.CalendarOf(c.UserContext(), c.Params("secret"))
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderContentDisposition, `attachment; filename="appointment.ics"`)
	return sendCalendar(c, raw)
}

// sendCalendar responds with a calendar that nobody else may keep.
func sendCalendar(c *fiber.Ctx, raw []byte) error {
	c.Set(fiber.HeaderContentType, "text/calendar; charset=utf-8")
	c.Set(fiber.HeaderCacheControl, "no-store")
	c.Set(fiber.HeaderReferrerPolicy, "no-referrer")
	return c.Send(raw)
}

// choose shows the open times, or asks about the one that was chosen.
func (r *Routes) choose(c *fiber.Ctx) error { return r.times(c, nil) }

// times shows the open times, with the fault of an earlier choice; nil for none.
func (r *Routes) times(c *fiber.Ctx, problem func(p page) string) error {
	secret := c.Params("secret")
	m, err := r.booking.Managed(c.UserContext(), secret)
	if err != nil {
		return err
	}
	if !m.Changeable {
		return layout.SeeOther(c, "/a/"+secret)
	}
	page, err := newPage(c, m)
	if err != nil {
		return err
	}
	if problem != nil {
		page.Problem = problem(page)
	}
	if to, ok := chosen(c.Query("to")); ok && problem == nil {
		zone, _ := civil.ParseZone(m.Timezone) // parsed above
		target := newSpan(page.reader, zone, to, to.Add(m.EndsAt.Sub(m.StartsAt)))
		page.Target = &target
		return r.send(c, "appointment_confirm.html", "apt.move.title", page)
	}
	from, _ := civil.ParseDate(c.Query("from")) // anything else is today
	open, err := r.booking.Alternatives(c.UserContext(), secret, from, daysShown)
	if err != nil {
		return err
	}
	page.list(m, open)
	data, err := r.calendarData(c, page, m)
	if err != nil {
		return err
	}
	return r.sendCalendarPage(c, page, data)
}

// chosen reads a time of the page's own links.
func chosen(text string) (time.Time, bool) {
	at, err := time.Parse(time.RFC3339, text)
	return at.UTC(), err == nil && at.Year() >= 1970 && at.Year() <= 9999
}

// list fills in the open times of a calendar, without the present one.
func (p *page) list(m booking.Managed, c booking.Calendar) {
	zone, _ := civil.ParseZone(m.Timezone) // the calendar was made in it
	base := p.Path + "/reschedule?"
	for _, s := range c.Slots {
		if s.StartsAt().Equal(m.StartsAt) {
			continue
		}
		starts := s.StartsAt().In(zone)
		if name := p.reader.Day(starts); len(p.Days) == 0 || p.Days[len(p.Days)-1].Name != name {
			p.Days = append(p.Days, day{Name: name})
		}
		day := &p.Days[len(p.Days)-1]
		day.Times = append(day.Times, openTime{
			Clock: p.reader.Clock(starts), StartsAt: starts,
			Href: base + url.Values{"to": {apiformat.Instant(starts)}}.Encode(),
		})
	}
	if today := civil.DateIn(zone, m.Now); c.From > today {
		p.Earlier = base + url.Values{"from": {max(today, c.From-daysShown).String()}}.Encode()
	}
	p.Later = base + url.Values{"from": {(c.To + 1).String()}}.Encode()
}

func (r *Routes) move(c *fiber.Ctx) error {
	secret := c.Params("secret")
	to, ok := chosen(c.FormValue("startsAt"))
	if !ok {
		return layout.SeeOther(c, "/a/"+secret+"/reschedule")
	}
	_, err := r.booking.RescheduleByBuyer(c.UserContext(), secret, to)
	switch {
	case err == nil:
		return layout.SeeOther(c, "/a/"+secret+"?done=moved")
	case fault.Is(err, fault.StateConflict):
		return layout.SeeOther(c, "/a/"+secret) // which shows why
	case fault.Is(err, fault.SlotTaken), fault.Is(err, fault.SlotNotOffered), fault.Is(err, fault.SlotInPast):
		c.Status(fiber.StatusConflict)
		return r.times(c, func(page) string { return layout.Reader(c).Text("apt.move.taken") })
	case fault.Is(err, fault.LimitReached):
		c.Status(fiber.StatusConflict)
		return r.times(c, func(p page) string {
			return layout.Reader(c).Text("apt.move.limit", appointment.MaxBuyerMoves, p.Seller)
		})
	}
	return err
}

func (r *Routes) askCancel(c *fiber.Ctx) error { return r.cancelForm(c, "") }

// cancelForm asks whether to cancel, with the fault of an earlier form.
func (r *Routes) cancelForm(c *fiber.Ctx, problem string) error {
	m, err := r.booking.Managed(c.UserContext(), c.Params("secret"))
	if err != nil {
		return err
	}
	if !m.Changeable {
		return layout.SeeOther(c, "/a/"+c.Params("secret"))
	}
	page, err := newPage(c, m)
	if err != nil {
		return err
	}
	if err := r.addMoney(c, &page, m); err != nil {
		return err
	}
	if page.Problem = problem; problem != "" {
		page.Reason = c.FormValue("reason")
	}
	return r.send(c, "appointment_cancel.html", "apt.cancel.title", page)
}

func (r *Routes) cancel(c *fiber.Ctx) error {
	secret := c.Params("secret")
	expected, _ := strconv.ParseInt(c.FormValue("refund"), 10, 64) // a form without it expects nothing back
	_, err := r.cancellations.CancelByBuyer(c.UserContext(), secret, c.FormValue("reason"), expected)
	switch {
	case err == nil, fault.Is(err, fault.StateConflict):
		return layout.SeeOther(c, "/a/"+secret) // which shows what happened
	case fault.Is(err, fault.QuoteExpired):
		c.Status(fiber.StatusConflict)
		return r.cancelForm(c, layout.Reader(c).Text("apt.cancel.changed"))
	case fault.Is(err, fault.ValidationFailed):
		c.Status(fiber.StatusBadRequest)
		return r.cancelForm(c, layout.Reader(c).Text("apt.cancel.too_long"))
	}
	return err
}

func (r *Routes) send(c *fiber.Ctx, template, title string, p page) error {
	html, err := r.render(template, title, p)
	if err != nil {
		return err
	}
	return layout.SendPrivate(c, html, layout.Policy{Forms: true})
}

func (r *Routes) render(template, title string, p page) ([]byte, error) {
	return r.pages.Render(p.reader, template, r.view(title, p))
}

func (r *Routes) view(title string, p page) layout.View {
	return layout.View{
		Title: p.reader.Text(title) + " · " + p.Title, Classes: "sheet", Accent: p.Storefront.AccentColor, Page: p,
	}
}
