package portal

import (
	"context"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/layout"
	"sundry/adapters/web/order"
	"sundry/core/appointment"
	"sundry/core/civil"
	"sundry/core/customer"
	"sundry/core/identity"
	"sundry/core/invoice"
	"sundry/core/locale"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/paymentmethod"
	"sundry/core/usage"
	"sundry/modules/customers"
	"sundry/ports"
)

// page holds what the pages of the portal show.
type page struct {
	Path, Seller, Email, ReturnURL string
	// Storefront is the rest of what the customer sees of the creator.
	Storefront identity.Profile
	// FindURL is the page that mails the link again.
	FindURL string
	// Notice is the key of the last action, Problem explains why one failed; "" for neither.
	Notice, Problem string
	Expired         bool
	// Asked means that the link never was a key, only a way to be mailed one.
	Asked        bool
	Plans        []planView
	Cards        []paymentmethod.State
	Receipts     []receiptView
	Downloads    []order.FileLink
	Invoices     []invoiceView
	Credits      []creditView
	Appointments []appointmentView
	// Plan is the plan that the page is about.
	Plan planView
	// Quote is the price of a change, with the plan and interval to confirm; nil on the page that asks which.
	Quote *quoteView
	// Choices are the plans to change to.
	Choices []choice
	// AddressLines are the customer's billing details; Place fills the form about them.
	AddressLines []string
	Place        place
	// Sheet is the receipt that a page shows.
	Sheet *sheet
}

type invoiceView struct {
	Number, Amount, Href string
	At                   time.Time
	Status               string // key of its text
	Due                  bool
}

// creditView is prepaid use of which something is left.
type creditView struct {
	Left, Granted string
	Meter         string // the only one that it pays for; "" for all
	ExpiresAt     time.Time
	Disputed      bool
}

type appointmentView struct {
	Title, Date, Clock, Href string
}

type line struct{ Description, Amount string }

// What was done by the query parameter done, and what could not be. A declined card has its reason in another
// parameter.
var (
	notices = map[string]string{
		"mailed": "portal.done.mailed", "canceled": "portal.done.canceled", "resumed": "portal.done.resumed",
		"paused": "portal.done.paused", "chosen": "portal.done.chosen",
		"plan": "portal.done.plan",
		"paid": "portal.done.paid", "processing": "portal.plan.processing", "card": "portal.done.card",
		"removed": "portal.done.removed",
		"address": "portal.done.address",
	}
	problems = map[string]string{
		"no_card": "portal.problem.no_card", "changed": "portal.problem.changed",
		"later": "portal.problem.later", "email": "portal.problem.email",
	}
)

// problem explains to the reader why the previous step failed; "" when it did not.
func problem(c *fiber.Ctx) string {
	reader, what := layout.Reader(c), c.Query("done")
	if what == "declined" {
		return reader.Decline(c.Query("reason"))
	}
	if key, failed := problems[what]; failed {
		return reader.Text(key)
	}
	return ""
}

func (r *Routes) newPage(c *fiber.Ctx, v customers.Visit) page {
	return page{
		Path: path(c), Seller: v.Seller.Name, Storefront: v.Seller.Profile, Email: v.Customer.Email,
		ReturnURL: v.ReturnURL, Expired: v.Expired, Asked: v.Asked, FindURL: r.Customers.FindURL(v.Customer.CreatorID),
		Notice: notices[c.Query("done")], Problem: problem(c),
	}
}

func (r *Routes) home(c *fiber.Ctx) error {
	visit, err := r.Customers.Visit(c.UserContext(), c.Params("link"))
	if err != nil {
		return err
	}
	p := r.newPage(c, visit)
	if visit.Expired {
		return r.send(c, "portal_expired.html", "portal.expired.title", p)
	}
	if err := r.fill(c, visit, &p); err != nil {
		return err
	}
	return r.send(c, "portal.html", "portal.title", p)
}

// fill reads everything that the portal lists.
func (r *Routes) fill(c *fiber.Ctx, v customers.Visit, p *page) error {
	ctx, reader := c.UserContext(), layout.Reader(c)
	p.AddressLines = addressLines(v.Customer.Details, reader)
	var err error
	if p.Cards, err = r.Payments.Cards(ctx, v.Customer.ID); err != nil {
		return err
	}
	if err := r.fillPurchases(ctx, reader, v.Customer, p.Path, p); err != nil {
		return err
	}
	others, err := r.Customers.Others(ctx, v)
	if err != nil {
		return err
	}
	for _, other := range others {
		if err := r.fillPurchases(ctx, reader, other.State, "/p/"+other.Token, p); err != nil {
			return err
		}
	}
	slices.SortStableFunc(p.Receipts, func(a, b receiptView) int { return b.PaidAt.Compare(a.PaidAt) })
	return nil
}

