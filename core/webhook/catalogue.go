package webhook

import (
	"embed"
	"encoding/json"
	"slices"

	"sundry/core/access"
	"sundry/core/appointment"
	"sundry/core/checkout"
	"sundry/core/dispute"
	"sundry/core/event"
	"sundry/core/invoice"
	"sundry/core/payout"
	"sundry/core/refund"
	"sundry/core/subscription"
	"sundry/core/usage"
)

// Kind is a row of the catalogue: a type of event that endpoints may subscribe to.
type Kind struct {
	Type        event.Type
	Description string
	// Advanced events serve existing integrations; the recommended path is customer.access_changed.
	Advanced bool
	// Schema is the JSON Schema (2020-12) of the envelope's data, and Example an example of it.
	Schema, Example json.RawMessage

	schema string // the name of its file under schemas, which several rows may share
	// of are the domain events that it is made of. It has none where modules/webhooks decides when to publish it.
	of []source
}

// Data is the payload of a webhook event and the account that it belongs to.
type Data struct {
	CreatorID string
	View      any
}

// SchemaName names the schema. Types with the same data share one.
func (k Kind) SchemaName() string { return k.schema }

// source makes the data of a webhook event of one type of domain event.
type source struct {
	event event.Event // the zero value
	view  func(e event.Event, livemode bool) (d Data, ok bool)
}

func of[E event.Event](view func(e E, livemode bool) Data) source {
	var zero E
	return source{zero, func(e event.Event, livemode bool) (d Data, ok bool) {
		typed, ok := e.(E)
		if !ok {
			return Data{}, false
		}
		return view(typed, livemode), true
	}}
}

func ofSubscription(s subscription.State, livemode bool) Data {
	return Data{s.CreatorID, subscription.NewView(s, livemode)}
}

func ofInvoice(s invoice.State, livemode bool) Data {
	s.Links = invoice.Links{} // see WithLinks
	return Data{s.CreatorID, invoice.NewView(s, livemode)}
}

