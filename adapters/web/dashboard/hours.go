package dashboard

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/web/dashboard/ui"
	"sundry/core/appointment"
	"sundry/core/fault"
	"sundry/core/slot"
)

// workDay is a row of the form: a day of the week, or a date that replaces one.
type workDay struct {
	date string // "" for a day of the week
	open bool
	// windows lists the ranges of the row. A range without a beginning does not count.
	windows []slot.Hours
}

// workHours are the form of hours, as it is saved or as it was sent.
type workHours struct {
	timezone   string
	week       map[string]workDay
	exceptions []workDay
	calendars  []string
}

// usualHours fill in a day that is not open yet.
var usualHours = slot.Hours{Start: "09:00", End: "17:00"}

// spareExceptions are the empty rows for exceptions.
const spareExceptions = 2

func newWorkHours(s slot.Settings, calendars []string) workHours {
	h := workHours{timezone: s.Timezone, week: map[string]workDay{}, calendars: calendars}
	for _, w := range s.Weekly {
		day := h.week[w.Weekday]
		day.open, day.windows = true, append(day.windows, w.Hours)
		h.week[w.Weekday] = day
	}
	for _, o := range s.Overrides {
		if len(o.Windows) == 0 {
			h.exceptions = append(h.exceptions, workDay{date: o.Date})
		}
		for _, w := range o.Windows {
			h.exceptions = append(h.exceptions, workDay{date: o.Date, windows: []slot.Hours{w}})
		}
	}
	return h
}

// readWorkHours reads the form as it was sent.
func readWorkHours(c *fiber.Ctx) workHours {
	in := ui.ReadInput(c)
	h := workHours{timezone: in.Text("timezone"), week: map[string]workDay{}, calendars: in.Lines("busyCalendarUrls")}
	for _, day := range weekdays {
		h.week[day] = workDay{open: in.Checked(day + ".open"), windows: sentWindows(in, day)}
	}
	dates, windows := in.Texts("exceptions.date"), sentWindows(in, "exceptions")
	for i, date := range dates {
		row := workDay{date: date}
		if i < len(windows) {
			row.windows = windows[i : i+1]
		}
		if date != "" {
			h.exceptions = append(h.exceptions, row)
		}
	}
	return h
}

func sentWindows(in *ui.Input, name string) (all []slot.Hours) {
	from, to := in.Texts(name+".from"), in.Texts(name+".to")
	for i := range min(len(from), len(to)) {
		all = append(all, slot.Hours{Start: from[i], End: to[i]})
	}
	return all
}

// settings are the hours as they are saved. weekly and overrides name the rows that theirs come from.
func (h workHours) settings() (s slot.Settings, weekly, overrides []string) {
	s.Timezone = h.timezone
	for _, day := range weekdays {
		for _, w := range h.week[day].windows {
			if h.week[day].open && w.Start != "" {
				s.Weekly = append(s.Weekly, slot.WeeklyHours{Weekday: day, Hours: w})
				weekly = append(weekly, day)
			}
		}
	}
	for i, row := range h.exceptions {
		at := slices.IndexFunc(s.Overrides, func(o slot.Override) bool { return o.Date == row.date })
		if at < 0 {
			at = len(s.Overrides)
			s.Overrides = append(s.Overrides, slot.Override{Date: row.date, Windows: []slot.Hours{}})
			overrides = append(overrides, exceptionName(i))
		}
		for _, w := range row.windows {
			if w.Start != "" {
				s.Overrides[at].Windows = append(s.Overrides[at].Windows, w)
			}
		}
	}
	return s.Clean(), weekly, overrides
}

func exceptionName(i int) string { return fmt.Sprintf("exceptions-%d", i) }

// copyToAll gives every day the hours of one.
func (h workHours) copyToAll(from string) {
	for _, day := range weekdays {
		copied := h.week[from]
		copied.windows = slices.Clone(copied.windows)
		h.week[day] = copied
	}
}

// addWindow gives a day another range, after its last one.
func (h workHours) addWindow(name string) {
	day, ok := h.week[name]
	if !ok {
		return
	}
	next := usualHours
	if n := len(day.windows); n > 0 && day.windows[n-1].End < "22:00" {
		last, err := time.Parse("15:04", day.windows[n-1].End)
		if err == nil {
			next = slot.Hours{Start: last.Add(time.Hour).Format("15:04"), End: last.Add(2 * time.Hour).Format("15:04")}
		}
	}
	day.open, day.windows = true, append(day.windows, next)
	h.week[name] = day
}

