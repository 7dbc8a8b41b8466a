package dashboard

import (
	"context"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/core/appointment"
	"sundry/core/civil"
	"sundry/core/refund"
	"sundry/modules/booking"
	"sundry/ports"
)

func (r *Routes) mountBookings(at fiber.Router) {
	r.get(at, "/bookings", r.bookings)
	r.get(at, "/bookings/week", r.week)
	r.get(at, "/bookings/settings", r.schedule)
	r.post(at, "/bookings/hours", r.saveHours)
	r.post(at, "/bookings/meetings", r.saveMeetings)
	r.post(at, "/bookings/feed", r.rotateFeed)
	r.get(at, "/bookings/:id", r.appointment)
	r.post(at, "/bookings/:id/cancel", r.cancelAppointment)
	r.post(at, "/bookings/:id/move", r.moveAppointment)
}

var appointmentTones = map[appointment.Status]cell{
	appointment.StatusConfirmed: badge("Confirmed", "ok"), appointment.StatusCanceled: badge("Canceled", "mute"),
}

// zone is where the creator works; UTC before they have set it.
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
	customers := r.names(v)
	l := &list[appointment.State]{
		path: base + "/bookings", name: "appointments",
		filters: []filter{
			{Name: "when", Label: "When", Options: choices("", "", "Any time", "coming", "Coming up", "past", "Past")},
			{Name: "status", Label: "Status", Options: choices("", "", "Any status", "confirmed", "Confirmed", "canceled", "Canceled")}, {Name: "q", Label: "Search", Placeholder: "Title or customer"},
		},
		columns: []column[appointment.State]{
			{label: "Appointment", cell: func(a appointment.State) cell {
				return to(a.Title, base+"/bookings/"+a.ID)
			}},
			{label: "Customer", cell: func(a appointment.State) cell { return customers.cell(a.CustomerID, a.ExternalCustomerID) }},
			{label: "When (" + zone.String() + ")", cell: func(a appointment.State) cell {
				return cell{Text: v.reader.Day(a.StartsAt.In(zone)), Sub: v.reader.Clock(a.StartsAt.In(zone)) + " – " + v.reader.Clock(a.EndsAt.In(zone))}
			}, csv: func(a appointment.State) string { return exact(a.StartsAt) }},
			{label: "Where", cell: func(a appointment.State) cell { return text(whereOf(a)) }},
			{label: "Status", cell: func(a appointment.State) cell { return appointmentTones[a.Status] }},
		},
		read: named(customers, func(one appointment.State) string { return one.CustomerID },
			func(ctx context.Context, q query, page ports.Page) (ports.List[appointment.State], error) {
				search := ports.AppointmentSearch{Status: appointment.Status(q["status"])}
				switch q["when"] {
				case "coming":
					search.From = now
				case "past":
					search.To = now
				}
				return r.Booking.Appointments(ctx, v.account(), search, page)
			}),
		match: func(q query, a appointment.State) bool {
			return q.has("q", a.Title, a.ExternalCustomerID, a.CustomerID, a.ID, customers.of(a.CustomerID, ""))
		},
		empty: empty{Title: "No appointments yet", Text: "Set when and where you meet buyers, and sell a listing of the kind appointment.",
			Action: &action{Label: "Set your hours", Href: base + "/bookings/settings", Tone: "primary"}},
	}
	return show(r, c, v, l, page{Title: "Bookings", Lead: "Who meets you, and when.", Actions: []action{link("Week", base+"/bookings/week"), link("Hours and meetings", base+"/bookings/settings")}})
}

