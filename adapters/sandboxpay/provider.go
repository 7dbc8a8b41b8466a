package sandboxpay

import "sundry/ports"

// Name identifies the sandbox in payments and saved cards.
const Name = "sandbox"

// Open opens the sandbox as a payment provider. It implements ports.OpenProvider.
func Open(h ports.ProviderHost) (ports.Provider, error) {
	processor, events := New(h.Store), NewEvents(h.Key("processor-events"), h.Store, h.Clock, h.Receive)
	h.Handle(taskEmit, events.emit)
	h.Verify(processor.Verify)
	return ports.Provider{
		Name: Name, Label: "Sandbox", Processor: processor, Cards: processor, RefundLister: processor,
		DisputeProcessor: processor,
		Events:           events, SignatureHeader: "Stripe-Signature", PayoutRail: Rail{},
	}, nil
}
