package dashboard

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/adapters/web/layout"
	"sundry/core/appointment"
	"sundry/core/civil"
	"sundry/core/fault"
	"sundry/core/slot"
)

// weekdays are the days of a week as settings name them.
var weekdays = []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}

// windowsText is a day's hours as they are typed: 09:00-12:30, 13:30-17:00.
func windowsText(windows []slot.Hours) string {
	texts := make([]string, len(windows))
	for i, w := range windows {
		texts[i] = w.Start + "-" + w.End
	}
	return strings.Join(texts, ", ")
}

// parseWindows reads them; "closed" and nothing are none.
func parseWindows(text string) []slot.Hours {
	var windows []slot.Hours
	if strings.EqualFold(strings.TrimSpace(text), "closed") {
		return windows
	}
	for one := range strings.SplitSeq(text, ",") {
		if one = strings.TrimSpace(one); one == "" {
			continue
		}
		start, end, _ := strings.Cut(strings.ReplaceAll(one, "–", "-"), "-")
		windows = append(windows, slot.Hours{Start: strings.TrimSpace(start), End: strings.TrimSpace(end)})
	}
	return windows
}

func (r *Routes) hoursForm(c *fiber.Ctx, v *visit, setup appointment.Setup) (ui.Form, error) {
	calendars, err := r.Booking.BusyCalendars(c.UserContext(), v.account())
	if err != nil {
		return ui.Form{}, err
	}
	zones, err := r.zoneOptions(c, v, setup.Hours.Timezone)
	if err != nil {
		return ui.Form{}, err
	}
	f := v.form("hours", base+"/bookings/hours", "Save hours",
		ui.Field{
			Name: "timezone", Label: "Time zone", Type: "select", Options: zones, Search: "No time zone matches.",
			Hint: "Where you work. Buyers see their own time.",
		})
	f.Title, f.Lead = "Weekly hours", "Such as 09:00-12:30, 13:30-17:00. Leave a day empty if you don’t work then."
	for _, day := range weekdays {
		var windows []slot.Hours
		for _, w := range setup.Hours.Weekly {
			if w.Weekday == day {
				windows = append(windows, w.Hours)
			}
		}
		f.Fields = append(f.Fields, ui.Field{
			Name: day, Label: plainWords(day), Value: windowsText(windows), Half: true,
		})
	}
	var overrides, urls []string
	for _, o := range setup.Hours.Overrides {
		hours := windowsText(o.Windows)
		if hours == "" {
			hours = "closed"
		}
		overrides = append(overrides, o.Date+": "+hours)
	}
	for _, one := range calendars {
		urls = append(urls, one.URL)
	}
	f.Fields = append(f.Fields,
		ui.Field{
			Name: "overrides", Label: "Exceptions", Type: "textarea", Mono: true, Rows: 4,
			Value: strings.Join(overrides, "\n"), Placeholder: "2026-12-24: closed\n2026-12-28: 10:00-12:00",
			Hint: "One day per line, with its hours or “closed”. It replaces the weekly hours of that day.",
		},
		ui.Field{
			Name: "busyCalendarUrls", Label: "Other calendars", Type: "textarea", Mono: true, Rows: 2,
			Value: strings.Join(urls, "\n"), Placeholder: "https://calendar.google.com/…/basic.ics",
			Hint: "Secret addresses of calendars (ICS). When you are busy there, nobody can book you.",
		},
	)
	return f, nil
}

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
			all = append(all, ui.Option{Value: z.Name, Label: z.Label, Former: z.Former, Selected: z.Name == set})
		}
	}
	slices.SortStableFunc(all, func(a, b ui.Option) int { return strings.Compare(a.Label, b.Label) })
	if !slices.ContainsFunc(all, func(o ui.Option) bool { return o.Selected }) {
		all = append(all, ui.Option{Value: set, Label: set, Selected: true})
	}
	return all, nil
}

// readHours reads the form. Each window remembers the day that it was typed for, so that a fault is shown there.
func readHours(c *fiber.Ctx, f *ui.Form) (slot.Settings, []string) {
	in := ui.ReadInput(c)
	hours := slot.Settings{Timezone: in.Text("timezone")}.Clean()
	for _, day := range weekdays {
		at := f.FieldFor(day)
		for _, w := range parseWindows(in.Text(day)) {
			at.Also = append(at.Also, fmt.Sprintf("weekly[%d]", len(hours.Weekly)))
			hours.Weekly = append(hours.Weekly, slot.WeeklyHours{Weekday: day, Hours: w})
		}
	}
	for _, line := range in.Lines("overrides") {
		date, windows, _ := strings.Cut(line, ":")
		o := slot.Override{Date: strings.TrimSpace(date), Windows: parseWindows(windows)}
		if o.Windows == nil {
			o.Windows = []slot.Hours{}
		}
		hours.Overrides = append(hours.Overrides, o)
	}
	return hours, in.Lines("busyCalendarUrls")
}

