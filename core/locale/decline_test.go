package locale_test

import (
	"testing"

	"sundry/core/locale"
)

// The codes that Stripe's and the sandbox's cards are refused with, and the English text of each.
var declines = map[string]string{
	"card_declined":                         "Your card was declined. Try another card.",
	"insufficient_funds":                    "Your card has insufficient funds. Try another card.",
	"expired_card":                          "Your card has expired. Try another card.",
	"incorrect_cvc":                         "The security code is wrong. Check it and try again.",
	"invalid_cvc":                           "The security code is wrong. Check it and try again.",
	"incorrect_number":                      "The card number is wrong. Check it and try again.",
	"invalid_number":                        "The card number is wrong. Check it and try again.",
	"card_not_supported":                    "Your card cannot be used for this payment. Try another card.",
	"currency_not_supported":                "Your card cannot be used for this payment. Try another card.",
	"transaction_not_allowed":               "Your card cannot be used for this payment. Try another card.",
	"authentication_required":               "Your bank asks you to confirm this payment. Try again and confirm it.",
	"authentication_failed":                 "Your bank could not confirm that it was you. Try again or use another card.",
	"payment_intent_authentication_failure": "Your bank could not confirm that it was you. Try again or use another card.",
	"setup_intent_authentication_failure":   "Your bank could not confirm that it was you. Try again or use another card.",
	"processing_error":                      "Your card could not be charged. Try again in a moment.",
	"issuer_not_available":                  "Your card could not be charged. Try again in a moment.",
	"try_again_later":                       "Your card could not be charged. Try again in a moment.",
}

func TestADeclinedCardIsExplainedInEveryLanguage(t *testing.T) {
	t.Parallel()
	for code, want := range declines {
		if got := american.Decline(code); got != want {
			t.Errorf("%s: %q, want %q", code, got, want)
		}
		for _, reader := range []locale.Locale{german, french} {
			got := reader.Decline(code)
			if got == want || got == "" || code != "card_declined" && got == reader.Decline("card_declined") {
				t.Errorf("%s in %s: %q", code, reader.Language, got)
			}
			if reader.Declines()[code] != got {
				t.Errorf("%s in %s reads differently in scripts: %q", code, reader.Language, reader.Declines()[code])
			}
		}
	}
	if got := german.Decline("do_not_honor"); got != german.Decline("card_declined") {
		t.Errorf("a code without a text reads %q", got)
	}
	if n := len(american.Declines()); n != len(declines) {
		t.Errorf("scripts get %d codes, want %d", n, len(declines))
	}
}
