package dashboard

import (
	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/adapters/web/layout"
	"sundry/core/fault"
)

// showConfirm asks before it confirms: programs that check mails open every link in them.
func (r *Routes) showConfirm(c *fiber.Ctx, token string) error {
	creator, err := r.Identity.CheckConfirmation(c.UserContext(), c.Params("link"))
	if fault.Is(err, fault.NotFoundCode) {
		c.Status(fiber.StatusNotFound)
		return r.sendGuest(c, "confirmover.html", "This link no longer works", guestView{})
	}
	if err != nil {
		return err
	}
	return r.sendGuest(c, "confirm.html", "Confirm your email address", guestView{Form: ui.Form{
		ID: "confirm", Action: base + "/confirm/" + c.Params("link"), Token: token, Submit: "Confirm", Wide: true,
		Fields: []ui.Field{{Name: "email", Label: "Email", Type: "email", Value: creator.Email, ReadOnly: true}},
	}})
}

func (r *Routes) confirm(c *fiber.Ctx, token string) error {
	err := r.Identity.ConfirmEmail(c.UserContext(), c.Params("link"))
	if fault.Is(err, fault.NotFoundCode) {
		return r.showConfirm(c, token)
	}
	if err != nil {
		return err
	}
	return layout.SeeOther(c, base)
}

// askConfirmation sends another link.
func (r *Routes) askConfirmation(c *fiber.Ctx, v *visit) error {
	err := r.Identity.AskEmailConfirmation(c.UserContext(), v.account())
	return r.result(c, base, err, v.say("A link is on its way to %s.", v.Creator.Email))
}

// confirmationNote tells a creator what keeps them from selling.
func confirmationNote(v *visit) []ui.Part {
	if !v.Creator.EmailUnconfirmed {
		return nil
	}
	again := v.button("Send another link", base+"/confirmation")
	return []ui.Part{{Kind: "note", Data: ui.Note{
		Tone: "wait",
		Text: v.say(
			"Confirm your email address to publish and sell: open the link that we mailed to %s.", v.Creator.Email,
		),
		Action: &again,
	}}}
}
