package order

import (
	"strings"

	"sundry/core/intake"
)

// Asked is what the buyer of appointments is asked beside the time.
type Asked struct {
	Questions []AskedQuestion
	Notes     string
	// MaxGuests is how many people the buyer may invite, and Guests are those whom they have, one per line.
	MaxGuests int
	Guests    string
}

// AskedQuestion is a question with the answer so far.
type AskedQuestion struct {
	intake.Question
	Value string
}

func newAsked(form intake.Form, given intake.Response) Asked {
	asked := Asked{Notes: given.Notes, MaxGuests: form.MaxGuests, Guests: strings.Join(given.Guests, "\n")}
	for _, q := range form.Questions {
		asked.Questions = append(asked.Questions, AskedQuestion{q, given.Value(q.Key)})
	}
	return asked
}
