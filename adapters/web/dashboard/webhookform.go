package dashboard

import (
	"cmp"
	"slices"
	"strings"

	"sundry/adapters/web/dashboard/ui"
	core "sundry/core/webhook"
)

// eventFamilies names the families of event types.
var eventFamilies = map[string]ui.Words{
	"customer": "Customers", "payment": "Payments", "subscription": "Subscriptions", "refund": "Refunds",
	"dispute": "Disputes", "payout": "Payouts", "appointment": "Appointments", "invoice": "Invoices", "usage": "Usage",
	"usage_credit": "Usage credits", "webhook_endpoint": "Webhook endpoints",
}

// eventGroups offers every event type by family, and the filters that are stored for types of other versions.
func eventGroups(v *visit, stored []string) []ui.Group {
	var filters []string
	for _, kind := range core.EventTypes() {
		family, _, _ := strings.Cut(kind, ".")
		filters = append(filters, family+".*", kind)
	}
	var groups []ui.Group
	places, offered := map[string]int{}, map[string]bool{"*": true}
	for _, filter := range append(filters, stored...) {
		if offered[filter] {
			continue
		}
		offered[filter] = true
		family, member, _ := strings.Cut(filter, ".")
		place, ok := places[family]
		if !ok {
			place, places[family] = len(groups), len(groups)
			groups = append(groups, ui.Group{Label: wordsOf(eventFamilies, family)})
		}
		box := ui.Option{Value: filter, Label: ui.Data(filter), Selected: slices.Contains(stored, filter)}
		if member == "*" {
			box.Label = v.say("All: %s", filter)
		}
		groups[place].Options = append(groups[place].Options, box)
	}
	return groups
}

func endpointForm(v *visit, e core.EndpointState) ui.Form {
	if e.ID == "" {
		e.Events = []string{"*"}
	}
	f := v.form("endpoint", base+"/webhooks/new", "Add endpoint",
		ui.Field{
			Name: "url", Label: "Address", Type: "url", Value: e.URL, Required: true,
			Placeholder: "https://example.com/webhooks",
		},
		ui.Field{
			Name: "events", Label: "Events", Type: "boxes", Required: true, Groups: eventGroups(v, e.Events),
			Options: []ui.Option{{Value: "*", Label: "All events", Selected: slices.Contains(e.Events, "*")}},
			Hint:    "“All” includes event types that are added later.",
		},
		ui.Field{
			Name: "maxInFlight", Label: "Concurrent deliveries", Value: zeroless(e.MaxInFlight), Half: true,
			Hint: "At most. Leave empty for 32.",
		},
		ui.Field{
			Name: "maxPerSecond", Label: "Deliveries per second", Value: zeroless(e.MaxPerSecond), Half: true,
			Hint: "At most. Leave empty for no limit.",
		})
	f.Cancel = base + "/webhooks"
	if e.ID != "" {
		f.Action, f.Submit, f.Cancel = base+"/webhooks/"+e.ID+"/edit", "Save", base+"/webhooks/"+e.ID
		return f.OfStored()
	}
	return f
}

// readEndpoint reads the form of a new endpoint, or of one that has the filters stored.
func readEndpoint(in *ui.Input, stored []string) core.EndpointEdit {
	events := withoutIncluded(in.Texts("events"))
	return core.EndpointEdit{
		URL: new(in.Text("url")), Events: &events, Stored: stored,
		MaxInFlight:  cmp.Or(in.Number("maxInFlight", "maxInFlight"), new(core.DefaultInFlight)),
		MaxPerSecond: cmp.Or(in.Number("maxPerSecond", "maxPerSecond"), new(0)),
	}
}

// withoutIncluded returns the filters that take something that no other does.
func withoutIncluded(filters []string) (all []string) {
	for _, filter := range filters {
		others := slices.DeleteFunc(slices.Clone(filters), func(other string) bool { return other == filter })
		if !core.Wants(others, filter) {
			all = append(all, filter)
		}
	}
	return all
}
