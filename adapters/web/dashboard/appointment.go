package dashboard

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/core/appointment"
	"sundry/core/checkout"
	"sundry/core/civil"
	"sundry/core/fault"
	"sundry/core/intake"
	"sundry/core/refund"
	"sundry/modules/booking"
)

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
	now, err := r.Clock.Now(ctx, v.account())
	if err != nil {
		return err
	}
	status := appointmentBadge(a)
	p := ui.Page{
		Nav: base + "/bookings", Title: ui.Data(a.Title), Badge: &status,
		Up: &ui.Action{Label: "Bookings", Href: base + "/bookings"},
		Lead: ui.Data(v.reader.Day(a.StartsAt.In(zone)) + ", " + v.reader.Clock(a.StartsAt.In(zone)) + " – " +
			v.reader.ClockAfter(a.StartsAt.In(zone), a.EndsAt.In(zone)) + " (" + zone.String() + ")"),
	}
	if a.MeetingURL != "" && a.Status == appointment.StatusConfirmed {
		p.Actions = append(p.Actions, ui.Link("Join meeting", a.MeetingURL).Primary())
	}
	customers := r.names(v)
	if err := customers.load(ctx, a.CustomerID); err != nil {
		return err
	}
	group, err := r.Booking.Group(ctx, a)
	if err != nil {
		return err
	}
	session, err := r.Checkout.Get(ctx, v.account(), a.CheckoutID)
	if err != nil {
		return err
	}
	money, err := r.Cancellations.MoneyOf(ctx, a, appointment.ByCreator)
	if err != nil {
		return err
	}
	all := v.appointmentFacts(a, customers, session)
	if a.Status == appointment.StatusCanceled {
		all = append(all, v.cancellation(a, money)...)
	}
	p.Parts = append(p.Parts, ui.Facts("Details", append(all, ui.Fact{Label: "ID", Value: ui.Copyable(a.ID)})...))
	if a.GroupID != "" {
		part, err := r.groupPart(ctx, v, a, group)
		if err != nil {
			return err
		}
		p.Parts = append(p.Parts, part)
	}
	if a.Status == appointment.StatusConfirmed && !now.Before(a.StartsAt) {
		p.Actions = append(p.Actions, v.outcomes(a)...)
	}
	if a.Status == appointment.StatusConfirmed && now.Before(a.StartsAt) {
		changes, err := r.changeParts(ctx, v, a, zone, v.cancelForm(a, money, stillBooked(group)))
		if err != nil {
			return err
		}
		p.Parts = append(p.Parts, changes...)
	}
	return r.send(c, v, p)
}

func (v *visit) appointmentFacts(a appointment.State, customers *names, session checkout.State) []ui.Fact {
	all := []ui.Fact{
		{Label: "Buyer’s time", Value: ui.Text(v.buyerTime(a))},
		{Label: "Where", Value: ui.Text(orDash(firstOf(a.MeetingURL, a.Address)))},
		{Label: "Listing", Value: ui.TextLink(a.Title, base+"/listings/"+a.ListingID)},
		{Label: "Customer", Value: customers.cell(a.CustomerID, a.ExternalCustomerID)},
		{Label: "Booked", Value: v.moment(a.CreatedAt)},
	}
	all = append(all, saidFacts(a.Intake)...)
	if session.PaymentID != "" {
		all = append(all, ui.Fact{Label: "Order", Value: ui.TextLink(
			cmp.Or(session.ReceiptNumber, session.PaymentID), base+"/orders/"+session.PaymentID)})
	}
	return all
}

// changeParts are the forms that move an appointment, where there is another time, and cancel it.
func (r *Routes) changeParts(
	ctx context.Context, v *visit, a appointment.State, zone *time.Location, cancel ui.Form,
) ([]ui.Part, error) {
	open, err := r.openTimes(ctx, v, a, zone)
	if err != nil || len(open) == 0 {
		return []ui.Part{ui.FormPart(cancel)}, err
	}
	move := v.form("move", base+"/bookings/"+a.ID+"/move", "Move", ui.Field{
		Name: "startsAt", Label: "New time", Type: "select", Options: open, Also: []string{"appointmentSlot"},
	})
	move.Title, move.Lead = "Move it", "We’ll email the buyer the new time."
	return []ui.Part{ui.FormPart(move), ui.FormPart(cancel)}, nil
}

