package portal

import (
	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/layout"
	"sundry/core/fault"
)

// find shows the page on which somebody asks for the link to what they bought from a creator.
func (r *Routes) find(c *fiber.Ctx) error {
	shop, err := r.Customers.Shop(c.UserContext(), c.Params("creator"))
	if err != nil {
		return err
	}
	return r.send(c, "portal_find.html", "portal.find.title", page{
		Path: "/find/" + c.Params("creator"), Seller: shop.Name, Storefront: shop.Profile,
		Notice: notices[c.Query("done")], Problem: problem(c),
	})
}

// askByEmail mails that link. The response is the same whether the address is known. A form of another site is refused:
// it would make its visitors ask for strangers.
func (r *Routes) askByEmail(c *fiber.Ctx) error {
	at := "/find/" + c.Params("creator")
	if site := c.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return layout.SeeOther(c, at)
	}
	if _, err := r.Customers.Shop(c.UserContext(), c.Params("creator")); err != nil {
		return err
	}
	err := r.Customers.AskByEmail(
		c.UserContext(), c.Params("creator"), c.FormValue("email"), r.layout.ClientAddress(c),
	)
	switch {
	case fault.Is(err, fault.ValidationFailed):
		return layout.SeeOther(c, at+"?done=email")
	case err != nil:
		return err
	}
	return layout.SeeOther(c, at+"?done=mailed")
}
