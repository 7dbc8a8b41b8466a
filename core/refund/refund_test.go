package refund_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sundry/core/fault"
	"sundry/core/ledger"
	"sundry/core/metadata"
	"sundry/core/money"
	"sundry/core/refund"
)

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func in(status refund.Status) *refund.Refund {
	s := refund.NewPending(refund.State{ID: "ref_1", Return: ledger.Return{PaymentID: "pay_1"}}, now).State()
	s.Status = status
	return refund.Restore(s)
}

func TestANewRefundIsPendingWhateverItIsMadeOf(t *testing.T) {
	t.Parallel()
	got := refund.NewPending(refund.State{ID: "ref_1", Status: refund.Failed, CreatedAt: now.Add(-1), SettledAt: now,
		Revision: 7}, now).State()
	if want := (refund.State{ID: "ref_1", Status: refund.Pending, CreatedAt: now, Revision: 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestTheEventOfARefundThatSucceededIsRefundCreated(t *testing.T) {
	t.Parallel()
	e, _, err := in(refund.Pending).Succeed("ABC123-C-000001", false, now)
	if err != nil || e.EventName() != "refund.created" {
		t.Errorf("%s, %v", e.EventName(), err)
	}
}

func TestEveryStatusTakesEveryOutcomeAsDrawn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		from, reported refund.Status
		want           refund.Status
		changed        bool
		refused        bool
	}{
		"pending succeeds":               {refund.Pending, refund.Succeeded, refund.Succeeded, true, false},
		"pending fails":                  {refund.Pending, refund.Failed, refund.Failed, true, false},
		"succeeded comes again":          {refund.Succeeded, refund.Succeeded, refund.Succeeded, false, false},
		"succeeded comes back":           {refund.Succeeded, refund.Failed, refund.Failed, true, false},
		"failed comes again":             {refund.Failed, refund.Failed, refund.Failed, false, false},
		"failed cannot succeed any more": {refund.Failed, refund.Succeeded, refund.Failed, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := in(c.from)
			before := r.State()
			var changed bool
			var err error
			var e refund.Created
			if c.reported == refund.Succeeded {
				e, changed, err = r.Succeed("ABC123-C-000001", true, now)
			} else {
				changed = r.Fail("expired_or_canceled_card", now)
			}
			after := r.State()
			if changed != c.changed || (err != nil) != c.refused || after.Status != c.want {
				t.Errorf("changed %v, %v: %+v", changed, err, after)
			}
			switch {
			case !changed && after != before:
				t.Errorf("changed without reporting it: %+v", after)
			case changed && (after.Revision != before.Revision+1 || after.SettledAt != now):
				t.Errorf("%+v", after)
			case changed && c.reported == refund.Succeeded && (e.State != after || !after.Full || after.CreditNoteNumber == ""):
				t.Errorf("event %+v of %+v", e, after)
			}
		})
	}
}

func TestAnAmountToRefundCanBeMoved(t *testing.T) {
	t.Parallel()
	kwd := func(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "kwd"} }
	for name, c := range map[string]struct {
		paid  money.Amount
		minor *int64
		ok    bool
	}{
		"thousandths":                    {kwd(10_500), new(int64(505)), false},
		"tens of them":                   {kwd(10_500), new(int64(510)), true},
		"all that is left":               {kwd(10_500), nil, true},
		"of a payment in thousandths":    {kwd(10_505), new(int64(505)), true},
		"another currency's minor units": {money.Amount{Minor: 1000, Currency: "eur"}, new(int64(5)), true},
	} {
		if err := refund.CheckAmount(c.paid, c.minor); (err == nil) != c.ok || err != nil && !fault.Is(err,
			fault.ValidationFailed) {
			t.Errorf("%s: %v, want accepted %v", name, err, c.ok)
		}
	}
}

