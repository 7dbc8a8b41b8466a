package event

import (
	"embed"
	"encoding/json"
	"strings"
)

// Kind is one line of the catalogue of events.
type Kind struct {
	Type        Type
	Description string
	// Advanced events serve existing integrations; the recommended path is customer.access_changed.
	Advanced bool
	// Schema is the JSON Schema (2020-12) of the envelope's data.
	Schema json.RawMessage
}

//go:embed schemas/*.json
var schemas embed.FS

// Catalogue lists every type that this version emits, the recommended one first.
func Catalogue() []Kind {
	kinds := []Kind{
		{Type: CustomerAccessChanged, Description: "What a customer may use has changed. Read the snapshot again."},
		{Type: PaymentCompleted, Description: "A checkout session was paid.", Advanced: true},
		{Type: SubscriptionCreated, Description: "A subscription began, with its first payment or its trial.", Advanced: true},
		{Type: SubscriptionExpired, Description: "A subscription was ended by the system.", Advanced: true},
		{Type: AppointmentBooked, Description: "A time was paid for. A pack utters one for each of its times."},
		{Type: AppointmentRescheduled, Description: "An appointment was moved to another time."},
		{Type: AppointmentCanceled, Description: "An appointment was called off. No money goes back by itself."},
		{Type: WebhookEndpointDisabled, Description: "An endpoint was switched off: it answered 410, or nothing but failures for five days."},
		{Type: WebhookEndpointTest, Description: "A test message that you asked for."},
	}
	for i, kind := range kinds {
		raw, err := schemas.ReadFile("schemas/" + schemaOf(kind.Type) + ".json")
		if err != nil {
			panic("event: no schema for " + string(kind.Type)) // embedded: a test reads them all
		}
		kinds[i].Schema = raw
	}
	return kinds
}

// schemaOf is the name of a type's schema: all events of subscriptions share one, and so do those of appointments.
func schemaOf(t Type) string {
	if family, _, _ := strings.Cut(string(t), "."); family == "subscription" || family == "appointment" {
		return family
	}
	return string(t)
}
