package invoice

import (
	"cmp"
	"time"

	"sundry/core/apiformat"
	"sundry/core/money"
	"sundry/core/tax"
	"sundry/core/usage"
)

// View is an invoice as integrators see it, in responses and in events alike.
type View struct {
	ID                 string            `json:"id"`
	Number             string            `json:"number"`
	CustomerID         string            `json:"customerId"`
	ExternalCustomerID *string           `json:"externalCustomerId"`
	Status             Status            `json:"status"`
	Currency           string            `json:"currency"`
	LineItems          []LineView        `json:"lineItems"`
	SubtotalInCents    int64             `json:"subtotalInCents"`
	TaxInCents         int64             `json:"taxInCents"`
	TaxBehavior        string            `json:"taxBehavior"`
	TotalInCents       int64             `json:"totalInCents"`
	PeriodStart        *string           `json:"periodStart"`
	PeriodEnd          *string           `json:"periodEnd"`
	SubscriptionID     *string           `json:"subscriptionId"`
	BillingPlanID      *string           `json:"billingPlanId"`
	AttemptCount       int               `json:"attemptCount"`
	NextAttemptAt      *string           `json:"nextAttemptAt"`
	DeclineCode        *string           `json:"declineCode"`
	PaymentID          *string           `json:"paymentId"`
	HostedURL          string            `json:"hostedUrl"`
	PDFURL             string            `json:"pdfUrl"`
	Livemode           bool              `json:"livemode"`
	CreatedAt          *string           `json:"createdAt"`
	FinalizedAt        *string           `json:"finalizedAt"`
	PaidAt             *string           `json:"paidAt"`
	Metadata           map[string]string `json:"metadata"`
}

// LineView is one item of it. Quantity, meter and price are null in a pushed one.
type LineView struct {
	ID            string          `json:"id"`
	Kind          LineKind        `json:"kind"`
	Description   string          `json:"description"`
	AmountInCents int64           `json:"amountInCents"`
	Quantity      *usage.Quantity `json:"quantity"`
	MeterID       *string         `json:"meterId"`
	PriceID       *string         `json:"priceId"`
	PeriodStart   *string         `json:"periodStart"`
	PeriodEnd     *string         `json:"periodEnd"`
}

// NewView renders an invoice.
func NewView(s State, livemode bool) View {
	v := View{
		ID: s.ID, Number: s.Number, CustomerID: s.CustomerID, ExternalCustomerID: apiformat.Text(s.ExternalCustomerID),
		Status:   s.Status,
		Currency: string(s.Currency), LineItems: make([]LineView, len(s.Lines)), SubtotalInCents: s.Subtotal.Minor,
		TaxInCents:   s.Tax.Minor,
		TaxBehavior:  string(cmp.Or(s.TaxDetails.Behavior, tax.Inclusive)),
		TotalInCents: s.Total.Minor, PeriodStart: apiformat.Text(s.PeriodStart), PeriodEnd: apiformat.Text(s.PeriodEnd),
		SubscriptionID: apiformat.Text(s.SubscriptionID), BillingPlanID: apiformat.Text(s.BillingPlanID),
		AttemptCount:  s.AttemptCount,
		NextAttemptAt: apiformat.Time(s.NextAttemptAt), DeclineCode: apiformat.Text(s.DeclineCode),
		PaymentID: apiformat.Text(s.PaymentID),
		HostedURL: s.Links.Page, PDFURL: s.Links.PDF, Livemode: livemode, CreatedAt: apiformat.Time(s.CreatedAt),
		FinalizedAt: apiformat.Time(s.FinalizedAt), PaidAt: apiformat.Time(s.PaidAt),
		Metadata: s.Metadata.Map(),
	}
	for i, l := range s.Lines {
		v.LineItems[i] = newLineView(l)
	}
	return v
}

func newLineView(l Line) LineView {
	v := LineView{ID: l.ID, Kind: l.Kind, Description: l.Description, AmountInCents: l.AmountMinor}
	if r := l.Rated; r != nil {
		v.Quantity, v.MeterID, v.PriceID = &r.Quantity, &r.MeterID, &r.PriceID
		v.PeriodStart, v.PeriodEnd = apiformat.Time(r.PeriodStart), apiformat.Time(r.PeriodEnd)
	}
	return v
}

// Explanation explains the amounts of an invoice by the data that is kept with it.
type Explanation struct {
	InvoiceID string            `json:"invoiceId"`
	Currency  string            `json:"currency"`
	Lines     []LineExplanation `json:"lines"`
}

// LineExplanation is one line of it. Everything after the amount is null in a pushed line.
type LineExplanation struct {
	ID            string          `json:"id"`
	Kind          LineKind        `json:"kind"`
	Description   string          `json:"description"`
	AmountInCents int64           `json:"amountInCents"`
	Meter         *MeterView      `json:"meter"`
	PriceID       *string         `json:"priceId"`
	PeriodStart   *string         `json:"periodStart"`
	PeriodEnd     *string         `json:"periodEnd"`
	Quantity      *usage.Quantity `json:"quantity"`
	// Values are the values of the rate that the line bills; null where no rate of the price matches the use.
	Values map[string]string `json:"values"`
	Tiers  []TierView        `json:"tiers"`
	// RatedInCents is the price of the quantity; TopUpInCents is the part of it that the price's minimum adds, and
	// BilledInCents the part that earlier invoices asked for.
	RatedInCents  *int64 `json:"ratedInCents"`
	TopUpInCents  *int64 `json:"topUpInCents"`
	BilledInCents *int64 `json:"billedInCents"`
	FreeTrial     bool   `json:"freeTrial"`
}

