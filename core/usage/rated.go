package usage

import (
	"time"

	"sundry/core/money"
)

// Rated explains the amount of an invoice's line. It is kept with the line, so that an invoice can be explained when
// the reports themselves are gone.
type Rated struct {
	MeterID     string      `json:"meterId"`
	MeterName   string      `json:"meterName"`
	EventName   string      `json:"eventName"`
	Aggregation Aggregation `json:"aggregation"`
	PriceID     string      `json:"priceId"`
	PeriodStart time.Time   `json:"periodStart"`
	PeriodEnd   time.Time   `json:"periodEnd"`
	Quantity    Quantity    `json:"quantity"`
	Charges     []Charge    `json:"charges"`
	// RatedMinor is the price of the quantity, BilledMinor the part of it that earlier invoices asked for, and AmountMinor
	// the amount of this line, which is negative when later reports have reduced the quantity.
	RatedMinor  int64 `json:"ratedMinor"`
	BilledMinor int64 `json:"billedMinor"`
	AmountMinor int64 `json:"amountMinor"`
	// Free means that the period was a trial: nothing is charged for it.
	Free bool `json:"free,omitempty"`
	// Late means that the period has had its invoice before.
	Late bool `json:"late,omitempty"`
}

// Rate rates a period's quantity of a plan, of which earlier invoices have asked for billed.
func Rate(m Meter, price Price, plan PlanState, p Period, q Quantity, billed int64) (Rated, error) {
	r := Rated{
		MeterID: m.ID, MeterName: m.Name, EventName: m.EventName, Aggregation: m.Aggregation, PriceID: price.ID,
		PeriodStart: p.Start, PeriodEnd: p.End, Quantity: q, BilledMinor: billed, Free: plan.Free(p), Charges: []Charge{},
	}
	if r.Free {
		return r, nil
	}
	var err error
	r.Charges, r.RatedMinor, err = price.Tiers.Explain(q)
	r.AmountMinor = r.RatedMinor - billed
	return r, err
}

// CapCredits keeps the sum of lines from falling below zero: what late reports take back beyond the rest of the invoice
// waits for the next one. The first line is never a credit.
func CapCredits(lines []Rated) {
	var sum int64
	for _, l := range lines {
		sum += max(l.AmountMinor, 0)
	}
	for i := range lines {
		if credit := -lines[i].AmountMinor; credit > 0 {
			credit = min(credit, sum)
			lines[i].AmountMinor, sum = -credit, sum-credit
		}
	}
}

// Settled reports whether the line leaves nothing of its period to be billed or credited.
func (r Rated) Settled() bool { return r.Free || r.BilledMinor+r.AmountMinor == r.RatedMinor }

// PeriodClosed is emitted once for a plan and period, when everything that its invoice contains is known.
type PeriodClosed struct {
	// InvoiceID is the id that the invoice is to have.
	InvoiceID string
	Plan      PlanState
	Period    Period
	Currency  money.Currency
	Lines     []Rated
	// At is the due time of the invoice, so that a worker's lateness does not shift what follows.
	At time.Time
}

// EventName implements event.Event.
func (PeriodClosed) EventName() string { return "usage.period_closed" }

// Preview is the bill of a plan's running period if it ended now.
type Preview struct {
	Plan     PlanState
	Currency money.Currency
	Lines    []Rated
	AsOf     time.Time
}

// TotalMinor is the sum of the lines.
func (p Preview) TotalMinor() (total int64) {
	for _, line := range p.Lines {
		total += line.AmountMinor
	}
	return total
}

// Counted is emitted when the counts of a customer's meters have changed.
type Counted struct{ CreatorID, ExternalCustomerID string }

// EventName implements event.Event.
func (Counted) EventName() string { return "usage.counted" }
