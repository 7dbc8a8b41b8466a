// Package ui holds the parts that the dashboard's pages are made of: cells, tables, lists, forms and drawings. It
// knows no area of the dashboard. Templates render a Part by its Kind.
package ui

// Page is a page without the frame around it.
type Page struct {
	// Nav is the path of the navigation's entry that the page belongs to.
	Nav   string
	Title Words
	Lead  Words
	Badge *Cell
	// Up links to the list that the page belongs to.
	Up      *Action
	Actions []Action
	Parts   []Part
	// Aside is beside the parts where there is space.
	Aside []Part
	// Wide gives the whole width to the parts: the aside is above them.
	Wide bool
	Body string // a class of the page
	// Sought is in the search field of the page's head.
	Sought string
	// FormsLeadTo is the origin that a form of the page redirects to, beside our own; "" for none.
	FormsLeadTo string
}
