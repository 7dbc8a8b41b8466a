package dashboard

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
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
	r.mountSteps(at)
}

// address writes a network of one address as that address.
func address(network string) string { return strings.TrimSuffix(network, "/32") }

func settingsForm(v *visit) ui.Form {
	s := v.Creator
	color := s.Profile.AccentColor
	f := v.form("settings", base+"/settings", "Save",
		ui.Field{
			Name: "displayName", Label: "Name", Value: s.DisplayName, Required: true,
			Hint: "On your checkout, receipts and mails.",
		},
		ui.Field{
			Name: "accentColor", Label: "Accent color", Value: color, Mono: true, Half: true, Placeholder: "#0b5d4a",
			Hint: "Buttons of your checkout are painted with it.",
		},
		ui.Field{
			Name: "supportEmail", Label: "Support email", Type: "email", Value: s.Profile.SupportEmail, Half: true,
			Hint: "Where buyers write to.",
		},
		ui.Field{
			Name: "refundPolicy", Label: "Refund policy", Type: "textarea", Rows: 6, Value: s.Profile.RefundPolicy,
			Hint: "Buyers can read it before they pay.",
		},
		ui.Field{
			Name: "embedOrigins", Label: "Sites with your checkout", Type: "textarea", Rows: 3, Mono: true,
			Value: strings.Join(s.Profile.EmbedOrigins.List(), "\n"), Placeholder: "https://shop.example",
			Hint: "One a line. Only these, and the sites that a checkout returns to, can show it in an overlay.",
		})
	f.Fields = append(f.Fields,
		ui.Hidden(mailsShown, "yes"),
		ui.Field{
			Name: "notifyOrders", Label: "Email me about new orders", Type: "checkbox", Checked: s.Notifications.Orders,
		},
		ui.Field{
			Name: "notifyPayouts", Label: "Email me about payouts", Type: "checkbox", Checked: s.Notifications.Payouts,
			Hint: "Disputes and failed payouts are always emailed.",
		})
	if hasLogoElsewhere(v) {
		f.Fields = append(f.Fields, ui.Field{
			Name: "logoUrl", Label: "Logo address", Type: "url", Value: s.Profile.LogoURL,
			Hint: "Your logo is shown from another site. Upload it above to keep it here.",
		})
	}
	return f.OfStored()
}

// mailsShown is sent by a form that has the boxes of mails: an unchecked box sends nothing.
const mailsShown = "mailsShown"

// hasLogoElsewhere reports whether the logo is on another site, as the API can set it.
func hasLogoElsewhere(v *visit) bool {
	logo := v.Creator.Profile.LogoURL
	return logo != "" && image.IDOf(logo) == ""
}

func settingsPage() ui.Page {
	return ui.Page{
		Nav: base + "/settings", Title: "Settings", Lead: "How buyers see you, and what we email you about.",
		Actions: []ui.Action{
			ui.Link("Team", base+"/team"), ui.Link("Password and sign-ins", base+"/security"),
		},
	}
}

func (r *Routes) settings(c *fiber.Ctx, v *visit) error {
	p := settingsPage()
	p.Parts = append(logoPart(v), ui.FormPart(settingsForm(v)))
	p.Aside = []ui.Part{ui.Facts("Account",
		ui.Fact{Label: "Email", Value: ui.Text(v.Creator.Email)},
		ui.Fact{Label: "ID", Value: ui.Copyable(v.Creator.ID)},
		ui.Fact{Label: "Since", Value: v.moment(v.Creator.CreatedAt)},
	)}
	return r.send(c, v, p)
}

func (r *Routes) saveSettings(c *fiber.Ctx, v *visit) error {
	f, in := settingsForm(v), ui.ReadInput(c)
	edit := core.ProfileEdit{
		DisplayName: new(in.Text("displayName")), AccentColor: new(in.Text("accentColor")),
		SupportEmail: new(in.Text("supportEmail")),
		RefundPolicy: new(in.Text("refundPolicy")), EmbedOrigins: new(in.Lines("embedOrigins")),
	}
	if in.Checked(mailsShown) { // a form without the boxes says nothing about them
		edit.NotifyOrders, edit.NotifyPayouts = new(in.Checked("notifyOrders")), new(in.Checked("notifyPayouts"))
	}
	if hasLogoElsewhere(v) {
		edit.LogoURL = new(in.Text("logoUrl"))
	}
	err := f.CheckStored(c)
	if err == nil {
		_, err = r.Identity.EditProfile(c.UserContext(), v.account(), edit)
	}
	if err != nil {
		return r.again(c, v, settingsPage(), f, err)
	}
	return r.done(c, base+"/settings", "Saved. Your checkout shows it from now on.")
}

