// Package download sends buyers the files of what they have bought: from a link on their receipt to an address that
// opens for a short time, and from there the bytes.
package download

import (
	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/layout"
	"sundry/modules/checkout"
	"sundry/modules/files"
)

// Routes serves the addresses of bought files.
type Routes struct {
	layout   *layout.Layout
	sessions *checkout.Service
	files    *files.Service
}

// New ties the addresses to receipts and files.
func New(l *layout.Layout, sessions *checkout.Service, content *files.Service) *Routes {
	return &Routes{l, sessions, content}
}

// Mount adds the addresses to the application.
func (r *Routes) Mount(app fiber.Router) {
	handle := r.layout.Handle
	app.Get("/r/:secret/files/:file", handle(r.start))
	app.Get("/f/:until/:checkout/:token", handle(r.send))
}

// start leads from a receipt to the bytes of one of its files.
func (r *Routes) start(c *fiber.Ctx) error {
	page, err := r.sessions.PaidPage(c.UserContext(), c.Params("secret"))
	if err != nil {
		return err
	}
	if c.Method() == fiber.MethodHead { // a question about the file is no download of it
		state, err := r.files.Find(c.UserContext(), page.Session.CreatorID, page.Session.ID, c.Params("file"))
		if err != nil {
			return err
		}
		return layout.SendFile(c, state, r.files.Bytes)
	}
	at, err := r.files.Start(
		c.UserContext(), page.Session.CreatorID, page.Session.ID, c.Params("file"), r.layout.ClientAddress(c),
	)
	if err != nil {
		return err
	}
	return layout.SeeOther(c, at)
}

func (r *Routes) send(c *fiber.Ctx) error {
	state, err := r.files.Open(c.UserContext(), c.Params("until"), c.Params("checkout"), c.Params("token"))
	if err != nil {
		return err
	}
	return layout.SendFile(c, state, r.files.Bytes)
}
