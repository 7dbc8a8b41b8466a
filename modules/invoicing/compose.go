package invoicing

import (
	"strconv"
	"strings"
	"time"

	"sundry/core/country"
	"sundry/core/document"
	"sundry/core/locale"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/tax"
	"sundry/ports"
)

// standing holds what changed since a document was issued.
type standing struct {
	// void marks a credit note whose refund was returned.
	void bool
	// paidAt is the time at which an invoice was paid; zero while it is unpaid.
	paidAt time.Time
}

// compose writes a snapshot in a reader's language: the figures and names are frozen, the words around them are not.
func compose(s document.Snapshot, reader locale.Locale, now standing) ports.Document {
	c := composer{s, reader}
	d := ports.Document{
		Title: c.text("title." + string(s.Kind)), Number: s.Number, IssuedAt: s.IssuedAt, Locale: reader,
		Seller: c.party(s.Seller), Buyer: c.party(s.Buyer), Facts: c.facts(now.paidAt), Notes: c.notes(now.void),
		Headings: c.headings(),
	}
	if !s.Livemode {
		d.Stamp = c.text("test.stamp")
	}
	for _, line := range s.Lines {
		d.Lines = append(d.Lines, c.line(line))
	}
	d.Totals = c.totals()
	return d
}

// composer writes one snapshot.
type composer struct {
	document.Snapshot
	reader locale.Locale
}

func (c composer) text(key string, values ...any) string {
	return c.reader.Text("document."+key, values...)
}

func (c composer) headings() ports.DocumentHeadings {
	return ports.DocumentHeadings{
		From: c.text("from"), To: c.text("to"), VATID: c.text("vat_id"), Description: c.text("description"),
		Quantity: c.text("quantity"), Amount: c.text("amount"),
	}
}

func (c composer) party(p document.Party) ports.DocumentParty {
	party := ports.DocumentParty{Name: p.Name, TaxID: p.TaxID}
	if p.Name == "" {
		party.Name = p.Email
	}
	for _, line := range []string{p.Address, p.PostalCode} {
		if line != "" {
			party.Lines = append(party.Lines, line)
		}
	}
	if p.Country != "" {
		party.Lines = append(party.Lines, country.Name(p.Country, c.reader.Language))
	}
	if p.Email != "" && p.Email != party.Name {
		party.Lines = append(party.Lines, p.Email)
	}
	return party
}

func (c composer) facts(paidAt time.Time) []ports.DocumentFact {
	var facts []ports.DocumentFact
	add := func(key, value string) {
		if value != "" {
			facts = append(facts, ports.DocumentFact{Label: c.text(key), Value: value})
		}
	}
	add("number."+string(c.Kind), c.Number)
	add("date", c.reader.Date(c.IssuedAt.UTC()))
	if !paidAt.IsZero() {
		add("paid", c.reader.Date(paidAt.UTC()))
	}
	add("corrects", c.Corrects)
	if c.PeriodStart != "" && c.PeriodEnd != "" {
		add("period", c.day(c.PeriodStart)+" – "+c.day(c.PeriodEnd))
	}
	if brand, last4, ok := strings.Cut(c.Card, " "); ok {
		add("card", strings.ToUpper(brand[:1])+brand[1:]+" •••• "+last4)
	}
	add("reason", c.reason())
	return facts
}

// reason returns the reason of a credit note: a known word in the reader's language, any other as it was written.
func (c composer) reason() string {
	if locale.Has("document.reason." + c.Reason) {
		return c.text("reason." + c.Reason)
	}
	return c.Reason
}

// day is a date, or the day of an instant, in the reader's words.
func (c composer) day(text string) string {
	for _, form := range []string{time.DateOnly, time.RFC3339Nano} {
		if at, err := time.Parse(form, text); err == nil {
			return c.reader.Date(at.UTC())
		}
	}
	return text
}

func (c composer) line(l document.Line) ports.DocumentLine {
	line := ports.DocumentLine{Description: l.Description, Detail: l.Detail, Quantity: l.Quantity, Amount: l.Amount}
	switch {
	case l.Key == "credit" && c.Corrects != "":
		line.Description = c.text("line.credit_of", c.Corrects)
	case l.Key != "":
		line.Description = c.text("line." + l.Key)
	case l.Share != (payment.PlanShare{}):
		line.Description = l.Share.Text(c.reader)
	}
	if l.Count > 0 {
		line.Quantity = strconv.Itoa(l.Count)
	}
	return line
}

func (c composer) totals() []ports.DocumentTotal {
	var totals []ports.DocumentTotal
	add := func(label string, amount money.Amount, strong bool) {
		totals = append(totals, ports.DocumentTotal{Label: label, Amount: amount, Strong: strong})
	}
	if c.Subtotal != c.Total || c.Discount.Minor != 0 || c.Credit.Minor != 0 {
		add(c.text("subtotal"), c.Subtotal, false)
	}
	less := func(key string, off money.Amount) {
		if off.Minor != 0 {
			add(c.text(key), money.Amount{Minor: -off.Minor, Currency: off.Currency}, false)
		}
	}
	less("discount", c.Discount)
	less("credit", c.Credit)
	added := c.TaxAdded.Minor != 0
	if added {
		c.taxes(add, "tax")
	}
	add(c.text("total."+string(c.Kind)), c.Total, true)
	if !added && c.Tax.Minor != 0 {
		c.taxes(add, "tax_included")
	}
	return totals
}

// taxes adds a line per rate, with its base.
func (c composer) taxes(add func(string, money.Amount, bool), key string) {
	shown := int64(0)
	for _, share := range c.TaxDetails.Shares {
		if share.Tax.Minor == 0 {
			continue
		}
		add(
			c.text(
				key+".rate", c.reader.Percent(share.Rate), country.Name(c.TaxDetails.Country, c.reader.Language),
				c.reader.Money(share.Net),
			),
			share.Tax, false,
		)
		shown += share.Tax.Minor
	}
	if rest := c.Tax.Minor - shown; rest != 0 {
		add(c.text(key), money.Amount{Minor: rest, Currency: c.Tax.Currency}, false)
	}
}

func (c composer) notes(void bool) []string {
	var notes []string
	add := func(when bool, key string, values ...any) {
		if when {
			notes = append(notes, c.text(key, values...))
		}
	}
	add(!c.Livemode, "test.note")
	add(void, "void")
	add(c.TaxDetails.Treatment == tax.ReverseCharge, "reverse_charge")
	sale := c.Kind != document.PayoutStatement
	add(sale && c.OnBehalfOf != "" && c.OnBehalfOf != c.Seller.Name, "behalf", c.Seller.Name, c.OnBehalfOf)
	add(!sale, "statement.note")
	return notes
}
