package dashboard

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/adapters/web/layout"
	core "sundry/core/identity"
	"sundry/modules/identity"
)

// stepsPath is the page of the user's own second step.
const stepsPath = base + "/security/steps"

func (r *Routes) mountSteps(at fiber.Router) {
	r.get(at, "/security/steps", r.steps)
	r.careful(at, "/security/steps/codes", r.makeRecoveryCodes)
	r.careful(at, "/security/steps/app", r.beginApp)
	r.get(at, "/security/steps/app", r.newApp)
	r.careful(at, "/security/steps/app/confirm", r.confirmApp)
	r.careful(at, "/security/steps/app/remove", r.removeApp)
	r.get(at, "/security/steps/passkey", r.newPasskey)
	r.careful(at, "/security/steps/passkey", r.addPasskey)
	r.careful(at, "/security/steps/passkeys/:id/remove", r.removePasskey)
}

func stepBadge(on bool) ui.Cell {
	if on {
		return ui.Badge("On", "ok")
	}
	return ui.Badge("Off", "mute")
}

// steps shows what the user signs in with beside the password.
func (r *Routes) steps(c *fiber.Ctx, v *visit) error {
	s, err := r.Identity.SecondStep(c.UserContext(), v.User)
	if err != nil {
		return err
	}
	badge := stepBadge(s.On())
	p := ui.Page{
		Nav: base + "/security", Title: "Two-step sign-in", Badge: &badge,
		Lead: "Beside your password, signing in takes a code of your phone or a passkey. A stolen password alone opens nothing.",
		Up:   &ui.Action{Label: "Password and sign-ins", Href: base + "/security"},
	}
	if v.LacksSecondStep {
		p.Parts = append(p.Parts, ui.NotePart("wait",
			"This account requires two-step sign-in. Add an authenticator app or a passkey to go on."))
	}
	if codes := r.takeRevealed(c); codes != "" {
		p.Parts = append(p.Parts,
			ui.NotePart("wait", "Keep these recovery codes where you find them without your phone. They are shown only now."),
			ui.CodePart("Recovery codes", "recovery-codes", codes))
	}
	p.Parts = append(p.Parts, appPart(v, s), r.passkeysPart(v, s))
	if s.On() {
		p.Parts = append(p.Parts, recoveryPart(v, s))
	}
	return r.send(c, v, p)
}

// turnsOff warns before the last second step is removed.
func (v *visit) turnsOff(s core.SecondStepState, question ui.Words) ui.Words {
	if !s.On() || factors(s) > 1 {
		return question
	}
	return v.say("%s Two-step sign-in is off then, and you’re signed out everywhere else.", question)
}

func factors(s core.SecondStepState) int {
	n := len(s.Passkeys)
	if len(s.AppSecret) > 0 {
		n++
	}
	return n
}

func appPart(v *visit, s core.SecondStepState) ui.Part {
	add := v.button("Add an app", stepsPath+"/app")
	part := ui.TextPart("Authenticator app", "An app on your phone shows a new code every 30 seconds.")
	part.Actions = []ui.Action{add}
	if len(s.AppSecret) > 0 {
		add.Label = "Replace"
		part = ui.Facts("Authenticator app", ui.Fact{Label: "Added", Value: v.moment(s.AppAddedAt)})
		part.Actions = []ui.Action{add, v.button("Remove", stepsPath+"/app/remove").Confirm(
			v.turnsOff(s, "Codes of the app no longer sign you in."),
		)}
	} else if !s.On() {
		part.Actions[0] = add.Primary()
	}
	return part
}

func (r *Routes) passkeysPart(v *visit, s core.SecondStepState) ui.Part {
	if len(s.Passkeys) == 0 {
		if !r.Identity.OffersPasskeys() {
			return ui.TextPart("Passkeys",
				"Passkeys need an address with a name, such as https://pay.example.com. This deployment has none.")
		}
		part := ui.TextPart("Passkeys", "A passkey signs you in with your fingerprint, face or screen lock, without a "+
			"password. It can’t be phished.")
		part.Actions = []ui.Action{ui.Link("Add a passkey", stepsPath+"/passkey")}
		return part
	}
	t := ui.Table{Label: "Passkeys", Heads: []ui.Head{{Label: "Name"}, {Label: "Added"}, {Label: "Last used"}, {}}}
	for _, k := range s.Passkeys {
		remove := v.button("Remove", stepsPath+"/passkeys/"+k.ID+"/remove").Confirm(
			v.turnsOff(s, "It no longer signs you in. Delete it on the device, too."),
		)
		t.Rows = append(t.Rows, ui.Row{Cells: []ui.Cell{
			ui.Text(k.Name), v.moment(k.CreatedAt), v.moment(k.LastUsedAt), {Actions: []ui.Action{remove}},
		}})
	}
	part := ui.TablePart("Passkeys", t)
	part.Actions = []ui.Action{ui.Link("Add a passkey", stepsPath+"/passkey")}
	return part
}

func recoveryPart(v *visit, s core.SecondStepState) ui.Part {
	part := ui.Facts("Recovery codes",
		ui.Fact{Label: "Unused", Value: ui.Text(v.text("%d of %d", len(s.Recovery), core.RecoveryCodes))},
		ui.Fact{Label: "Made", Value: v.moment(s.RecoveryMadeAt)})
	part.Lead = "Each signs you in once, when your phone is lost."
	part.Actions = []ui.Action{
		v.button("Make new codes", stepsPath+"/codes").Confirm("The codes from before no longer work."),
	}
	return part
}

// stepChanged leads back to the page, which shows recovery codes once where some were made.
func (r *Routes) stepChanged(c *fiber.Ctx, codes []string, words ui.Words) error {
	if len(codes) == 0 {
		return r.done(c, stepsPath, words)
	}
	return r.reveal(c, stepsPath, words, strings.Join(codes, "\n"))
}

