package dashboard

import (
	"context"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/adapters/web/layout"
	"sundry/core/appointment"
	"sundry/core/civil"
)

// weekdays are the days of a week as settings name them.
var weekdays = []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}

// zoneOptions lists the time zones by city, with the one that is set, whatever it is called.
func (r *Routes) zoneOptions(c *fiber.Ctx, v *visit, set string) ([]ui.Option, error) {
	now, err := r.Clock.Now(c.UserContext(), v.account())
	if err != nil {
		return nil, err
	}
	set = civil.CurrentZoneName(set)
	var all []ui.Option
	for _, group := range layout.ZoneGroups(v.reader, now) {
		for _, z := range group.Zones {
			all = append(all, ui.Option{
				Value: z.Name, Label: ui.Data(z.Label), Former: z.Former, Selected: z.Name == set,
			})
		}
	}
	slices.SortStableFunc(all, func(a, b ui.Option) int { return strings.Compare(string(a.Label), string(b.Label)) })
	if !slices.ContainsFunc(all, func(o ui.Option) bool { return o.Selected }) {
		all = append(all, ui.Option{Value: set, Label: ui.Data(set), Selected: true})
	}
	return all, nil
}

// savedMeetings makes the form with what is saved.
func savedMeetings(v *visit, m appointment.MeetingSettings) func([]appointment.MeetingAccount) ui.Form {
	return func(accounts []appointment.MeetingAccount) ui.Form { return meetingsForm(v, m, accounts) }
}

func meetingsForm(v *visit, m appointment.MeetingSettings, accounts []appointment.MeetingAccount) ui.Form {
	var provider appointment.Provider
	address, place := "", ""
	if m.Virtual != nil {
		provider, address = m.Virtual.Provider, m.Virtual.URL
	}
	if m.InPerson != nil {
		place = m.InPerson.Address
	}
	f := v.form("meetings", base+"/bookings/meetings", "Save meetings",
		ui.Field{Name: "provider", Label: "Online", Type: "select", Also: []string{"virtual.provider"}, Half: true,
			Options: v.meetingOptions(provider, accounts)},
		ui.Field{
			Name: "url", Label: "Address", Type: "url", Value: address, Also: []string{"virtual.url", "virtual"},
			Half: true, Placeholder: "https://…", Hint: "Of the meeting, or of your own Jitsi server.",
		},
		ui.Field{
			Name: "address", Label: "In person", Type: "textarea", Rows: 3, Value: place,
			Also: []string{"inPerson.address", "inPerson"},
			Hint: "Your address for appointments in person. Leave empty if you don’t meet in person.",
		})
	f.Title, f.Lead = "Meetings", "Where you meet buyers."
	return f.OfStored()
}

// schedulePage shows when, where and on which accounts a creator meets buyers. meetings makes the form of the places.
func (r *Routes) schedulePage(
	c *fiber.Ctx, v *visit, hours ui.Form, meetings func(accounts []appointment.MeetingAccount) ui.Form,
) (ui.Page, error) {
	accounts, err := r.Booking.MeetingAccounts(c.UserContext(), v.account())
	if err != nil {
		return ui.Page{}, err
	}
	feed, err := r.Booking.FeedURL(c.UserContext(), v.account())
	if err != nil {
		return ui.Page{}, err
	}
	unread, err := r.unreadPart(c.UserContext(), v)
	if err != nil {
		return ui.Page{}, err
	}
	secret := ui.CodePart("Your calendar", "feed", feed)
	secret.Lead = "Subscribe to this address to see appointments in your own calendar. Anyone who has it can read them."
	secret.Actions = []ui.Action{
		v.button("New address", base+"/bookings/feed").Confirm("The address before stops working."),
	}
	return ui.Page{
		Nav: base + "/bookings", Title: "Hours and meetings",
		Up: &ui.Action{Label: "Bookings", Href: base + "/bookings"},
		Parts: slices.Concat(unread, []ui.Part{ui.FormPart(hours), ui.FormPart(meetings(accounts))},
			r.accountsPart(v, accounts), []ui.Part{secret}),
	}, nil
}

// unreadPart lists the creator's other calendars that could not be read the last time; nothing where all were.
func (r *Routes) unreadPart(ctx context.Context, v *visit) ([]ui.Part, error) {
	calendars, err := r.Booking.BusyCalendars(ctx, v.account())
	var unread []ui.Check
	for _, one := range calendars {
		if one.FailedAt.IsZero() {
			continue
		}
		text := ui.Words("It could not be read yet, so buyers can book when you are busy there. Check its address.")
		if !one.ReadAt.IsZero() {
			text = v.say("It was last read on %s and cannot be read now. Buyers can book over what you have entered "+
				"there since.", v.reader.Date(one.ReadAt))
		}
		unread = append(unread, ui.Check{Title: ui.Data(one.URL), Text: text, Icon: "appointment"})
	}
	if err != nil || len(unread) == 0 {
		return nil, err
	}
	return []ui.Part{{Kind: "checks", Title: "Calendars that cannot be read", Data: unread}}, nil
}

func (r *Routes) schedule(c *fiber.Ctx, v *visit) error {
	setup, err := r.Booking.Setup(c.UserContext(), v.account())
	if err != nil {
		return err
	}
	hours, err := r.savedHours(c, v, setup)
	if err != nil {
		return err
	}
	p, err := r.schedulePage(c, v, hours, savedMeetings(v, setup.Meetings))
	if err != nil {
		return err
	}
	return r.send(c, v, p)
}

func (r *Routes) saveMeetings(c *fiber.Ctx, v *visit) error {
	in := ui.ReadInput(c)
	var m appointment.MeetingSettings
	if provider := in.Text("provider"); provider != "" {
		m.Virtual = &appointment.VirtualMeeting{Provider: appointment.Provider(provider), URL: in.Text("url")}
	}
	if address := in.Text("address"); address != "" {
		m.InPerson = &appointment.Place{Address: address}
	}
	setup, err := r.Booking.Setup(c.UserContext(), v.account())
	if err != nil {
		return err
	}
	accounts, err := r.Booking.MeetingAccounts(c.UserContext(), v.account())
	if err != nil {
		return err
	}
	f := meetingsForm(v, setup.Meetings, accounts)
	if err = f.CheckStored(c); err == nil {
		err = r.Booking.SetMeetings(c.UserContext(), v.account(), m)
	}
	if err == nil {
		return r.done(c, base+"/bookings/settings", "Your meetings are saved.")
	}
	if !f.Refill(c, err) {
		return err
	}
	hours, formErr := r.savedHours(c, v, setup)
	if formErr != nil {
		return formErr
	}
	p, pageErr := r.schedulePage(c, v, hours, func([]appointment.MeetingAccount) ui.Form { return f })
	if pageErr != nil {
		return pageErr
	}
	c.Status(r.layout.Config().StatusOf(err))
	return r.send(c, v, p)
}

func (r *Routes) rotateFeed(c *fiber.Ctx, v *visit) error {
	_, err := r.Booking.RotateFeed(c.UserContext(), v.account())
	return r.result(c, base+"/bookings/settings", err, "Your calendar has a new address.")
}
