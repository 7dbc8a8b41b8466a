package access_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"sundry/core/access"
	"sundry/core/customer"
	"sundry/core/ledger"
	"sundry/core/refund"
	"sundry/ports"
)

// refundOfAPurchase buys something and refunds all of it.
func refundOfAPurchase(h *fixture) refund.State {
	bought := paid("1")
	h.buy(bought)
	made := refund.State{
		ID: "ref_1", CreatorID: bought.CreatorID,
		Return: ledger.Return{PaymentID: bought.PaymentID, CheckoutID: bought.CheckoutID, CustomerID: "cus_1"},
		Full:   true,
	}
	h.atomically(func(ctx context.Context, r ports.Repos) error {
		return h.OnRefundCreated(ctx, r, refund.Created{State: made})
	})
	return made
}

func TestARefundThatFailsGivesNothingToWhoWasErased(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		made := refundOfAPurchase(h)
		erased := customer.Erased{State: customer.State{ID: "cus_1", CreatorID: made.CreatorID, ExternalCustomerID: ada}}
		h.atomically(func(ctx context.Context, r ports.Repos) error {
			return errors.Join(h.OnCustomerErased(ctx, r, erased),
				h.OnRefundFailed(ctx, r, refund.Failure{State: made, CameBack: true, WasFull: true}))
		})
		if got := h.snapshot(); strings.Contains(string(got.Body), `"sourceId":"pay_1"`) {
			t.Errorf("version %d gives an erased customer %s", got.Version, got.Body)
		}
		h.verified()
	})
}

func TestARefundThatFailsGivesAccessAgain(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		made := refundOfAPurchase(h)
		fail := func(e refund.Failure) {
			t.Helper()
			h.atomically(func(ctx context.Context, r ports.Repos) error { return h.OnRefundFailed(ctx, r, e) })
		}
		fail(refund.Failure{State: made})
		if got := h.snapshot(); got.Version != 2 {
			t.Errorf("version %d after a refund that never went back, want 2", got.Version)
		}
		earlier := made // a part that left something, before the one that left nothing
		earlier.ID, earlier.Full = "ref_0", false
		fail(refund.Failure{State: earlier, CameBack: true})
		if got := h.snapshot(); got.Version != 2 {
			t.Errorf("version %d after a part of less than all came back, want 2", got.Version)
		}
		for range 2 {
			fail(refund.Failure{State: earlier, CameBack: true, WasFull: true})
		}
		if got := h.snapshot(); got.Version != 3 || !strings.Contains(string(got.Body), `"sourceId":"pay_1"`) {
			t.Errorf("version %d, %s, want 3 with the purchase", got.Version, got.Body)
		}
		if all := h.changes(); len(all) != 3 || all[2].Cause != (access.Cause{Kind: access.RefundFailed, ID: "ref_0"}) {
			t.Errorf("the changes are %+v", all)
		}
		h.verified()
	})
}
