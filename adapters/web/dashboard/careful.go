package dashboard

import (
	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
)

// againField is the member with the password that is asked for again.
const againField = "passwordAgain"

// careful adds the target of a form about money or access. Where the sign-in is a while ago, it asks for the password
// first and sends the same form on.
func (r *Routes) careful(at fiber.Router, path string, handle handler) {
	r.post(at, path, func(c *fiber.Ctx, v *visit) error {
		if v.Confirmed {
			return handle(c, v)
		}
		password := c.FormValue(againField)
		if password == "" {
			return r.askPassword(c, v, nil)
		}
		if err := r.Identity.ConfirmBrowser(c.UserContext(), v.Browser, password, r.client(c)); err != nil {
			return r.askPassword(c, v, err)
		}
		return handle(c, v)
	})
}

// askPassword shows a page whose form has what was sent, and asks for the password.
func (r *Routes) askPassword(c *fiber.Ctx, v *visit, refused error) error {
	f := v.form("again", c.Path(), "Continue", ui.Field{
		Name: "username", Label: "Email", Type: "email", Value: v.User.Email, ReadOnly: true, Autocomplete: "username",
	}, ui.Field{
		Name: againField, Label: "Password", Type: "password", Required: true, Autocomplete: "current-password",
	})
	for key, value := range c.Request().PostArgs().All() {
		if name := string(key); name != tokenField && name != againField && name != "username" {
			f.Fields = append(f.Fields, ui.Hidden(name, string(value)))
		}
	}
	if refused != nil {
		if !f.Refuse(refused) || r.layout.Config().StatusOf(refused) >= fiber.StatusInternalServerError {
			return refused
		}
		c.Status(r.layout.Config().StatusOf(refused))
	}
	return r.send(c, v, ui.Page{
		Title: "Confirm that it’s you", Lead: "You signed in a while ago. Enter your password to go on.",
		Parts: []ui.Part{ui.FormPart(f)}, FormsLeadTo: r.PaysOut.PayoutOrigin,
	})
}
