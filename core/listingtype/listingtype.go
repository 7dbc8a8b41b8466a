// Package listingtype describes the types of listings in one table: their rules, and the words and drawings of pages.
package listingtype

import (
	"sundry/core/intake"
	"sundry/core/tax"
)

// Type specifies what kind of thing is sold. It never changes.
type Type string

// The types that rules and tests name. All of them are rows of the table.
const (
	Digital      Type = "DIGITAL"
	Service      Type = "SERVICE"
	Subscription Type = "SUBSCRIPTION"
	Appointment  Type = "APPOINTMENT"
)

// descriptor is a row of the table.
type descriptor struct {
	name Type
	// label and example are the creator's words for it.
	label, example string
	// icon names its drawing on pages.
	icon string
	// recurring types have a price of their own that renews; bookable ones are sold for times from the seller's calendar.
	recurring, bookable bool
	// taxed is the tax category of its sales: personal services are a service, the rest is electronic.
	taxed tax.Category
	// atOnce means that buyers get a file as soon as they have paid.
	atOnce   bool
	metadata map[string]Member
}

var table = []descriptor{
	{
		name: Digital, label: "Download", example: "A file that buyers get at once: a book, a template, a recording.",
		icon: "digital", taxed: tax.Electronic, atOnce: true,
		metadata: map[string]Member{
			"imageUrl":    {Check: link},
			"downloadUrl": {Check: link},
			"fileFormat":  {Check: stringUpTo(50)},
			"fileSize":    {Check: number(0, 1<<50)},
			"previewUrl":  {Check: link},
			"pageCount":   {Check: number(0, 1_000_000)},
		},
	},
	{
		name: Service, label: "Service", example: "Work that you do for a buyer: a review, a design, a repair.",
		icon: "service", taxed: tax.Service,
		metadata: map[string]Member{
			"imageUrl":        {Check: link},
			"durationMinutes": {Check: number(1, 525_600)},
			"deliveryDays":    {Check: number(0, 3650)},
			"revisions":       {Check: number(0, 1000)},
			"calendarUrl":     {Check: link},
		},
	},
	{
		name: Subscription, label: "Subscription", example: "Access that renews: a membership, an app, a course.",
		icon: "subscription", recurring: true, taxed: tax.Electronic,
		metadata: map[string]Member{
			"imageUrl":      {Check: link},
			"interval":      {Check: oneOf("day", "week", "month", "year"), Default: "month"},
			"intervalCount": {Check: number(1, 1095), Default: int64(1)},
			"trialDays":     {Check: number(0, 730), Default: int64(0)}, // plan.MaxTrialDays
			"features":      {Check: features},
			// Customers may pause the plan in their portal, and resume it.
			"customersMayPause": {Check: boolean, Default: false},
		},
	},
	{
		name: Appointment, label: "Appointment", example: "Time with you, booked from your calendar, alone or in packs.",
		icon: "appointment", bookable: true, taxed: tax.Service,
		metadata: map[string]Member{
			"imageUrl":             {Check: link},
			"deliveryMethod":       {Check: oneOf("virtual", "in_person", "hybrid"), Default: "virtual"},
			"bufferBeforeMinutes":  {Check: number(0, 1440), Default: int64(0)},
			"bufferAfterMinutes":   {Check: number(0, 1440), Default: int64(0)},
			"minimumNoticeMinutes": {Check: number(0, 525_600), Default: int64(0)},
			"horizonDays":          {Check: number(1, 730), Default: int64(60)},
			"slotIntervalMinutes":  {Check: number(5, 720)}, // absent: the variant's duration
			"dailyCap":             {Check: number(1, 1440)},
			"weeklyCap":            {Check: number(1, 10_080)},
			"inPersonAddress":      {Check: stringUpTo(500)},
			"fullRefundHours":      {Check: number(0, 8760)}, // absent: a buyer who cancels has no claim to a refund
			"questions":            {Check: intake.CheckQuestions},
			"maxGuests":            {Check: number(0, intake.MaxGuests), Default: int64(intake.MaxGuests)},
		},
	},
}

// row returns the type's row, or of an unknown type what every type has.
func (t Type) row() descriptor {
	for _, d := range table {
		if d.name == t {
			return d
		}
	}
	return descriptor{icon: "digital", taxed: tax.Electronic}
}

// All lists the types in the order of the table.
func All() []Type {
	all := make([]Type, len(table))
	for i, d := range table {
		all[i] = d.name
	}
	return all
}

// Names lists the names of the types.
func Names() []string {
	names := make([]string, len(table))
	for i, d := range table {
		names[i] = string(d.name)
	}
	return names
}

// Label returns the creator's word for the type.
func (t Type) Label() string { return t.row().label }

// Example describes to a creator what is sold as this type.
func (t Type) Example() string { return t.row().example }

// Icon names the drawing of the type on pages.
func (t Type) Icon() string { return t.row().icon }

// Recurring reports whether the listing's own price renews.
func (t Type) Recurring() bool { return t.row().recurring }

// Bookable reports whether times from the seller's calendar are sold.
func (t Type) Bookable() bool { return t.row().bookable }

// TaxCategory returns how sales of the type are taxed.
func (t Type) TaxCategory() tax.Category { return t.row().taxed }

// SuppliesAtOnce reports whether buyers get content as soon as they have paid, by which their right of withdrawal can
// end (Directive 2011/83/EU, article 16(m)).
func (t Type) SuppliesAtOnce() bool { return t.row().atOnce }

// Metadata returns the members that a listing of the type may have, by name. It is nil for an unknown type.
func (t Type) Metadata() map[string]Member { return t.row().metadata }
