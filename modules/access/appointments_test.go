package access_test

import (
	"context"
	"strings"
	"testing"

	core "sundry/core/access"
	"sundry/core/appointment"
	"sundry/ports"
)

func TestCanceledAppointmentsEndTheirSessionsAccess(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		session, other, guide := paid("1"), paid("2"), paid("3")
		session.Offer.ListingType, other.Offer.ListingType = "APPOINTMENT", "APPOINTMENT"
		h.buy(session)
		h.buy(other)
		h.buy(guide)
		e := appointment.AllCanceled{CreatorID: creator, CheckoutID: session.CheckoutID}
		for range 2 { // reported twice
			h.atomically(func(ctx context.Context, r ports.Repos) error { return h.OnAllCanceled(ctx, r, e) })
		}
		d := h.snapshot()
		if d.Version != 4 || strings.Contains(string(d.Body), `"sourceId":"pay_1"`) {
			t.Errorf("the access is still there: version %d, %s", d.Version, d.Body)
		}
		for _, kept := range []string{`"sourceId":"pay_2"`, `"sourceId":"pay_3"`} {
			if !strings.Contains(string(d.Body), kept) {
				t.Errorf("%s is gone: %s", kept, d.Body)
			}
		}
		if last := h.changes()[len(h.changes())-1]; last.Cause != (core.Cause{Kind: core.AppointmentsCanceled,
			ID: session.CheckoutID}) {
			t.Errorf("published %+v", last)
		}
		h.verified()
	})
}
