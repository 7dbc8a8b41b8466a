package appointment

import (
	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/layout"
)

// meeting leads from the address that buyers have to the meeting at its provider, or shows that it is not there yet.
func (r *Routes) meeting(c *fiber.Ctx) error {
	m, err := r.booking.JoinMeeting(c.UserContext(), c.Params("room"))
	if err != nil {
		return err
	}
	if m.URL != "" {
		c.Set(fiber.HeaderReferrerPolicy, "no-referrer")
		return layout.SeeOther(c, m.URL)
	}
	p := page{
		reader: layout.ReaderOf(c, ""), Path: c.Path(), Title: m.Title, Seller: m.Seller.Name,
		Storefront: m.Seller.Profile,
	}
	return r.send(c, "meeting.html", "title.meeting", p)
}
