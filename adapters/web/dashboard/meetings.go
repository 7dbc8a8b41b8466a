package dashboard

import (
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/core/appointment"
)

// meetingProviders are the providers' own names.
var meetingProviders = map[appointment.Provider]string{
	appointment.Jitsi: "Jitsi", appointment.Zoom: "Zoom", appointment.GoogleMeet: "Google Meet",
}

// meetingOptions are the providers that a creator can choose: those that need an account once it is connected.
func meetingOptions(chosen appointment.Provider, accounts []appointment.MeetingAccount) []ui.Option {
	all := []string{"", "Not online"}
	for _, a := range accounts {
		all = append(all, string(a.Provider), meetingProviders[a.Provider]+", a meeting for each appointment")
	}
	all = append(all, string(appointment.Jitsi), "Jitsi, a room for each appointment", string(appointment.Static),
		"Always the same address")
	return ui.Choices(string(chosen), all...)
}

// accountsPart lists the providers of meetings with the creator's accounts; nothing where none is set up here.
func (r *Routes) accountsPart(v *visit, accounts []appointment.MeetingAccount) []ui.Part {
	var checks []ui.Check
	for _, provider := range r.Booking.MeetingProviders() {
		at, name := base+"/bookings/meetings/"+string(provider), meetingProviders[provider]
		one := ui.Check{
			Title: name, Text: "Not connected.", Href: at + "/connect", Label: "Connect " + name, Icon: "appointment",
		}
		i := slices.IndexFunc(accounts, func(a appointment.MeetingAccount) bool { return a.Provider == provider })
		if i >= 0 && accounts[i].FailedAt.IsZero() {
			disconnect := v.button("Disconnect "+name, at+"/disconnect").Confirm(
				"Appointments that are booked from now on get no meeting there. Those that are made stay.",
			)
			one.Done, one.Text, one.Do = true, connectedText(accounts[i], v), &disconnect
			one.Href, one.Label = "", ""
		} else if i >= 0 {
			one.Text = name + " refuses the account since " + v.reader.Date(accounts[i].FailedAt) +
				". Connect it again: the meetings that could not be made are made then."
			one.Label = "Connect " + name + " again"
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

func connectedText(a appointment.MeetingAccount, v *visit) string {
	return strings.TrimSpace("Connected on " + v.reader.Date(a.ConnectedAt) + " " + a.Name)
}

// returnAddress returns the address to which a provider leads after the consent, as it is registered there.
func (r *Routes) returnAddress(c *fiber.Ctx) string {
	return r.layout.Config().BaseURL + base + "/bookings/meetings/" + c.Params("provider") + "/connected"
}

func (r *Routes) connectMeetings(c *fiber.Ctx, v *visit) error {
	consent, err := r.Booking.ConnectURL(v.account(), appointment.Provider(c.Params("provider")), r.returnAddress(c))
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
	err := r.Booking.ConnectMeetings(
		c.UserContext(), v.account(), provider, c.Query("state"), c.Query("code"), r.returnAddress(c),
	)
	if err != nil {
		return r.refused(c, settings, err)
	}
	return r.done(c, settings, meetingProviders[provider]+" is connected. Choose it under Meetings.")
}

func (r *Routes) disconnectMeetings(c *fiber.Ctx, v *visit) error {
	provider := appointment.Provider(c.Params("provider"))
	if err := r.Booking.DisconnectMeetings(c.UserContext(), v.account(), provider); err != nil {
		return err
	}
	return r.done(c, base+"/bookings/settings", meetingProviders[provider]+" is disconnected.")
}
