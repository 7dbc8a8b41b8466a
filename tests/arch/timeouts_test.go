package arch

import (
	"path"
	"strings"
	"testing"
	"time"
)

// timeoutOrder describes which limits of time must be shorter than which others. Anyone who waits must give up before
// anyone who waits for it does: a receiver before the run that calls it, a run and the record of its failure before its
// lease.
var timeoutOrder = []struct{ shorter, longer string }{
	{"adapters/webhookhttp.timeout", "adapters/jobs.HandlerTimeout"},
	{"adapters/webhookhttp.fetchTimeout", "adapters/jobs.HandlerTimeout"},
	{"adapters/webhookhttp.imageStep", "adapters/webhookhttp.imageTimeout"},
	{"adapters/mail.timeout", "adapters/jobs.HandlerTimeout"},
	{"adapters/stripepay.timeout", "ports.ProcessorTimeout"},
	{"ports.ProcessorTimeout+ProcessorRecheckTimeout", "adapters/jobs.HandlerTimeout"},
	{"ports.ProcessorTimeout+ProcessorRecheckTimeout", "modules/payments.firstCheck"},
	{"ports.ProcessorTimeout", "modules/payments.firstRefundCheck"},
	{"ports.ProcessorTimeout+ProcessorRecheckTimeout", "modules/idempotency.lease"},
	{"adapters/vies.timeout", "modules/checkout.vatTimeout"},
	{"modules/checkout.vatTimeout", "adapters/jobs.HandlerTimeout"},
	{"adapters/stripepay.taxTimeout", "adapters/jobs.HandlerTimeout"},
	{"adapters/jobs.HandlerTimeout+recordTimeout", "adapters/jobs.Lease"},
	{"adapters/jobs.HandlerTimeout", "core/webhook.ProbeLease"},
}

func TestEveryTimeoutEndsBeforeTheOneAroundIt(t *testing.T) {
	t.Parallel()
	all, err := load()
	if err != nil {
		t.Fatal(err)
	}
	length := func(name string) time.Duration {
		folder, sum, _ := strings.Cut(path.Base(name), ".")
		known := durationsOf(all, path.Join(path.Dir(name), folder))
		var total time.Duration
		for constant := range strings.SplitSeq(sum, "+") {
			d, err := known.named(constant)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			total += d
		}
		return total
	}
	for _, order := range timeoutOrder {
		if shorter, longer := length(order.shorter), length(order.longer); shorter >= longer {
			t.Errorf("%s is %v, which must be shorter than %s, %v", order.shorter, shorter, order.longer, longer)
		}
	}
}