// catalogue lists every type that this version emits, the recommended one first. A row needs a schema in schemas/ and
// an example in examples.json.
var catalogue = load([]Kind{
	{
		Type: event.CustomerAccessChanged, schema: "customer.access_changed",
		Description: "What a customer may use has changed. Read the snapshot again.",
		of:          []source{of(func(e access.Announced, _ bool) Data { return Data{e.CreatorID, e.View()} })},
	},
	{
		Type: event.PaymentCompleted, schema: "payment.completed", Advanced: true,
		Description: "A checkout session was paid, or a subscription was renewed or changed its plan for money.",
		of: []source{
			of(func(e checkout.Paid, _ bool) Data { return Data{e.CreatorID, newPaidCheckout(e)} }),
			of(func(e subscription.ChargePaid, _ bool) Data {
				return Data{e.Subscription.CreatorID, newPaidSubscription(e)}
			}),
		},
	},
	{
		Type: "subscription.created", schema: "subscription", Advanced: true,
		Description: "A subscription began, with its first payment or its trial.",
		of:          []source{of(func(e subscription.Created, live bool) Data { return ofSubscription(e.State, live) })},
	},
	{
		Type: "subscription.renewed", schema: "subscription", Advanced: true,
		Description: "Another period of a subscription began and is paid for, the first one after a trial included.",
		of:          []source{of(func(e subscription.Renewed, live bool) Data { return ofSubscription(e.State, live) })},
	},
	{
		Type: "subscription.cancel_scheduled", schema: "subscription", Advanced: true,
		Description: "A person canceled a subscription for the end of its period.",
		of: []source{of(func(e subscription.CancelScheduled, live bool) Data {
			return ofSubscription(e.State, live)
		})},
	},
	{
		Type: "subscription.canceled", schema: "subscription", Advanced: true,
		Description: "A subscription ended because a person canceled it.",
		of:          []source{of(func(e subscription.Canceled, live bool) Data { return ofSubscription(e.State, live) })},
	},
	{
		Type: "subscription.updated", schema: "subscription.updated", Advanced: true,
		Description: "A subscription changed in any other way. The member previous shows what was.",
		of: []source{of(func(e subscription.Updated, live bool) Data {
			return Data{e.CreatorID, subscription.NewUpdatedView(e, live)}
		})},
	},
	{
		Type: "subscription.expired", schema: "subscription", Advanced: true,
		Description: "A subscription ended because it could not be charged.",
		of:          []source{of(func(e subscription.Expired, live bool) Data { return ofSubscription(e.State, live) })},
	},
	{
		Type: "subscription.dunning", schema: "subscription.dunning", Advanced: true,
		Description: "An attempt to charge a renewal failed, the last one included.",
		of: []source{of(func(e subscription.ChargeFailed, live bool) Data {
			return Data{e.CreatorID, subscription.NewChargeFailedView(e, live)}
		})},
	},
	{
		Type: "refund.created", schema: "refund.created",
		Description: "Money of a payment went back to the buyer.",
		of: []source{
			of(func(e refund.Created, _ bool) Data { return Data{e.CreatorID, e.View()} }),
			of(func(e refund.Returned, _ bool) Data { return Data{e.CreatorID, e.View()} }),
		},
	},
	{
		Type: "dispute.opened", schema: "dispute",
		Description: "The buyer's bank took a payment back. Respond with evidence, or accept.",
		of:          []source{of(func(e dispute.Opened, _ bool) Data { return Data{e.CreatorID, e.View()} })},
	},
	{
		Type: "dispute.closed", schema: "dispute",
		Description: "A dispute was won or lost.",
		of:          []source{of(func(e dispute.Closed, _ bool) Data { return Data{e.CreatorID, e.View()} })},
	},
	{
		Type: "payout.paid", schema: "payout.paid",
		Description: "A payout was sent to your bank account.",
		of:          []source{of(func(e payout.PaidOut, _ bool) Data { return Data{e.CreatorID, e.View()} })},
	},
	{
		Type: "appointment.booked", schema: "appointment",
		Description: "A time was paid for. A pack emits one for each of its times.",
		of:          []source{of(func(e appointment.Booked, _ bool) Data { return Data{e.CreatorID, e.View()} })},
	},
	{
		Type: "appointment.rescheduled", schema: "appointment",
		Description: "An appointment was moved to another time.",
		of:          []source{of(func(e appointment.Rescheduled, _ bool) Data { return Data{e.CreatorID, e.View()} })},
	},
	{
		Type: "appointment.canceled", schema: "appointment",
		Description: "An appointment was canceled. `refundDecision` is what happened to the money.",
		of:          []source{of(func(e appointment.Canceled, _ bool) Data { return Data{e.CreatorID, e.View()} })},
	},
	{
		Type: "appointment.outcome_recorded", schema: "appointment",
		Description: "A creator recorded that an appointment took place, or that the buyer did not come.",
		of:          []source{of(func(e appointment.OutcomeRecorded, _ bool) Data { return Data{e.CreatorID, e.View()} })},
	},
	{
		Type: "invoice.created", schema: "invoice",
		Description: "An invoice was made.",
		of:          []source{of(func(e invoice.Created, live bool) Data { return ofInvoice(e.State, live) })},
	},
	{
		Type: "invoice.finalized", schema: "invoice",
		Description: "An invoice is final; the saved card is charged next.",
		of:          []source{of(func(e invoice.Finalized, live bool) Data { return ofInvoice(e.State, live) })},
	},
	{
		Type: "invoice.paid", schema: "invoice",
		Description: "An invoice was paid.",
		of:          []source{of(func(e invoice.PaidEvent, live bool) Data { return ofInvoice(e.State, live) })},
	},
	{
		Type: "invoice.payment_failed", schema: "invoice",
		Description: "A charge of an invoice failed. It names the next attempt, if one is planned.",
		of:          []source{of(func(e invoice.PaymentFailed, live bool) Data { return ofInvoice(e.State, live) })},
	},
	{
		Type: "usage.threshold_reached", schema: "usage.threshold_reached",
		Description: "A subscription's use of a meter has come to an alert's threshold, once in each period.",
		of:          []source{of(func(e usage.ThresholdReached, _ bool) Data { return Data{e.Alert.CreatorID, e.View()} })},
	},
	{
		Type: "usage.limit_reached", schema: "usage.limit_reached",
		Description: "Usage was left out of an invoice because it costs more than an invoice can charge. It is billed " +
			"with a later one once reports of it are voided.",
		of: []source{of(func(e usage.LimitReached, _ bool) Data { return Data{e.Plan.CreatorID, e.View()} })},
	},
	{
		Type: "usage_credit.granted", schema: "usage_credit",
		Description: "A customer has bought a usage credit, late use has left one after a billing plan's last invoice, or " +
			"one that had ended can be used again because a refund of its purchase failed.",
		of: []source{of(func(e usage.CreditGranted, live bool) Data { return Data{e.CreatorID, e.View(live)} })},
	},
	{
		Type: "usage_credit.low", schema: "usage_credit",
		Description: "An invoice has left a fifth or less of a usage credit.",
		of:          []source{of(func(e usage.CreditLow, live bool) Data { return Data{e.CreatorID, e.View(live)} })},
	},
	{
		Type: "usage_credit.ended", schema: "usage_credit",
		Description: "Nothing is left of a usage credit: it was used up, it expired, or its purchase was refunded.",
		of:          []source{of(func(e usage.CreditEnded, live bool) Data { return Data{e.CreatorID, e.View(live)} })},
	},
	{
		Type: event.WebhookEndpointDisabled, schema: "webhook_endpoint.disabled",
		Description: "An endpoint was disabled: it responded with 410, or nothing but failures for five days.",
	},
	{
		Type: event.WebhookEndpointTest, schema: "webhook_endpoint.test",
		Description: "A test message that you asked for.",
	},
})