func whereOf(a appointment.State) string {
	switch {
	case a.MeetingURL != "":
		return "Online"
	case a.Address != "":
		return a.Address
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
const maxWeek = 100

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
	found, err := r.Booking.Appointments(ctx, v.account(), ports.AppointmentSearch{From: time.UnixMilli(from), To: time.UnixMilli(until)}, ports.Page{Limit: maxWeek})
	if err != nil {
		return err
	}
	days := make([]weekDay, 7)
	for i := range days {
		date := monday + civil.Date(i) //nolint:gosec // 0 to 6
		days[i] = weekDay{Label: date.Weekday().String(), Date: dayOf(date).Format("January 2"), Today: date == today}
	}
	for _, a := range slices.Backward(found.Items) {

		if at := int(civil.DateIn(zone, a.StartsAt) - monday); at >= 0 && at < len(days) {
			days[at].Entries = append(days[at].Entries, weekEntry{
				v.reader.Clock(a.StartsAt.In(zone)) + " – " + v.reader.Clock(a.EndsAt.In(zone)), a.Title, base + "/bookings/" + a.ID, a.Status == appointment.StatusCanceled,
			})
		}
	}
	p := page{
		Nav: base + "/bookings", Title: "Week of " + v.reader.Date(dayOf(monday)), Lead: "Times are in " + zone.String() + ".", Up: &action{Label: "Bookings", Href: base + "/bookings"},
		Actions: []action{link("Today", base+"/bookings/week")}, Parts: []part{{Kind: "week", Data: days}},
	}
	if today.Monday()-monday < 7*52 {
		p.Actions = append([]action{link("Week before", base+"/bookings/week?from="+(monday-7).String())}, p.Actions...)
	}
	if monday-today.Monday() < 7*52 {
		p.Actions = append(p.Actions, link("Week after", base+"/bookings/week?from="+(monday+7).String()))
	}
	return r.send(c, v, p)
}

// dayOf is a civil date as the first instant of its day in UTC, to be written.
func dayOf(d civil.Date) time.Time {
	at, _ := time.Parse(time.DateOnly, d.String()) // a date always writes so
	return at
}

// appointment is the page of one appointment.
func (r *Routes) appointment(c *fiber.Ctx, v *visit) error {
	ctx := c.UserContext()
	a, err := r.Booking.Appointment(ctx, v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	zone, err := r.zone(ctx, v)
	if err != nil {
		return err
	}
	status := appointmentTones[a.Status]
	p := page{
		Nav: base + "/bookings", Title: a.Title, Badge: &status, Up: &action{Label: "Bookings", Href: base + "/bookings"},
		Lead: v.reader.Day(a.StartsAt.In(zone)) + ", " + v.reader.Clock(a.StartsAt.In(zone)) + " – " + v.reader.Clock(a.EndsAt.In(zone)) + " (" + zone.String() + ")",
	}
	if a.MeetingURL != "" && a.Status == appointment.StatusConfirmed {
		p.Actions = append(p.Actions, link("Join meeting", a.MeetingURL).primary())
	}
	customers := r.names(v)
	if err := customers.load(ctx, a.CustomerID); err != nil {
		return err
	}
	all := []fact{
		{"Buyer’s time", text(v.buyerTime(a))}, {"Where", text(orDash(firstOf(a.MeetingURL, a.Address)))}, {"Listing", to(a.Title, base+"/listings/"+a.ListingID)},
		{"Customer", customers.cell(a.CustomerID, a.ExternalCustomerID)}, {"Booked", v.moment(a.CreatedAt)},
	}
	money, err := r.Cancellations.MoneyOf(ctx, a, appointment.ByCreator)
	if err != nil {
		return err
	}
	if a.Status == appointment.StatusCanceled {
		all = append(all, v.cancellation(a, money)...)
	}
	p.Parts = append(p.Parts, facts("Details", append(all, fact{"ID", copied(a.ID)})...))
	if a.Status == appointment.StatusConfirmed {
		open, err := r.openTimes(ctx, v, a, zone)
		if err != nil {
			return err
		}
		if len(open) > 0 {
			move := v.form("move", base+"/bookings/"+a.ID+"/move", "Move", field{Name: "startsAt", Label: "New time", Type: "select", Options: open, Also: []string{"appointmentSlot"}})
			move.Title, move.Lead = "Move it", "The buyer gets a mail with the new time."
			p.Parts = append(p.Parts, formPart(move))
		}
		p.Parts = append(p.Parts, formPart(v.cancelForm(a, money)))
	}
	return r.send(c, v, p)
}

// canceledBy names who canceled.
var canceledBy = map[appointment.Canceler]string{
	appointment.ByBuyer: "The buyer", appointment.ByCreator: "You", appointment.BySystem: "Sundry",
}

// noRefund describes why nothing goes back to a buyer.
var noRefund = map[appointment.RefundDecision]string{
	appointment.NothingPaid: "Nothing was paid.", appointment.NoRefundPolicy: "Not refunded: the listing promises no refund.",
	appointment.TooLateToRefund: "Not refunded: the buyer canceled too late.", appointment.RefundDeclined: "Not refunded, as you chose.",
	appointment.PaymentDisputed: "Nothing is refunded now: the payment is disputed.", appointment.NothingLeft: "Nothing is left to refund.",
}

var refundSteps = map[refund.Status]string{
	refund.Pending: " is on its way to the buyer", refund.Succeeded: " was refunded", refund.Failed: " could not be refunded",
}

// cancellation is who canceled, why, and what became of the money.
func (v *visit) cancellation(a appointment.State, m booking.Money) []fact {
	var all []fact
	if who := canceledBy[a.CanceledBy]; who != "" {
		all = append(all, fact{"Canceled by", text(who)})
	}
	if a.CancelReason != "" {
		all = append(all, fact{"Why it was canceled", text(a.CancelReason)})
	}
	switch m.Decision {
	case "": // canceled before this was recorded
		return all
	case appointment.RefundDue:
		return append(all, fact{"Refund", text(v.reader.Money(m.Amount) + refundSteps[m.Status])})
	default:
		return append(all, fact{"Refund", text(noRefund[m.Decision])})
	}
}

// cancelForm cancels, with the choice of a refund where there is one.
func (v *visit) cancelForm(a appointment.State, m booking.Money) form {
	fields := []field{{Name: "reason", Label: "Why", Hint: "The buyer reads it."}}
	lead := "The buyer gets a mail. " + noRefund[m.Decision]
	if m.Decision == appointment.RefundDue {
		lead = "The buyer gets a mail."
		fields = append(fields, field{Name: "refund", Label: "Refund", Type: "select", Options: choices("true",
			"true", "Refund "+v.reader.Money(m.Amount), "false", "Don’t refund")})
	}
	cancel := v.form("cancel", base+"/bookings/"+a.ID+"/cancel", "Cancel appointment", fields...)
	cancel.Title, cancel.Lead, cancel.Danger = "Cancel it", lead, true
	return cancel
}

func (v *visit) buyerTime(a appointment.State) string {
	zone, err := civil.ParseZone(a.Timezone)
	if err != nil {
		return a.Timezone
	}
	return v.reader.Day(a.StartsAt.In(zone)) + ", " + v.reader.Clock(a.StartsAt.In(zone)) + " (" + a.Timezone + ")"
}

func firstOf(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// movableDays is how far ahead an appointment is moved from here; buyers have their own calendar.
const movableDays = 21

// openTimes are the times that an appointment can be moved to.
func (r *Routes) openTimes(ctx context.Context, v *visit, a appointment.State, zone *time.Location) ([]option, error) {
	now, err := r.Clock.Now(ctx, v.account())
	if err != nil {
		return nil, err
	}
	today := civil.DateIn(zone, now)
	calendar, err := r.Booking.Open(ctx, booking.Ask{ListingID: a.ListingID, VariantID: a.VariantID, From: today, To: today + movableDays, MostDays: movableDays + 1})
	if err != nil {
		return nil, nil //nolint:nilerr // an archived listing has no calendar: its appointments are canceled, not moved
	}
	var all []option
	for _, s := range calendar.Slots {
		all = append(all, option{Value: s.StartsAt().Format(time.RFC3339), Label: v.reader.Day(s.StartsAt().In(zone)) + ", " + v.reader.Clock(s.StartsAt().In(zone))})
	}
	return all, nil
}

func (r *Routes) cancelAppointment(c *fiber.Ctx, v *visit) error {
	at := base + "/bookings/" + c.Params("id")
	in := read(c)
	a, err := r.Cancellations.Cancel(c.UserContext(), v.account(), c.Params("id"), in.text("reason"), in.text("refund") != "false")
	if err != nil {
		return r.refused(c, at, err)
	}
	if a.RefundDecision == appointment.RefundDue {
		return r.done(c, at, "Canceled. The buyer gets a mail and the money back.")
	}
	return r.done(c, at, "Canceled. The buyer gets a mail. "+noRefund[a.RefundDecision])
}

func (r *Routes) moveAppointment(c *fiber.Ctx, v *visit) error {
	at := base + "/bookings/" + c.Params("id")
	a, err := r.Booking.Appointment(c.UserContext(), v.account(), c.Params("id"))
	if err != nil {
		return err
	}
	startsAt, err := time.Parse(time.RFC3339, c.FormValue("startsAt"))
	if err != nil {
		return r.flash(c, at, "bad", "Choose a time.")
	}
	pick := appointment.SlotChoice{StartsAt: startsAt, Timezone: a.Timezone, DeliveryMode: a.DeliveryMode, Field: "appointmentSlot"}
	if _, err := r.Booking.Reschedule(c.UserContext(), v.account(), a.ID, pick); err != nil {
		return r.refused(c, at, err)
	}
	return r.done(c, at, "Moved. The buyer gets a mail with the new time.")
}
