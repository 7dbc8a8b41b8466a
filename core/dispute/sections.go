package dispute

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sundry/core/locale"
)

// Section is a part of what was collected, in English: card networks read it.
type Section struct {
	Title string
	Lines []Line
}

// Line is a label and its value; a value may have several lines.
type Line struct{ Label, Value string }

// The sections that processors take apart from each other.
const (
	SectionAccess       = "Access"
	SectionActivity     = "Activity"
	SectionDownloads    = "Downloads"
	SectionAppointments = "Appointments"
	SectionMails        = "Mails to the buyer"
)

// english writes amounts as the sections do.
var english = locale.ParseTag("en-GB")

// Sections returns what was collected, by topic and in English. It leaves out what is not known.
func (c Collected) Sections() []Section {
	all := []Section{
		{"Receipt", c.receiptLines()},
		{"Buyer", known(
			Line{"Name", deref(c.Buyer.Name)}, Line{"Email", deref(c.Buyer.Email)}, Line{"Billing address", c.Buyer.Address()},
		)},
		{"Purchase", known(
			Line{"Paid", moment(c.Purchase.PaidAt)}, Line{"Amount", english.Money(c.Amount(c.Purchase.AmountInCents))},
			Line{"Card", deref(c.Purchase.Card)}, Line{"Network address", deref(c.Purchase.Network)},
			Line{"Country", deref(c.Purchase.Country)}, Line{"Browser", deref(c.Purchase.UserAgent)},
		)},
		{"Consent", c.consentLines()},
		{SectionAccess, lines(c.Access, accessLine)},
		{SectionActivity, lines(c.Activity, func(a Activity) Line { return Line{moment(a.At), words(a.Kind)} })},
		{SectionDownloads, lines(c.Downloads, func(d Download) Line {
			return Line{d.Name, fmt.Sprintf("%d times, last %s", d.Count, moment(d.LastDownloadedAt))}
		})},
		{SectionAppointments, lines(c.Appointments, appointmentLine)},
		{SectionMails, lines(c.Mails, mailLine)},
		{"Refund policy", known(Line{"Shown to the buyer", deref(c.RefundPolicy)})},
		{"Refunds", lines(c.Refunds, func(f Refund) Line {
			return Line{moment(f.CreatedAt), english.Money(c.Amount(f.AmountInCents)) + ", " + f.Status}
		})},
	}
	var shown []Section
	for _, s := range all {
		if len(s.Lines) > 0 {
			shown = append(shown, s)
		}
	}
	return shown
}

// Text returns the named sections as plain text, all of them without a name; "" for nothing.
func (c Collected) Text(titles ...string) string {
	var shown []string
	for _, s := range c.Sections() {
		if len(titles) == 0 || slices.Contains(titles, s.Title) {
			shown = append(shown, s.text())
		}
	}
	return strings.Join(shown, "\n")
}

func (s Section) text() string {
	var b strings.Builder
	b.WriteString(s.Title + "\n")
	for _, l := range s.Lines {
		b.WriteString("- " + l.Label + ": " + strings.ReplaceAll(l.Value, "\n", "\n  ") + "\n")
	}
	return b.String()
}

func (c Collected) receiptLines() []Line {
	r := c.Receipt
	if r == nil {
		return nil
	}
	all := []Line{{"Number", r.Number}, {"Issued", moment(r.IssuedAt)}}
	for _, item := range r.Items {
		text := english.Money(c.Amount(item.AmountInCents))
		if item.Quantity != nil {
			text = *item.Quantity + ", " + text
		}
		all = append(all, Line{item.Description, text})
	}
	if r.DiscountInCents != 0 {
		all = append(all, Line{"Discount", english.Money(c.Amount(r.DiscountInCents))})
	}
	return append(all, Line{"Tax", english.Money(c.Amount(r.TaxInCents))},
		Line{"Total", english.Money(c.Amount(r.TotalInCents))})
}

func (c Collected) consentLines() []Line {
	if c.Consent == nil {
		return nil
	}
	return known(Line{"Agreed", moment(c.Consent.AcceptedAt)}, Line{"To", deref(c.Consent.Statement)},
		Line{"Terms", deref(c.Consent.TermsURL)}, Line{"Immediate supply", deref(c.Consent.ImmediateSupply)})
}

func accessLine(a Access) Line {
	text := "from " + moment(a.StartedAt)
	if !a.EndedAt.IsZero() {
		text += " to " + moment(a.EndedAt)
	}
	if a.EndReason != nil {
		text += " (" + words(*a.EndReason) + ")"
	}
	return Line{a.Description, text}
}

// outcomes maps the outcome of an appointment to English words.
var outcomes = map[string]string{"completed": "the buyer attended", "no_show": "the buyer did not come"}

func appointmentLine(a Appointment) Line {
	text := moment(a.StartsAt) + ", " + a.Status
	if went, ok := outcomes[deref(a.Outcome)]; ok {
		text += ", " + went
	}
	return Line{a.Title, text}
}

func mailLine(m Mail) Line {
	text := "not delivered yet"
	switch {
	case m.Refused:
		text = "refused by the buyer's mail server"
	case !m.SentAt.IsZero():
		text = "delivered " + moment(m.SentAt)
	}
	return Line{words(m.Kind), text}
}

// Address returns the billing address in one line; "" where none is known.
func (b Buyer) Address() string {
	var parts []string
	for _, part := range []string{
		deref(b.Line1), deref(b.Line2), strings.TrimSpace(deref(b.PostalCode) + " " + deref(b.City)), deref(b.State),
		deref(b.Country),
	} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ", ")
}

// lines writes each entry of a list.
func lines[T any](all []T, write func(T) Line) []Line {
	written := make([]Line, len(all))
	for i, one := range all {
		written[i] = write(one)
	}
	return written
}

// known are the lines that have a value.
func known(all ...Line) []Line {
	var kept []Line
	for _, l := range all {
		if l.Value != "" {
			kept = append(kept, l)
		}
	}
	return kept
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// words are a name such as buyer.receipt or credits_consumed for people.
func words(name string) string { return strings.NewReplacer("_", " ", ".", " ").Replace(name) }

// moment is an instant in UTC, to the minute; "" for none.
func moment(m Moment) string {
	if m.IsZero() {
		return ""
	}
	return m.UTC().Format(time.DateOnly + " 15:04 UTC")
}
