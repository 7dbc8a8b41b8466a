package layout

// Planner is the calendar in which times are chosen; calendar.js brings it to life.
type Planner struct {
	// Sessions is how many times are chosen.
	Sessions int
	// Hour12 is the reader's clock.
	Hour12 bool
	// Confirm is the label of the button that goes on.
	Confirm string
}
