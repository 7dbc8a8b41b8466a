package stripepay

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/stripe/stripe-go/v76"

	"sundry/core/fault"
	"sundry/core/payment"
	"sundry/ports"
)

const (
	// tokenPrefix begins what Stripe's form makes of a card or a wallet, setupPrefix Stripe's ids of setup intents.
	tokenPrefix, setupPrefix = "ctoken_", "seti_"
	// methodSeparator is between Stripe's customer and their payment method in our token of a saved card: one is charged
	// off session with both only.
	methodSeparator = "/"
)

// A token of Stripe's form is at most maxToken long: a count within the expression would be compiled into as many
// copies.
const maxToken = 207

var tokenShape = regexp.MustCompile(`^ctoken_[A-Za-z0-9_]+$`)

// testMethods are Stripe's own payment methods for its well-known test cards.
var testMethods = map[string]string{
	"4242424242424242": "pm_card_visa",
	"4000000000000002": "pm_card_visa_chargeDeclined",
	"4000000000009995": "pm_card_visa_chargeDeclinedInsufficientFunds",
	"4000000000000069": "pm_card_chargeDeclinedExpiredCard",
	"4000000000000127": "pm_card_chargeDeclinedIncorrectCvc",
	"4000002500003155": "pm_card_authenticationRequiredOnSetup",
	"4000002760003184": "pm_card_authenticationRequired",
	"4000000000000341": "pm_card_chargeCustomerFail",
	"4000000000000259": "pm_card_createDispute",
}

// Method implements ports.CardForm. Card numbers stay in Stripe's form; only test cards are taken by theirs, in the
// sandbox.
func (p *Processor) Method(in ports.CardInput, f *fault.Violations) string {
	switch {
	case in.Token != "":
		f.Check(len(in.Token) <= maxToken && tokenShape.MatchString(in.Token), "confirmationToken", fault.DetailInvalid,
			"Expected a token of Stripe's form.")
		return in.Token
	case in.Number == "":
		return ""
	}
	method := testMethods[strings.NewReplacer(" ", "", "-", "").Replace(in.Number)]
	if p.config.Live || method == "" {
		f.Add("cardNumber", fault.DetailNotAllowed, "Card numbers are not accepted here: use the form of the page.")
		return ""
	}
	return method
}

// declineCodes maps Stripe's codes that mean the same as one of ours with another name.
var declineCodes = map[string]payment.DeclineCode{
	"highest_risk_level":                    payment.Fraudulent,
	"invalid_cvc":                           payment.IncorrectCVC,
	"invalid_number":                        payment.IncorrectNumber,
	"issuer_not_available":                  payment.ProcessingError,
	"payment_intent_authentication_failure": payment.AuthenticationFailed,
	"pickup_card":                           payment.RestrictedCard,
	"revocation_of_all_authorizations":      payment.AuthorizationRevoked,
	"setup_intent_authentication_failure":   payment.AuthenticationFailed,
	"stop_payment_order":                    payment.AuthorizationRevoked,
	"try_again_later":                       payment.ProcessingError,
}

// declineOf returns the reason for a decline: the bank's where it gave one. Codes that we have no word for are plain
// declines.
func declineOf(refused *stripe.Error) payment.DeclineReason {
	given := cmp.Or(string(refused.DeclineCode), string(refused.Code))
	if code := payment.DeclineCode(given); code.Known() {
		return payment.NewDecline(code)
	}
	return payment.NewDecline(cmp.Or(declineCodes[given], payment.CardDeclined))
}
