package stripepay

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v76"
	"github.com/stripe/stripe-go/v76/webhook"

	"sundry/core/fault"
	"sundry/core/id"
	"sundry/ports"
)

// tolerance bounds the distance of a signature's time from now, either way.
const tolerance = 5 * time.Minute

// subject are the members by which every event's object names what it is about.
type subject struct {
	ID            string            `json:"id"`
	Metadata      map[string]string `json:"metadata"`
	TransferGroup string            `json:"transfer_group"`
}

// Verify implements ports.EventVerifier. The library takes an empty secret and any time to come, so both are checked
// here. The version of the event is not: of its content only ids count.
func (p *Processor) Verify(payload []byte, signature string, now time.Time) (ports.ProcessorEvent, bool, error) {
	refused := fault.New(fault.Unauthenticated, "The event's signature is not valid.")
	if age := now.Sub(signedAt(signature)); age > tolerance || age < -tolerance {
		return ports.ProcessorEvent{}, false, refused
	}
	if !p.signed(payload, signature) {
		return ports.ProcessorEvent{}, false, refused
	}
	var e stripe.Event
	var about subject
	err := json.Unmarshal(payload, &e)
	if err == nil && e.Data != nil {
		err = json.Unmarshal(e.Data.Raw, &about)
	}
	if err != nil || e.ID == "" {
		return ports.ProcessorEvent{}, false, fault.Invalid(fault.Detail{Field: "body", Code: fault.DetailMalformed,
			Message: "The event can't be read."})
	}
	if e.Livemode != p.config.Live {
		return ports.ProcessorEvent{}, false, nil
	}
	if e.Account != "" { // of a connected account, whose owner may have written everything else in it
		kind, _, _ := strings.Cut(string(e.Type), ".")
		return ports.ProcessorEvent{ID: e.ID, Kind: ports.AboutPayoutAccount, ObjectID: e.Account}, kind == "account", nil
	}
	found, ok := about.event(string(e.Type))
	found.ID, found.CreatorID = e.ID, about.Metadata["creator_id"]
	return found, ok, nil
}

// signed reports whether a payload has the signature of one of our two endpoints: Stripe sends events of our own
// account and of connected accounts to separate ones.
func (p *Processor) signed(payload []byte, signature string) bool {
	for _, secret := range []string{p.config.WebhookSecret, p.config.ConnectWebhookSecret} {
		if secret != "" && webhook.ValidatePayloadIgnoringTolerance(payload, signature, secret) == nil {
			return true
		}
	}
	return false
}

// signedAt is the time at which a signature claims to have been made; the zero time for none, or for several, of which
// only one can be signed.
func signedAt(signature string) (at time.Time) {
	for part := range strings.SplitSeq(signature, ",") {
		text, ok := strings.CutPrefix(part, "t=")
		if !ok {
			continue
		}
		seconds, err := strconv.ParseInt(text, 10, 64)
		if err != nil || !at.IsZero() {
			return time.Time{}
		}
		at = time.Unix(seconds, 0)
	}
	return at
}

// event converts an event of a type; ok is false for a type that Sundry ignores.
func (s subject) event(kind string) (e ports.ProcessorEvent, ok bool) {
	family, _, _ := strings.Cut(kind, ".")
	payment := s.Metadata["payment_id"]
	switch {
	case strings.HasPrefix(kind, "charge.dispute."):
		e.Kind, e.ObjectID = ports.AboutDispute, s.ID
	case family == "refund", strings.HasPrefix(kind, "charge.refund."):
		e.Kind, e.ObjectID = ports.AboutRefund, cmp.Or(s.Metadata["refund_id"], s.ID)
	case kind == "charge.refunded":
		e.Kind, e.ObjectID = ports.AboutPaymentRefunds, payment
	case family == "payment_intent", family == "setup_intent" && id.Valid(id.Payment, payment):
		e.Kind, e.ObjectID = ports.AboutPayment, payment
	case family == "setup_intent":
		e.Kind, e.ObjectID = ports.AboutSetup, s.Metadata["subject_id"]
	case family == "transfer":
		e.Kind, e.ObjectID = ports.AboutPayout, s.Metadata["payout_id"]
	}
	return e, e.ObjectID != ""
}
