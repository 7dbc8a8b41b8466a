package sandboxpay

import (
	"strings"

	"sundry/core/payment"
)

// behaviour is how a test card acts when it is charged with the buyer present.
type behaviour int

const (
	succeeds behaviour = iota
	declines
	asksOnce      // asks the buyer to authenticate, once per checkout
	asksAlways    // asks every time; without a buyer it is refused
	succeedsOnce  // pays now, is refused whenever the buyer is away
	answersLate   // the money is taken, but our answer times out
	staysOpen     // nothing is decided until the account's clock moves
	succeedsAsked // the second half of asksOnce
)

// card is one of the well-known test numbers (contract §13).
type card struct {
	number    string
	brand     string
	behaviour behaviour
	refusal   payment.Refusal
}

var cards = []card{
	{number: "4242424242424242", brand: "visa", behaviour: succeeds},
	{number: "4000000000000002", brand: "visa", behaviour: declines,
		refusal: payment.Refusal{Code: "card_declined", Message: "Your card was declined. Try another card."}},
	{number: "4000000000009995", brand: "visa", behaviour: declines,
		refusal: payment.Refusal{Code: "insufficient_funds", Message: "Your card has insufficient funds. Try another card."}},
	{number: "4000000000000069", brand: "visa", behaviour: declines,
		refusal: payment.Refusal{Code: "expired_card", Message: "Your card has expired. Try another card."}},
	{number: "4000000000000127", brand: "visa", behaviour: declines,
		refusal: payment.Refusal{Code: "incorrect_cvc", Message: "Your card's security code is wrong. Check it and try again."}},
	{number: "4000002500003155", brand: "visa", behaviour: asksOnce},
	{number: "4000002760003184", brand: "visa", behaviour: asksAlways},
	{number: "4000000000000341", brand: "visa", behaviour: succeedsOnce},
	{number: "4000000000000259", brand: "visa", behaviour: succeeds}, // disputed afterwards, once disputes exist
	{number: "4000000000009003", brand: "visa", behaviour: answersLate},
	{number: "4000000000009102", brand: "visa", behaviour: staysOpen},
}

// Refusals that do not depend on the card.
var (
	refusedAway = payment.Refusal{Code: "card_declined", Message: "Your card was declined. Use another card."}
	wantsBuyer  = payment.Refusal{Code: "authentication_required", Message: "Your bank wants you to confirm this payment."}
	notProven   = payment.Refusal{Code: "authentication_failed", Message: "Your bank could not confirm that it was you. Try again or use another card."}
)

const tokenPrefix = "pm_sandbox_"

// token names a card without holding its number.
func (c card) token() string { return tokenPrefix + c.last4() }

func (c card) last4() string { return c.number[len(c.number)-4:] }

// Token implements ports.TestCards.
func (p *Processor) Token(number string) (string, bool) {
	digits := strings.NewReplacer(" ", "", "-", "").Replace(number)
	for _, c := range cards {
		if c.number == digits {
			return c.token(), true
		}
	}
	return "", false
}

func cardOf(token string) (card, bool) {
	for _, c := range cards {
		if c.token() == token {
			return c, true
		}
	}
	return card{}, false
}