func (r *Routes) makeRecoveryCodes(c *fiber.Ctx, v *visit) error {
	codes, err := r.Identity.MakeRecoveryCodes(c.UserContext(), v.Browser)
	if err != nil {
		return r.refused(c, stepsPath, err)
	}
	return r.stepChanged(c, codes, "You have ten new recovery codes.")
}

func (r *Routes) beginApp(c *fiber.Ctx, v *visit) error {
	if err := r.Identity.BeginApp(c.UserContext(), v.User); err != nil {
		return err
	}
	return layout.SeeOther(c, stepsPath+"/app")
}

// newApp shows the secret of the new app, for as long as the user has proved who they are.
func (r *Routes) newApp(c *fiber.Ctx, v *visit) error {
	if !v.Confirmed {
		return layout.SeeOther(c, stepsPath)
	}
	return r.newAppPage(c, v, nil)
}

func (r *Routes) newAppPage(c *fiber.Ctx, v *visit, refused error) error {
	secret, address, err := r.Identity.NewApp(c.UserContext(), v.User)
	if err != nil {
		return r.refused(c, stepsPath, err)
	}
	drawing, err := ui.QRCode(address, v.text("QR code for the authenticator app"))
	if err != nil {
		return err
	}
	code := codeField("code", "Code")
	code.Required, code.Hint = true, "The six digits that the app shows now."
	f := v.form("app", stepsPath+"/app/confirm", "Turn on", code)
	f.Cancel = stepsPath
	p := ui.Page{
		Nav: base + "/security", Title: "Add an authenticator app",
		Up: &ui.Action{Label: "Two-step sign-in", Href: stepsPath},
		Parts: []ui.Part{
			{Kind: "drawing", Title: "1. Scan this with the app", Data: drawing},
			ui.CodePart("Or type this key", "app-secret", secret),
		},
	}
	f.Title = "2. Enter the code"
	if refused != nil {
		return r.again(c, v, p, f, refused)
	}
	return r.ask(c, v, p, f)
}

func (r *Routes) confirmApp(c *fiber.Ctx, v *visit) error {
	codes, err := r.Identity.ConfirmApp(c.UserContext(), v.Browser, c.FormValue("code"))
	if err != nil {
		return r.newAppPage(c, v, err)
	}
	return r.stepChanged(c, codes, "The app is added. From now on signing in asks for its code.")
}

func (r *Routes) removeApp(c *fiber.Ctx, v *visit) error {
	err := r.Identity.RemoveApp(c.UserContext(), v.Browser)
	return r.result(c, stepsPath, err, "The app is removed.")
}

func (r *Routes) newPasskey(c *fiber.Ctx, v *visit) error { return r.newPasskeyPage(c, v, nil) }

func (r *Routes) newPasskeyPage(c *fiber.Ctx, v *visit, refused error) error {
	request, err := r.Identity.BeginPasskey(c.UserContext(), v.Browser)
	if err != nil {
		return err
	}
	f := passkeyForm(v.form("passkey", stepsPath+"/passkey", "Create passkey", ui.Field{
		Name: "name", Label: "Name", Value: v.browserName(c.Get(fiber.HeaderUserAgent)), Required: true,
		Hint: "So that you know later which device it is on.",
	}), request, "")
	f.Cancel = stepsPath
	p := ui.Page{
		Nav: base + "/security", Title: "Add a passkey", Up: &ui.Action{Label: "Two-step sign-in", Href: stepsPath},
		Lead: "Your browser asks where to keep it: on this device, on your phone or on a security key. This takes a script.",
	}
	if refused != nil {
		return r.again(c, v, p, *f, refused)
	}
	return r.ask(c, v, p, *f)
}

func (r *Routes) addPasskey(c *fiber.Ctx, v *visit) error {
	codes, err := r.Identity.AddPasskey(c.UserContext(), v.Browser, c.FormValue("name"), identity.PasskeyResponse{
		Ceremony: c.FormValue("ceremony"), Response: c.FormValue("passkey"),
	})
	if err != nil {
		return r.newPasskeyPage(c, v, err)
	}
	return r.stepChanged(c, codes, "The passkey is added. From now on signing in asks for it, or signs you in with it alone.")
}

func (r *Routes) removePasskey(c *fiber.Ctx, v *visit) error {
	err := r.Identity.RemovePasskey(c.UserContext(), v.Browser, c.Params("id"))
	return r.result(c, stepsPath, err, "The passkey is removed.")
}

// requireStepPart lets an owner require a second step of everybody.
func requireStepPart(v *visit) ui.Part {
	part := ui.TextPart("Two-step sign-in", "Everybody decides for themselves.")
	change := v.button("Require it of everybody", base+"/team/second-step", ui.Hidden("required", "yes"))
	change.Ask = "Who has none sets one up before they can go on. Their refresh tokens of the API end."
	if v.Creator.SecondStepRequired {
		part.Data = ui.Words("Required of everybody in this account.")
		change = v.button("Make it optional", base+"/team/second-step", ui.Hidden("required", ""))
		change.Ask = "Members can turn theirs off again."
	}
	part.Actions = []ui.Action{change}
	return part
}

func (r *Routes) requireSecondStep(c *fiber.Ctx, v *visit) error {
	required := c.FormValue("required") != ""
	if err := r.Identity.RequireSecondStep(c.UserContext(), v.User, required); err != nil {
		return r.refused(c, base+"/team", err)
	}
	if required {
		return r.done(c, base+"/team", "Two-step sign-in is required of everybody now.")
	}
	return r.done(c, base+"/team", "Two-step sign-in is optional now.")
}
