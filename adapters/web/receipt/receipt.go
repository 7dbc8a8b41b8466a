// Package receipt is the printable receipt of a paid session.
package receipt

import (
	"embed"
	"fmt"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/layout"
	"sundry/adapters/web/order"
	"sundry/core/country"
	"sundry/core/document"
	"sundry/modules/booking"
	"sundry/modules/checkout"
	"sundry/modules/customers"
	"sundry/modules/files"
	"sundry/modules/invoicing"
)

//go:embed templates static
var assets embed.FS

// Routes serves the receipt pages.
type Routes struct {
	layout *layout.Layout
	pages  *layout.Pages
	Deps
}

// Deps holds what the pages depend on.
type Deps struct {
	Sessions  *checkout.Service
	Booking   *booking.Service
	Documents *invoicing.Documents
	Customers *customers.Service
	Files     *files.Service
}

// New ties the page to the checkout.
func New(l *layout.Layout, d Deps) (*Routes, error) {
	pages, err := l.Pages(layout.Files{Name: "receipt", FS: assets, Shared: order.Folders()})
	if err != nil {
		return nil, err
	}
	return &Routes{l, pages, d}, nil
}

// Mount adds the page to the application.
func (r *Routes) Mount(app fiber.Router) {
	handle := r.layout.Handle
	app.Get("/r/:secret", layout.Compress(), handle(r.show))
	app.Get("/r/:secret/pdf", handle(r.pdf))
}

func (r *Routes) show(c *fiber.Ctx) error {
	secret := c.Params("secret")
	session, err := r.Sessions.PaidPage(c.UserContext(), secret)
	if err != nil {
		return err
	}
	credits, err := r.Documents.Credits(c.UserContext(), session.Session.CreatorID, session.Session.PaymentID)
	if err != nil {
		return err
	}
	shown := page{
		Order: order.New(session, layout.ReaderOf(c, session.Session.Buyer.Locale), "", r.Booking.ManageURL),
		Path:  "/r/" + secret, Credits: credits,
	}
	content, _, err := r.Files.Purchased(c.UserContext(), session.Session.CreatorID, session.Session.ID)
	if err != nil {
		return err
	}
	shown.Receipt.Files = order.FileLinks(shown.Reader, session.ReceiptURL, content)
	if shown.Recurring != nil {
		// The page may be shared, so it only offers to mail a link to the customer.
		if shown.ManageURL, err = r.Customers.AskURL(session.Session.CustomerID); err != nil {
			return err
		}
	}
	html, err := r.render(shown)
	if err != nil {
		return err
	}
	return layout.SendPrivate(c, html, layout.Policy{Scripts: "'self'"})
}

func (r *Routes) pdf(c *fiber.Ctx) error {
	session, err := r.Sessions.PaidPage(c.UserContext(), c.Params("secret"))
	if err != nil {
		return err
	}
	issued, err := r.Documents.Of(c.UserContext(), document.Receipt, session.Session.PaymentID, layout.Reader(c))
	if err != nil {
		return err
	}
	content, err := r.Documents.PDF(issued)
	if err != nil {
		return err
	}
	return layout.SendPDF(c, issued.Number, content)
}

// page holds the data of the template; Order.Receipt must be set.
type page struct {
	order.Order
	Path    string // /r/{secret}
	Credits []invoicing.CreditLink
	// ManageURL is the page on which a plan is managed and canceled; "" for a one-time purchase.
	ManageURL string
}

// Country returns the buyer's country by name.
func (p page) Country() string { return country.Name(p.Buyer.Country, p.Reader.Language) }

func (r *Routes) render(p page) ([]byte, error) {
	if p.Receipt == nil {
		return nil, fmt.Errorf("receipt %s: session has none", p.ID)
	}
	return r.pages.Render(p.Reader, "receipt.html", layout.View{
		Title: p.Reader.Text("receipt.title", p.Receipt.Number), Script: "receipt.js", Classes: "sheet",
		Accent: p.Storefront.AccentColor, Page: p,
	})
}
