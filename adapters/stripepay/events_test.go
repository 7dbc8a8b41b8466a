package stripepay_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stripe/stripe-go/v76/webhook"

	"sundry/adapters/stripepay"
	"sundry/core/fault"
	"sundry/ports"
)

func sign(payload, secret string, at time.Time) string {
	return webhook.GenerateTestSignedPayload(&webhook.UnsignedPayload{Payload: []byte(payload), Secret: secret,
		Timestamp: at}).Header
}

func TestOnlyEventsThatStripeSignedJustNowAreRead(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	payload := `{"id":"evt_1","type":"charge.dispute.created","data":{"object":{"id":"dp_1"}}}`
	for name, c := range map[string]struct {
		secret, signature string
		ok                bool
	}{
		"now":                              {"whsec_1", sign(payload, "whsec_1", now), true},
		"nearly five minutes ago":          {"whsec_1", sign(payload, "whsec_1", now.Add(-299*time.Second)), true},
		"too long ago":                     {"whsec_1", sign(payload, "whsec_1", now.Add(-301*time.Second)), false},
		"in the future":                    {"whsec_1", sign(payload, "whsec_1", now.Add(301*time.Second)), false},
		"by somebody else":                 {"whsec_1", sign(payload, "whsec_2", now), false},
		"of another payload":               {"whsec_1", sign("{}", "whsec_1", now), false},
		"with an empty secret, configured": {"", sign(payload, "", now), false},
		"with an empty secret, sent":       {"whsec_1", sign(payload, "", now), false},
		"nothing":                          {"whsec_1", "", false},
		"no time":                          {"whsec_1", "v1=00", false},
		"long ago, with a time of now before it": {
			"whsec_1", fmt.Sprintf("t=%d,%s", now.Unix(), sign(payload, "whsec_1", now.Add(-time.Hour))), false,
		},
		"now, with a time of long ago before it": {
			"whsec_1", fmt.Sprintf("t=%d,%s", now.Add(-time.Hour).Unix(), sign(payload, "whsec_1", now)), false,
		},
		"the same time twice": {
			"whsec_1", fmt.Sprintf("t=%d,%s", now.Unix(), sign(payload, "whsec_1", now)), false,
		},
	} {
		e, ok, err := stripepay.New(stripepay.Config{WebhookSecret: c.secret}).Verify([]byte(payload), c.signature, now)
		if c.ok && (err != nil || !ok || e != ports.ProcessorEvent{ID: "evt_1", Kind: ports.AboutDispute, ObjectID: "dp_1"}) {
			t.Errorf("%s: %+v, %v, %v", name, e, ok, err)
		}
		if !c.ok && (fault.CodeOf(err) != fault.Unauthenticated || ok || e != ports.ProcessorEvent{}) {
			t.Errorf("%s: %+v, %v, %v", name, e, ok, err)
		}
	}
}

func TestWhatEachEventIsAbout(t *testing.T) {
	t.Parallel()
	const (
		pay    = `"payment_id":"pay_01h00000000000000000000000","creator_id":"crt_1"`
		setup  = `"payment_id":"seti_01h00000000000000000000000","subject_id":"seti_02h00000000000000000000000"`
		payID  = "pay_01h00000000000000000000000"
		noKind = ports.ProcessorEventKind("")
	)
	now := time.Unix(1_800_000_000, 0)
	for _, c := range []struct {
		kind, metadata string
		live           bool
		want           ports.ProcessorEventKind
		object         string
	}{
		{"payment_intent.succeeded", pay, false, ports.AboutPayment, payID},
		{"payment_intent.payment_failed", pay, false, ports.AboutPayment, payID},
		{"payment_intent.canceled", pay, false, ports.AboutPayment, payID},
		{"setup_intent.succeeded", setup, false, ports.AboutSetup, "seti_02h00000000000000000000000"},
		{"setup_intent.succeeded", pay, false, ports.AboutPayment, payID}, // a trial that begins for nothing
		{"charge.refunded", pay, false, ports.AboutPaymentRefunds, payID},
		{"charge.refund.updated", `"refund_id":"ref_1"`, false, ports.AboutRefund, "ref_1"},
		{"refund.updated", `"refund_id":"ref_1"`, false, ports.AboutRefund, "ref_1"},
		{"refund.created", "", false, ports.AboutRefund, "obj_1"}, // made in Stripe's dashboard
		{"charge.dispute.closed", "", false, ports.AboutDispute, "obj_1"},
		{"transfer.reversed", `"payout_id":"po_1"`, false, ports.AboutPayout, "po_1"},
		{"payment_intent.succeeded", "", false, noKind, ""}, // of somebody else's program
		{"payment_intent.succeeded", pay, true, noKind, ""}, // of the other mode
		{"customer.created", pay, false, noKind, ""},
	} {
		payload := fmt.Sprintf(`{"id":"evt_1","type":%q,"livemode":%v,"data":{"object":{"id":"obj_1","metadata":{%s}}}}`,
			c.kind, c.live, c.metadata)
		e, ok, err := stripepay.New(stripepay.Config{WebhookSecret: "whsec_1"}).Verify([]byte(payload),
			sign(payload, "whsec_1", now), now)
		if err != nil || ok != (c.want != noKind) || ok && (e.Kind != c.want || e.ObjectID != c.object || e.ID != "evt_1") {
			t.Errorf("%s %s: %+v, %v, %v", c.kind, c.metadata, e, ok, err)
		}
	}
	for name, c := range map[string]struct {
		secret, kind, account string
		ok                    bool
	}{
		"a connected account's change":               {"whsec_2", "account.updated", "acct_1", true},
		"a connected account's farewell":             {"whsec_2", "account.application.deauthorized", "acct_1", true},
		"signed for the other endpoint":              {"whsec_1", "account.updated", "acct_1", true},
		"our own account's":                          {"whsec_1", "account.updated", "", false},
		"a payment that a connected account made up": {"whsec_2", "payment_intent.succeeded", "acct_1", false},
	} {
		payload := fmt.Sprintf(`{"id":"evt_1","type":%q,"account":%q,"data":{"object":{"id":"obj_1","metadata":{%s}}}}`,
			c.kind, c.account, pay)
		p := stripepay.New(stripepay.Config{WebhookSecret: "whsec_1", ConnectWebhookSecret: "whsec_2"})
		e, ok, err := p.Verify([]byte(payload), sign(payload, c.secret, now), now)
		if err != nil || ok != c.ok || ok &&
			(e != ports.ProcessorEvent{ID: "evt_1", Kind: ports.AboutPayoutAccount, ObjectID: "acct_1"}) {
			t.Errorf("%s: %+v, %v, %v", name, e, ok, err)
		}
		if _, ok, err := p.Verify([]byte(payload), sign(payload, "whsec_3", now),
			now); fault.CodeOf(err) != fault.Unauthenticated || ok {
			t.Errorf("%s, by somebody else: %v, %v", name, ok, err)
		}
	}
	broken := `{"id":`
	if _, _, err := stripepay.New(stripepay.Config{WebhookSecret: "whsec_1"}).Verify([]byte(broken),
		sign(broken, "whsec_1", now), now); fault.CodeOf(err) != fault.ValidationFailed {
		t.Errorf("a broken body: %v", err)
	}
}
