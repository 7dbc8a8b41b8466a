package dispute

import (
	"cmp"
	"encoding/json"
	"time"

	"sundry/core/apiformat"
	"sundry/core/customer"
	"sundry/core/money"
)

// MaxCollected bounds each list of what is collected. The newest entries are kept.
const MaxCollected = 50

// Collected is the evidence about a disputed payment that the program has collected. What it does not know is null or
// an empty list. The API shows it in this JSON, and a response to the dispute is stored with it.
type Collected struct {
	// CollectedAt is account time, as every other moment but those of mails.
	CollectedAt  Moment        `json:"collectedAt"`
	Receipt      *Receipt      `json:"receipt"`
	Buyer        Buyer         `json:"buyer"`
	Purchase     Purchase      `json:"purchase"`
	Consent      *Consent      `json:"consent"`
	Access       []Access      `json:"access"`
	Activity     []Activity    `json:"activity"`
	Downloads    []Download    `json:"downloads"`
	Appointments []Appointment `json:"appointments"`
	Mails        []Mail        `json:"mails"`
	// RefundPolicy is the text that the buyer was shown.
	RefundPolicy *string  `json:"refundPolicy"`
	Refunds      []Refund `json:"refunds"`
}

// NewCollected returns the collection before any source has added to it.
func NewCollected(now time.Time) *Collected {
	return &Collected{
		CollectedAt: Moment{now}, Access: []Access{}, Activity: []Activity{}, Downloads: []Download{},
		Appointments: []Appointment{}, Mails: []Mail{}, Refunds: []Refund{},
	}
}

// Moment is an instant that is null in JSON when it is zero.
type Moment struct{ time.Time }

// MarshalJSON implements json.Marshaler.
func (m Moment) MarshalJSON() ([]byte, error) { return json.Marshal(apiformat.Time(m.Time)) }

// Receipt is the document that the buyer got. Subtotal less Discount, plus the tax that is not in the prices, is Total.
type Receipt struct {
	Number          string `json:"number"`
	IssuedAt        Moment `json:"issuedAt"`
	Items           []Item `json:"items"`
	SubtotalInCents int64  `json:"subtotalInCents"`
	DiscountInCents int64  `json:"discountInCents"`
	TaxInCents      int64  `json:"taxInCents"`
	TotalInCents    int64  `json:"totalInCents"`
	Currency        string `json:"currency"`
}

// Item is a line of the receipt.
type Item struct {
	Description   string  `json:"description"`
	Quantity      *string `json:"quantity"`
	AmountInCents int64   `json:"amountInCents"`
}

// Buyer is the buyer as they described themselves.
type Buyer struct {
	CustomerID *string `json:"customerId"`
	Name       *string `json:"name"`
	Email      *string `json:"email"`
	Line1      *string `json:"line1"`
	Line2      *string `json:"line2"`
	City       *string `json:"city"`
	State      *string `json:"state"`
	PostalCode *string `json:"postalCode"`
	Country    *string `json:"country"` // ISO 3166-1 alpha-2
}

// NewBuyer returns a buyer by what they entered; what is empty is not known.
func NewBuyer(customerID, name, email string, a customer.Address) Buyer {
	return Buyer{
		CustomerID: apiformat.Text(customerID), Name: apiformat.Text(name), Email: apiformat.Text(email),
		Line1: apiformat.Text(a.Line1), Line2: apiformat.Text(a.Line2), City: apiformat.Text(a.City),
		State: apiformat.Text(a.State), PostalCode: apiformat.Text(a.PostalCode), Country: apiformat.Text(a.Country),
	}
}

// Purchase describes the payment: its time, amount and card, and the network that it came from.
type Purchase struct {
	PaidAt        Moment `json:"paidAt"`
	AmountInCents int64  `json:"amountInCents"`
	Currency      string `json:"currency"`
	// Card is the brand and the last digits, such as "visa 4242".
	Card *string `json:"card"`
	// Network is the address that they paid from, and UserAgent their browser, where they were kept.
	Network   *string `json:"network"`
	UserAgent *string `json:"userAgent"`
	Country   *string `json:"country"`
}

// Consent holds the texts that the buyer agreed to, word for word.
type Consent struct {
	AcceptedAt      Moment  `json:"acceptedAt"`
	Statement       *string `json:"statement"`
	TermsURL        *string `json:"termsUrl"`
	ImmediateSupply *string `json:"immediateSupply"`
}

// Access is access that the payment gave.
type Access struct {
	Description string  `json:"description"`
	StartedAt   Moment  `json:"startedAt"`
	EndedAt     Moment  `json:"endedAt"`
	EndReason   *string `json:"endReason"`
}

// Activity is a change of what the buyer may use, or a use of it.
type Activity struct {
	At Moment `json:"at"`
	// Kind is the cause of the change, such as purchase_paid or credits_consumed.
	Kind string `json:"kind"`
}

// Download counts how often the buyer downloaded a file.
type Download struct {
	Name             string `json:"name"`
	Count            int64  `json:"count"`
	LastDownloadedAt Moment `json:"lastDownloadedAt"`
}

// Appointment is a time that the buyer booked.
type Appointment struct {
	ID       string `json:"id"`
	Title    string `json:"title"`
	StartsAt Moment `json:"startsAt"`
	EndsAt   Moment `json:"endsAt"`
	Status   string `json:"status"`
	// Outcome is completed or no_show, as the creator recorded it.
	Outcome *string `json:"outcome"`
}

// Mail is a mail to the buyer.
type Mail struct {
	Kind      string `json:"kind"`
	CreatedAt Moment `json:"createdAt"`
	// SentAt is the time at which a mail server took it.
	SentAt Moment `json:"sentAt"`
	// Refused means that it was refused permanently.
	Refused bool `json:"refused"`
}

// Refund is money that went back.
type Refund struct {
	ID            string `json:"id"`
	AmountInCents int64  `json:"amountInCents"`
	Reason        string `json:"reason"`
	Status        string `json:"status"`
	CreatedAt     Moment `json:"createdAt"`
}

// ServiceDate returns the day on which the buyer got what they paid for: that of the first appointment that was not
// canceled, else of the payment. It is zero while nothing was paid.
func (c Collected) ServiceDate() time.Time {
	for _, a := range c.Appointments {
		if a.Status != "canceled" {
			return a.StartsAt.Time
		}
	}
	return c.Purchase.PaidAt.Time
}

// BuyerName returns the buyer's name, or else their address; "" where neither is known.
func (c Collected) BuyerName() string { return cmp.Or(deref(c.Buyer.Name), deref(c.Buyer.Email)) }

// Amount returns an amount of the payment's currency.
func (c Collected) Amount(minor int64) money.Amount {
	return money.Amount{Minor: minor, Currency: money.Currency(c.Purchase.Currency)}
}
