package dashboard

import (
	"context"
	"strings"

	"github.com/gofiber/fiber/v2"

	core "sundry/core/identity"
	"sundry/core/image"
	"sundry/ports"
)

func (r *Routes) mountSettings(at fiber.Router) {
	r.get(at, "/settings", r.settings)
	r.post(at, "/settings", r.saveSettings)
	r.get(at, "/security", r.security)
	r.post(at, "/security/password", r.changePassword)
	r.post(at, "/security/browsers/:id/sign-out", r.signOutOther)
	r.get(at, "/security/log", r.accessLog)
}

// address writes a network of one address as that address.
func address(network string) string { return strings.TrimSuffix(network, "/32") }

func settingsForm(v *visit) form {
	s := v.Creator
	color := s.Profile.AccentColor
	f := v.form("settings", base+"/settings", "Save",
		field{Name: "displayName", Label: "Name", Value: s.DisplayName, Required: true, Hint: "On your checkout, receipts and mails."},
		field{Name: "accentColor", Label: "Accent color", Value: color, Mono: true, Half: true, Placeholder: "#0b5d4a", Hint: "Buttons of your checkout are painted with it."},
		field{Name: "supportEmail", Label: "Support email", Type: "email", Value: s.Profile.SupportEmail, Half: true, Hint: "Where buyers write to."},
		field{Name: "refundPolicy", Label: "Refund policy", Type: "textarea", Rows: 6, Value: s.Profile.RefundPolicy, Hint: "Buyers can read it before they pay."})
	if hasLogoElsewhere(v) {
		f.Fields = append(f.Fields, field{Name: "logoUrl", Label: "Logo address", Type: "url", Value: s.Profile.LogoURL, Hint: "Your logo is shown from another site. Upload it above to keep it here."})
	}
	return f
}

// hasLogoElsewhere reports whether the logo is on another site, as the API can set it.
func hasLogoElsewhere(v *visit) bool {
	logo := v.Creator.Profile.LogoURL
	return logo != "" && image.IDOf(logo) == ""
}

func settingsPage() page {
	return page{Nav: base + "/settings", Title: "Settings", Lead: "How buyers see you.", Actions: []action{link("Password and sign-ins", base+"/security")}}
}

func (r *Routes) settings(c *fiber.Ctx, v *visit) error {
	p := settingsPage()
	p.Parts = append(logoPart(v), formPart(settingsForm(v)))
	p.Aside = []part{facts("Account", fact{"Email", text(v.Creator.Email)}, fact{"ID", copied(v.Creator.ID)}, fact{"Since", v.moment(v.Creator.CreatedAt)})}
	return r.send(c, v, p)
}

func (r *Routes) saveSettings(c *fiber.Ctx, v *visit) error {
	in := read(c)
	edit := core.ProfileEdit{
		DisplayName: new(in.text("displayName")), AccentColor: new(in.text("accentColor")), SupportEmail: new(in.text("supportEmail")),
		RefundPolicy: new(in.text("refundPolicy")),
	}
	if hasLogoElsewhere(v) {
		edit.LogoURL = new(in.text("logoUrl"))
	}
	if _, err := r.Identity.EditProfile(c.UserContext(), v.account(), edit); err != nil {
		return r.again(c, v, settingsPage(), settingsForm(v), err)
	}
	return r.done(c, base+"/settings", "Saved. Your checkout shows it from now on.")
}

func passwordForm(v *visit) form {
	f := v.form("password", base+"/security/password", "Change password",
		field{Name: "username", Label: "Email", Type: "email", Value: v.Creator.Email, ReadOnly: true, Autocomplete: "username"},
		field{Name: "current", Label: "Current password", Type: "password", Required: true, Autocomplete: "current-password", Half: true},
		field{Name: "password", Label: "New password", Type: "password", Required: true, Autocomplete: "new-password", Half: true, Hint: "At least 10 characters."})
	f.Title, f.Lead = "Password", "Changing it signs you out everywhere else."
	return f
}

