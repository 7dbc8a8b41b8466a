package order

import (
	"strings"

	"sundry/core/intake"
)

// Asked holds the questions to the buyer of appointments beside the time.
type Asked struct {
	Questions []AskedQuestion
	Notes     string
	// MaxGuests bounds the people whom the buyer may invite. Guests lists those whom they have invited, one per line.
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