func meetingsForm(v *visit, m appointment.MeetingSettings) ui.Form {
	provider, address, place := "", "", ""
	if m.Virtual != nil {
		provider, address = string(m.Virtual.Provider), m.Virtual.URL
	}
	if m.InPerson != nil {
		place = m.InPerson.Address
	}
	f := v.form("meetings", base+"/bookings/meetings", "Save meetings",
		ui.Field{Name: "provider", Label: "Online", Type: "select", Also: []string{"virtual.provider"}, Half: true,
			Options: ui.Choices(
				provider, "", "Not online", string(appointment.Jitsi), "Jitsi, a room for each appointment",
				string(appointment.Static), "Always the same address",
			)},
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
	return f
}

// schedulePage shows the hours and places at which a creator meets buyers; hours and meetings are its forms.
func (r *Routes) schedulePage(c *fiber.Ctx, v *visit, hours, meetings ui.Form) (ui.Page, error) {
	feed, err := r.Booking.FeedURL(c.UserContext(), v.account())
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
		Up:    &ui.Action{Label: "Bookings", Href: base + "/bookings"},
		Parts: []ui.Part{ui.FormPart(hours), ui.FormPart(meetings), secret},
	}, nil
}

func (r *Routes) schedule(c *fiber.Ctx, v *visit) error {
	setup, err := r.Booking.Setup(c.UserContext(), v.account())
	if err != nil {
		return err
	}
	hours, err := r.hoursForm(c, v, setup)
	if err != nil {
		return err
	}
	p, err := r.schedulePage(c, v, hours, meetingsForm(v, setup.Meetings))
	if err != nil {
		return err
	}
	return r.send(c, v, p)
}

func (r *Routes) saveHours(c *fiber.Ctx, v *visit) error {
	setup, err := r.Booking.Setup(c.UserContext(), v.account())
	if err != nil {
		return err
	}
	f, err := r.hoursForm(c, v, setup)
	if err != nil {
		return err
	}
	hours, calendars := readHours(c, &f)
	err = r.Booking.SetHours(c.UserContext(), v.account(), hours, calendars...)
	if err == nil {
		return r.done(c, base+"/bookings/settings", "Your hours are saved.")
	}
	if fault.Is(err, fault.InvalidTimezone) {
		err = fault.Invalid(fault.Detail{
			Field: "timezone", Code: fault.DetailInvalid,
			Message: "This is no time zone. Expected a name such as Europe/Dublin.",
		})
	}
	return r.refusedSchedule(c, v, err, &f, meetingsForm(v, setup.Meetings), true)
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
	err := r.Booking.SetMeetings(c.UserContext(), v.account(), m)
	if err == nil {
		return r.done(c, base+"/bookings/settings", "Your meetings are saved.")
	}
	setup, setupErr := r.Booking.Setup(c.UserContext(), v.account())
	if setupErr != nil {
		return setupErr
	}
	hours, formErr := r.hoursForm(c, v, setup)
	if formErr != nil {
		return formErr
	}
	return r.refusedSchedule(c, v, err, &hours, meetingsForm(v, m), false)
}

// refusedSchedule shows both forms again, with the faults of the one that was sent.
func (r *Routes) refusedSchedule(
	c *fiber.Ctx, v *visit, err error, hours *ui.Form, meetings ui.Form, sentHours bool,
) error {
	sent := &meetings
	if sentHours {
		sent = hours
	}
	if !sent.Refill(c, err) {
		return err
	}
	p, pageErr := r.schedulePage(c, v, *hours, meetings)
	if pageErr != nil {
		return pageErr
	}
	c.Status(r.layout.Config().StatusOf(err))
	return r.send(c, v, p)
}

func (r *Routes) rotateFeed(c *fiber.Ctx, v *visit) error {
	if _, err := r.Booking.RotateFeed(c.UserContext(), v.account()); err != nil {
		return r.refused(c, base+"/bookings/settings", err)
	}
	return r.done(c, base+"/bookings/settings", "Your calendar has a new address.")
}
