package dashboard

import (
	"context"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/core/appointment"
	"sundry/core/civil"
	"sundry/ports"
)

func (r *Routes) mountBookings(at fiber.Router) {
	r.get(at, "/bookings", r.bookings)
	r.get(at, "/bookings/week", r.week)
	r.get(at, "/bookings/settings", r.schedule)
	r.post(at, "/bookings/hours", r.saveHours)
	r.post(at, "/bookings/meetings", r.saveMeetings)
	r.form(at, "/bookings/meetings/:provider/connect", r.connectMeetings)
	r.form(at, "/bookings/meetings/:provider/connected", r.meetingsConnected)
	r.post(at, "/bookings/meetings/:provider/disconnect", r.disconnectMeetings)
	r.post(at, "/bookings/feed", r.rotateFeed)
	r.get(at, "/bookings/:id", r.appointment)
	r.post(at, "/bookings/:id/cancel", r.cancelAppointment)
	r.post(at, "/bookings/:id/move", r.moveAppointment)
	r.post(at, "/bookings/:id/outcome", r.recordOutcome)
}

var appointmentTones = map[appointment.Status]ui.Cell{
	appointment.StatusConfirmed: ui.Badge("Confirmed", "ok"), appointment.StatusCanceled: ui.Badge("Canceled", "mute"),
}

var outcomeTones = map[appointment.Outcome]ui.Cell{
	appointment.Completed: ui.Badge("Completed", "ok"), appointment.NoShow: ui.Badge("No-show", "bad"),
}

// appointmentBadge shows how an appointment went or, before that is recorded, its status.
func appointmentBadge(a appointment.State) ui.Cell {
	if a.Outcome != "" {
		return outcomeTones[a.Outcome]
	}
	return appointmentTones[a.Status]
}

// zone returns the creator's time zone; UTC before they have set it.
func (r *Routes) zone(ctx context.Context, v *visit) (*time.Location, error) {
	setup, err := r.Booking.Setup(ctx, v.account())
	if err != nil {
		return nil, err
	}
	zone, err := civil.ParseZone(setup.Hours.Timezone)
	if err != nil {
		return time.UTC, nil //nolint:nilerr // nobody has set it yet
	}
	return zone, nil
}

func (r *Routes) bookings(c *fiber.Ctx, v *visit) error {
	ctx := c.UserContext()
	zone, err := r.zone(ctx, v)
	if err != nil {
		return err
	}
	now, err := r.Clock.Now(ctx, v.account())
	if err != nil {
		return err
	}
	return show(r, c, v, r.bookingList(v, r.names(v), zone, now), ui.Page{
		Title: "Bookings", Lead: "Who meets you, and when.",
		Actions: []ui.Action{
			ui.Link("Week", base+"/bookings/week"), ui.Link("Hours and meetings", base+"/bookings/settings"),
		},
	})
}

// bookingList lists appointments in the creator's zone; customers are the names of who booked them.
func (r *Routes) bookingList(
	v *visit, customers *names, zone *time.Location, now time.Time,
) *ui.List[appointment.State] {
	return &ui.List[appointment.State]{
		Path: base + "/bookings", FileName: "appointments",
		Filters: []ui.Filter{
			{
				Name: "when", Label: "When",
				Options: ui.Choices("", "", "Any time", "coming", "Coming up", "past", "Past"),
			},
			{
				Name: "status", Label: "Status",
				Options: ui.Choices("", "", "Any status", "confirmed", "Confirmed", "canceled", "Canceled"),
			},
			{Name: "q", Label: "Search", Placeholder: "Title or customer", Matched: true},
		},
		Columns: []ui.Column[appointment.State]{
			{Label: "Appointment", Cell: func(a appointment.State) ui.Cell {
				return ui.TextLink(a.Title, base+"/bookings/"+a.ID)
			}},
			{
				Label: "Customer",
				Cell:  func(a appointment.State) ui.Cell { return customers.cell(a.CustomerID, a.ExternalCustomerID) },
			},
			{Label: v.say("When (%s)", zone.String()), Sort: "startsAt", Cell: func(a appointment.State) ui.Cell {
				return ui.Cell{
					Text: ui.Data(v.reader.Day(a.StartsAt.In(zone))),
					Sub:  ui.Data(v.reader.Clock(a.StartsAt.In(zone)) + " – " + v.reader.Clock(a.EndsAt.In(zone))),
				}
			}, CSV: func(a appointment.State) string { return ui.ExactTime(a.StartsAt) }},
			{Label: "Where", Cell: func(a appointment.State) ui.Cell { return ui.Label(whereOf(a)) }},
			{Label: "Status", Cell: appointmentBadge},
		},
		Read: named(customers, func(one appointment.State) string { return one.CustomerID },
			func(ctx context.Context, q ui.Query, page ports.Page) (ports.List[appointment.State], error) {
				search := ports.AppointmentSearch{Status: appointment.Status(q["status"])}
				switch q["when"] {
				case "coming":
					search.From = now
				case "past":
					search.To = now
				}
				return r.Booking.Appointments(ctx, v.account(), search, page)
			}),
		Summary: totals[appointment.State](v, "Appointments", ""),
		Match: func(q ui.Query, a appointment.State) bool {
			return q.Has("q", a.Title, a.ExternalCustomerID, a.CustomerID, a.ID, customers.of(a.CustomerID, ""))
		},
		Empty: ui.Empty{
			Title:  "No appointments yet",
			Text:   "Set when and where you meet buyers, and sell a listing of the kind appointment.",
			Action: &ui.Action{Label: "Set your hours", Href: base + "/bookings/settings", Tone: "primary"},
		},
	}
}

