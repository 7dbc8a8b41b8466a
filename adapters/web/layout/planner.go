package layout

// Planner is the calendar in which times are chosen, driven by calendar.js.
type Planner struct {
	// Sessions is the number of times to choose.
	Sessions int
	// Hour12 is the reader's clock.
	Hour12 bool
	// Zones are the time zones to choose from.
	Zones []ZoneGroup
	// Confirm is the label of the button that continues.
	Confirm string
}