// stillBooked counts the appointments that are not canceled.
func stillBooked(group []appointment.State) (n int) {
	for _, one := range group {
		if one.Status == appointment.StatusConfirmed {
			n++
		}
	}
	return n
}

// groupPart lists the buyers who share the time of an appointment.
func (r *Routes) groupPart(
	ctx context.Context, v *visit, a appointment.State, group []appointment.State,
) (ui.Part, error) {
	customers := r.names(v)
	ids := make([]string, len(group))
	for i, one := range group {
		ids[i] = one.CustomerID
	}
	if err := customers.load(ctx, ids...); err != nil {
		return ui.Part{}, err
	}
	t := ui.Table{Label: "Buyers", Heads: []ui.Head{{Label: "Buyer"}, {Label: "Booked"}, {Label: "Status"}, {}}}
	for _, one := range group {
		open := ui.Cell{}
		if one.ID != a.ID {
			open.Actions = []ui.Action{ui.Link("View", base+"/bookings/"+one.ID)}
		}
		t.Rows = append(t.Rows, ui.Row{Cells: []ui.Cell{
			customers.cell(one.CustomerID, one.ExternalCustomerID), v.moment(one.CreatedAt), appointmentBadge(one), open,
		}})
	}
	return ui.TablePart("Buyers of this time", t), nil
}

// saidFacts lists what the buyer answered, noted, and whom they invited.
func saidFacts(r intake.Response) (all []ui.Fact) {
	for _, a := range r.Answers {
		value := ui.Text(a.Value)
		if a.Type == intake.Checkbox {
			value = ui.Label(map[string]ui.Words{"true": "Yes", "false": "No"}[a.Value])
		}
		all = append(all, ui.Fact{Label: ui.Data(a.Label), Value: value})
	}
	if r.Notes != "" {
		all = append(all, ui.Fact{Label: "Notes", Value: ui.Text(r.Notes)})
	}
	if len(r.Guests) > 0 {
		all = append(all, ui.Fact{Label: "Guests", Value: ui.Text(strings.Join(r.Guests, ", "))})
	}
	return all
}

// canceledBy names who canceled.
var canceledBy = map[appointment.Canceler]ui.Words{
	appointment.ByBuyer: "The buyer", appointment.ByCreator: "You", appointment.BySystem: "Sundry",
}

// noRefund explains why a buyer gets no refund.
var noRefund = map[appointment.RefundDecision]ui.Words{
	appointment.NothingPaid:     "Nothing was paid.",
	appointment.NoRefundPolicy:  "Not refunded: the listing promises no refund.",
	appointment.TooLateToRefund: "Not refunded: the buyer canceled too late.",
	appointment.RefundDeclined:  "Not refunded, as you chose.",
	appointment.PaymentDisputed: "Nothing is refunded now: the payment is disputed.",
	appointment.NothingLeft:     "Nothing is left to refund.",
}

var refundSteps = map[refund.Status]ui.Words{
	refund.Pending: "%s is on its way to the buyer", refund.Succeeded: "%s was refunded",
	refund.Failed: "%s could not be refunded",
}

// cancellation lists who canceled, the reason and the effect on the payment.
func (v *visit) cancellation(a appointment.State, m booking.Money) []ui.Fact {
	var all []ui.Fact
	if who := canceledBy[a.CanceledBy]; who != "" {
		all = append(all, ui.Fact{Label: "Canceled by", Value: ui.Label(who)})
	}
	if a.CancelReason != "" {
		all = append(all, ui.Fact{Label: "Reason", Value: ui.Text(a.CancelReason)})
	}
	switch m.Decision {
	case "": // canceled before this was recorded
		return all
	case appointment.RefundDue:
		went := v.say(refundSteps[m.Status], v.reader.Money(m.Amount))
		return append(all, ui.Fact{Label: "Refund", Value: ui.Label(went)})
	default:
		return append(all, ui.Fact{Label: "Refund", Value: ui.Label(noRefund[m.Decision])})
	}
}

