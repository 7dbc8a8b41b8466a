// Package document shows receipts, invoices, credit notes and payout statements as they were issued, on a page and as
// PDF. The secret in the address is the authorization.
package document

import (
	"embed"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/layout"
	core "sundry/core/document"
	"sundry/core/locale"
	"sundry/modules/invoicing"
	"sundry/ports"
)

//go:embed templates
var files embed.FS

// Routes serves the documents.
type Routes struct {
	layout    *layout.Layout
	pages     *layout.Pages
	documents *invoicing.Documents
}

// New ties the pages to the documents.
func New(l *layout.Layout, documents *invoicing.Documents) (*Routes, error) {
	pages, err := l.Pages(layout.Files{Name: "document", FS: files})
	if err != nil {
		return nil, err
	}
	return &Routes{l, pages, documents}, nil
}

// Mount adds the pages to the application.
func (r *Routes) Mount(app fiber.Router) {
	handle := r.layout.Handle
	app.Get("/d/:kind/:secret", layout.Compress(), handle(r.show))
	app.Get("/d/:kind/:secret/pdf", handle(r.pdf))
}

// page holds the data of the template.
type page struct {
	ports.Document
	Path string // /d/{kind}/{secret}
}

func (r *Routes) open(c *fiber.Ctx) (invoicing.Issued, error) {
	return r.documents.Open(c.UserContext(), core.Kind(c.Params("kind")), c.Params("secret"), layout.Reader(c))
}

func (r *Routes) show(c *fiber.Ctx) error {
	issued, err := r.open(c)
	if err != nil {
		return err
	}
	html, err := r.render(layout.Reader(c), page{issued.Page, "/d/" + c.Params("kind") + "/" + c.Params("secret")})
	if err != nil {
		return err
	}
	return layout.SendPrivate(c, html, layout.Policy{})
}

func (r *Routes) render(reader locale.Locale, p page) ([]byte, error) {
	return r.pages.Render(reader, "document.html", layout.View{
		Title: p.Title + " " + p.Number, Classes: "sheet", Page: p,
	})
}

func (r *Routes) pdf(c *fiber.Ctx) error {
	issued, err := r.open(c)
	if err != nil {
		return err
	}
	content, err := r.documents.PDF(issued)
	if err != nil {
		return err
	}
	return layout.SendPDF(c, issued.Number, content)
}