func passwordForm(v *visit) ui.Form {
	f := v.form("password", base+"/security/password", "Change password",
		ui.Field{
			Name: "username", Label: "Email", Type: "email", Value: v.User.Email, ReadOnly: true,
			Autocomplete: "username",
		},
		ui.Field{
			Name: "current", Label: "Current password", Type: "password", Required: true,
			Autocomplete: "current-password", Half: true,
		},
		ui.Field{
			Name: "password", Label: "New password", Type: "password", Required: true, Autocomplete: "new-password",
			Half: true, Hint: "At least 10 characters.",
		})
	f.Title, f.Lead = "Password", "Changing it signs you out everywhere else."
	return f
}

func (r *Routes) securityPage(c *fiber.Ctx, v *visit) (ui.Page, error) {
	p := ui.Page{
		Nav: base + "/security", Title: "Password and sign-ins",
		Actions: []ui.Action{
			ui.Link("Two-step sign-in", base+"/security/steps"), ui.Link("Access log", base+"/security/log"),
		},
	}
	browsers, err := r.Identity.Browsers(c.UserContext(), v.User)
	if err != nil {
		return p, err
	}
	t := ui.Table{Label: "Browsers", Heads: []ui.Head{
		{Label: "Browser"},
		{Label: "Address"},
		{Label: "Last used"},
		{Label: "Since"},
		{},
	}}
	for _, b := range browsers {
		name, buttons := ui.Cell{Text: ui.Data(v.browserName(b.UserAgent))}, ui.Cell{}
		if b.ID == v.SessionID {
			name.Sub = "This browser"
		} else {
			buttons.Actions = []ui.Action{v.button("Sign out", base+"/security/browsers/"+b.ID+"/sign-out")}
		}
		t.Rows = append(t.Rows, ui.Row{
			Cells: []ui.Cell{
				name, ui.Text(orDash(address(b.Address))), v.moment(b.LastSeenAt), v.moment(b.CreatedAt), buttons,
			},
		})
	}
	signedIn := ui.TablePart("Where you are signed in", t)
	signedIn.Actions = []ui.Action{
		v.button("Sign out everywhere", base+"/sign-out-everywhere").Confirm(
			"Every browser is signed out, this one too, and refresh tokens of the API end.",
		),
	}
	p.Parts = []ui.Part{signedIn}
	return p, nil
}

func (r *Routes) security(c *fiber.Ctx, v *visit) error {
	p, err := r.securityPage(c, v)
	if err != nil {
		return err
	}
	return r.ask(c, v, p, passwordForm(v))
}