func (r *Routes) securityPage(c *fiber.Ctx, v *visit) (page, error) {
	p := page{Nav: base + "/settings", Title: "Password and sign-ins", Up: &action{Label: "Settings", Href: base + "/settings"}, Actions: []action{link("Access log", base+"/security/log")}}
	browsers, err := r.Identity.Browsers(c.UserContext(), v.account())
	if err != nil {
		return p, err
	}
	t := table{Label: "Browsers", Heads: []head{{Label: "Browser"}, {Label: "Address"}, {Label: "Last used"}, {Label: "Since"}, {}}}
	for _, b := range browsers {
		name, buttons := cell{Text: browserName(b.UserAgent)}, cell{}
		if b.ID == v.SessionID {
			name.Sub = "This browser"
		} else {
			buttons.Actions = []action{v.button("Sign out", base+"/security/browsers/"+b.ID+"/sign-out")}
		}
		t.Rows = append(t.Rows, row{[]cell{name, text(orDash(address(b.Address))), v.moment(b.LastSeenAt), v.moment(b.CreatedAt), buttons}})
	}
	signedIn := tablePart("Where you are signed in", t)
	signedIn.Actions = []action{v.button("Sign out everywhere", base+"/sign-out-everywhere").asking("Every browser is signed out, this one too, and refresh tokens of the API end.")}
	p.Parts = []part{signedIn}
	return p, nil
}

func (r *Routes) security(c *fiber.Ctx, v *visit) error {
	p, err := r.securityPage(c, v)
	if err != nil {
		return err
	}
	p.Parts = append(p.Parts, formPart(passwordForm(v)))
	return r.send(c, v, p)
}

func (r *Routes) changePassword(c *fiber.Ctx, v *visit) error {
	if err := r.Identity.ChangePassword(c.UserContext(), v.Browser, c.FormValue("current"), c.FormValue("password"), r.client(c)); err != nil {
		p, pageErr := r.securityPage(c, v)
		if pageErr != nil {
			return pageErr
		}
		return r.again(c, v, p, passwordForm(v), err)
	}
	return r.done(c, base+"/security", "Your password is changed, and you are signed out everywhere else.")
}

// signOutOther ends a sign-in of the account in another browser.
func (r *Routes) signOutOther(c *fiber.Ctx, v *visit) error {
	if err := r.Identity.SignOutOther(c.UserContext(), v.account(), c.Params("id")); err != nil {
		return r.refused(c, base+"/security", err)
	}
	return r.done(c, base+"/security", "Signed out there.")
}

var accessWords = map[core.AccountEventKind]cell{
	core.SignedUp: badge("Signed up", "ok"), core.SignedIn: badge("Signed in", "ok"), core.SignInFailed: badge("Wrong password", "bad"),
	core.SignedOutEverywhere: badge("Signed out everywhere", "mute"), core.PasswordChanged: badge("Password changed", "wait"), core.PasswordReset: badge("Password set by mail", "wait"),
	core.KeyCreated: badge("API key created", "wait"), core.KeyRevoked: badge("API key revoked", "mute"),
}

func (r *Routes) accessLog(c *fiber.Ctx, v *visit) error {
	options := []option{{Label: "Everything"}}
	for _, kind := range core.AccountEventKinds() {
		options = append(options, option{Value: string(kind), Label: accessWords[kind].Text})
	}
	l := &list[core.AccountEvent]{
		path: base + "/security/log", name: "access-log",
		filters: []filter{{Name: "kind", Label: "What", Options: options}, {Name: "q", Label: "Search", Placeholder: "Address or browser"}},
		columns: []column[core.AccountEvent]{
			{label: "What", cell: func(e core.AccountEvent) cell { return accessWords[e.Kind] }},
			{label: "Address", cell: func(e core.AccountEvent) cell { return text(orDash(address(e.Address))) }},
			{label: "With", cell: func(e core.AccountEvent) cell { return cell{Text: browserName(e.UserAgent), Sub: e.Note} }, csv: func(e core.AccountEvent) string { return e.UserAgent }},
			{label: "Date", cell: func(e core.AccountEvent) cell { return v.moment(e.At) }, csv: func(e core.AccountEvent) string { return exact(e.At) }},
		},
		read: func(ctx context.Context, q query, page ports.Page) (ports.List[core.AccountEvent], error) {
			return r.Identity.AccessLog(ctx, v.account(), core.AccountEventKind(q["kind"]), page)
		},
		match: func(q query, e core.AccountEvent) bool { return q.has("q", e.Address, e.UserAgent, e.Note) },
		empty: empty{Title: "Nothing yet", Text: "Sign-ins, passwords and keys are noted here for 180 days."},
	}
	p := page{Nav: base + "/settings", Title: "Access log", Lead: "Sign-ins, passwords and keys of the last 180 days.", Up: &action{Label: "Password and sign-ins", Href: base + "/security"}}
	return show(r, c, v, l, p)
}
