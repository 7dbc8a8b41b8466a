package sandboxpay

import (
	"strings"

	"sundry/core/fault"
	"sundry/core/payment"
	"sundry/ports"
)

// behavior is the response of a test card to a charge with the buyer present.
type behavior int

const (
	succeeds behavior = iota
	disputed          // succeeds, and is disputed at once
	declines
	asksOnce     // asks the buyer to authenticate; without a buyer it pays
	asksAlways   // asks every time; without a buyer it is refused
	succeedsOnce // pays now, is refused whenever the buyer is away
	respondsLate // the money is taken, but our response times out
	staysOpen    // nothing is decided until the account's clock moves
)

// card is one of the test cards, whose numbers are those of Stripe where Stripe has one. All are of one brand.
type card struct {
	number   string
	behavior behavior
	refusal  payment.DeclineCode
}

var cards = []card{
	{number: "4242424242424242", behavior: succeeds},
	{number: "4000000000000002", behavior: declines, refusal: payment.CardDeclined},
	{number: "4000000000009995", behavior: declines, refusal: payment.InsufficientFunds},
	{number: "4000000000000069", behavior: declines, refusal: payment.ExpiredCard},
	{number: "4000000000000127", behavior: declines, refusal: payment.IncorrectCVC},
	{number: "4000002500003155", behavior: asksOnce},
	{number: "4000002760003184", behavior: asksAlways},
	{number: "4000000000000341", behavior: succeedsOnce},
	{number: "4000000000000259", behavior: disputed},
	{number: "4000000000009003", behavior: respondsLate},
	{number: "4000000000009102", behavior: staysOpen},
}

const (
	tokenPrefix = "pm_sandbox_"
	brand       = "visa"
)

// token names a card without holding its number.
func (c card) token() string { return tokenPrefix + c.last4() }

func (c card) last4() string { return c.number[len(c.number)-4:] }

// Method implements ports.CardForm. A number that is no test card's is refused, so that no real card is ever stored.
func (p *Processor) Method(in ports.CardInput, f *fault.Violations) string {
	f.Check(in.Token == "", "confirmationToken", fault.DetailNotAllowed, "The sandbox takes test cards by their number.")
	if in.Number == "" {
		return ""
	}
	digits := strings.NewReplacer(" ", "", "-", "").Replace(in.Number)
	for _, c := range cards {
		if c.number == digits {
			return c.token()
		}
	}
	f.Add("cardNumber", fault.DetailNotAllowed, "Use one of the test cards, such as 4242 4242 4242 4242.")
	return ""
}

func cardOf(token string) (card, bool) {
	for _, c := range cards {
		if c.token() == token {
			return c, true
		}
	}
	return card{}, false
}
