package usage

import (
	"iter"
	"time"

	"sundry/core/money"
	"sundry/core/tax"
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
	// Values are the values of the rate that the line bills. Rest means that the line bills the use that no rate of the
	// price matches. A price without rates has neither.
	Values map[string]string `json:"values,omitempty"`
	Rest   bool              `json:"rest,omitempty"`
	// Included is the part of the quantity that the subscription's plan includes: the tiers begin behind it.
	Included Quantity `json:"included,omitzero"`
	Charges  []Charge `json:"charges"`
	// RatedMinor is the price of the quantity, at least the price's minimum, BilledMinor the part of it that earlier
	// invoices asked for, and AmountMinor the amount of this line, which is negative when later reports have reduced the
	// quantity.
	RatedMinor  int64 `json:"ratedMinor"`
	BilledMinor int64 `json:"billedMinor"`
	AmountMinor int64 `json:"amountMinor"`
	// TopUpMinor is the part of RatedMinor that the price's minimum adds to what the quantity costs.
	TopUpMinor int64 `json:"topUpMinor,omitempty"`
	// Free means that the period was a trial: nothing is charged for it.
	Free bool `json:"free,omitempty"`
	// Late means that the period has had its invoice before.
	Late bool `json:"late,omitempty"`
	// Waits means that nothing of the period is on this invoice, because the period costs more than an invoice may charge
	// or, with TooSmall, because the invoice would ask for less than a card can be charged.
	Waits    bool `json:"waits,omitempty"`
	TooSmall bool `json:"tooSmall,omitempty"`
	// CarriedOver means that no invoice has asked for anything of the period before, though it has had one.
	CarriedOver bool `json:"carriedOver,omitempty"`
}

// Use is a period's quantity of a plan and what it is rated by.
type Use struct {
	Meter    Meter
	Price    Price
	Plan     PlanState
	Period   Period
	Quantity Quantity
	// Included is the quantity that the subscription's plan includes in a period.
	Included int64
	// BilledMinor is the amount that earlier invoices have asked for.
	BilledMinor int64
	// Parts are, for a price with rates, the quantity and the billed amount by rate, as Split returns them.
	Parts []Part
}

// Rate rates a period's quantity beyond what is included, at no less than the minimum of the price: all of it in a
// period that is cut short, too, none in a trial or in a period without length. The line waits when it costs more than
// MaxAmount. A price with rates needs RateAll.
func (u Use) Rate() Rated { return u.rate(Units(u.Included)) }

// rate is Rate of the quantity beyond what is included.
func (u Use) rate(included Quantity) Rated {
	r := Rated{
		MeterID: u.Meter.ID, MeterName: u.Meter.Name, EventName: u.Meter.EventName, Aggregation: u.Meter.Aggregation,
		PriceID: u.Price.ID, PeriodStart: u.Period.Start, PeriodEnd: u.Period.End, Quantity: u.Quantity,
		BilledMinor: u.BilledMinor, Free: u.Plan.Free(u.Period), Charges: []Charge{},
	}
	if r.Free {
		return r
	}
	var rest Quantity
	rest, r.Included = u.Quantity.Beyond(included)
	charges, rated, err := u.Price.Explain(rest)
	if r.Waits = err != nil; r.Waits {
		return r
	}
	if u.Period.Start.Before(u.Period.End) {
		r.TopUpMinor = max(u.Price.MinimumMinor-rated, 0)
	}
	r.Charges, r.RatedMinor = charges, rated+r.TopUpMinor
	r.AmountMinor = r.RatedMinor - u.BilledMinor
	return r
}

// Fit makes lines fit on one invoice, whose sum is 0 to MaxAmount: a line beyond that waits for another invoice, as do
// credits. The lines of a period wait together. all is false when one that asks for money waits.
func Fit(lines []Rated) (all bool) {
	all = true
	var sum int64
	for period := range byPeriod(lines) {
		switch amount := SumOf(period); {
		case amount > MaxAmount-sum:
			postpone(period)
		case amount > 0:
			sum += amount
		}
		all = all && !period[0].Waits
	}
	capCredits(lines)
	return all
}

// CarryOver leaves what lines ask for to the next invoice, because it is less than a card can be charged.
func CarryOver(lines []Rated) {
	for period := range byPeriod(lines) {
		if SumOf(period) == 0 {
			continue
		}
		postpone(period)
		for i := range period {
			period[i].TooSmall = true
		}
	}
}

// byPeriod returns the lines of each period: several where its price has rates.
func byPeriod(lines []Rated) iter.Seq[[]Rated] {
	return func(yield func([]Rated) bool) {
		for rest := lines; len(rest) > 0; {
			n := 1
			for rest[0].byRate() && n < len(rest) && rest[n].byRate() && rest[n].PeriodStart.Equal(rest[0].PeriodStart) {
				n++
			}
			if !yield(rest[:n]) {
				return
			}
			rest = rest[n:]
		}
	}
}

// capCredits keeps the sum of lines from falling below zero: what late reports take back beyond the rest of the invoice
// waits for the next one. The first line is never a credit.
func capCredits(lines []Rated) {
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

// CreditLeft returns the credit that lines have left for the next invoice, because theirs asks for too little.
func CreditLeft(lines []Rated) (minor int64) {
	for _, l := range lines {
		if !l.Waits && !l.Free {
			minor += max(l.BilledMinor+l.AmountMinor-l.RatedMinor, 0)
		}
	}
	return minor
}

// Settled reports whether the line leaves nothing of its period to be billed or credited.
func (r Rated) Settled() bool {
	return r.Free || !r.Waits && r.BilledMinor+r.AmountMinor == r.RatedMinor
}

// LimitReached is emitted by each closing of a period that leaves use unbilled, because it costs more than an invoice
// may charge: the period's own or that of an earlier one.
type LimitReached struct {
	Plan     PlanState
	Meter    string // its event name
	Quantity Quantity
	Period   Period // of the use
	At       time.Time
}

// EventName implements event.Event.
func (LimitReached) EventName() string { return "usage.limit_reached" }

// PeriodClosed is emitted once for a plan and period, when everything that its invoice contains is known.
type PeriodClosed struct {
	// InvoiceID is the id that the invoice is to have.
	InvoiceID string
	Plan      PlanState
	Period    Period
	Currency  money.Currency
	Lines     []Rated
	// TaxBehavior specifies whether the lines contain their tax: that of the subscription's price.
	TaxBehavior tax.Behavior
	// Credits lists the parts of the lines' sum that the customer's prepaid credits pay.
	Credits []CreditUse
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
	// CreditMinor is the part of the lines' sum that prepaid credits would pay.
	CreditMinor int64
	AsOf        time.Time
}

// SumOf adds up the amounts of lines.
func SumOf(lines []Rated) (total int64) {
	for _, line := range lines {
		total += line.AmountMinor
	}
	return total
}

// TotalMinor returns the sum of the lines, less what is prepaid.
func (p Preview) TotalMinor() int64 { return SumOf(p.Lines) - p.CreditMinor }

// Counted is emitted when the counts of a customer's meters have changed, or the meters themselves. AccessKey is the
// name under which their access is read.
type Counted struct{ CreatorID, AccessKey string }

// EventName implements event.Event.
func (Counted) EventName() string { return "usage.counted" }
