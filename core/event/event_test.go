package event

import (
	"encoding/json"
	"testing"
	"time"
)

func TestTheEnvelopeShowsTheRecord(t *testing.T) {
	t.Parallel()
	r := Record{
		ID: "evt_1", CreatorID: "crt_1", Type: PaymentCompleted, CreatedAt: time.Date(2026, 3, 8, 12, 0, 0, 5_000_000,
			time.UTC),
		Livemode: true, Data: json.RawMessage(`{"customerId":"cus_1","externalCustomerId":"ada"}`),
	}
	raw, err := json.Marshal(r.Envelope())
	want := `{"id":"evt_1","type":"payment.completed","createdAt":"2026-03-08T12:00:00.005Z","livemode":true,` +
		`"apiVersion":"v1","data":{"customerId":"cus_1","externalCustomerId":"ada"}}`
	if err != nil || string(raw) != want {
		t.Errorf("%s, %v; want %s", raw, err, want)
	}
	for data, want := range map[string][2]string{
		string(r.Data): {"cus_1", "ada"}, `{"externalCustomerId":"ada"}`: {"", "ada"}, `{}`: {}, `[]`: {},
		`{"customerId":5,"externalCustomerId":"ada"}`: {},
	} {
		r.Data = json.RawMessage(data)
		if id, external := r.Customer(); id != want[0] || external != want[1] {
			t.Errorf("%s is about %q, %q; want %q", data, id, external, want)
		}
	}
}