// savedHours is the form of what is saved.
func (r *Routes) savedHours(c *fiber.Ctx, v *visit, setup appointment.Setup) (ui.Form, error) {
	calendars, err := r.Booking.BusyCalendars(c.UserContext(), v.account())
	if err != nil {
		return ui.Form{}, err
	}
	var urls []string
	for _, one := range calendars {
		urls = append(urls, one.URL)
	}
	hours := newWorkHours(setup.Hours, urls)
	isNew := len(setup.Hours.Weekly) == 0 && setup.Hours.Timezone == slot.NoSettings().Timezone
	if isNew {
		for _, day := range weekdays[:5] { // as most people work
			hours.week[day] = workDay{open: true}
		}
	}
	f, err := r.hoursForm(c, v, hours)
	if err == nil && isNew {
		f.FieldFor("timezone").OwnZone = true
		f.Lead = "Nothing is saved yet. Buyers can book you once you save these hours."
	}
	return f.OfStored(), err
}

func (r *Routes) hoursForm(c *fiber.Ctx, v *visit, h workHours) (ui.Form, error) {
	zones, err := r.zoneOptions(c, v, h.timezone)
	if err != nil {
		return ui.Form{}, err
	}
	f := v.form("hours", base+"/bookings/hours", "Save hours",
		ui.Field{
			Name: "timezone", Label: "Time zone", Type: "select", Options: zones, Search: "No time zone matches.",
			Hint: "Where you work. Buyers see their own time.",
		})
	f.Title, f.Inner = "Weekly hours", true
	f.Lead = "When buyers can book you. A range that ends before it begins goes on past midnight. Exceptions replace the " +
		"hours of a date; clear the date to remove one."
	for i, name := range weekdays {
		day := h.week[name]
		if len(day.windows) == 0 {
			day.windows = []slot.Hours{usualHours}
		}
		f.Fields = append(f.Fields, v.dayField(name, name, ui.Data(v.weekday(i)), day))
	}
	f.Fields = append(f.Fields, ui.Field{Type: "heading", Label: "Exceptions"})
	rows := append(slices.Clone(h.exceptions), make([]workDay, spareExceptions)...)
	for i, row := range rows {
		if len(row.windows) == 0 {
			row.windows = []slot.Hours{{End: usualHours.End}}
		}
		field := v.dayField(exceptionName(i), "exceptions", v.say("Exception %d", i+1), row)
		field.Day.Dated = true
		f.Fields = append(f.Fields, field)
	}
	f.Fields = append(f.Fields, ui.Field{
		Name: "busyCalendarUrls", Label: "Other calendars", Type: "textarea", Mono: true, Rows: 2,
		Value: strings.Join(h.calendars, "\n"), Placeholder: "https://calendar.google.com/…/basic.ics",
		Hint: "Secret addresses of calendars (ICS). When you are busy there, nobody can book you.",
	})
	return f, nil
}

func (v *visit) dayField(name, input string, label ui.Words, row workDay) ui.Field {
	day := &ui.Day{Input: input, Date: row.date, Open: row.open, Change: base + "/bookings/hours"}
	none := ui.Words("No hours")
	if input == "exceptions" {
		none = "Closed"
	}
	for _, w := range row.windows {
		day.Ranges = append(day.Ranges, ui.DayRange{
			From: v.clocks(w.Start, "00:00", none), To: v.clocks(w.End, "24:00", ""),
		})
	}
	return ui.Field{Name: name, Label: label, Type: "day", Day: day}
}