func (r *Routes) changePassword(c *fiber.Ctx, v *visit) error {
	if err := r.Identity.ChangePassword(
		c.UserContext(), v.Browser, c.FormValue("current"), c.FormValue("password"), r.client(c),
	); err != nil {
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
	err := r.Identity.SignOutOther(c.UserContext(), v.User, c.Params("id"))
	return r.result(c, base+"/security", err, "Signed out there.")
}

var accessWords = map[core.AccountEventKind]ui.Cell{
	core.SignedUp: ui.Badge("Signed up", "ok"), core.SignedIn: ui.Badge("Signed in", "ok"),
	core.SignInFailed:        ui.Badge("Wrong password", "bad"),
	core.SignedOutEverywhere: ui.Badge("Signed out everywhere", "mute"),
	core.PasswordChanged:     ui.Badge("Password changed", "wait"),
	core.PasswordReset:       ui.Badge("Password set by mail", "wait"),
	core.KeyCreated:          ui.Badge("API key created", "wait"), core.KeyRevoked: ui.Badge("API key revoked", "mute"),
	core.CustomerErased:       ui.Badge("Customer erased", "wait"),
	core.RefundCreated:        ui.Badge("Refund made", "wait"),
	core.PayoutRequested:      ui.Badge("Payout requested", "wait"),
	core.PayoutAccountChanged: ui.Badge("Payout account changed", "wait"),

	core.WebhookEndpointCreated: ui.Badge("Webhook endpoint created", "wait"),
	core.WebhookEndpointChanged: ui.Badge("Webhook endpoint changed", "wait"),
	core.WebhookEndpointDeleted: ui.Badge("Webhook endpoint deleted", "mute"),

	core.DiscountCreated:        ui.Badge("Discount created", "wait"),
	core.DiscountDeleted:        ui.Badge("Discount deleted", "mute"),
	core.PaymentLinkCreated:     ui.Badge("Payment link created", "wait"),
	core.PaymentLinkChanged:     ui.Badge("Payment link changed", "wait"),
	core.PaymentLinkDeactivated: ui.Badge("Payment link deactivated", "mute"),

	core.AccessGranted: ui.Badge("Access given", "wait"),
	core.AccessRevoked: ui.Badge("Access taken back", "mute"),

	core.SubscriptionCreated:  ui.Badge("Subscription created", "ok"),
	core.SubscriptionCanceled: ui.Badge("Subscription canceled", "mute"),
	core.SubscriptionChanged:  ui.Badge("Subscription changed", "wait"),
	core.SubscriptionPaused:   ui.Badge("Subscription paused", "wait"),
	core.SubscriptionResumed:  ui.Badge("Subscription resumed", "ok"),

	core.AppointmentCanceled: ui.Badge("Appointment canceled", "mute"),

	core.InvoiceCreated: ui.Badge("Invoice created", "wait"),
	core.InvoiceCharged: ui.Badge("Invoice charged", "wait"),

	core.BillingPlanCreated: ui.Badge("Billing plan created", "wait"),
	core.BillingPlanChanged: ui.Badge("Billing plan changed", "wait"),
	core.BillingPlanEnded:   ui.Badge("Billing plan ended", "mute"),

	core.ListingPublished: ui.Badge("Listing published", "ok"),
	core.ListingArchived:  ui.Badge("Listing archived", "mute"),
	core.PriceChanged:     ui.Badge("Price changed", "wait"),
	core.PlanChanged:      ui.Badge("Plan changed", "wait"),
	core.SettingsChanged:  ui.Badge("Settings changed", "mute"),
	core.ExportTaken:      ui.Badge("Export taken", "wait"),
	core.MemberInvited:    ui.Badge("Member invited", "wait"),
	core.MemberJoined:     ui.Badge("Member joined", "ok"),
	core.MemberChanged:    ui.Badge("Member’s role changed", "wait"),
	core.MemberRemoved:    ui.Badge("Member removed", "mute"),

	core.SecondStepAdded:   ui.Badge("Second step added", "ok"),
	core.SecondStepRemoved: ui.Badge("Second step removed", "wait"),
	core.SecondStepFailed:  ui.Badge("Wrong code", "bad"),
	core.RecoveryCodesMade: ui.Badge("Recovery codes made", "wait"),
	core.RecoveryCodeUsed:  ui.Badge("Recovery code used", "wait"),
	core.SecondStepReset:   ui.Badge("Two-step sign-in reset", "wait"),

	core.DisputeFileAdded:   ui.Badge("Dispute: file uploaded", "wait"),
	core.DisputeFileDeleted: ui.Badge("Dispute: file deleted", "mute"),
	core.DisputeResponded:   ui.Badge("Dispute: response sent", "wait"),
}

// doneBy names who did what a line of the access log says.
func (v *visit) doneBy(e core.AccountEvent) ui.Words {
	switch {
	case e.Actor.ID == v.User.ID():
		return "You"
	case e.Name != "":
		return ui.Data(e.Name)
	case e.Actor.ID != "":
		return ui.Data(v.Creator.DisplayName)
	default:
		return "–"
	}
}

func (r *Routes) accessLog(c *fiber.Ctx, v *visit) error {
	options := []ui.Option{{Label: "Everything"}}
	for _, kind := range core.AccountEventKinds() {
		options = append(options, ui.Option{Value: string(kind), Label: accessWords[kind].Text})
	}
	l := &ui.List[core.AccountEvent]{
		Path: base + "/security/log", FileName: "access-log",
		Filters: []ui.Filter{
			{Name: "kind", Label: "What", Options: options},
			{Name: "q", Label: "Search", Placeholder: "Object, key, address or browser"},
		},
		Columns: []ui.Column[core.AccountEvent]{
			{Label: "What", Cell: func(e core.AccountEvent) ui.Cell { return accessWords[e.Kind] }},
			{
				Label: "Object",
				Cell:  func(e core.AccountEvent) ui.Cell { return ui.Text(orDash(cmp.Or(e.Note, e.ObjectID))) },
			},
			{Label: "By", Cell: func(e core.AccountEvent) ui.Cell { return ui.Label(v.doneBy(e)) }},
			{Label: "Address", Cell: func(e core.AccountEvent) ui.Cell { return ui.Text(orDash(address(e.Address))) }},
			{
				Label: "With",
				Cell:  func(e core.AccountEvent) ui.Cell { return ui.Text(v.browserName(e.UserAgent)) },
				CSV:   func(e core.AccountEvent) string { return e.UserAgent },
			},
			timeColumn(v, "Date", "", func(e core.AccountEvent) time.Time { return e.At }),
		},
		Read: func(ctx context.Context, q ui.Query, page ports.Page) (ports.List[core.AccountEvent], error) {
			return r.Identity.AccessLog(ctx, v.account(), core.AccountEventKind(q["kind"]), page)
		},
		Match: func(q ui.Query, e core.AccountEvent) bool {
			return q.Has("q", e.Address, e.UserAgent, e.Note, e.ObjectID, e.Name)
		},
		Empty: ui.Empty{Title: "Nothing yet", Text: "Who did what in your account is noted here for 180 days."},
	}
	p := ui.Page{
		Nav: base + "/security", Title: "Access log", Lead: "Who did what in your account in the last 180 days, and from where.",
		Up: &ui.Action{Label: "Password and sign-ins", Href: base + "/security"},
	}
	return show(r, c, v, l, p)
}
