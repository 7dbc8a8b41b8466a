package dashboard

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"sundry/adapters/web/dashboard/ui"
	coreaccess "sundry/core/access"
	"sundry/core/ledger"
	"sundry/core/payment"
	"sundry/core/webhook"
)

// wordsOf puts a code into words: those of its table, or the code itself, for one that a provider has added since.
func wordsOf[T ~string](words map[T]ui.Words, code T) ui.Words {
	if known, ok := words[code]; ok {
		return known
	}
	plain := strings.NewReplacer("_", " ", ".", " ", ":", " ").Replace(strings.ToLower(string(code)))
	if plain == "" {
		return "–"
	}
	return ui.Data(capitalized(plain))
}

// capitalized begins a text with a capital letter.
func capitalized(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return text
	}
	return string(unicode.ToUpper(first)) + text[size:]
}

// weekday names a day of the week, of which Monday is 0.
func (v *visit) weekday(day int) string {
	return capitalized(v.reader.Weekday(time.Date(2024, 1, 1+day, 0, 0, 0, 0, time.UTC))) // a Monday
}

// intervals name how often something is billed, behind "every".
var intervals = map[string]ui.Words{"day": "day", "week": "week", "month": "month", "year": "year"}

var grantSources = map[coreaccess.Source]ui.Words{
	coreaccess.Purchase: "Purchase", coreaccess.Subscription: "Subscription", coreaccess.Appointment: "Appointment",
}

var postings = map[ledger.Kind]ui.Words{
	ledger.KindSale: "Sale", ledger.KindProcessorFee: "Processor fee", ledger.KindRelease: "Release",
	ledger.KindReversal: "Sale reversal", ledger.KindRefund: "Refund", ledger.KindRefundFailed: "Refund failed",
	ledger.KindDisputeOpened: "Dispute opened", ledger.KindDisputeWon: "Dispute won",
	ledger.KindDisputeLost: "Dispute lost", ledger.KindPayoutRequested: "Payout requested",
	ledger.KindPayoutPaid: "Payout paid", ledger.KindPayoutFailed: "Payout failed",
}

var ledgerAccounts = map[ledger.Account]ui.Words{
	ledger.ProcessorClearing: "Processor clearing", ledger.DisputedFunds: "Disputed funds",
	ledger.ProcessorFee: "Processor fee", ledger.TaxPayable: "Tax payable", ledger.PlatformFee: "Platform fee",
	ledger.CreatorPending: "Creator pending", ledger.CreatorAvailable: "Creator available",
	ledger.CreatorReserved: "Creator reserved", ledger.CreatorInTransit: "Creator in transit",
}

// disputeReasons maps the reasons of card networks, by Stripe's names, to words.
var disputeReasons = map[string]ui.Words{ //nolint:gosec // they are reasons, no credentials
	"credit_not_processed": "Credit not processed", "duplicate": "Duplicate", "fraudulent": "Fraudulent",
	"general": "General", "noncompliant": "Noncompliant", "product_not_received": "Product not received",
	"product_unacceptable": "Product unacceptable", "subscription_canceled": "Subscription canceled",
	"unrecognized": "Unrecognized",
}

var declineReasons = map[payment.DeclineCode]ui.Words{
	payment.CardDeclined: "Card declined", payment.InsufficientFunds: "Insufficient funds",
	payment.LimitExceeded: "Card velocity exceeded", payment.ExpiredCard: "Expired card",
	payment.IncorrectCVC: "Incorrect CVC", payment.ProcessingError: "Processing error",
	payment.CardNotSupported: "Card not supported", payment.CurrencyNotSupported: "Currency not supported",
	payment.AmountTooSmall: "Amount too small", payment.AuthenticationFailed: "Authentication failed",
	payment.AuthenticationRequired: "Authentication required", payment.IncorrectNumber: "Incorrect number",
	payment.Fraudulent: "Fraudulent", payment.InvalidAccount: "Invalid account", payment.LostCard: "Lost card",
	payment.StolenCard: "Stolen card", payment.RestrictedCard: "Restricted card",
	payment.AuthorizationRevoked:  "Revocation of authorization",
	payment.TransactionNotAllowed: "Transaction not allowed", payment.MethodRequired: "No saved card",
	payment.ProcessorUnavailable: "Processor unavailable",
}

var disabledReasons = map[string]ui.Words{
	webhook.DisabledByOwner: "by you", webhook.DisabledByGone: "it responded with 410 Gone",
	webhook.DisabledByFailing: "deliveries kept failing",
}