// clocks offers a time of the day every quarter of an hour from 00:00 or to 24:00, and the one that is selected.
func (v *visit) clocks(selected, edge string, none ui.Words) []ui.Option {
	var all []ui.Option
	for minute := 0; minute < 24*60; minute += 15 {
		all = append(all, ui.Option{Value: fmt.Sprintf("%02d:%02d", minute/60, minute%60)})
	}
	if edge == "24:00" {
		all = append(all[1:], ui.Option{Value: edge})
	}
	if selected != "" && !slices.ContainsFunc(all, func(o ui.Option) bool { return o.Value == selected }) {
		all = append(all, ui.Option{Value: selected})
		slices.SortFunc(all, func(a, b ui.Option) int { return strings.Compare(a.Value, b.Value) })
	}
	for i := range all {
		all[i].Label, all[i].Selected = ui.Data(all[i].Value), all[i].Value == selected
		if at, err := time.Parse("15:04", all[i].Value); err == nil {
			all[i].Label = ui.Data(v.reader.Clock(at))
		} else if all[i].Value == "24:00" {
			all[i].Label = "Midnight"
		}
	}
	if none != "" {
		all = append([]ui.Option{{Label: none, Selected: selected == ""}}, all...)
	}
	return all
}

// saveHours saves the hours or, for a button of a row, shows the form again with the row changed.
func (r *Routes) saveHours(c *fiber.Ctx, v *visit) error {
	h := readWorkHours(c)
	if day := c.FormValue("copy"); day != "" {
		h.copyToAll(day)
		return r.sendHours(c, v, h, nil)
	}
	if day := c.FormValue("add"); day != "" {
		h.addWindow(day)
		return r.sendHours(c, v, h, nil)
	}
	hours, _, _ := h.settings()
	err := r.checkHours(c, v, h)
	if err == nil {
		err = r.Booking.SetHours(c.UserContext(), v.account(), hours, h.calendars...)
	}
	if err == nil {
		return r.hoursSaved(c, v, hours)
	}
	if fault.Is(err, fault.InvalidTimezone) {
		err = fault.Invalid(fault.Detail{
			Field: "timezone", Code: fault.DetailInvalid,
			Message: "This is no time zone. Expected a name such as Europe/Dublin.",
		})
	}
	return r.sendHours(c, v, h, err)
}

// checkHours refuses hours that were entered over others than are saved.
func (r *Routes) checkHours(c *fiber.Ctx, v *visit, h workHours) error {
	setup, err := r.Booking.Setup(c.UserContext(), v.account())
	if err != nil {
		return err
	}
	saved, err := r.savedHours(c, v, setup)
	if err != nil {
		return err
	}
	sent, err := r.hoursForm(c, v, h)
	if err != nil {
		return err
	}
	return saved.CheckReplaced(c, sent)
}

// hoursSaved leads on to what a creator who is new has still to set.
func (r *Routes) hoursSaved(c *fiber.Ctx, v *visit, hours slot.Settings) error {
	const at, saved = base + "/bookings/settings", "Your hours are saved."
	if len(hours.Weekly) == 0 { // exceptions alone open no listing
		return r.done(c, at, saved+" Nobody can book you: no day is ticked.")
	}
	setup, err := r.Booking.Setup(c.UserContext(), v.account())
	if err != nil {
		return err
	}
	if setup.Meetings.Virtual == nil && setup.Meetings.InPerson == nil {
		return r.done(c, at+"#meetings", saved+" Now choose where you meet buyers.")
	}
	return r.done(c, at, saved)
}

// sendHours shows the page with hours that are not saved, and with what is wrong with them.
func (r *Routes) sendHours(c *fiber.Ctx, v *visit, h workHours, refused error) error {
	setup, err := r.Booking.Setup(c.UserContext(), v.account())
	if err != nil {
		return err
	}
	f, err := r.hoursForm(c, v, h)
	if err != nil {
		return err
	}
	f.KeepStored(c)
	if refused != nil {
		saved, err := r.savedHours(c, v, setup)
		if err != nil {
			return err
		}
		f.Stored = saved.Stored
		h.blame(&f)
		if !f.Refuse(refused) {
			return refused
		}
		c.Status(r.layout.Config().StatusOf(refused))
	}
	p, err := r.schedulePage(c, v, f, savedMeetings(v, setup.Meetings))
	if err != nil {
		return err
	}
	return r.send(c, v, p)
}

// blame tells each row which members of a request it makes.
func (h workHours) blame(f *ui.Form) {
	_, weekly, overrides := h.settings()
	for i, row := range weekly {
		at := f.FieldFor(row)
		at.Also = append(at.Also, fmt.Sprintf("weekly[%d]", i))
	}
	for i, row := range overrides {
		at := f.FieldFor(row)
		at.Also = append(at.Also, fmt.Sprintf("overrides[%d]", i))
	}
}
