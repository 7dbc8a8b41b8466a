package webhook_test

import (
	"strings"
	"testing"

	"sundry/core/apiformat"
	"sundry/core/event"
	"sundry/core/invoice"
	"sundry/core/secret"
	"sundry/core/webhook"
)

func TestInvoiceEventsAreStoredWithoutLinks(t *testing.T) {
	t.Parallel()
	pages := invoice.Pages{BaseURL: "https://pay.example", Keys: secret.Fixed(make([]byte, 32))}
	state := invoice.State{
		ID: "inv_01h00000000000000000000000", CreatorID: "crt_1",
		Lines: []invoice.Line{{ID: "ili_1", Description: `"hostedUrl":""`}},
	}
	state.Links = pages.Links(state.ID)
	kind, data, ok := webhook.DataOf(invoice.PaidEvent{State: state}, false)
	if !ok {
		t.Fatal("an invoice that is paid has no event")
	}
	raw, err := apiformat.JSON(data.View)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(raw), "pay.example") {
		t.Errorf("stored: %s", raw)
	}
	shown := string(webhook.WithLinks(event.Record{Type: kind, Data: raw}, pages).Data)
	want := strings.Replace(string(raw), `"hostedUrl":"","pdfUrl":""`,
		`"hostedUrl":"`+state.Links.Page+`","pdfUrl":"`+state.Links.PDF+`"`, 1)
	if shown != want || !strings.Contains(shown, `"description":"\"hostedUrl\":\"\""`) {
		t.Errorf("shown: %s, want %s", shown, want)
	}
	if id, ok := pages.Verify(strings.TrimPrefix(state.Links.Page, "https://pay.example/i/")); !ok || id != state.ID {
		t.Errorf("the page opens %q, %v", id, ok)
	}
	for name, other := range map[string]event.Record{
		"another event":             {Type: event.PaymentCompleted, Data: []byte(`{"id":"a","hostedUrl":""}`)},
		"an invoice without its id": {Type: "invoice.paid", Data: []byte(`{"hostedUrl":"","pdfUrl":""}`)},
		"what cannot be read":       {Type: "invoice.paid", Data: []byte(`{"id":"a","hostedUrl":""`)},
	} {
		if got := webhook.WithLinks(other, pages); string(got.Data) != string(other.Data) {
			t.Errorf("%s became %s", name, got.Data)
		}
	}
}
