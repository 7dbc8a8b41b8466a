// Package stripepay takes cards through Stripe. It keeps nothing: every request is made under an idempotency key that
// follows from our own id, so repeating it finds what an earlier one has made.
//
// An attempt is made in two steps. Creating a payment intent moves no money and gives the id to ask by; confirming it
// may move money. A lost response to the second is therefore never more than a question about a known object.
package stripepay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/stripe/stripe-go/v76"

	"sundry/ports"
)

// Config is a Stripe account.
type Config struct {
	SecretKey     string
	WebhookSecret string
	// ConnectWebhookSecret signs the events of connected accounts, which Stripe sends to an endpoint of their own; "" for
	// none.
	ConnectWebhookSecret string
	// APIBase is the address of the API; empty for Stripe's own.
	APIBase string
	// Live tells whether the account's real money moves here. Events of the other mode are ignored. Test cards are
	// accepted by their number only in test mode.
	Live bool
}

// timeout bounds one call to Stripe. ports.ProcessorTimeout bounds all calls of one charge.
const timeout = 10 * time.Second

// Processor is Stripe behind the ports of payments.
type Processor struct {
	api    api
	config Config
}

var (
	_ ports.Processor        = (*Processor)(nil)
	_ ports.CardForm         = (*Processor)(nil)
	_ ports.DisputeProcessor = (*Processor)(nil)
)

// New returns the processor. The library's global key, client and backends are left alone: nothing is sent to Stripe
// but what is asked for, once per call, and nothing is logged, because what the library would log holds client secrets.
func New(config Config) *Processor {
	backend := func(kind stripe.SupportedBackend, url string) stripe.Backend {
		return stripe.GetBackendWithConfig(kind, &stripe.BackendConfig{
			EnableTelemetry: new(false), HTTPClient: &http.Client{Timeout: timeout}, MaxNetworkRetries: stripe.Int64(0),
			LeveledLogger: &stripe.LeveledLogger{Level: stripe.LevelNull}, URL: new(cmp.Or(config.APIBase, url)),
		})
	}
	return &Processor{
		api: newAPI(
			backend(stripe.APIBackend, stripe.APIURL), backend(stripe.UploadsBackend, stripe.UploadsURL), config.SecretKey,
		),
		config: config,
	}
}

// keyed are the parameters that every request has.
func keyed(ctx context.Context, key string) stripe.Params {
	p := stripe.Params{Context: ctx}
	if key != "" {
		p.SetIdempotencyKey(key)
	}
	return p
}

// refusedError is Stripe's refusal of a request, without anything that Stripe reports in words: its texts and bodies
// may hold client secrets and personal data.
type refusedError struct {
	status    int
	kind      stripe.ErrorType
	code      string
	param     string // that is to blame
	requestID string
	// replayed means that this is the stored response to an earlier request under the same key: what it refused never
	// happened under this key, and never will.
	replayed bool
}

func (e *refusedError) Error() string {
	return fmt.Sprintf("stripe responded %d %s %s (request %s)", e.status, e.kind, e.code, e.requestID)
}

// failed turns an error of the library into one of the port's. What Stripe did not respond to, or responded to with a
// fault of its own, may have happened.
func failed(what string, err error) error {
	var known *stripe.Error
	if !errors.As(err, &known) {
		var dial *net.OpError
		if errors.As(err, &dial) && dial.Op == "dial" {
			return fmt.Errorf("stripe %s: no connection: %w", what, ports.ErrProcessorUnavailable)
		}
		return fmt.Errorf("stripe %s: no response that can be read: %w", what, ports.ErrOutcomeUnknown)
	}
	refusal := &refusedError{status: known.HTTPStatusCode, kind: known.Type, code: string(known.Code),
		param: known.Param, requestID: known.RequestID}
	if known.LastResponse != nil {
		refusal.replayed = known.LastResponse.Header.Get("Idempotent-Replayed") == "true"
	}
	switch {
	case refusal.status >= http.StatusInternalServerError, refusal.status == http.StatusConflict:
		return fmt.Errorf("stripe %s: %w: %w", what, refusal, ports.ErrOutcomeUnknown)
	case refusal.status == http.StatusTooManyRequests, refusal.status == http.StatusUnauthorized,
		refusal.status == http.StatusForbidden:
		return fmt.Errorf("stripe %s: %w: %w", what, refusal, ports.ErrProcessorUnavailable)
	case refusal.status == http.StatusNotFound:
		return fmt.Errorf("stripe %s: %w: %w", what, refusal, ports.ErrNotFound)
	}
	return fmt.Errorf("stripe %s: %w", what, refusal)
}

// refusal is Stripe's response behind an error of failed; nil when there was none.
func refusal(err error) *refusedError {
	var refused *refusedError
	errors.As(err, &refused)
	return refused
}

// The pauses after which a request is repeated whose key is in use by another one right now.
const firstPause, longestPause = 100 * time.Millisecond, 2 * time.Second

// call makes a request, again while another one under its key is under way.
func call[T any](ctx context.Context, what string, request func() (T, error)) (T, error) {
	for pause := firstPause; ; pause *= 2 {
		result, err := request()
		if err == nil {
			return result, nil
		}
		err = failed(what, err)
		if refused := refusal(err); refused == nil || refused.status != http.StatusConflict || pause > longestPause {
			var none T
			return none, err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			var none T
			return none, err
		}
	}
}
