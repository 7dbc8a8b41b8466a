package webhooks_test

import (
	"context"
	"strings"
	"testing"

	"sundry/core/invoice"
	"sundry/ports"
)

func TestDeliveredInvoicesHaveLinks(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.endpoint("shop", "invoice.*")
		w.atomically(func(ctx context.Context, r ports.Repos) error {
			return w.webhooks.Publish(ctx, r, invoice.PaidEvent{State: invoice.State{
				ID: "inv_01h00000000000000000000000", CreatorID: creatorID, Links: invoice.Links{Page: "secret"},
			}})
		})
		sent := w.work()
		if len(sent) != 1 || !strings.Contains(string(sent[0].envelope.Data), `"hostedUrl":"/i/01h0000000`) {
			t.Errorf("sent %+v", sent)
		}
	})
}
