package portal

import (
	"context"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/layout"
	"sundry/adapters/web/order"
	"sundry/core/appointment"
	"sundry/core/cardsetup"
	"sundry/core/customer"
	"sundry/core/fault"
	"sundry/core/identity"
	"sundry/core/invoice"
	"sundry/core/listing"
	"sundry/core/locale"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/paymentmethod"
	"sundry/core/subscription"
	"sundry/core/usage"
	"sundry/modules/customers"
	"sundry/modules/invoicing"
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
	// Plan is the one that a page is about.
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
	Pauses  bool // may be paused
	// Seats counts those paid for, where the customer may change them; 0 where they may not.
	Seats int
	// Next are the lines about the next charge; none while nothing is to be charged.
	Next []string
}

type receiptView struct {
	Number, Description, Amount, Href string
	PaidAt                            time.Time
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
	Date, Clock, Href string
}

type choice struct {
	Plan, Interval, Label string
	Quantity              int // 0 leaves it as it is
}

type quoteView struct {
	ID, Plan, Interval, Name string
	// Quantity is that of a change of the quantity; 0 for any other.
	Quantity    int
	Lines       []line
	Due, Credit string
	Tax         string // in the amount due; "" for none
	Free        bool
}

type line struct{ Description, Amount string }

type sheet struct {
	Number, Amount string
	PDF            string // its address
	PaidAt         time.Time
	Lines          []line
	Discount, Tax  string
	Credit         string // from an earlier change of the plan
	Card           string
	Start, End     time.Time
	Refunded       string // "" while nothing was
	Credits        []invoicing.CreditLink
}

