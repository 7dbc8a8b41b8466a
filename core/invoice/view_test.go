package invoice_test

import (
	"encoding/json"
	"testing"

	"sundry/core/invoice"
	"sundry/core/usage"
)

// rated is use of March: 1500 calls, of which the first 1000 cost half a cent each and all others 0.2.
func rated(t *testing.T) usage.Rated {
	t.Helper()
	half, err := usage.ParseUnitAmount("0.5")
	if err != nil {
		t.Fatal(err)
	}
	fifth, err := usage.ParseUnitAmount("0.2")
	if err != nil {
		t.Fatal(err)
	}
	return usage.Rated{
		MeterID: "mtr_1", MeterName: "Calls", EventName: "call", Aggregation: usage.Sum, PriceID: "upr_1",
		PeriodStart: now, PeriodEnd: now.AddDate(0, 1, 0), Quantity: usage.Units(1500), RatedMinor: 600, BilledMinor: 100,
		AmountMinor: 500,
		Charges: []usage.Charge{
			{Tier: usage.Tier{UpTo: usage.Units(1000), Unit: half}, Quantity: usage.Units(1000), Amount: "500"},
			{Tier: usage.Tier{Unbounded: true, Unit: fifth}, Quantity: usage.Units(500), Amount: "100"},
		},
	}
}

func TestLinesOfUseSayWhatTheyAreFor(t *testing.T) {
	t.Parallel()
	late, free, carried := rated(t), rated(t), rated(t)
	late.Late, late.Free, free.Free, carried.CarriedOver = true, true, true, true
	carried.Late = true
	lines := invoice.LinesOf([]usage.Rated{rated(t), late, free, carried})
	for i, want := range []invoice.Line{
		{Kind: invoice.Usage, Description: "Calls"},
		{Kind: invoice.LateUsage, Description: "Calls, reported late for 2026-03-01 to 2026-04-01"},
		{Kind: invoice.Usage, Description: "Calls, free trial"},
		{Kind: invoice.LateUsage, Description: "Calls, carried over from 2026-03-01 to 2026-04-01"},
	} {
		if got := lines[i]; got.Kind != want.Kind || got.Description != want.Description || got.AmountMinor != 500 ||
			got.Rated.Late != (i == 1 || i == 3) {
			t.Errorf("line %d: %+v", i, got)
		}
	}
}

func TestLinesOf_NamesWhyAPeriodWaits(t *testing.T) {
	t.Parallel()
	large, small := rated(t), rated(t)
	large.Waits, small.Waits, small.TooSmall = true, true, true
	lines := invoice.LinesOf([]usage.Rated{large, small})
	for i, want := range []string{
		"Calls, not billed: more than an invoice can charge",
		"Calls, carried over to the next invoice: less than can be charged",
	} {
		if got := lines[i].Description; got != want {
			t.Errorf("line %d is %q, want %q", i, got, want)
		}
	}
}

func TestLinesOf_ShowsWhatIsIncluded(t *testing.T) {
	t.Parallel()
	r := rated(t)
	r.Included = usage.Units(100)
	lines := invoice.LinesOf([]usage.Rated{r})
	if len(lines) != 2 || lines[0].AmountMinor != 500 || lines[1].Kind != invoice.Included || lines[1].AmountMinor != 0 ||
		lines[1].Rated.Quantity != usage.Units(100) || len(lines[1].Rated.Charges) != 0 {
		t.Errorf("got %+v, want the use and a line of the 100 included", lines)
	}
}

// TestViewOfPushedLinesAndUsageLines holds the bytes: the members of use are null in a pushed
// line.
func TestViewOfPushedLinesAndUsageLines(t *testing.T) {
	t.Parallel()
	s := invoice.State{ID: "inv_1", Currency: "eur", Lines: append(
		[]invoice.Line{{ID: "il_1", Kind: invoice.Pushed, Description: "Setup", AmountMinor: 900}},
		invoice.LinesOf([]usage.Rated{rated(t)})...,
	)}
	s.Lines[1].ID = "il_2"
	const period = `"periodStart":"2026-03-01T12:00:00.000Z","periodEnd":"2026-04-01T12:00:00.000Z"`
	for name, c := range map[string]struct {
		view any
		want string
	}{
		"the lines": {invoice.NewView(s, true).LineItems,
			`[{"id":"il_1","kind":"pushed","description":"Setup","amountInCents":900,"quantity":null,` +
				`"meterId":null,"priceId":null,"periodStart":null,"periodEnd":null},{"id":"il_2","kind":"usage",` +
				`"description":"Calls",` +
				`"amountInCents":500,"quantity":1500,"meterId":"mtr_1","priceId":"upr_1",` + period + `}]`},
		"how they came about": {invoice.Explain(s),
			`{"invoiceId":"inv_1","currency":"eur","lines":[{"id":"il_1","kind":"pushed","description":"Setup",` +
				`"amountInCents":900,"meter":null,"priceId":null,"periodStart":null,"periodEnd":null,"quantity":null,"values":null,"tiers":[],` +
				`"ratedInCents":null,"topUpInCents":null,` +
				`"billedInCents":null,"freeTrial":false},{"id":"il_2","kind":"usage","description":"Calls","amountInCents":500,` +
				`"meter":{"id":"mtr_1",` +
				`"name":"Calls","eventName":"call","aggregation":"SUM"},"priceId":"upr_1",` + period +
				`,"quantity":1500,"values":null,"tiers":[{"upTo":1000,` +
				`"unitAmountDecimal":"0.5","quantity":1000,"packageSize":null,"amountDecimal":"500"},{"upTo":null,"unitAmountDecimal":"0.2",` +
				`"quantity":500,"packageSize":null,` +
				`"amountDecimal":"100"}],"ratedInCents":600,"topUpInCents":0,"billedInCents":100,"freeTrial":false}]}`},
	} {
		got, err := json.Marshal(c.view)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, c.want)
		}
	}
}
