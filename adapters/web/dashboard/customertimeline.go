package dashboard

import (
	"context"
	"slices"
	"time"

	"sundry/adapters/web/dashboard/ui"
	"sundry/core/appointment"
	"sundry/core/refund"
	"sundry/core/subscription"
	"sundry/ports"
)

// maxTimeline bounds the steps of a customer's timeline, and what is read of each kind.
const maxTimeline = 50

// happened is a step of a timeline at its time.
type happened struct {
	at time.Time
	ui.Step
}

// customerTimeline shows in one line of time what a customer paid and got back, booked and subscribed to, the latest
// first.
func (r *Routes) customerTimeline(
	ctx context.Context, v *visit, paid []ports.ListedPayment, subs []subscription.State, customerID string,
) (ui.Part, error) {
	var all []happened
	add := func(at time.Time, tone string, title, text ui.Words, href string) {
		if !at.IsZero() {
			all = append(all, happened{at, ui.Step{Title: title, Text: text, Tone: tone, At: v.when(at), Href: base + href}})
		}
	}
	paymentIDs := make([]string, len(paid))
	for i, p := range paid {
		paymentIDs[i] = p.ID
		add(p.SettledAt, "ok", v.say("Paid %s", v.reader.Money(p.Amount)), v.soldAs(p.State), "/orders/"+p.ID)
	}
	refunds, err := r.Refunds.ListOf(ctx, v.account(), paymentIDs, maxTimeline)
	if err != nil {
		return ui.Part{}, err
	}
	for _, f := range refunds {
		if f.Status == refund.Succeeded {
			title := v.say("Refunded %s", v.reader.Money(f.Share.Amount))
			add(f.SettledAt, "wait", title, v.refundReason(f.Reason), "/orders/"+f.PaymentID)
		}
	}
	booked, err := r.Booking.Appointments(
		ctx, v.account(), ports.AppointmentSearch{CustomerID: customerID}, ports.Page{Limit: maxTimeline},
	)
	if err != nil {
		return ui.Part{}, err
	}
	for _, a := range booked.Items {
		add(a.CreatedAt, "ok", v.say("Booked %s", a.Title), v.say("for %s", v.when(a.StartsAt)), "/bookings/"+a.ID)
		if a.Status == appointment.StatusCanceled {
			add(a.CanceledAt, "wait", v.say("Canceled %s", a.Title), canceledBy[a.CanceledBy], "/bookings/"+a.ID)
		}
	}
	for _, s := range subs {
		at := "/subscriptions/" + s.ID
		add(s.StartedAt, "ok", v.say("Subscribed to %s", s.Offer.Name()), ui.Data(v.recurringPrice(s)), at)
		add(s.CanceledAt, "wait", v.say("Canceled %s", s.Offer.Name()), "", at)
		add(s.EndedAt, "bad", v.say("%s ended", s.Offer.Name()), "", at)
	}
	slices.SortStableFunc(all, func(a, b happened) int { return b.at.Compare(a.at) })
	steps := make([]ui.Step, 0, maxTimeline)
	for _, h := range all[:min(len(all), maxTimeline)] {
		steps = append(steps, h.Step)
	}
	return ui.Part{Kind: "timeline", Title: "Timeline", Data: steps}, nil
}
