package docs

import (
	"encoding/json"
	"fmt"

	"sundry/core/event"
)

// apiEvent is one event type as the page shows it.
type apiEvent struct {
	ID, Type, Text string
	Advanced       bool
	Payload        string
}

// readEvents joins the catalogue with an example of each type's data; a type without one stops the start.
func readEvents() ([]apiEvent, error) {
	raw, err := examples.ReadFile("examples/events.json")
	if err != nil {
		return nil, fmt.Errorf("event examples: %w", err)
	}
	var data map[event.Type]json.RawMessage
	if err := json.Unmarshal(raw, &data); err != nil {
		return nil, fmt.Errorf("event examples: %w", err)
	}
	var out []apiEvent
	for _, kind := range event.Catalogue() {
		if data[kind.Type] == nil {
			return nil, fmt.Errorf("event examples: none of %s", kind.Type)
		}
		payload := indented(ordered{
			keys:   []string{"id", "type", "createdAt", "livemode", "apiVersion", "data"},
			values: []any{"evt_01jqz5y2c4e6g8h0k2m4p6r8s0", kind.Type, exampleDay + "T09:00:00.000Z", false, "v1", data[kind.Type]},
		}, "")
		out = append(out, apiEvent{
			ID: "event-" + anchor(string(kind.Type)), Type: string(kind.Type), Text: kind.Description, Advanced: kind.Advanced,
			Payload: payload,
		})
	}
	return out, nil
}