func whereOf(a appointment.State) ui.Words {
	switch {
	case a.MeetingURL != "":
		return "Online"
	case a.Address != "":
		return ui.Data(a.Address)
	default:
		return "–"
	}
}

// weekDay is a day of the calendar.
type weekDay struct {
	Label, Date string
	Today       bool
	Entries     []weekEntry
}

type weekEntry struct {
	Time, Title, Href string
	Canceled          bool
}

// maxWeek bounds how many appointments a week shows.
const maxWeek = 5000

// starting reads the appointments that begin between two instants, in the order of their times.
func (r *Routes) starting(ctx context.Context, v *visit, from, until time.Time) (all []appointment.State, err error) {
	page := ports.Page{Limit: 100, Sort: ports.Sort{By: "startsAt", Ascending: true}}
	for len(all) < maxWeek {
		found, err := r.Booking.Appointments(
			ctx, v.account(), ports.AppointmentSearch{From: from, To: until}, page,
		)
		if all = append(all, found.Items...); err != nil || found.Next == (ports.Cursor{}) {
			return all, err
		}
		page.After = found.Next
	}
	return all, nil
}

// shared leaves one appointment of each time that several buyers share, with the number of those who come.
func shared(all []appointment.State) (entries []appointment.State) {
	groups := map[string]int{} // the place of each in entries
	buyers := map[string]int{}
	for _, a := range all {
		at, known := groups[a.GroupID]
		switch {
		case a.GroupID == "" || !known:
			groups[a.GroupID] = len(entries)
			entries = append(entries, a)
		case entries[at].Status == appointment.StatusCanceled:
			entries[at] = a
		}
		if a.GroupID != "" && a.Status == appointment.StatusConfirmed {
			buyers[a.GroupID]++
		}
	}
	for i, a := range entries {
		if n := buyers[a.GroupID]; n > 0 {
			entries[i].Title += " (" + strconv.Itoa(n) + ")"
		}
	}
	return entries
}

// week is the calendar of seven days.
func (r *Routes) week(c *fiber.Ctx, v *visit) error {
	ctx := c.UserContext()
	zone, err := r.zone(ctx, v)
	if err != nil {
		return err
	}
	now, err := r.Clock.Now(ctx, v.account())
	if err != nil {
		return err
	}
	today := civil.DateIn(zone, now)
	monday := today.Monday()
	if asked, ok := civil.ParseDate(c.Query("from")); ok {
		monday = asked.Monday()
	}
	_, from, until := civil.ZoneForDays(zone, monday, monday+6)
	all, err := r.starting(ctx, v, time.UnixMilli(from), time.UnixMilli(until))
	if err != nil {
		return err
	}
	days := make([]weekDay, 7)
	for i := range days {
		date := monday + civil.Date(i) //nolint:gosec // 0 to 6
		days[i] = weekDay{Label: v.weekday(i), Date: v.reader.ShortDay(dayOf(date)), Today: date == today}
	}
	for _, a := range shared(all) {
		if at := int(civil.DateIn(zone, a.StartsAt) - monday); at >= 0 && at < len(days) {
			days[at].Entries = append(days[at].Entries, weekEntry{
				v.reader.Clock(a.StartsAt.In(zone)) + " – " + v.reader.Clock(a.EndsAt.In(zone)), a.Title,
				base + "/bookings/" + a.ID, a.Status == appointment.StatusCanceled,
			})
		}
	}
	p := ui.Page{
		Nav: base + "/bookings", Title: v.say("Week of %s", v.reader.Date(dayOf(monday))),
		Lead: v.say("Times are in %s.", zone.String()), Up: &ui.Action{Label: "Bookings", Href: base + "/bookings"},
		Actions: []ui.Action{ui.Link("Today", base+"/bookings/week")}, Parts: []ui.Part{{Kind: "week", Data: days}},
	}
	if today.Monday()-monday < 7*52 {
		p.Actions = append(
			[]ui.Action{ui.Link("Week before", base+"/bookings/week?from="+(monday-7).String())}, p.Actions...,
		)
	}
	if monday-today.Monday() < 7*52 {
		p.Actions = append(p.Actions, ui.Link("Week after", base+"/bookings/week?from="+(monday+7).String()))
	}
	return r.send(c, v, p)
}

// dayOf is a civil date as the first instant of its day in UTC, to be written.
func dayOf(d civil.Date) time.Time {
	at, _ := time.Parse(time.DateOnly, d.String()) // a date always writes so
	return at
}
