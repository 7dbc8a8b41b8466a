// Package portal serves the pages on which a customer sees what they have bought, manages their plans and changes
// their card. They are forms and links: nothing on them needs a script but the card processor's own form. The secret
// in the address is the authorization, and there is no cookie that another site could use.
package portal

import (
	"embed"
	"errors"
	"net/url"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/layout"
	"sundry/adapters/web/order"
	"sundry/core/cardsetup"
	"sundry/core/fault"
	"sundry/core/payment"
	"sundry/core/period"
	"sundry/core/plan"
	"sundry/core/subscription"
	"sundry/modules/booking"
	"sundry/modules/catalog"
	"sundry/modules/checkout"
	"sundry/modules/customers"
	"sundry/modules/files"
	"sundry/modules/invoicing"
	"sundry/modules/payments"
	"sundry/modules/subscriptions"
	"sundry/modules/usage"
	"sundry/ports"
)

//go:embed templates static
var assets embed.FS

// Deps are the use cases behind the pages.
type Deps struct {
	Customers     *customers.Service
	Subscriptions *subscriptions.Service
	Payments      *payments.Service
	Catalog       *catalog.Service
	Checkout      *checkout.Service
	Booking       *booking.Service
	Files         *files.Service
	Invoicing     *invoicing.Service
	Documents     *invoicing.Documents
	Usage         *usage.Service
}

// Routes serves the customer portal.
type Routes struct {
	Deps
	layout *layout.Layout
	pages  *layout.Pages
}

// New ties the pages to the use cases.
func New(l *layout.Layout, d Deps) (*Routes, error) {
	pages, err := l.Pages(layout.Files{Name: "portal", FS: assets, Shared: order.Folders()})
	if err != nil {
		return nil, err
	}
	return &Routes{d, l, pages}, nil
}

// Mount adds the pages to the application.
func (r *Routes) Mount(app fiber.Router) {
	handle := r.layout.Handle
	compress := layout.Compress()
	app.Get("/setup/:secret", compress, handle(r.setup))
	app.Post("/setup/:secret", compress, handle(r.saveCard))
	app.Post("/setup/:secret/authenticate", compress, handle(r.authenticateCard))
	app.Get("/setup/:secret/challenge", r.challengeCard)
	app.Get("/p/:link", compress, handle(r.home))
	app.Post("/p/:link/mail", compress, handle(r.mailLink))
	app.Get("/p/:link/address", compress, r.visitor(r.askAddress))
	app.Post("/p/:link/address", compress, r.visitor(r.saveAddress))
	app.Post("/p/:link/cards", compress, r.visitor(r.addCard))
	app.Post("/p/:link/cards/:card/remove", compress, r.visitor(r.removeCard))
	app.Post("/p/:link/cards/:card/choose", compress, r.visitor(r.chooseCard))
	app.Post("/p/:link/plans/:subscription/pause", compress, r.visitor(r.pause))
	app.Get("/find/:creator", compress, handle(r.find))
	app.Post("/find/:creator", compress, handle(r.askByEmail))
	app.Get("/p/:link/receipts/:payment", compress, r.visitor(r.receipt))
	app.Get("/p/:link/plans/:subscription/cancel", compress, r.visitor(r.askCancel))
	app.Post("/p/:link/plans/:subscription/cancel", compress, r.visitor(r.cancel))
	app.Post("/p/:link/plans/:subscription/resume", compress, r.visitor(r.resume))
	app.Get("/p/:link/plans/:subscription/change", compress, r.visitor(r.askChange))
	app.Post("/p/:link/plans/:subscription/change", compress, r.visitor(r.change))
	app.Post("/p/:link/plans/:subscription/pay", compress, r.visitor(r.pay))
	app.Get("/p/:link/plans/:subscription/confirm", compress, r.visitor(r.askConfirm))
	app.Get("/p/:link/plans/:subscription/challenge", r.visitor(r.challenge))
	app.Post("/p/:link/plans/:subscription/authenticate", compress, r.visitor(r.authenticate))
}