// MeterView names the meter of a line.
type MeterView struct {
	ID          string            `json:"id"`
	Name        string            `json:"name"`
	EventName   string            `json:"eventName"`
	Aggregation usage.Aggregation `json:"aggregation"`
}

// TierView is one tier's contribution. AmountDecimal is exact, in minor units. With a PackageSize the quantity counts
// packages.
type TierView struct {
	UpTo              *usage.Quantity `json:"upTo"`
	UnitAmountDecimal string          `json:"unitAmountDecimal"`
	Quantity          usage.Quantity  `json:"quantity"`
	PackageSize       *int64          `json:"packageSize"`
	AmountDecimal     string          `json:"amountDecimal"`
}

// Explain renders how the amounts came about.
func Explain(s State) Explanation {
	e := Explanation{InvoiceID: s.ID, Currency: string(s.Currency), Lines: make([]LineExplanation, len(s.Lines))}
	for i, l := range s.Lines {
		e.Lines[i] = NewLineExplanation(l)
	}
	return e
}

// NewLineExplanation renders how a line's amount came about.
func NewLineExplanation(l Line) LineExplanation {
	e := LineExplanation{ID: l.ID, Kind: l.Kind, Description: l.Description, AmountInCents: l.AmountMinor,
		Tiers: []TierView{}}
	r := l.Rated
	if r == nil {
		return e
	}
	e.Meter = &MeterView{r.MeterID, r.MeterName, r.EventName, r.Aggregation}
	e.PriceID, e.PeriodStart, e.PeriodEnd, e.Quantity = &r.PriceID, apiformat.Time(r.PeriodStart),
		apiformat.Time(r.PeriodEnd), &r.Quantity
	e.Values = r.Values
	e.RatedInCents, e.TopUpInCents, e.BilledInCents, e.FreeTrial = &r.RatedMinor, &r.TopUpMinor, &r.BilledMinor, r.Free
	for _, c := range r.Charges {
		t := TierView{UnitAmountDecimal: c.Tier.Unit.String(), Quantity: c.Quantity, AmountDecimal: c.Amount}
		if !c.Tier.Unbounded {
			t.UpTo = &c.Tier.UpTo
		}
		if c.PackageSize > 0 {
			t.PackageSize = &c.PackageSize
		}
		e.Tiers = append(e.Tiers, t)
	}
	return e
}

// LinesOf returns the lines of a period's use, without ids. What the plan includes of it is a line of 0 behind it, and
// what it lacks to the minimum of its price is a line of its own when it is billed first. Of a period that was billed
// before, one line asks for the difference. A price with rates has lines for each of them.
func LinesOf(rated []usage.Rated) []Line {
	lines := make([]Line, 0, len(rated))
	for _, r := range rated {
		topUp := r.TopUpMinor
		if r.BilledMinor != 0 {
			topUp = 0
		}
		use := r
		use.AmountMinor, use.RatedMinor, use.TopUpMinor = r.AmountMinor-topUp, r.RatedMinor-topUp, r.TopUpMinor-topUp
		name := r.MeterName
		if when := r.When(); when != "" {
			name += " (" + when + ")"
		}
		line := Line{Kind: Usage, Description: name, AmountMinor: use.AmountMinor, Rated: &use}
		switch {
		case r.TooSmall:
			line.Description = name + ", carried over to the next invoice: less than can be charged"
		case r.Waits:
			line.Description = name + ", not billed: more than an invoice can charge"
		case r.Late:
			line.Kind = LateUsage
			why := ", reported late for "
			if r.CarriedOver {
				why = ", carried over from "
			}
			line.Description = name + why + r.PeriodStart.Format(time.DateOnly) + " to " + r.PeriodEnd.Format(time.DateOnly)
		case r.Free:
			line.Description = name + ", free trial"
		}
		if !r.Rest || topUp == 0 || !r.Quantity.IsZero() {
			lines = append(lines, line)
		}
		if !r.Included.IsZero() && !r.Waits {
			included := r
			included.Quantity, included.Included, included.Charges = r.Included, usage.Quantity{}, []usage.Charge{}
			included.RatedMinor, included.BilledMinor, included.AmountMinor, included.Late = 0, 0, 0, false
			included.TopUpMinor = 0
			lines = append(lines, Line{Kind: Included, Description: name + ", included in the plan", Rated: &included})
		}
		if topUp > 0 {
			least := r
			least.Quantity, least.Included, least.Charges = usage.Quantity{}, usage.Quantity{}, []usage.Charge{}
			least.AmountMinor, least.RatedMinor, least.Late = topUp, topUp, false
			least.Values, least.Rest = nil, false // the minimum is that of all rates together
			lines = append(lines, Line{
				Kind: Minimum, Description: r.MeterName + ", up to the minimum of the period", AmountMinor: topUp, Rated: &least,
			})
		}
	}
	return lines
}

// PrepaidLines returns the lines of what usage credits take off, without ids.
func PrepaidLines(uses []usage.CreditUse) []Line {
	lines := make([]Line, 0, len(uses))
	for _, u := range uses {
		lines = append(lines, Line{Kind: Prepaid, Description: "Prepaid usage credit", AmountMinor: -u.Minor})
	}
	return lines
}

// Quantity returns the quantity of a line of usage; "" for one that is of none.
func (l Line) Quantity() string {
	if l.Rated == nil || l.Kind == Minimum {
		return ""
	}
	return l.Rated.Quantity.String()
}

// Amount returns a line's amount as money.
func (l Line) Amount(c money.Currency) money.Amount {
	return money.Amount{Minor: l.AmountMinor, Currency: c}
}
