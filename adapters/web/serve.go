package web

import (
	"log/slog"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/compress"

	"sundry/core/checkout"
	"sundry/core/fault"
	"sundry/modules/booking"
	"sundry/modules/selling"
)

// Routes are the pages over HTTP.
type Routes struct {
	pages   *Pages
	selling *selling.Service
	booking *booking.Service
	// statusOf is the API's one map from errors to statuses.
	statusOf func(error) int
	log      *slog.Logger
}

// NewRoutes ties the pages to the checkout and the calendar.
func NewRoutes(pages *Pages, sell *selling.Service, book *booking.Service, statusOf func(error) int, log *slog.Logger) *Routes {
	return &Routes{pages, sell, book, statusOf, log}
}

// Mount adds every page to the application. Compression is per route, so the JSON API
// beside them stays as it is.
func (r *Routes) Mount(app fiber.Router) {
	squeeze := compress.New()
	app.Get("/", squeeze, r.site(r.pages.LandingHTML))
	app.Get("/docs", squeeze, r.site(r.pages.DocsHTML))
	app.Get("/assets/:file", squeeze, r.asset)
	app.Get("/"+overlayScript, squeeze, r.overlay)
	app.Get("/c/:secret", squeeze, r.checkout)
	app.Get("/c/:secret/again", r.again)
	app.Get("/r/:secret", squeeze, r.receipt)
	app.Get("/l/:code", squeeze, r.link)
}

// asset serves a file by the hash in its name, for ever.
func (r *Routes) asset(c *fiber.Ctx) error {
	asset := r.pages.assets.Lookup(c.Path())
	if asset == nil {
		return fiber.ErrNotFound
	}
	c.Set(fiber.HeaderContentType, asset.ContentType)
	c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	c.Set(fiber.HeaderCacheControl, "public, max-age=31536000, immutable")
	return c.Send(asset.Body)
}

// overlay serves the script other origins load; its name never changes, so caches ask
// again after an hour.
func (r *Routes) overlay(c *fiber.Ctx) error {
	asset := r.pages.assets.byName[overlayScript]
	c.Set(fiber.HeaderContentType, asset.ContentType)
	c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	c.Set(fiber.HeaderCacheControl, "public, max-age=3600")
	c.Set(fiber.HeaderETag, asset.ETag)
	c.Set("Cross-Origin-Resource-Policy", "cross-origin")
	c.Set(fiber.HeaderAccessControlAllowOrigin, "*")
	if c.Fresh() {
		return c.SendStatus(fiber.StatusNotModified)
	}
	return c.Send(asset.Body)
}

// site serves a page that is the same for everybody.
func (r *Routes) site(render func() ([]byte, error)) fiber.Handler {
	return func(c *fiber.Ctx) error {
		html, err := render()
		if err != nil {
			return err
		}
		c.Set(fiber.HeaderCacheControl, "public, max-age=300")
		return send(c, html, "'self'", nil)
	}
}

