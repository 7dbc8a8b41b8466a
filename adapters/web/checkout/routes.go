// Package checkout is the hosted checkout: choosing times, paying, authenticating, and how it ended, hosted or in the
// overlay, and the payment links that lead to it.
//
// Its pages carry no cookies and a nonce content policy, and no code of others but the card processor's, where it
// takes the card.
package checkout

import (
	"embed"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/layout"
	"sundry/adapters/web/order"
	core "sundry/core/checkout"
	"sundry/core/locale"
	"sundry/modules/booking"
	"sundry/modules/checkout"
	"sundry/modules/customers"
	"sundry/modules/files"
)

//go:embed templates static
var assets embed.FS

// overlayScript keeps its plain name because integrators write it into their own pages.
const overlayScript = "sundry.js"

// Routes serves the hosted checkout and the overlay.
type Routes struct {
	layout *layout.Layout
	pages  *layout.Pages
	Deps
}

// Deps holds what the pages depend on.
type Deps struct {
	Sessions  *checkout.Service
	Booking   *booking.Service
	Customers *customers.Service
	Files     *files.Service
}

// New ties the pages to the checkout, the calendar, the portal and what buyers download.
func New(l *layout.Layout, d Deps) (*Routes, error) {
	pages, err := l.Pages(layout.Files{Name: "checkout", FS: assets, Shared: order.Folders()})
	if err != nil {
		return nil, err
	}
	return &Routes{l, pages, d}, nil
}

// Mount adds the pages to the application.
func (r *Routes) Mount(app fiber.Router) {
	handle := r.layout.Handle
	compress := layout.Compress()
	app.Get("/"+overlayScript, compress, r.overlay)
	app.Get("/c/:secret", compress, handle(r.show))
	app.Get("/c/:secret/again", handle(r.again))
	app.Get("/l/:code", compress, handle(r.link))
	app.Get("/preview/:token/:until", compress, handle(r.preview))
}

// overlay serves the script other origins load; its name never changes, so caches ask again after an hour.
func (r *Routes) overlay(c *fiber.Ctx) error {
	asset := r.layout.Assets().Named(overlayScript)
	c.Set(fiber.HeaderContentType, asset.ContentType)
	c.Set(fiber.HeaderCacheControl, "public, max-age=3600")
	c.Set(fiber.HeaderETag, asset.ETag)
	c.Set("Cross-Origin-Resource-Policy", "cross-origin")
	c.Set(fiber.HeaderAccessControlAllowOrigin, "*")
	if c.Fresh() {
		return c.SendStatus(fiber.StatusNotModified)
	}
	return c.Send(asset.Body)
}

// show renders a session in the state it is in.
func (r *Routes) show(c *fiber.Ctx) error {
	secret := c.Params("secret")
	session, err := r.Sessions.Page(c.UserContext(), secret)
	if err != nil {
		return err
	}
	p := page{Order: order.New(session, layout.ReaderOf(c, session.Session.Buyer.Locale), secret, r.Booking.ManageURL)}
	p.Embedded = c.Query("embed") == "1" && session.Session.UIMode == core.Embedded
	if p.DiscountCode == "" {
		p.RefusedCode = c.Query(checkout.RefusedCode)
	}
	if p.State == string(core.PagePaid) && c.Query("already") == "1" {
		p.State = "already_paid"
	}
	if p.CanChange() && c.Query("change") == "1" {
		p.State, p.Changing = string(core.PageChooseTime), true
	}
	if p.Choosing() {
		if p.Booking.Calendar, err = r.calendar(c.UserContext(), session.Session); err != nil {
			return err
		}
	}
	if p.Receipt != nil {
		content, opens, err := r.Files.Purchased(c.UserContext(), session.Session.CreatorID, session.Session.ID)
		if err != nil {
			return err
		}
		if p.Receipt.Files = order.FileLinks(p.Reader, session.ReceiptURL, content); !opens {
			p.Receipt.DownloadURL = ""
		}
	}
	if p.Receipt != nil && p.Recurring != nil {
		// The page may be shared, so it only offers to mail a link to the customer.
		if p.ManageURL, err = r.Customers.AskURL(session.Session.CustomerID); err != nil {
			return err
		}
	}
	if p.Buyer.Country == "" {
		p.Guess = locale.RegionOf(c.Get(fiber.HeaderAcceptLanguage))
	}
	nonce := layout.NewNonce()
	html, err := r.render(p, nonce)
	if err != nil {
		return err
	}
	policy := layout.Policy{Scripts: layout.Nonce(nonce), Parents: p.Parents}
	if p.NeedsCard {
		policy.Form = r.layout.Config().Form.Script
	}
	return layout.SendPrivate(c, html, policy)
}

// link opens a new session for a reader who follows a payment link. HEAD checks the link and opens nothing.
func (r *Routes) link(c *fiber.Ctx) error {
	visitor := checkout.Visitor{Network: r.layout.ClientAddress(c), Country: r.layout.ClientCountry(c)}
	if c.Method() == fiber.MethodHead {
		return exists(c, r.Sessions.CheckLink(c.UserContext(), c.Params("code"), visitor))
	}
	url, err := r.Sessions.OpenLink(c.UserContext(), c.Params("code"), c.Queries(), visitor)
	if err != nil {
		return err
	}
	return layout.SeeOther(c, url)
}

// exists responds to HEAD for an address at which GET opens a session.
func exists(c *fiber.Ctx, err error) error {
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return nil
}

// again opens a new session in the place of one that is terminal, in the overlay where that was there. HEAD opens
// nothing.
func (r *Routes) again(c *fiber.Ctx) error {
	if c.Method() == fiber.MethodHead {
		return exists(c, r.Sessions.CheckAgain(c.UserContext(), c.Params("secret")))
	}
	url, err := r.Sessions.Again(c.UserContext(), c.Params("secret"), r.layout.ClientAddress(c))
	if err != nil {
		return err
	}
	return layout.SeeOther(c, order.InFrame(url, c.Query("embed") == "1"))
}

// preview shows how a listing's payment page looks, whether it is published or not.
func (r *Routes) preview(c *fiber.Ctx) error {
	session, err := r.Sessions.Preview(c.UserContext(), c.Params("token"), c.Params("until"))
	if err != nil {
		return err
	}
	return r.SendPreview(c, session)
}

// SendPreview responds with the page of a session that does not exist. Pages of ours may frame it.
func (r *Routes) SendPreview(c *fiber.Ctx, session checkout.Page) error {
	p := page{Order: order.New(session, layout.Reader(c), "", r.Booking.ManageURL), Preview: true}
	html, err := r.render(p, "")
	if err != nil {
		return err
	}
	return layout.SendPrivate(c, html, layout.Policy{Parents: []string{"'self'"}})
}