// visitor opens the portal for a handler; an expired link redirects to the page that explains that.
func (r *Routes) visitor(handle func(c *fiber.Ctx, v customers.Visit) error) fiber.Handler {
	return r.layout.Handle(func(c *fiber.Ctx) error {
		visit, err := r.Customers.Visit(c.UserContext(), c.Params("link"))
		if err != nil {
			return err
		}
		if visit.Expired {
			return layout.SeeOther(c, path(c))
		}
		return handle(c, visit)
	})
}

// path is the portal's own address.
func path(c *fiber.Ctx) string { return "/p/" + c.Params("link") }

// done redirects to the portal, which shows the result.
func done(c *fiber.Ctx, what string) error { return layout.SeeOther(c, path(c)+"?done="+what) }

// refused is done for a refusal that the customer can understand; any other error is a page of its own.
func refused(c *fiber.Ctx, err error) error {
	var refusal *fault.Error
	if !errors.As(err, &refusal) {
		return err
	}
	switch refusal.Code {
	case fault.CardDeclined:
		return done(c, "declined&reason="+url.QueryEscape(refusal.DeclineCode))
	case fault.AuthenticationRequired:
		return done(c, "declined&reason=authentication_required")
	case fault.PaymentMethodRequired:
		return done(c, "no_card")
	case fault.StateConflict, fault.QuoteExpired, fault.ListingNotPurchasable:
		return done(c, "changed")
	case fault.ProcessorUnavailable:
		return done(c, "later")
	default:
		return err
	}
}

// repeated is refused for a form that may have been sent twice, as by a double click: where the plan already is what it
// asks for, the second response says so as the first one did.
func (r *Routes) repeated(
	c *fiber.Ctx, v customers.Visit, refusal error, what string, isDone func(subscription.State) bool,
) error {
	if fault.Is(refusal, fault.StateConflict) || fault.Is(refusal, fault.QuoteExpired) {
		if now, err := r.own(c, v); err == nil && isDone(now) {
			return r.charged(c, now, what)
		}
	}
	return refused(c, refusal)
}

func (r *Routes) mailLink(c *fiber.Ctx) error {
	if err := r.Customers.MailLink(c.UserContext(), c.Params("link")); err != nil && !fault.Is(err, fault.StateConflict) {
		return err
	}
	return done(c, "mailed")
}

// own is a subscription of the visitor.
func (r *Routes) own(c *fiber.Ctx, v customers.Visit) (subscription.State, error) {
	s, err := r.Subscriptions.Get(c.UserContext(), v.Customer.CreatorID, c.Params("subscription"))
	if err == nil && s.CustomerID != v.Customer.ID {
		err = fault.NotFound("subscription")
	}
	return s, err
}

// ownToCharge is own for what may charge the customer's card: it counts like a card that they type.
func (r *Routes) ownToCharge(c *fiber.Ctx, v customers.Visit) (subscription.State, error) {
	s, err := r.own(c, v)
	if err == nil {
		err = r.Payments.CountTry(c.UserContext(), s.CustomerID)
	}
	return s, err
}

func (r *Routes) cancel(c *fiber.Ctx, v customers.Visit) error {
	s, err := r.own(c, v)
	if err != nil {
		return err
	}
	if _, err := r.Subscriptions.Cancel(c.UserContext(), s.CreatorID, s.ID, true); err != nil {
		return r.repeated(c, v, err, "canceled", func(now subscription.State) bool { return now.Status.Terminal() })
	}
	return done(c, "canceled")
}

// pause pauses a plan where its creator lets customers do that.
func (r *Routes) pause(c *fiber.Ctx, v customers.Visit) error {
	s, err := r.own(c, v)
	if err != nil {
		return err
	}
	shown := newPlanView(layout.Reader(c), s)
	if err := r.complete(c.UserContext(), layout.Reader(c), &shown); err != nil {
		return err
	}
	isPaused := func(now subscription.State) bool { return now.Status == subscription.StatusPaused }
	if !shown.Pauses && !isPaused(s) {
		return done(c, "changed")
	}
	if _, err := r.Subscriptions.Pause(c.UserContext(), s.CreatorID, s.ID); err != nil {
		return r.repeated(c, v, err, "paused", isPaused)
	}
	return done(c, "paused")
}

