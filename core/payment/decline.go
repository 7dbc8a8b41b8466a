package payment

import (
	"sundry/core/fault"
	"sundry/core/locale"
)

// DeclineCode is the reason why no money was taken. Its words are those of Stripe's decline codes, whichever provider
// refused (https://docs.stripe.com/declines/codes); a provider maps its own to them.
type DeclineCode string

// The codes that a provider may give: those for which the payer's next step, the text or the retry differs.
// CardDeclined stands for all others.
const (
	CardDeclined           DeclineCode = "card_declined"
	InsufficientFunds      DeclineCode = "insufficient_funds"
	LimitExceeded          DeclineCode = "card_velocity_exceeded"
	ExpiredCard            DeclineCode = "expired_card"
	IncorrectCVC           DeclineCode = "incorrect_cvc"
	ProcessingError        DeclineCode = "processing_error"
	CardNotSupported       DeclineCode = "card_not_supported"
	CurrencyNotSupported   DeclineCode = "currency_not_supported"
	AmountTooSmall         DeclineCode = "amount_too_small"
	AuthenticationFailed   DeclineCode = "authentication_failed"
	AuthenticationRequired DeclineCode = "authentication_required"
	IncorrectNumber        DeclineCode = "incorrect_number"
	Fraudulent             DeclineCode = "fraudulent"
	InvalidAccount         DeclineCode = "invalid_account"
	LostCard               DeclineCode = "lost_card"
	StolenCard             DeclineCode = "stolen_card"
	RestrictedCard         DeclineCode = "restricted_card"
	AuthorizationRevoked   DeclineCode = "revocation_of_authorization"
	TransactionNotAllowed  DeclineCode = "transaction_not_allowed"
)

// The codes that Sundry gives itself, for a charge that never reached a provider.
const (
	// MethodRequired means that the customer has no card to charge.
	MethodRequired DeclineCode = "payment_method_required"
	// ProcessorUnavailable means that the attempt was canceled before the provider received it.
	ProcessorUnavailable DeclineCode = "processor_unavailable"
)

// final holds every code, with whether the same card fails again whatever the day.
var final = map[DeclineCode]bool{
	CardDeclined: false, InsufficientFunds: false, LimitExceeded: false, ExpiredCard: false, IncorrectCVC: false,
	ProcessingError: false, CardNotSupported: false, CurrencyNotSupported: false,
	AmountTooSmall: false, AuthenticationFailed: false, ProcessorUnavailable: false,
	AuthenticationRequired: true, IncorrectNumber: true, Fraudulent: true, InvalidAccount: true, LostCard: true,
	StolenCard: true, RestrictedCard: true, AuthorizationRevoked: true, TransactionNotAllowed: true, MethodRequired: true,
}

// Known reports whether the code is one of those above.
func (c DeclineCode) Known() bool { _, ok := final[c]; return ok }

// Final reports whether the same card fails again whatever the day, so that only the customer can help: with another
// card, or by confirming the payment.
func (c DeclineCode) Final() bool { return final[c] }

// DeclineReason is the bank's reason for refusing a card.
type DeclineReason struct {
	Code DeclineCode `json:"code"`
	// Message is fit for the buyer.
	Message string `json:"message"`
}

// Refusal returns the error for who gave the card: CARD_DECLINED with the reason.
func (r DeclineReason) Refusal() error {
	f := fault.New(fault.CardDeclined, r.Message)
	f.DeclineCode = string(r.Code)
	return f
}

// ErrNoChallenge is STATE_CONFLICT for an answer to a bank that has asked the payer for none.
func ErrNoChallenge() error { return fault.New(fault.StateConflict, "No authentication is asked for.") }

// ErrProcessorDown is PROCESSOR_UNAVAILABLE for a call that the payer may repeat.
func ErrProcessorDown(cause error) error {
	return fault.Wrap(fault.ProcessorUnavailable, "The card processor does not respond. Try again in a moment.", cause)
}

// NewDecline returns the reason with a code, and its English text.
func NewDecline(code DeclineCode) DeclineReason {
	return DeclineReason{Code: code, Message: locale.Default.Decline(string(code))}
}
