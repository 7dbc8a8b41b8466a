package payments_test

import (
	"errors"
	"testing"
	"time"

	"sundry/core/fault"
	"sundry/modules/payments"
	"sundry/ports"
)

// signedBy knows the events that carry its own signature.
type signedBy string

func (s signedBy) Verify(_ []byte, signature string, _ time.Time) (ports.ProcessorEvent, bool, error) {
	if signature != string(s) {
		return ports.ProcessorEvent{}, false, fault.New(fault.Unauthenticated, "Not signed by "+string(s)+".")
	}
	return ports.ProcessorEvent{ID: "evt_1", Kind: ports.AboutPayment, ObjectID: "pi_1"}, false, nil
}

func TestProvidersMayShareASignatureHeader(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, w *fixture) {
		inbox := payments.NewInbox(payments.InboxDeps{Store: w.store, Clock: w.clock, Providers: ports.Providers{
			{Name: "one", SignatureHeader: "X-Signature", Events: signedBy("one")},
			{Name: "two", SignatureHeader: "X-Signature", Events: signedBy("two")},
		}})
		receive := func(signature string) error {
			return inbox.Receive(t.Context(), nil, func(string) string { return signature })
		}
		for _, known := range []string{"one", "two"} {
			if err := receive(known); err != nil {
				t.Errorf("signed by %s: %v", known, err)
			}
		}
		for _, unknown := range []string{"three", ""} {
			var refusal *fault.Error
			if err := receive(unknown); !errors.As(err, &refusal) || refusal.Code != fault.Unauthenticated {
				t.Errorf("signed by %q: %v", unknown, err)
			}
		}
	})
}