// chooseCard makes a saved card the one that pays.
func (r *Routes) chooseCard(c *fiber.Ctx, v customers.Visit) error {
	err := r.Payments.ChooseCard(c.UserContext(), v.Customer.CreatorID, v.Customer.ID, c.Params("card"))
	if fault.Is(err, fault.NotFoundCode) {
		return done(c, "changed")
	}
	if err != nil {
		return err
	}
	return done(c, "chosen")
}

func (r *Routes) resume(c *fiber.Ctx, v customers.Visit) error {
	s, err := r.ownToCharge(c, v)
	if err != nil {
		return err
	}
	resumed, err := r.Subscriptions.ResumeOnPage(c.UserContext(), s.CreatorID, s.ID)
	if err != nil {
		return r.repeated(c, v, err, "resumed", func(now subscription.State) bool {
			ends := now.Status.Terminal() || now.CancelAtPeriodEnd
			return now.Charge != nil || !ends && now.Status != subscription.StatusPaused
		})
	}
	return r.charged(c, resumed, "resumed")
}

// wish is the plan that a form or a link names. It begins at once: a difference in the customer's favor is credit.
func wish(to choice) subscriptions.Change {
	return subscriptions.Change{
		Plan: to.Plan, Every: period.Cadence(to.Interval), Quantity: to.Quantity, Mode: subscription.ChargeNow,
	}
}

// quantityOf reads how many of a plan a customer wants; 0 for what is no such number.
func quantityOf(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > plan.MaxSeats {
		return 0
	}
	return n
}

func (r *Routes) change(c *fiber.Ctx, v customers.Visit) error {
	s, err := r.ownToCharge(c, v)
	if err != nil {
		return err
	}
	to := choice{Plan: c.FormValue("plan"), Interval: c.FormValue("interval")}
	if to.Plan == "" && newPlanView(layout.Reader(c), s).Seats > 0 {
		to.Quantity = quantityOf(c.FormValue("quantity"))
	}
	if to.Plan == "" && to.Quantity == 0 {
		return done(c, "changed")
	}
	change := wish(to)
	change.QuoteID, change.OnSession = c.FormValue("quote"), true
	changed, err := r.Subscriptions.ChangePlan(c.UserContext(), s.CreatorID, s.ID, change)
	if err != nil {
		return r.repeated(c, v, err, "plan", func(now subscription.State) bool {
			return now.Charge != nil || to.Quantity == now.Offer.Seats() ||
				to.Plan == now.Offer.PlanKey && change.Every == period.Every(now.Offer.Interval, now.Offer.IntervalCount)
		})
	}
	return r.charged(c, changed, "plan")
}

// charged redirects to the bank's challenge when the charge waits for the customer to confirm it, or says that its
// outcome is not known yet.
func (r *Routes) charged(c *fiber.Ctx, s subscription.State, what string) error {
	waits, err := r.waits(c.UserContext(), s)
	switch {
	case err != nil:
		return err
	case waits:
		return layout.SeeOther(c, path(c)+"/plans/"+s.ID+"/confirm")
	case s.Charge != nil:
		return done(c, "processing")
	}
	return done(c, what)
}

// paid says whether a payment was received, or that its outcome is not known yet.
func paid(c *fiber.Ctx, attempt payment.State) error {
	if attempt.Status != payment.Succeeded {
		return done(c, "processing")
	}
	return done(c, "paid")
}

func (r *Routes) pay(c *fiber.Ctx, v customers.Visit) error {
	s, err := r.ownToCharge(c, v)
	if err != nil {
		return err
	}
	attempt, err := r.Subscriptions.PayNow(c.UserContext(), s.CreatorID, s.ID)
	if err != nil {
		return r.repeated(c, v, err, "paid", func(now subscription.State) bool {
			return now.Charge != nil || now.Status == subscription.StatusActive
		})
	}
	if attempt.Status == payment.RequiresAction {
		return layout.SeeOther(c, path(c)+"/plans/"+s.ID+"/confirm")
	}
	return paid(c, attempt)
}

