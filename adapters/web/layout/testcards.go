package layout

// testCard is one card of the sandbox processor, as pages offer it to those who try the integration.
type testCard struct {
	Number string // grouped, as it is shown and typed
	Effect string // key of the message that describes what happens
}

// testCards are all cards the sandbox knows; any other number is refused there, so a
// real card typed by mistake goes nowhere.
var testCards = []testCard{
	{"4242 4242 4242 4242", "card.succeeds"},
	{"4000 0000 0000 0002", "card.declined"},
	{"4000 0000 0000 9995", "card.funds"},
	{"4000 0000 0000 0069", "card.expired"},
	{"4000 0000 0000 0127", "card.cvc"},
	{"4000 0025 0000 3155", "card.auth_once"},
	{"4000 0027 6000 3184", "card.auth_always"},
	{"4000 0000 0000 0341", "card.later_fails"},
	{"4000 0000 0000 0259", "card.disputed"},
	{"4000 0000 0000 9003", "card.timeout"},
	{"4000 0000 0000 9102", "card.processing"},
}