func TestARequestReportsEveryFault(t *testing.T) {
	t.Parallel()
	nothing, cent := int64(0), int64(1)
	for name, c := range map[string]struct {
		request refund.Request
		fields  string
	}{
		"a good one":           {refund.Request{PaymentID: "pay_1", Minor: &cent, Reason: "requested_by_customer"}, ""},
		"all that is left":     {refund.Request{CheckoutID: "cs_1", Reason: "The file was broken.\nSorry."}, ""},
		"nothing at all":       {refund.Request{}, "paymentId reason"},
		"both names":           {refund.Request{PaymentID: "pay_1", CheckoutID: "cs_1", Reason: "r"}, "checkoutId"},
		"no amount, no reason": {refund.Request{PaymentID: "pay_1", Minor: &nothing}, "amountInCents reason"},
		"a reason without end": {refund.Request{PaymentID: "pay_1", Reason: strings.Repeat("ä", 501)}, "reason"},
		"an unknown end":       {refund.Request{PaymentID: "pay_1", Reason: "r", Subscription: "stop"}, "subscription"},
		"an end that keeps no access": {refund.Request{PaymentID: "pay_1", Reason: "r", KeepAccess: true,
			Subscription: refund.CancelNow}, "subscription"},
		"an end that keeps access": {refund.Request{PaymentID: "pay_1", Reason: "r", KeepAccess: true,
			Subscription: refund.CancelAtPeriodEnd}, ""},
		"an end without access": {refund.Request{PaymentID: "pay_1", Reason: "r", Subscription: refund.CancelNow}, ""},
		"metadata without a key": {refund.Request{PaymentID: "pay_1", Reason: "r",
			Metadata: map[string]string{"": "v"}}, "metadata"},
		"a reason with control": {refund.Request{PaymentID: "pay_1", Reason: "a\x00b"}, "reason"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var fields []string
			if e, ok := c.request.Validate().(*fault.Error); ok { //nolint:errorlint // Validate returns it unwrapped
				for _, d := range e.Details {
					fields = append(fields, d.Field)
				}
			}
			if got := strings.Join(fields, " "); got != c.fields {
				t.Errorf("faults at %q, want %q", got, c.fields)
			}
		})
	}
}

// A refund that was asked for by the checkout or without an amount is the same as one by the payment with all of it.
func TestARequestRepeatsTheRefundThatItAskedFor(t *testing.T) {
	t.Parallel()
	made := refund.State{
		Return: ledger.Return{
			PaymentID: "pay_1", CheckoutID: "cs_1", Share: ledger.Share{Amount: money.Amount{Minor: 500, Currency: "eur"}},
		},
		Reason: "duplicate", KeepAccess: true, Subscription: refund.KeepSubscription,
	}
	well := refund.Request{PaymentID: "pay_1", Minor: new(int64(500)), Reason: "duplicate", KeepAccess: true,
		Subscription: refund.KeepSubscription}
	for name, c := range map[string]struct {
		change func(*refund.Request)
		want   bool
	}{
		"the same":             {func(*refund.Request) {}, true},
		"by the checkout":      {func(r *refund.Request) { r.PaymentID, r.CheckoutID = "", "cs_1" }, true},
		"all of it":            {func(r *refund.Request) { r.Minor = nil }, true},
		"another payment":      {func(r *refund.Request) { r.PaymentID = "pay_2" }, false},
		"another checkout":     {func(r *refund.Request) { r.PaymentID, r.CheckoutID = "", "cs_2" }, false},
		"another amount":       {func(r *refund.Request) { r.Minor = new(int64(499)) }, false},
		"another reason":       {func(r *refund.Request) { r.Reason = "fraudulent" }, false},
		"without access":       {func(r *refund.Request) { r.KeepAccess = false }, false},
		"another subscription": {func(r *refund.Request) { r.Subscription = refund.CancelAtPeriodEnd }, false},
	} {
		r := well
		if c.change(&r); r.Repeats(made) != c.want {
			t.Errorf("%s: repeats %t", name, !c.want)
		}
	}
}

func TestTheIDOfAnAutomaticRefundIsThatOfItsPayment(t *testing.T) {
	t.Parallel()
	if got := refund.AutomaticID("pay_01m8nzhac0003nhb5kzha2td93"); got != "ref_01m8nzhac0003nhb5kzha2td93" {
		t.Error(got)
	}
}

func TestTheMetadataOfARefundChange(t *testing.T) {
	t.Parallel()
	r := in(refund.Succeeded)
	before := r.State()
	change := metadata.Change{Pairs: map[string]string{"ticket": "T-1"}}
	if changed, err := r.SetMetadata(change); !changed || err != nil || r.State().Revision != before.Revision+1 ||
		r.State().Metadata.Map()["ticket"] != "T-1" {
		t.Errorf("%t, %v: %+v", changed, err, r.State())
	}
	after := r.State()
	if changed, err := r.SetMetadata(change); changed || err != nil || r.State() != after {
		t.Errorf("the same again: %t, %v", changed, err)
	}
	many := metadata.Change{Pairs: map[string]string{}}
	for i := range 20 {
		many.Pairs[fmt.Sprint("key-", i)] = "v"
	}
	if changed, err := r.SetMetadata(many); changed || !fault.Is(err, fault.ValidationFailed) || r.State() != after {
		t.Errorf("one pair too many: %t, %v", changed, err)
	}
}

func TestEventsHaveTheirNames(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]interface{ EventName() string }{
		"refund.failed": refund.Failure{}, "refund.returned": refund.Returned{},
	} {
		if e.EventName() != want {
			t.Errorf("%s, want %s", e.EventName(), want)
		}
	}
}
