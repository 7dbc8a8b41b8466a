package event

import (
	"encoding/json"
	"slices"
	"testing"
	"time"
)

func TestTheCatalogueDescribesEveryTypeOfTheContract(t *testing.T) {
	t.Parallel()
	var types []string
	for _, kind := range Catalogue() {
		types = append(types, string(kind.Type))
		var schema struct {
			Type       string
			Properties map[string]any
		}
		if err := json.Unmarshal(kind.Schema, &schema); err != nil || schema.Type != "object" || len(schema.Properties) == 0 || kind.Description == "" {
			t.Errorf("%s: %v, schema %s, description %q", kind.Type, err, kind.Schema, kind.Description)
		}
	}
	slices.Sort(types)
	contract := slices.Sorted(slices.Values(ContractTypes))
	if !slices.Equal(types, contract) {
		t.Errorf("the catalogue has %q, the contract %q", types, contract)
	}
	if first := Catalogue()[0]; first.Type != CustomerAccessChanged || first.Advanced {
		t.Errorf("the first is %+v, want the recommended one", first)
	}
}

func TestTypesShareTheSchemaOfTheirFamily(t *testing.T) {
	t.Parallel()
	for kind, want := range map[Type]string{
		SubscriptionCreated: "subscription", SubscriptionExpired: "subscription", SubscriptionUpdated: "subscription.updated",
		SubscriptionDunning: "subscription.dunning", AppointmentBooked: "appointment", DisputeOpened: "dispute", InvoicePaid: "invoice",
		PaymentCompleted: "payment.completed", CustomerAccessChanged: "customer.access_changed",
	} {
		if got := schemaOf(kind); got != want {
			t.Errorf("%s has the schema %s, want %s", kind, got, want)
		}
	}
}

func TestTheEnvelopeShowsTheRecord(t *testing.T) {
	t.Parallel()
	r := Record{
		ID: "evt_1", CreatorID: "crt_1", Type: PaymentCompleted, CreatedAt: time.Date(2026, 3, 8, 12, 0, 0, 5_000_000, time.UTC),
		Livemode: true, Data: json.RawMessage(`{"customerId":"cus_1","externalCustomerId":"ada"}`),
	}
	raw, err := json.Marshal(r.Envelope())
	want := `{"id":"evt_1","type":"payment.completed","createdAt":"2026-03-08T12:00:00.005Z","livemode":true,"apiVersion":"v1","data":{"customerId":"cus_1","externalCustomerId":"ada"}}`
	if err != nil || string(raw) != want {
		t.Errorf("%s, %v; want %s", raw, err, want)
	}
	for data, want := range map[string][2]string{
		string(r.Data): {"cus_1", "ada"}, `{"externalCustomerId":"ada"}`: {"", "ada"}, `{}`: {}, `[]`: {}, `{"customerId":5,"externalCustomerId":"ada"}`: {},
	} {
		r.Data = json.RawMessage(data)
		if id, external := r.Customer(); id != want[0] || external != want[1] {
			t.Errorf("%s is about %q, %q; want %q", data, id, external, want)
		}
	}
}
