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
		{Type: PaymentCompleted, Description: "A checkout session was paid, or a subscription was renewed or changed its plan for money.", Advanced: true},
		{Type: SubscriptionCreated, Description: "A subscription began, with its first payment or its trial.", Advanced: true},
		{Type: SubscriptionRenewed, Description: "Another period of a subscription began and is paid for, the first one after a trial included.", Advanced: true},
		{Type: SubscriptionCancelScheduled, Description: "A person canceled a subscription for the end of its period.", Advanced: true},
		{Type: SubscriptionCanceled, Description: "A subscription ended because a person canceled it.", Advanced: true},
		{Type: SubscriptionUpdated, Description: "A subscription changed in any other way. The member previous shows what was.", Advanced: true},
		{Type: SubscriptionExpired, Description: "A subscription ended because it could not be charged.", Advanced: true},
		{Type: SubscriptionDunning, Description: "An attempt to charge a renewal failed, the last one included.", Advanced: true},
		{Type: RefundCreated, Description: "Money of a payment went back to the buyer."},
		{Type: DisputeOpened, Description: "The buyer's bank took a payment back. Respond with evidence, or accept."},
		{Type: DisputeClosed, Description: "A dispute was won or lost."},
		{Type: PayoutPaid, Description: "A payout was sent to your bank account."},
		{Type: AppointmentBooked, Description: "A time was paid for. A pack emits one for each of its times."},
		{Type: AppointmentRescheduled, Description: "An appointment was moved to another time."},
		{Type: AppointmentCanceled, Description: "An appointment was canceled. `refundDecision` is what happened to the money."},
		{Type: InvoiceCreated, Description: "An invoice was made."},
		{Type: InvoiceFinalized, Description: "An invoice is final; the saved card is charged next."},
		{Type: InvoicePaid, Description: "An invoice was paid."},
		{Type: InvoicePaymentFailed, Description: "A charge of an invoice failed. It names the next attempt, if one is planned."},
		{Type: UsageThresholdReached, Description: "A subscription's use of a meter has come to an alert's threshold, once in each period."},
		{Type: WebhookEndpointDisabled, Description: "An endpoint was disabled: it responded with 410, or nothing but failures for five days."},
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

// schemaOf is the name of a type's schema: events of subscriptions share one but for two with members of their own, and
// those of appointments, disputes and invoices share one each.
func schemaOf(t Type) string {
	if t == SubscriptionUpdated || t == SubscriptionDunning {
		return string(t)
	}
	if family, _, _ := strings.Cut(string(t), "."); family == "subscription" || family == "appointment" || family == "dispute" || family == "invoice" {
		return family
	}
	return string(t)
}
