package e2e_test

import (
	"testing"

	"sundry/tests/harness"
)

func TestARefusedPaymentLeavesItsTimesToOthers(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		s := newStudio(t, app)
		l := s.sells(t, "virtual", nil)
		starts := s.open(t, l, "")
		var session harness.Session
		s.create(t, s.session(l, nil)).Want(t, 201).Into(t, &session)
		pay := "/v1/sandbox/checkout-sessions/" + session.ID + "/pay"
		for name, c := range map[string]struct {
			over  harness.JSON
			field string
		}{
			"no card":        {harness.JSON{"cardNumber": nil}, "cardNumber"},
			"a real card":    {harness.JSON{"cardNumber": "4929123456789016"}, "cardNumber"},
			"no address":     {harness.JSON{"email": "grace"}, "email"},
			"a country lost": {harness.JSON{"country": "Ireland"}, "country"},
		} {
			body := harness.JSON{"cardNumber": harness.CardSucceeds, "appointmentSlots": slotsAt(starts, 0)}
			for member, value := range c.over {
				body[member] = value
			}
			t.Log(name)
			s.AsBackend(t, post, pay, body).Refuses(t, 400, "VALIDATION_FAILED", c.field)
			if now := s.open(t, l, ""); len(now) != len(starts) {
				t.Errorf("%s: the calendar shows %v of %v", name, now, starts)
			}
		}
		s.AsBackend(t, post, pay, harness.JSON{"cardNumber": harness.CardSucceeds, "appointmentSlots": slotsAt(starts, 0)}).Want(t, 200)
		s.AsBackend(t, post, pay, harness.JSON{"cardNumber": "1", "appointmentSlots": slotsAt(starts, 1)}).Refuses(t, 409, "SESSION_ALREADY_PAID")
		verified(t, app)
	})
}
