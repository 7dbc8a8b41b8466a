package stripepay

import (
	"context"
	"errors"
	"strings"

	"github.com/stripe/stripe-go/v76"

	"sundry/ports"
)

var _ ports.CardFingerprints = (*Processor)(nil)

// Fingerprint implements ports.CardFingerprints. Stripe knows the card behind a token of its form before it is charged.
func (p *Processor) Fingerprint(ctx context.Context, method string) (string, error) {
	if !strings.HasPrefix(method, tokenPrefix) {
		return "", nil
	}
	token, err := call(ctx, "get "+method, func() (*stripe.ConfirmationToken, error) {
		return p.api.ConfirmationTokens.Get(method, &stripe.ConfirmationTokenParams{Params: keyed(ctx, "")})
	})
	if errors.Is(err, ports.ErrNotFound) {
		return "", nil // the charge is refused with it
	}
	if err != nil || token.PaymentMethodPreview == nil || token.PaymentMethodPreview.Card == nil {
		return "", err
	}
	return token.PaymentMethodPreview.Card.Fingerprint, nil
}