// What was done by the query parameter done, and what could not be. A declined card has its reason in another
// parameter.
var (
	notices = map[string]string{
		"mailed": "portal.done.mailed", "canceled": "portal.done.canceled", "resumed": "portal.done.resumed",
		"paused": "portal.done.paused", "chosen": "portal.done.chosen",
		"plan": "portal.done.plan",
		"paid": "portal.done.paid", "card": "portal.done.card", "removed": "portal.done.removed",
		"address": "portal.done.address",
	}
	problems = map[string]string{
		"no_card": "portal.problem.no_card", "changed": "portal.problem.changed",
		"later": "portal.problem.later", "place": "portal.problem.address", "email": "portal.problem.email",
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
		return r.layout.Fail(c, err)
	}
	p := r.newPage(c, visit)
	if visit.Expired {
		return r.send(c, "portal_expired.html", "portal.expired.title", p)
	}
	if err := r.fill(c, visit, &p); err != nil {
		return r.layout.Fail(c, err)
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
		content, err := r.Files.Purchased(ctx, owner.CreatorID, one.CheckoutID())
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

// complete adds to a plan what depends on its listing, on its cards and on the tax.
func (r *Routes) complete(ctx context.Context, reader locale.Locale, plan *planView) error {
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
	if sale.Tax.Minor > 0 {
		plan.Next = append(plan.Next,
			reader.TaxLine(sale.TaxDetails, sale.TaxAdded.Minor == 0)+": "+reader.Money(sale.Tax))
	}
	return nil
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
	if zone, err := time.LoadLocation(a.Timezone); err == nil {
		at = at.In(zone)
	}
	return appointmentView{Date: reader.Day(at), Clock: reader.Clock(at), Href: r.Booking.ManageURL(a.ID)}
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
	v.Waits, v.Pauses = s.Charge != nil, running && !s.CancelAtPeriodEnd && s.Charge == nil
	if seats := s.Offer.Seats(); s.Offer.MayChange.Quantity || seats > 1 {
		v.Seats = seats
	}
	v.CanPay = v.PastDue && s.Charge == nil
	if next := s.NextOffer(); next != nil {
		v.Planned = next.Name()
	}
	return v
}

func (r *Routes) newReceiptView(reader locale.Locale, base string, p payment.State) receiptView {
	v := receiptView{
		Number: p.Sale.ReceiptNumber, Amount: reader.Money(p.Amount), PaidAt: p.SettledAt,
		Href: base + "/receipts/" + p.ID,
	}
	if len(p.Sale.Lines) > 0 {
		v.Description = p.Sale.Lines[len(p.Sale.Lines)-1].Description
	}
	if p.CheckoutID() != "" {
		v.Href = r.Checkout.ReceiptURL(p.CheckoutID())
	}
	return v
}

// less shows what a price was reduced by; "" where it was not.
func less(reader locale.Locale, off money.Amount) string {
	if off.Minor == 0 {
		return ""
	}
	return reader.Money(layout.Amount(-off.Minor, string(off.Currency)))
}

func (r *Routes) receipt(c *fiber.Ctx, v customers.Visit) error {
	paid, err := r.Customers.Payment(c.UserContext(), v.Customer.ID, c.Params("payment"))
	if err != nil {
		return err
	}
	reader := layout.Reader(c)
	sheet := sheet{
		Number: paid.Sale.ReceiptNumber, Amount: reader.Money(paid.Amount), PaidAt: paid.SettledAt,
		Card:  layout.CardName(paid.Brand, paid.Last4),
		Start: paid.Sale.PeriodStart, End: paid.Sale.PeriodEnd,
		PDF: r.Documents.ReceiptURL(paid.ID) + "/pdf",
	}
	for _, l := range paid.Sale.Lines {
		sheet.Lines = append(sheet.Lines, line{l.Description, reader.Money(l.Amount)})
	}
	sheet.Discount, sheet.Credit = less(reader, paid.Sale.Discount), less(reader, paid.Sale.Credit)
	if paid.Sale.Tax.Minor > 0 {
		sheet.Tax = reader.TaxLine(paid.Sale.TaxDetails, paid.Sale.TaxAdded.Minor == 0) + ": " + reader.Money(paid.Sale.Tax)
	}
	if paid.Refunded.Minor > 0 {
		sheet.Refunded = reader.Money(paid.Refunded)
	}
	if sheet.Credits, err = r.Documents.Credits(c.UserContext(), paid.CreatorID, paid.ID); err != nil {
		return err
	}
	p := r.newPage(c, v)
	p.Sheet = &sheet
	return r.send(c, "portal_receipt.html", "portal.receipt.title", p)
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

// askChange lists the plans to change to, or what changing to the chosen one costs.
func (r *Routes) askChange(c *fiber.Ctx, v customers.Visit) error {
	s, err := r.own(c, v)
	if err != nil {
		return err
	}
	reader, p := layout.Reader(c), r.newPage(c, v)
	p.Plan = newPlanView(reader, s)
	if chosen := c.Query("plan"); chosen != "" {
		return r.showQuote(c, s, p, choice{Plan: chosen, Interval: c.Query("interval")})
	}
	if seats := quantityOf(c.Query("quantity")); seats > 0 && p.Plan.Seats > 0 {
		return r.showQuote(c, s, p, choice{Quantity: seats})
	}
	if p.Choices, err = r.choices(c.UserContext(), reader, s); err != nil {
		return refused(c, err)
	}
	return r.send(c, "portal_change.html", "portal.change.title", p)
}

// choices are the plans that a subscription can be changed to.
func (r *Routes) choices(ctx context.Context, reader locale.Locale, s subscription.State) (all []choice, err error) {
	recipe, err := r.Catalog.Recipe(ctx, s.CreatorID, s.Offer.ListingKey)
	for _, plan := range recipe.Plans {
		for _, price := range plan.Prices {
			if price.Interval == "" || price.ID == s.Offer.PriceID || price.Amount.Currency != s.Offer.Price.Currency {
				continue
			}
			all = append(all, choice{
				Plan: plan.Key, Interval: string(price.Every()),
				Label: plan.Name + ", " + reader.Money(price.Amount) + " " + reader.Interval(
					string(price.Interval), price.IntervalCount,
				),
			})
		}
	}
	return all, err
}

func (r *Routes) showQuote(c *fiber.Ctx, s subscription.State, p page, to choice) error {
	reader := layout.Reader(c)
	quote, err := r.Subscriptions.Preview(c.UserContext(), s.CreatorID, s.ID, wish(to))
	if err != nil {
		return refused(c, err)
	}
	due, err := quote.Sale.Total()
	if err != nil {
		return err
	}
	p.Quote = &quoteView{
		ID: quote.ID, Plan: to.Plan, Interval: to.Interval, Quantity: to.Quantity, Name: quote.Bill.Offer.Name(),
		Due:  reader.Money(due),
		Free: due.Minor == 0,
	}
	if quote.Sale.Tax.Minor > 0 {
		p.Quote.Tax = reader.TaxLine(quote.Sale.TaxDetails, quote.Sale.TaxAdded.Minor == 0) + ": " +
			reader.Money(quote.Sale.Tax)
	}
	if quote.Bill.CreditAfter.Minor > 0 {
		p.Quote.Credit = reader.Money(quote.Bill.CreditAfter)
	}
	for _, l := range quote.Bill.Lines {
		p.Quote.Lines = append(p.Quote.Lines, line{l.Description, reader.Money(l.Amount)})
	}
	for _, off := range []line{
		{reader.Text("line.discount"), less(reader, quote.Bill.Discount)},
		{reader.Text("document.credit"), less(reader, quote.Bill.CreditUsed)},
	} {
		if off.Amount != "" {
			p.Quote.Lines = append(p.Quote.Lines, off)
		}
	}
	return r.send(c, "portal_change.html", "portal.change.title", p)
}

// setupPage holds what the page that saves a card shows.
type setupPage struct {
	Path, Seller, Mandate, ReturnURL string
	Storefront                       identity.Profile
	State                            cardsetup.Status
	Expired                          bool
	Problem                          string
	Card                             string
	// Place fills the fields about the customer's address.
	Place place
}

func (r *Routes) setup(c *fiber.Ctx) error {
	s, err := r.Payments.SetupPage(c.UserContext(), c.Params("secret"), layout.Reader(c))
	if err != nil {
		return r.layout.Fail(c, err)
	}
	p := setupPage{
		Path: "/setup/" + c.Params("secret"), Seller: s.Seller.Name, Storefront: s.Seller.Profile, Mandate: s.Mandate,
		ReturnURL: s.Setup.ReturnURL,
		State:     s.Setup.Status, Expired: s.Expired, Problem: problem(c),
	}
	owner, err := r.Customers.Get(c.UserContext(), s.Setup.CreatorID, s.Setup.CustomerID)
	if err != nil {
		return r.layout.Fail(c, err)
	}
	p.Place = placeOf(owner.Details)
	if s.Setup.LastError.Code != "" {
		p.Problem = layout.Reader(c).Decline(string(s.Setup.LastError.Code))
	}
	if s.Card.ID != "" {
		p.Card = layout.CardName(s.Card.Brand, s.Card.Last4)
	}
	reader := layout.Reader(c)
	return r.layout.SendForm(c, r.pages, "setup.html", layout.View{
		Title: reader.Text("portal.setup.title"), Classes: "sheet", Accent: p.Storefront.AccentColor, Page: p,
	},
		r.layout.CardForm(reader, layout.Amount(0, setupCurrency), true))
}

// setupCurrency is named to the card processor's form where a card is only saved.
const setupCurrency = "eur"

// Initial is the seller's monogram.
func (p page) Initial() string { return layout.Initial(p.Seller) }

// Initial is the seller's monogram.
func (p setupPage) Initial() string { return layout.Initial(p.Seller) }

func (r *Routes) send(c *fiber.Ctx, template, title string, shown page) error {
	reader := layout.Reader(c)
	html, err := r.pages.Render(reader, template, layout.View{
		Title: reader.Text(title), Classes: "sheet", Accent: shown.Storefront.AccentColor, Page: shown,
	})
	if err != nil {
		return r.layout.Fail(c, err)
	}
	return layout.SendPrivate(c, html, layout.Policy{Forms: true})
}
