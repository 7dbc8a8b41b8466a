package sandboxpay

import (
	"context"

	"sundry/ports"
)

// Verify compares what the processor remembers with the payments, and returns one line per violation. The service may
// go on meanwhile: a charge whose payment is not settled yet is none.
func (p *Processor) Verify(ctx context.Context) ([]string, error) {
	audit := p.store.Read(ctx).Sandbox.Audit
	return ports.Checks{
		{Find: audit.UnmatchedCharges, Message: "payment %s is not what the sandbox processor charged"},
		{Find: audit.UnmatchedRefunds, Message: "refund %s is not what the sandbox processor refunded"},
	}.Run(ctx)
}
