package dispute_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"sundry/core/dispute"
)

// collected has something in every section.
func collected() dispute.Collected {
	at := dispute.Moment{Time: now}
	c := dispute.NewCollected(now)
	c.Receipt = &dispute.Receipt{Number: "A-1", IssuedAt: at, SubtotalInCents: 1000, DiscountInCents: 100, TaxInCents: 171,
		TotalInCents: 1071, Currency: "eur",
		Items: []dispute.Item{{Description: "Guide", Quantity: new("2"), AmountInCents: 1000}}}
	c.Buyer = dispute.Buyer{Name: new("Ada"), Email: new("ada@example.com"), Line1: new("Main Street 1"),
		City: new("Ulm"), PostalCode: new("89073"), Country: new("DE")}
	c.Purchase = dispute.Purchase{PaidAt: at, AmountInCents: 1071, Currency: "eur", Network: new("192.0.2.7")}
	c.Consent = &dispute.Consent{AcceptedAt: at, Statement: new("I agree.")}
	c.Access = []dispute.Access{{Description: "guide, plan basic", StartedAt: at, EndedAt: at, EndReason: new("revoked")}}
	c.Activity = []dispute.Activity{{At: at, Kind: "credits_consumed"}}
	c.Downloads = []dispute.Download{{Name: "guide.pdf", Count: 3, LastDownloadedAt: at}}
	c.Appointments = []dispute.Appointment{
		{Title: "Lesson", StartsAt: at, Status: "canceled"},
		{Title: "Lesson", StartsAt: dispute.Moment{Time: now.AddDate(0, 0, 2)}, Status: "confirmed", Outcome: new("no_show")},
	}
	c.Mails = []dispute.Mail{{Kind: "appointment.booked", SentAt: at}, {Kind: "receipt", Refused: true}, {Kind: "receipt"}}
	c.RefundPolicy = new("Within\na week.")
	c.Refunds = []dispute.Refund{{AmountInCents: 71, Status: "succeeded", CreatedAt: at}}
	return *c
}

func TestCollected_TextSaysEverything(t *testing.T) {
	t.Parallel()
	const want = `Receipt
- Number: A-1
- Issued: 2026-11-22 12:00 UTC
- Guide: 2, €10.00
- Discount: €1.00
- Tax: €1.71
- Total: €10.71

Buyer
- Name: Ada
- Email: ada@example.com
- Billing address: Main Street 1, 89073 Ulm, DE

Purchase
- Paid: 2026-11-22 12:00 UTC
- Amount: €10.71
- Network address: 192.0.2.7

Consent
- Agreed: 2026-11-22 12:00 UTC
- To: I agree.

Access
- guide, plan basic: from 2026-11-22 12:00 UTC to 2026-11-22 12:00 UTC (revoked)

Activity
- 2026-11-22 12:00 UTC: credits consumed

Downloads
- guide.pdf: 3 times, last 2026-11-22 12:00 UTC

Appointments
- Lesson: 2026-11-22 12:00 UTC, canceled
- Lesson: 2026-11-24 12:00 UTC, confirmed, the buyer did not come

Mails to the buyer
- appointment booked: delivered 2026-11-22 12:00 UTC
- receipt: refused by the buyer's mail server
- receipt: not delivered yet

Refund policy
- Shown to the buyer: Within
  a week.

Refunds
- 2026-11-22 12:00 UTC: €0.71, succeeded
`
	if got := collected().Text(); got != want {
		t.Errorf("got\n%s", got)
	}
	if got, want := collected().Text(dispute.SectionActivity),
		"Activity\n- 2026-11-22 12:00 UTC: credits consumed\n"; got != want {
		t.Errorf("one section: %q", got)
	}
	if got, want := collected().Text(dispute.SectionDownloads, dispute.SectionActivity),
		"Activity\n- 2026-11-22 12:00 UTC: credits consumed\n\n"+
			"Downloads\n- guide.pdf: 3 times, last 2026-11-22 12:00 UTC\n"; got != want {
		t.Errorf("two sections: %q", got)
	}
}

func TestCollected_NothingIsNamedThatIsNotKnown(t *testing.T) {
	t.Parallel()
	c := dispute.NewCollected(now)
	c.Purchase = dispute.Purchase{AmountInCents: 100, Currency: "eur"}
	if got := c.Text(); got != "Purchase\n- Amount: €1.00\n" {
		t.Errorf("got %q", got)
	}
}

func TestCollected_SaysLessOfWhatHasLess(t *testing.T) {
	t.Parallel()
	at := dispute.Moment{Time: now}
	c := collected()
	c.Receipt.Items[0].Quantity, c.Receipt.DiscountInCents = nil, 0
	c.Access = []dispute.Access{
		{Description: "guide", StartedAt: at}, {Description: "club", StartedAt: at, EndReason: new("refunded")},
		{Description: "lessons", StartedAt: at, EndedAt: at},
	}
	want := []dispute.Section{
		{Title: "Receipt", Lines: []dispute.Line{{"Number", "A-1"}, {"Issued", "2026-11-22 12:00 UTC"},
			{"Guide", "€10.00"}, {"Tax", "€1.71"}, {"Total", "€10.71"}}},
		{Title: "Access", Lines: []dispute.Line{{"guide", "from 2026-11-22 12:00 UTC"},
			{"club", "from 2026-11-22 12:00 UTC (refunded)"},
			{"lessons", "from 2026-11-22 12:00 UTC to 2026-11-22 12:00 UTC"}}},
	}
	sections := c.Sections()
	if got := []dispute.Section{sections[0], sections[4]}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	c.Receipt.DiscountInCents = 1
	if got := c.Sections()[0].Lines[3]; got != (dispute.Line{Label: "Discount", Value: "€0.01"}) {
		t.Errorf("a discount of a cent: %+v", got)
	}
}

func TestBuyerName_IsTheNameOrTheAddress(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		buyer dispute.Buyer
		want  string
	}{
		"both":       {dispute.Buyer{Name: new("Ada"), Email: new("ada@example.com")}, "Ada"},
		"an address": {dispute.Buyer{Email: new("ada@example.com")}, "ada@example.com"},
		"neither":    {dispute.Buyer{}, ""},
	} {
		if got := (dispute.Collected{Buyer: c.buyer}).BuyerName(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestCollected_IsKeptAsItIs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]dispute.Collected{"everything": collected(), "nothing": *dispute.NewCollected(now)} {
		raw, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		var kept dispute.Collected
		if err := json.Unmarshal(raw, &kept); err != nil || !reflect.DeepEqual(kept, c) {
			t.Errorf("%s: %v, kept %+v", name, err, kept)
		}
	}
}

func TestServiceDate_IsTheFirstAppointmentsOrThePayments(t *testing.T) {
	t.Parallel()
	c := collected()
	if got := c.ServiceDate(); !got.Equal(now.AddDate(0, 0, 2)) {
		t.Errorf("with a canceled and a confirmed time: %v", got)
	}
	c.Appointments = c.Appointments[:1]
	if got := c.ServiceDate(); !got.Equal(now) {
		t.Errorf("with a canceled one: %v", got)
	}
	if got := (dispute.Collected{}).ServiceDate(); !got.Equal(time.Time{}) {
		t.Errorf("unpaid: %v", got)
	}
}