// checkout shows a session in the state it is in.
func (r *Routes) checkout(c *fiber.Ctx) error {
	secret := c.Params("secret")
	page, err := r.selling.Page(c.UserContext(), secret)
	if err != nil {
		return r.fail(c, err)
	}
	view := checkoutView(page, secret, r.booking.ManageURL)
	view.Embedded = c.Query("embed") == "1" && page.Session.UIMode == checkout.Embedded
	if view.State == string(checkout.PagePaid) && c.Query("already") == "1" {
		view.State = "already_paid"
	}
	if view.CanChange() && c.Query("change") == "1" {
		view.State, view.Changing = string(checkout.PageChooseTime), true
	}
	if view.Choosing() {
		window, ok, err := r.booking.Window(c.UserContext(), view.Booking.ListingID, view.Booking.VariantID)
		if err != nil {
			return r.fail(c, err)
		}
		view.Booking.Calendar = calendarView(window, ok)
	}
	view.tellTime(countryOf(c.Get(fiber.HeaderAcceptLanguage)))
	if view.Buyer.Country == "" {
		view.Buyer.Country = countryOf(c.Get(fiber.HeaderAcceptLanguage))
	}
	nonce := newNonce()
	html, err := r.pages.CheckoutHTML(view, nonce)
	if err != nil {
		return r.fail(c, err)
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return send(c, html, "'nonce-"+nonce+"'", view.Parents)
}

func (r *Routes) receipt(c *fiber.Ctx) error {
	page, err := r.selling.PaidPage(c.UserContext(), c.Params("secret"))
	if err != nil {
		return r.fail(c, err)
	}
	view := checkoutView(page, "", r.booking.ManageURL)
	view.tellTime(countryOf(c.Get(fiber.HeaderAcceptLanguage)))
	html, err := r.pages.ReceiptHTML(ReceiptView{Checkout: view})
	if err != nil {
		return r.fail(c, err)
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return send(c, html, "'self'", nil)
}

// link opens a fresh session for whoever follows a payment link.
func (r *Routes) link(c *fiber.Ctx) error {
	url, err := r.selling.OpenLink(c.UserContext(), c.Params("code"), c.Queries())
	if err != nil {
		return r.fail(c, err)
	}
	return seeOther(c, url)
}

// again opens a fresh session for one that leads nowhere any more, in the overlay where that was there.
func (r *Routes) again(c *fiber.Ctx) error {
	url, err := r.selling.Again(c.UserContext(), c.Params("secret"))
	if err != nil {
		return r.fail(c, err)
	}
	return seeOther(c, inFrame(url, c.Query("embed") == "1"))
}

// seeOther sends the buyer on, from a form so that a reload does not send it again.
func seeOther(c *fiber.Ctx, url string) error {
	c.Set(fiber.HeaderCacheControl, "no-store")
	c.Set(fiber.HeaderReferrerPolicy, "no-referrer")
	return c.Redirect(url, fiber.StatusSeeOther)
}

// fail answers with a page in plain words: these addresses are opened by people.
func (r *Routes) fail(c *fiber.Ctx, err error) error {
	id := c.GetRespHeader(fiber.HeaderXRequestID)
	status := r.statusOf(err)
	if status >= fiber.StatusInternalServerError {
		r.log.ErrorContext(c.UserContext(), "page failed", slog.String("requestId", id),
			slog.String("route", c.Route().Path), slog.Any("error", err))
	}
	if fault.Is(err, fault.NotBookable) {
		status = fiber.StatusConflict // the address is right: what it leads to cannot be bought now
	}
	html, renderErr := r.pages.ErrorHTML(status, id)
	if renderErr != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	c.Status(status)
	return send(c, html, "'none'", nil)
}

// send answers a page with the headers every page has: no referrer that could give a
// secret away, no sniffing, and a policy that says who may frame it.
func send(c *fiber.Ctx, html []byte, scripts string, parents []string) error {
	c.Set(fiber.HeaderContentType, "text/html; charset=utf-8")
	c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	c.Set(fiber.HeaderReferrerPolicy, "no-referrer")
	c.Set(fiber.HeaderContentSecurityPolicy, contentPolicy(scripts, parents))
	if len(parents) == 0 {
		c.Set(fiber.HeaderXFrameOptions, "DENY")
	}
	return c.Send(html)
}

// sendForm is send for a page without scripts that sends its own forms.
func sendForm(c *fiber.Ctx, html []byte) error {
	err := send(c, html, "'none'", nil)
	c.Set(fiber.HeaderContentSecurityPolicy, formPolicy())
	return err
}

// checkoutView is the session as the pages show it; manage gives the address of an appointment's own page.
func checkoutView(p selling.Page, secret string, manage func(appointmentID string) string) Checkout {
	s := p.Session
	view := Checkout{
		ID: s.ID, Secret: secret, State: string(p.State), Seller: p.SellerName,
		Item:     Item{Title: s.Offer.Title, Type: s.Offer.ListingType, Plan: planName(s)},
		Currency: string(s.Total.Currency),
		Subtotal: s.Subtotal.Minor, Discount: s.Discount.Minor, Tax: s.Tax.Minor, Total: s.Total.Minor,
		TaxIncluded: s.Subtotal.Minor-s.Discount.Minor == s.Total.Minor,
		NeedsCard:   s.NeedsCard(),
		Buyer:       Buyer{Email: s.Email, Name: s.Buyer.Name, Country: s.Buyer.Country, PostalCode: s.Buyer.PostalCode},
		CancelURL:   s.CancelURL,
		AgainURL:    p.AgainURL,
		RedirectURL: p.RedirectURL,
		Booking:     bookingView(p, manage),
		Now:         p.Now,
		ExpiresAt:   s.ExpiresAt,
	}
	if s.UIMode == checkout.Embedded {
		view.Parents = origins(s.SuccessURL, s.CancelURL)
	}
	if s.Offer.Recurring() {
		view.Recurring = recurring(p)
	}
	if s.LastError.Code != "" {
		view.Failure = &Failure{Code: s.LastError.Code, Message: s.LastError.Message}
	}
	if s.Status == checkout.StatusPaid {
		view.Receipt = &Receipt{
			Number: s.ReceiptNumber, URL: p.ReceiptURL, PaidAt: s.PaidAt,
			Card: cardName(p.CardBrand, p.CardLast4), DownloadURL: s.Offer.DownloadURL,
		}
	}
	return view
}

func recurring(p selling.Page) *Recurring {
	offer := p.Session.Offer
	out := &Recurring{
		Unit: string(offer.Interval), Count: offer.IntervalCount,
		Amount: offer.Price.Minor, TrialDays: offer.TrialDays,
	}
	if offer.TrialDays > 0 {
		start := p.Now
		if p.Session.Status == checkout.StatusPaid {
			start = p.Session.PaidAt
		}
		out.FirstChargeAt = start.AddDate(0, 0, offer.TrialDays)
	}
	return out
}

// planName is empty where the plan would only repeat the title.
func planName(s checkout.State) string {
	if s.Offer.PlanName == s.Offer.Title || s.Offer.PlanKey == "default" {
		return ""
	}
	return s.Offer.PlanName
}

// cardName is how receipts name a card: "Visa •••• 4242".
func cardName(brand, last4 string) string {
	if last4 == "" {
		return ""
	}
	if brand != "" {
		brand = strings.ToUpper(brand[:1]) + brand[1:] + " "
	}
	return brand + "•••• " + last4
}

// origins are those of the given addresses, each once.
func origins(addresses ...string) []string {
	var out []string
	for _, a := range addresses {
		if o := originOf(a); o != "" && !slices.Contains(out, o) {
			out = append(out, o)
		}
	}
	return out
}

// countryOf guesses the buyer's country from the first language that names one: "de-AT" is
// Austria, "de" is nothing. It only preselects a list that the buyer sees.
func countryOf(acceptLanguage string) string {
	for tag := range strings.SplitSeq(acceptLanguage, ",") {
		tag, _, _ = strings.Cut(strings.TrimSpace(tag), ";")
		parts := strings.Split(tag, "-")
		region := strings.ToUpper(parts[len(parts)-1])
		if len(parts) > 1 && slices.ContainsFunc(countries, func(c country) bool { return c.Code == region }) {
			return region
		}
	}
	return ""
}
