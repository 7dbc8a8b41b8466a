package dashboard

import (
	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/modules/identity"
)

// again ends the names of the fields that are asked for once more, which a form has beside its own.
const again = "Again"

// careful adds the target of a form about money or access. Where the sign-in is a while ago, it asks for the password
// or the second step first, and sends the same form on.
func (r *Routes) careful(at fiber.Router, path string, handle handler) {
	r.post(at, path, func(c *fiber.Ctx, v *visit) error {
		if v.Confirmed {
			return handle(c, v)
		}
		password, proof := c.FormValue("password"+again), readProof(c, again)
		if password == "" && proof == (identity.Proof{}) {
			return r.askAgain(c, v, nil)
		}
		if err := r.Identity.ConfirmBrowser(c.UserContext(), v.Browser, password, proof, r.client(c)); err != nil {
			return r.askAgain(c, v, err)
		}
		return handle(c, v)
	})
}

// readProof reads the second step that a form sends.
func readProof(c *fiber.Ctx, suffix string) identity.Proof {
	p := identity.Proof{Code: c.FormValue("code" + suffix)}
	if response := c.FormValue("passkey" + suffix); response != "" {
		p.Passkey = identity.PasskeyResponse{Ceremony: c.FormValue("ceremony" + suffix), Response: response}
	}
	return p
}

// passkeyForm makes a form send a passkey; nil where none is asked for.
func passkeyForm(f ui.Form, request identity.PasskeyRequest, suffix string) *ui.Form {
	if request.Options == "" {
		return nil
	}
	f.Passkey = &ui.Passkey{Options: request.Options, Ceremony: request.Ceremony, Suffix: suffix}
	return &f
}

// askAgain shows a page whose forms have what was sent, and ask for the password or the second step.
func (r *Routes) askAgain(c *fiber.Ctx, v *visit, refused error) error {
	app, request, err := r.Identity.BeginConfirmation(c.UserContext(), v.Browser)
	if err != nil {
		return err
	}
	sent := sentFields(c)
	f := v.form("again", c.Path(), "Continue", ui.Field{
		Name: "username", Label: "Email", Type: "email", Value: v.User.Email, ReadOnly: true, Autocomplete: "username",
	}, ui.Field{
		Name: "password" + again, Label: "Password", Type: "password", Required: !app, Autocomplete: "current-password",
	})
	lead := ui.Words("You signed in a while ago. Enter your password to go on.")
	if app {
		lead = "You signed in a while ago. Enter your password, or the code of your authenticator app, to go on."
		f.Fields = append(f.Fields, codeField("code"+again, "Code"))
	}
	f.Fields = append(f.Fields, sent...)
	if refused != nil {
		if !f.Refuse(refused) || r.layout.Config().StatusOf(refused) >= fiber.StatusInternalServerError {
			return refused
		}
		c.Status(r.layout.Config().StatusOf(refused))
	}
	parts := []ui.Part{ui.FormPart(f)}
	other := v.form("again-passkey", c.Path(), "Use a passkey", sent...)
	if p := passkeyForm(other, request, again); p != nil {
		parts = append(parts, ui.FormPart(*p))
	}
	return r.send(c, v, ui.Page{
		Title: "Confirm that it’s you", Lead: lead, Parts: parts, FormsLeadTo: r.PaysOut.PayoutOrigin,
	})
}

// sentFields returns the fields of the form that waits for the confirmation.
func sentFields(c *fiber.Ctx) (fields []ui.Field) {
	for key, value := range c.Request().PostArgs().All() {
		switch name := string(key); name {
		case tokenField, "username", "password" + again, "code" + again, "passkey" + again, "ceremony" + again:
		default:
			fields = append(fields, ui.Hidden(name, string(value)))
		}
	}
	return fields
}

// codeField takes a code of an authenticator app or a recovery code.
func codeField(name string, label ui.Words) ui.Field {
	return ui.Field{
		Name: name, Label: label, Autocomplete: "one-time-code", Mono: true,
		Hint: "Six digits, or one of your recovery codes.",
	}
}
