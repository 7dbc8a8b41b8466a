package webhook

import (
	"slices"
	"strings"

	"sundry/core/event"
)

// Wants reports whether any of the filters takes the event type: exact, family.* or *.
func Wants(filters []string, eventType string) bool {
	return slices.ContainsFunc(filters, func(filter string) bool { return matches(filter, eventType) })
}

func matches(filter, eventType string) bool {
	if filter == "*" || filter == eventType {
		return true
	}
	family, ok := strings.CutSuffix(filter, "*")
	return ok && strings.HasSuffix(family, ".") && strings.HasPrefix(eventType, family)
}

// families holds the parts before the first dot of every event type.
var families = func() map[string]bool {
	all := map[string]bool{}
	for _, name := range EventTypes() {
		family, _, _ := strings.Cut(name, ".")
		all[family+"."] = true
	}
	return all
}()

// Matching lists the event types that a filter takes: one type, a family or *.
func Matching(filter string) []event.Type {
	var all []event.Type
	for _, name := range EventTypes() {
		if matches(filter, name) {
			all = append(all, event.Type(name))
		}
	}
	return all
}

// Filters lists every event type and every family.
func Filters() []string {
	known := EventTypes()
	for family := range families {
		known = append(known, family+"*")
	}
	return known
}

// validFilter accepts what could match an event type.
func validFilter(filter string) bool {
	if filter == "*" {
		return true
	}
	if family, ok := strings.CutSuffix(filter, "*"); ok {
		return families[family]
	}
	return slices.Contains(EventTypes(), filter)
}
