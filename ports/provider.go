package ports

import (
	"context"
	"fmt"
	"slices"

	"sundry/core/money"
)

// Provider holds everything that one payment provider brings.
type Provider struct {
	// Name identifies the provider in every payment and saved card, in lower case. It never changes.
	Name string
	// Label is the provider's name as creators read it.
	Label     string
	Processor Processor
	Cards     CardForm
	// Fingerprints recognizes cards; nil if the provider can't.
	Fingerprints CardFingerprints
	// Form tells pages how to take a means of payment.
	Form PaymentForm
	// Events verifies what the provider reports by itself, under the header SignatureHeader; nil if it reports nothing.
	Events          EventVerifier
	SignatureHeader string
	// RefundLister lists refunds made at the provider, and DisputeProcessor responds to its disputes. Each is nil if the
	// provider's events name no such thing.
	RefundLister     RefundLister
	DisputeProcessor DisputeProcessor
	// ChargeLister lists what was charged, for sundry reconcile; nil if the provider can't.
	ChargeLister ChargeLister
	// Billing lists what the provider sells and bills by itself, for sundry import; nil if it does nothing of the kind.
	Billing BillingSource
	// PayoutRail moves money to creators; nil if the provider can't. PayoutLister is to it what ChargeLister is to
	// Processor.
	PayoutRail   PayoutRail
	PayoutLister PayoutLister
	// PayoutAccounts is true where PayoutRail needs an account of each creator, which they open on pages of PayoutOrigin.
	PayoutAccounts bool
	PayoutOrigin   string
	// LeastCharge returns the least amount that a card is charged, in minor units; nil where every amount is.
	LeastCharge func(money.Currency) int64
}

// PaymentForm tells pages how to take a means of payment. At most one of Script and Text is set. With neither, a form
// of our own takes the numbers of the sandbox's test cards.
type PaymentForm struct {
	// Script draws the provider's form in the buyer's browser. Pages use it by the interface of Stripe.js.
	Script *FormScript
	// Text takes the place of a form where the buyer enters nothing, such as "You transfer the money". They read it again
	// while the payment is processing.
	Text string
}

// TestCards reports whether a form of our own takes the numbers of the sandbox's test cards.
func (f PaymentForm) TestCards() bool { return f.Script == nil && f.Text == "" }

// FormScript is a provider's script in the buyer's browser.
type FormScript struct {
	URL            string
	PublishableKey string
	// Unit returns the number of the provider's units in a minor unit of the currency.
	Unit func(money.Currency) int64
	// Scripts, Frames, Calls and Images list the sources that a page must allow for the script, beside the origin of URL,
	// as its Content-Security-Policy names them.
	Scripts, Frames, Calls, Images []string
}

// Providers lists the payment providers of a program. The first takes new payments; each is asked about what it took.
type Providers []Provider

// Default returns the provider that takes new payments.
func (p Providers) Default() Provider { return p[0] }

// Get returns the provider with a name. ErrProcessorUnavailable when this program has none of that name.
func (p Providers) Get(name string) (Provider, error) {
	i := slices.IndexFunc(p, func(one Provider) bool { return one.Name == name })
	if i < 0 {
		return Provider{}, fmt.Errorf("payment provider %q is not registered: %w", name, ErrProcessorUnavailable)
	}
	return p[i], nil
}

// PaidOutBy returns the provider that pays creators: the first that can. ok is false if none can.
func (p Providers) PaidOutBy() (provider Provider, ok bool) {
	i := slices.IndexFunc(p, func(one Provider) bool { return one.PayoutRail != nil })
	if i < 0 {
		return Provider{}, false
	}
	return p[i], true
}

// LeastCharge returns the least amount that every provider charges a card, in minor units; 0 where every amount is.
func (p Providers) LeastCharge(c money.Currency) (minor int64) {
	for _, one := range p {
		if one.LeastCharge != nil {
			minor = max(minor, one.LeastCharge(c))
		}
	}
	return minor
}

// ProviderHost holds the services that a program offers to a payment provider that it opens.
type ProviderHost struct {
	Store Store
	Clock Clock
	// Live is true where real money moves.
	Live bool
	// DataDir is a folder of this process that is kept.
	DataDir string
	// Key returns the 32-byte key for a purpose, which only this deployment knows.
	Key func(purpose string) []byte
	// Receive takes an event that the provider reports itself, as if it had arrived by its webhook.
	Receive func(ctx context.Context, payload []byte, signature string) error
	// Handle runs tasks of a kind of the provider's own.
	Handle func(kind string, run func(ctx context.Context, t Task) error)
	// Verify adds a check to `sundry verify`, which returns a line per violation.
	Verify func(check func(context.Context) ([]string, error))
}

// OpenProvider opens a payment provider in a program.
type OpenProvider func(ProviderHost) (Provider, error)
