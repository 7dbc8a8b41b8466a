package docs

import "sundry/core/webhook"

// apiEvent shows an event type on the page.
type apiEvent struct {
	ID, Type, Text string
	Advanced       bool
	Payload        string
}

// listEvents lists the catalogue with an example of each type.
func listEvents() []apiEvent {
	var out []apiEvent
	for _, kind := range webhook.Catalogue() {
		payload := indented(ordered{
			keys: []string{"id", "type", "createdAt", "livemode", "apiVersion", "data"},
			values: []any{
				"evt_01jqz5y2c4e6g8h0k2m4p6r8s0", kind.Type, exampleDay + "T09:00:00.000Z", false, "v1", kind.Example,
			},
		}, "")
		out = append(out, apiEvent{
			ID: "event-" + anchor(string(kind.Type)), Type: string(kind.Type), Text: kind.Description,
			Advanced: kind.Advanced,
			Payload:  payload,
		})
	}
	return out
}
