package portal

import (
	"context"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/layout"
	"sundry/core/fault"
	"sundry/core/listing"
	"sundry/core/locale"
	"sundry/core/payment"
	"sundry/core/subscription"
	"sundry/modules/customers"
)

type planView struct {
	subscription.State
	// Path is the portal that the plan is managed in.
	Path    string
	Price   string // with its interval
	CanPay  bool
	Resumes bool // may be resumed
	Cancels bool // may be canceled
	Changes bool // may change its plan
	PastDue bool
	EndsNow bool // when it is canceled; set on the page that asks
	Until   time.Time
	Planned string
	Waits   bool // for the customer's bank
	// Processing means that a charge is under way, which does not wait for them.
	Processing bool
	Pauses     bool // may be paused
	// Seats counts those paid for, where the customer may change them; 0 where they may not.
	Seats int
	// Next are the lines about the next charge; none while nothing is to be charged.
	Next []string
}

// complete adds to a plan what depends on its listing, on its cards and on the tax.
func (r *Routes) complete(ctx context.Context, reader locale.Locale, plan *planView) (err error) {
	if plan.Waits, err = r.waits(ctx, plan.State); err != nil {
		return err
	}
	plan.Processing = plan.Charge != nil && !plan.Waits
	if plan.Changes {
		others, err := r.choices(ctx, reader, plan.State)
		if err != nil && !fault.Is(err, fault.NotFoundCode) { // a listing that is off sale has none
			return err
		}
		plan.Changes = len(others) > 0 || plan.Seats > 0
	}
	if plan.Pauses {
		sold, err := r.Catalog.OwnListing(ctx, plan.CreatorID, plan.Offer.ListingID)
		if err != nil && !fault.Is(err, fault.NotFoundCode) {
			return err
		}
		plan.Pauses = sold.Flag(listing.CustomersMayPause)
	}
	sale, at, ok, err := r.Subscriptions.NextCharge(ctx, plan.State)
	if err != nil || !ok {
		return nil //nolint:nilerr // a tax service that does not respond keeps nobody from their purchases
	}
	total, err := sale.Total()
	if err != nil {
		return err
	}
	cards, err := r.Payments.Cards(ctx, plan.CustomerID)
	if err != nil {
		return err
	}
	merchant, card := r.layout.Config().Seller.Name, ""
	for _, one := range cards {
		if one.ID == plan.PaymentMethodID {
			card = layout.CardName(one.Brand, one.Last4)
		}
	}
	switch paused := plan.Status == subscription.StatusPaused; {
	case paused && card == "":
		plan.Next = []string{reader.Text("portal.plan.resume", reader.Money(total), merchant)}
	case paused:
		plan.Next = []string{reader.Text("portal.plan.resume_card", reader.Money(total), merchant, card)}
	case card == "":
		plan.Next = []string{reader.Text("portal.plan.next", reader.Money(total), reader.Date(at), merchant)}
	default:
		plan.Next = []string{reader.Text("portal.plan.next_card", reader.Money(total), reader.Date(at), merchant, card)}
	}
	if line := taxLine(reader, sale); line != "" {
		plan.Next = append(plan.Next, line)
	}
	return nil
}

// waits reports whether a charge of a plan waits for the customer's bank.
func (r *Routes) waits(ctx context.Context, s subscription.State) (bool, error) {
	if s.Charge == nil {
		return false, nil
	}
	attempt, err := r.Payments.Get(ctx, s.CreatorID, s.Charge.PaymentID)
	return attempt.Status == payment.RequiresAction, err
}

func newPlanView(reader locale.Locale, s subscription.State) planView {
	running := s.Status == subscription.StatusActive || s.Status == subscription.StatusTrialing
	v := planView{
		State:   s,
		Price:   reader.Money(s.Offer.Price) + " " + reader.Interval(string(s.Offer.Interval), s.Offer.IntervalCount),
		PastDue: s.Status == subscription.StatusPastDue, Until: s.CurrentPeriodEnd,
		Cancels: !s.Status.Terminal() && !s.CancelAtPeriodEnd,
		Resumes: s.CancelAtPeriodEnd || s.Status == subscription.StatusPaused && s.Charge == nil,
		Changes: running && !s.CancelAtPeriodEnd && s.Charge == nil,
	}
	v.Pauses = running && !s.CancelAtPeriodEnd && s.Charge == nil
	if seats := s.Offer.Seats(); s.Offer.MayChange.Quantity || seats > 1 {
		v.Seats = seats
	}
	v.CanPay = v.PastDue && s.Charge == nil && len(s.Disputes) == 0
	if next := s.NextOffer(); next != nil {
		v.Planned = next.Name()
	}
	return v
}

func (r *Routes) askCancel(c *fiber.Ctx, v customers.Visit) error {
	s, err := r.own(c, v)
	if err != nil {
		return err
	}
	p := r.newPage(c, v)
	p.Plan = newPlanView(layout.Reader(c), s)
	if p.Plan.EndsNow, err = r.Subscriptions.IsPaidTimeOver(c.UserContext(), s); err != nil {
		return err
	}
	return r.send(c, "portal_cancel.html", "portal.cancel.title", p)
}

func (r *Routes) askConfirm(c *fiber.Ctx, v customers.Visit) error {
	s, err := r.own(c, v)
	if err != nil {
		return err
	}
	reader, p := layout.Reader(c), r.newPage(c, v)
	p.Plan = newPlanView(reader, s)
	return r.layout.SendForm(c, r.pages, "portal_confirm.html", layout.View{
		Title: reader.Text("portal.confirm.title"), Classes: "sheet", Accent: p.Storefront.AccentColor, Page: p,
	},
		r.layout.CardForm(reader, layout.Amount(0, string(s.Offer.Price.Currency)), true))
}
