package sandboxpay

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"sundry/core/fault"
	"sundry/ports"
)

// tolerance bounds the distance of a signature's time from now, either way.
const tolerance = 5 * time.Minute

// Events signs and verifies the sandbox processor's events in Stripe's form: t=<seconds>,v1=<hex HMAC-SHA256 of
// "<seconds>.<payload>">.
type Events struct {
	secret []byte
	store  ports.Store
	clock  ports.Clock
	send   func(ctx context.Context, payload []byte, signature string) error
}

var _ ports.EventVerifier = (*Events)(nil)

// NewEvents returns the events of a processor that shares a secret with the receiver, which send hands them to: what
// the inbound route calls.
func NewEvents(
	secret []byte, store ports.Store, clock ports.Clock,
	send func(ctx context.Context, payload []byte, signature string) error,
) *Events {
	return &Events{secret: secret, store: store, clock: clock, send: send}
}

// message is an event as it is sent.
type message struct {
	ID        string                   `json:"id"`
	Kind      ports.ProcessorEventKind `json:"kind"`
	ObjectID  string                   `json:"objectId"`
	CreatorID string                   `json:"creatorId"`
}

func (e *Events) sign(payload []byte, seconds int64) string {
	mac := hmac.New(sha256.New, e.secret)
	mac.Write([]byte(strconv.FormatInt(seconds, 10) + "."))
	mac.Write(payload)
	return hex.EncodeToString(mac.Sum(nil))
}

// emit sends an event. Task taskEmit. Sending it again is harmless: the receiver keeps each event once.
func (e *Events) emit(ctx context.Context, t ports.Task) error {
	objectID, _, _ := strings.Cut(t.Subject, "/")
	payload, err := json.Marshal(message{ID: "evt_" + t.Subject, Kind: ports.AboutDispute, ObjectID: objectID,
		CreatorID: t.CreatorID})
	if err != nil {
		return err
	}
	seconds := e.clock.Real().Unix()
	if err := e.send(ctx, payload, fmt.Sprintf("t=%d,v1=%s", seconds, e.sign(payload, seconds))); err != nil {
		return fmt.Errorf("emit %s: %w", t.Subject, err)
	}
	return ports.EndTask(ctx, e.store, t)
}

// Verify implements ports.EventVerifier.
func (e *Events) Verify(payload []byte, signature string, now time.Time) (ports.ProcessorEvent, bool, error) {
	refused := fault.New(fault.Unauthenticated, "The event's signature is not valid.")
	at, mac, ok := strings.Cut(signature, ",v1=")
	seconds, err := strconv.ParseInt(strings.TrimPrefix(at, "t="), 10, 64)
	if !ok || err != nil || !strings.HasPrefix(at, "t=") {
		return ports.ProcessorEvent{}, false, refused
	}
	if age := now.Sub(time.Unix(seconds, 0)); age > tolerance || age < -tolerance {
		return ports.ProcessorEvent{}, false, refused
	}
	if !hmac.Equal([]byte(mac), []byte(e.sign(payload, seconds))) {
		return ports.ProcessorEvent{}, false, refused
	}
	var m message
	if err := json.Unmarshal(payload, &m); err != nil {
		return ports.ProcessorEvent{}, false, fault.Invalid(fault.Detail{Field: "body", Code: fault.DetailMalformed,
			Message: "The event can't be read."})
	}
	return ports.ProcessorEvent{
		ID: m.ID, Kind: m.Kind, ObjectID: m.ObjectID, CreatorID: m.CreatorID,
	}, true, nil
}