// challenge passes to the page's script how to lead the customer to their bank.
func (r *Routes) challenge(c *fiber.Ctx, v customers.Visit) error {
	s, err := r.own(c, v)
	if err != nil {
		return err
	}
	action, err := r.Subscriptions.Challenge(c.UserContext(), s.CreatorID, s.ID, r.layout.ClientAddress(c))
	return r.layout.SendChallenge(c, action, err)
}

// authenticate receives the customer back from their bank.
func (r *Routes) authenticate(c *fiber.Ctx, v customers.Visit) error {
	s, err := r.own(c, v)
	if err != nil {
		return err
	}
	attempt, err := r.Subscriptions.Confirm(
		c.UserContext(), s.CreatorID, s.ID, c.FormValue("approve") == "yes", r.layout.ClientAddress(c),
	)
	if err != nil {
		return refused(c, err)
	}
	return paid(c, attempt)
}

// addCard opens the page of a new card. It is stored, so that it counts like a card that is tried.
func (r *Routes) addCard(c *fiber.Ctx, v customers.Visit) error {
	if err := r.Payments.CountTry(c.UserContext(), v.Customer.ID); err != nil {
		return err
	}
	setup, err := r.Payments.OpenSetup(
		c.UserContext(), v.Customer.CreatorID, v.Customer.ID, r.layout.Config().BaseURL+path(c)+"?done=card",
	)
	if err != nil {
		return err
	}
	return layout.SeeOther(c, r.Payments.SetupURL(setup.ID))
}

func (r *Routes) removeCard(c *fiber.Ctx, v customers.Visit) error {
	err := r.Payments.RemoveCard(c.UserContext(), v.Customer.CreatorID, v.Customer.ID, c.Params("card"))
	if err != nil && !fault.Is(err, fault.NotFoundCode) {
		return err
	}
	return done(c, "removed")
}

// saveCard takes one of the sandbox's test cards, with the billing details beside it. Cards are chosen from a list: no
// card number is ever typed into a form.
func (r *Routes) saveCard(c *fiber.Ctx) error {
	page, err := r.Payments.SetupPage(c.UserContext(), c.Params("secret"), layout.Reader(c))
	if err == nil && !page.Expired && page.Setup.Status != cardsetup.Completed {
		err = r.placeWithCard(c, page.Setup.CreatorID, page.Setup.CustomerID)
	}
	if fault.Is(err, fault.ValidationFailed) {
		return r.showSetup(c, &place{Address: givenPlace(c), TaxID: c.FormValue("taxId")})
	}
	if err != nil {
		return err
	}
	_, err = r.Payments.SaveOnPage(
		c.UserContext(), c.Params("secret"),
		ports.CardInput{Number: c.FormValue("card"), Token: c.FormValue("confirmationToken")}, layout.Reader(c),
	)
	return r.saved(c, err)
}

func (r *Routes) challengeCard(c *fiber.Ctx) error {
	action, err := r.Payments.SetupChallenge(c.UserContext(), c.Params("secret"), r.layout.ClientAddress(c))
	return r.layout.SendChallenge(c, action, err)
}

func (r *Routes) authenticateCard(c *fiber.Ctx) error {
	_, err := r.Payments.AuthenticateOnPage(
		c.UserContext(), c.Params("secret"), c.FormValue("approve") == "yes", r.layout.ClientAddress(c),
	)
	return r.saved(c, err)
}

// saved redirects to the page of the setup, which shows the result or the next step. NOT_FOUND, RATE_LIMITED and
// unexpected errors show an error page.
func (r *Routes) saved(c *fiber.Ctx, err error) error {
	var refusal *fault.Error
	if err != nil && (!errors.As(err, &refusal) || refusal.Code == fault.NotFoundCode ||
		refusal.Code == fault.RateLimited) {
		return err
	}
	to := "/setup/" + c.Params("secret")
	if fault.Is(err, fault.ProcessorUnavailable) {
		to += "?done=later"
	}
	return layout.SeeOther(c, to)
}