// cancelForm cancels, with the choice of a refund where there is one.
func (v *visit) cancelForm(a appointment.State, m booking.Money, shares int) ui.Form {
	fields := []ui.Field{{Name: "reason", Label: "Reason", Hint: "The buyer reads it."}}
	lead := v.say("We’ll email the buyer. %s", noRefund[m.Decision])
	if m.Decision == appointment.RefundDue {
		lead = "We’ll email the buyer."
		fields = append(fields, ui.Field{Name: "refund", Label: "Refund", Type: "select", Options: []ui.Option{
			{Value: "true", Label: v.say("Refund %s", v.reader.Money(m.Amount)), Selected: true},
			{Value: "false", Label: "Don’t refund"},
		}})
	}
	if shares > 1 {
		fields = append(fields, ui.Field{Name: "who", Label: "Who", Type: "select", Options: []ui.Option{
			{Value: "one", Label: "This buyer only", Selected: true},
			{Value: "all", Label: v.say("All %d buyers of this time", shares)},
		}})
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

// movableDays bounds how far ahead an appointment is moved from here; buyers have their own calendar.
const movableDays = 22

// openTimes are the times that an appointment can be moved to.
func (r *Routes) openTimes(
	ctx context.Context, v *visit, a appointment.State, zone *time.Location,
) ([]ui.Option, error) {
	calendar, err := r.Booking.AlternativesIn(ctx, v.account(), a.ID, zone.String(), 0, movableDays)
	if fault.Is(err, fault.StateConflict) {
		return nil, nil // it was canceled, or has begun, meanwhile
	}
	if err != nil {
		return nil, err
	}
	var all []ui.Option
	for _, s := range calendar.Slots {
		if s.StartsAt().Equal(a.StartsAt) {
			continue
		}
		all = append(all, ui.Option{
			Value: s.StartsAt().Format(time.RFC3339),
			Label: ui.Data(v.reader.Day(s.StartsAt().In(zone)) + ", " + v.reader.Clock(s.StartsAt().In(zone))),
		})
	}
	return all, nil
}

func (r *Routes) cancelAppointment(c *fiber.Ctx, v *visit) error {
	at := base + "/bookings/" + c.Params("id")
	in := ui.ReadInput(c)
	cancel := r.Cancellations.Cancel
	if in.Text("who") == "all" {
		cancel = r.Cancellations.CancelTime
	}
	a, err := cancel(
		c.UserContext(), v.account(), c.Params("id"), in.Text("reason"), in.Text("refund") != "false",
	)
	if err != nil {
		return r.refused(c, at, err)
	}
	if a.RefundDecision == appointment.RefundDue {
		return r.done(c, at, "Canceled. We’ll email the buyer and return the money.")
	}
	return r.done(c, at, v.say("Canceled. We’ll email the buyer. %s", noRefund[a.RefundDecision]))
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
	pick := appointment.SlotChoice{
		StartsAt: startsAt, Timezone: a.Timezone, DeliveryMode: a.DeliveryMode, Field: "appointmentSlot",
	}
	_, err = r.Booking.Reschedule(c.UserContext(), v.account(), a.ID, pick)
	return r.result(c, at, err, "Moved. We’ll email the buyer the new time.")
}

// outcomes are the buttons that record how an appointment went.
func (v *visit) outcomes(a appointment.State) []ui.Action {
	to := func(label ui.Words, outcome appointment.Outcome) ui.Action {
		return v.button(label, base+"/bookings/"+a.ID+"/outcome", ui.Hidden("outcome", string(outcome)))
	}
	if a.Outcome != "" {
		return []ui.Action{to(v.say("Undo “%s”", outcomeTones[a.Outcome].Text), "")}
	}
	return []ui.Action{to("It took place", appointment.Completed), to("Buyer didn’t come", appointment.NoShow)}
}

func (r *Routes) recordOutcome(c *fiber.Ctx, v *visit) error {
	at := base + "/bookings/" + c.Params("id")
	outcome := appointment.Outcome(c.FormValue("outcome"))
	_, err := r.Booking.RecordOutcome(c.UserContext(), v.account(), c.Params("id"), outcome)
	return r.result(c, at, err, "Saved.")
}
