package dashboard

import (
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/core/appointment"
	"sundry/modules/booking"
)

// meetingProviders are the providers' own names.
var meetingProviders = map[appointment.Provider]string{
	appointment.Jitsi: "Jitsi", appointment.Zoom: "Zoom", appointment.GoogleMeet: "Google Meet",
}

// meetingOptions are the providers that a creator can choose: those that need an account once it is connected.
func (v *visit) meetingOptions(chosen appointment.Provider, accounts []appointment.MeetingAccount) []ui.Option {
	all := []ui.Option{{Label: "Not online"}}
	for _, a := range accounts {
		all = append(all, ui.Option{
			Value: string(a.Provider), Label: v.say("%s, a meeting for each appointment", meetingProviders[a.Provider]),
		})
	}
	all = append(all, ui.Option{Value: string(appointment.Jitsi), Label: "Jitsi, a room for each appointment"},
		ui.Option{Value: string(appointment.Static), Label: "Always the same address"})
	for i := range all {
		all[i].Selected = all[i].Value == string(chosen)
	}
	return all
}

// accountsPart lists the providers of meetings with the creator's accounts; nothing where none is set up here.
func (r *Routes) accountsPart(v *visit, accounts []appointment.MeetingAccount) []ui.Part {
	var checks []ui.Check
	for _, provider := range r.Booking.MeetingProviders() {
		at, name := base+"/bookings/meetings/"+string(provider), meetingProviders[provider]
		one := ui.Check{
			Title: ui.Data(name), Text: "Not connected.", Href: at + "/connect", Label: v.say("Connect %s", name),
			Icon: "appointment",
		}
		i := slices.IndexFunc(accounts, func(a appointment.MeetingAccount) bool { return a.Provider == provider })
		if i >= 0 && accounts[i].FailedAt.IsZero() {
			disconnect := v.button(v.say("Disconnect %s", name), at+"/disconnect").Confirm(
				"Appointments that are booked from now on get no meeting there. Those that are made stay.",
			)
			one.Done, one.Text, one.Do = true, connectedText(accounts[i], v), &disconnect
			one.Href, one.Label = "", ""
		} else if i >= 0 {
			one.Text = v.say("%s refuses the account since %s. Connect it again: the meetings that could not be "+
				"made are made then.", name, v.reader.Date(accounts[i].FailedAt))
			one.Label = v.say("Connect %s again", name)
		}
		checks = append(checks, one)
	}
	if len(checks) == 0 {
		return nil
	}
	return []ui.Part{{
		Kind: "checks", Title: "Accounts for meetings", Data: checks,
		Lead: "Each online appointment gets a meeting of its own there.",
	}}
}

func connectedText(a appointment.MeetingAccount, v *visit) ui.Words {
	return ui.Data(strings.TrimSpace(v.text("Connected on %s", v.reader.Date(a.ConnectedAt)) + " " + a.Name))
}

// returnAddress returns the address to which a provider leads after the consent, as it is registered there.
func (r *Routes) returnAddress(c *fiber.Ctx) string {
	return r.layout.Config().BaseURL + base + "/bookings/meetings/" + c.Params("provider") + "/connected"
}

func (r *Routes) consent(c *fiber.Ctx, v *visit) booking.Consent {
	return booking.Consent{
		CreatorID: v.account(), SessionID: v.SessionID, Provider: appointment.Provider(c.Params("provider")),
		RedirectURL: r.returnAddress(c),
	}
}

func (r *Routes) connectMeetings(c *fiber.Ctx, v *visit) error {
	consent, err := r.Booking.ConnectURL(r.consent(c, v))
	if err != nil {
		return err
	}
	return c.Redirect(consent, fiber.StatusSeeOther)
}

func (r *Routes) meetingsConnected(c *fiber.Ctx, v *visit) error {
	const settings = base + "/bookings/settings"
	provider := appointment.Provider(c.Params("provider"))
	if c.Query("code") == "" {
		return r.flash(c, settings, "bad", "The account was not connected: you did not agree to it.")
	}
	err := r.Booking.ConnectMeetings(c.UserContext(), r.consent(c, v), c.Query("state"), c.Query("code"))
	return r.result(c, settings, err, v.say("%s is connected. Choose it under Meetings.", meetingProviders[provider]))
}

func (r *Routes) disconnectMeetings(c *fiber.Ctx, v *visit) error {
	provider := appointment.Provider(c.Params("provider"))
	if err := r.Booking.DisconnectMeetings(c.UserContext(), v.account(), provider); err != nil {
		return err
	}
	return r.done(c, base+"/bookings/settings", v.say("%s is disconnected.", meetingProviders[provider]))
}