// fillPurchases adds what a customer has bought, which is managed in the portal at a path.
func (r *Routes) fillPurchases(
	ctx context.Context, reader locale.Locale, owner customer.State, at string, p *page,
) error {
	subs, err := r.Subscriptions.OfCustomer(ctx, owner.ID)
	if err != nil {
		return err
	}
	for _, s := range subs {
		plan := newPlanView(reader, s)
		plan.Path = at
		if err := r.complete(ctx, reader, &plan); err != nil {
			return err
		}
		p.Plans = append(p.Plans, plan)
	}
	paid, err := r.Customers.Payments(ctx, owner.ID)
	if err != nil {
		return err
	}
	for _, one := range paid {
		if one.Purpose != payment.ForInvoice { // which is listed itself
			p.Receipts = append(p.Receipts, r.newReceiptView(reader, at, one))
		}
		if one.CheckoutID() == "" {
			continue
		}
		content, _, err := r.Files.Purchased(ctx, owner.CreatorID, one.CheckoutID())
		if err != nil {
			return err
		}
		p.Downloads = append(p.Downloads, order.FileLinks(reader, r.Checkout.ReceiptURL(one.CheckoutID()), content)...)
	}
	asked, err := r.Invoicing.Invoices(
		ctx, owner.CreatorID, ports.InvoiceSearch{CustomerID: owner.ID}, ports.Page{Limit: maxListed},
	)
	if err != nil {
		return err
	}
	for _, one := range asked.Items {
		p.Invoices = append(p.Invoices, newInvoiceView(reader, one))
	}
	credits, err := r.Usage.CreditsLeft(ctx, owner.CreatorID, owner.ID)
	if err != nil {
		return err
	}
	for _, one := range credits {
		p.Credits = append(p.Credits, newCreditView(reader, one))
	}
	booked, err := r.Booking.Appointments(ctx, owner.CreatorID,
		ports.AppointmentSearch{CustomerID: owner.ID, Status: appointment.StatusConfirmed},
		ports.Page{Limit: maxListed})
	for _, a := range booked.Items {
		p.Appointments = append(p.Appointments, r.newAppointmentView(reader, a))
	}
	return err
}

// maxListed bounds the invoices and the appointments that the portal lists.
const maxListed = 100

var invoiceTexts = map[invoice.Status]string{
	invoice.Open: "portal.invoice.open", invoice.Failed: "portal.invoice.failed", invoice.Paid: "portal.invoice.paid",
}

func newInvoiceView(reader locale.Locale, i invoice.State) invoiceView {
	return invoiceView{
		Number: i.Number, Amount: reader.Money(i.Total), Href: i.Links.Page, At: i.FinalizedAt,
		Status: invoiceTexts[i.Status], Due: i.Status != invoice.Paid,
	}
}

func newCreditView(reader locale.Locale, s usage.CreditState) creditView {
	return creditView{
		Left:    reader.Money(money.Amount{Minor: s.Rest(), Currency: s.Currency}),
		Granted: reader.Money(money.Amount{Minor: s.Granted, Currency: s.Currency}),
		Meter:   s.Meter, ExpiresAt: s.ExpiresAt, Disputed: s.Disputed,
	}
}

func (r *Routes) newAppointmentView(reader locale.Locale, a appointment.State) appointmentView {
	at := a.StartsAt
	if zone, err := civil.ParseZone(a.Timezone); err == nil {
		at = at.In(zone)
	}
	return appointmentView{
		Title: a.Title, Date: reader.Day(at), Clock: reader.Clock(at) + " " + locale.ZoneName(at),
		Href: r.Booking.ManageURL(a.ID),
	}
}

// Initial returns the seller's monogram.
func (p page) Initial() string { return layout.Initial(p.Seller) }

func (r *Routes) send(c *fiber.Ctx, template, title string, shown page) error {
	reader := layout.Reader(c)
	html, err := r.pages.Render(reader, template, layout.View{
		Title: reader.Text(title), Classes: "sheet", Accent: shown.Storefront.AccentColor, Page: shown,
	})
	if err != nil {
		return err
	}
	return layout.SendPrivate(c, html, layout.Policy{Forms: true})
}