//go:embed schemas/*.json examples.json
var files embed.FS

// load reads the schemas and examples of the rows. They are part of the program, so that a missing one is a panic.
func load(rows []Kind) []Kind {
	raw, err := files.ReadFile("examples.json")
	if err != nil {
		panic(err)
	}
	var examples map[event.Type]json.RawMessage
	if err := json.Unmarshal(raw, &examples); err != nil {
		panic("webhook: examples.json: " + err.Error())
	}
	for i, row := range rows {
		if rows[i].Schema, err = files.ReadFile("schemas/" + row.schema + ".json"); err != nil {
			panic("webhook: no schema of " + string(row.Type))
		}
		if rows[i].Example = examples[row.Type]; rows[i].Example == nil {
			panic("webhook: no example of " + string(row.Type))
		}
	}
	return rows
}

// Catalogue lists every type of event, the recommended one first.
func Catalogue() []Kind { return slices.Clone(catalogue) }

// EventTypes lists the names of the types in the order of the catalogue.
func EventTypes() []string {
	names := make([]string, len(catalogue))
	for i, kind := range catalogue {
		names[i] = string(kind.Type)
	}
	return names
}

// DomainEvents lists the zero values of the domain events that webhook events are made of.
func DomainEvents() []event.Event {
	var all []event.Event
	for _, kind := range catalogue {
		for _, from := range kind.of {
			all = append(all, from.event)
		}
	}
	return all
}

// DataOf returns the webhook event of a domain event. ok is false where there is none.
func DataOf(e event.Event, livemode bool) (kind event.Type, d Data, ok bool) {
	for _, row := range catalogue {
		for _, from := range row.of {
			if d, ok := from.view(e, livemode); ok {
				return row.Type, d, true
			}
		}
	}
	return "", Data{}, false
}
