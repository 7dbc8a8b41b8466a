package locale

// declineTexts are the decline codes with a text of their own, in Stripe's words and ours, by the text's key.
var declineTexts = map[string]string{
	"card_declined":                         "card_declined",
	"insufficient_funds":                    "insufficient_funds",
	"expired_card":                          "expired_card",
	"incorrect_cvc":                         "incorrect_cvc",
	"invalid_cvc":                           "incorrect_cvc",
	"incorrect_number":                      "incorrect_number",
	"invalid_number":                        "incorrect_number",
	"card_not_supported":                    "card_not_supported",
	"currency_not_supported":                "card_not_supported",
	"transaction_not_allowed":               "card_not_supported",
	"authentication_required":               "authentication_required",
	"authentication_failed":                 "authentication_failed",
	"payment_intent_authentication_failure": "authentication_failed",
	"setup_intent_authentication_failure":   "authentication_failed",
	"processing_error":                      "processing_error",
	"issuer_not_available":                  "processing_error",
	"try_again_later":                       "processing_error",
}

// Decline returns the text of a decline code. A code without a text of its own reads as card_declined.
func (l Locale) Decline(code string) string {
	key, known := declineTexts[code]
	if !known {
		key = "card_declined"
	}
	return l.Text("decline." + key)
}

// Declines returns the texts of every code that has one, as scripts get them.
func (l Locale) Declines() map[string]string {
	out := map[string]string{}
	for code := range declineTexts {
		out[code] = l.Decline(code)
	}
	return out
}
