package dashboard

import (
	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/core/fault"
	"sundry/modules/identity"
)

// secondStepPage asks for the second step of a sign-in whose password was right.
func (r *Routes) secondStepPage(c *fiber.Ctx, token, pending string, refused error) error {
	p, err := r.Identity.PendingSignIn(c.UserContext(), pending, token)
	if fault.Is(err, fault.NotFoundCode) {
		return r.startAgain(c, token)
	}
	if err != nil {
		return err
	}
	next := safeNext(c.FormValue("next", c.Query("next")))
	fields := []ui.Field{ui.Hidden("pending", pending), ui.Hidden("next", next)}
	code := codeField("code", "Code")
	code.Required = true
	if !p.App {
		code.Label, code.Hint = "Recovery code", "One of those that you kept when you turned this on."
	}
	f := ui.Form{
		ID: "second-step", Action: base + "/sign-in/step", Token: token, Submit: "Sign in", Wide: true,
		Fields: append([]ui.Field{code}, fields...),
	}
	if refused != nil {
		if !f.Refuse(refused) {
			return refused
		}
		c.Status(r.layout.Config().StatusOf(refused))
	}
	return r.sendGuest(c, "secondstep.html", "Two-step sign-in", guestView{
		Form: f, Path: addressOf(base+"/sign-in", "next", next), App: p.App, Passkey: passkeyForm(ui.Form{
			ID: "second-step-passkey", Action: base + "/sign-in/step", Token: token, Submit: "Use a passkey", Wide: true,
			Fields: fields,
		}, p.Passkey, ""),
	})
}

// startAgain shows the sign-in to who took too long for its second step.
func (r *Routes) startAgain(c *fiber.Ctx, token string) error {
	f := signInForm(c, token)
	f.Problem = "That took too long. Sign in again."
	c.Status(fiber.StatusUnauthorized)
	return r.signInPage(c, token, f)
}

func (r *Routes) finishSignIn(c *fiber.Ctx, token string) error {
	pending := c.FormValue("pending")
	cookie, err := r.Identity.FinishSignIn(c.UserContext(), pending, token, readProof(c, ""), r.client(c))
	if fault.Is(err, fault.NotFoundCode) {
		return r.startAgain(c, token)
	}
	if err != nil {
		return r.secondStepPage(c, token, pending, err)
	}
	return r.enter(c, cookie)
}

func (r *Routes) signInPasskey(c *fiber.Ctx, token string) error {
	response := identity.PasskeyResponse{Ceremony: c.FormValue("ceremony"), Response: c.FormValue("passkey")}
	cookie, err := r.Identity.SignInPasskey(c.UserContext(), token, response, r.client(c))
	if r.sentOn(c, err) {
		return nil
	}
	if err != nil {
		return r.refuseSignIn(c, token, err)
	}
	return r.enter(c, cookie)
}
