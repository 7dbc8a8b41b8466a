package invoice_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
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

// TestLinesOf_ShowsIncludedAndMinimum writes each line as "kind: description, quantity, amount (rated, billed, topUp)".
func TestLinesOf_ShowsIncludedAndMinimum(t *testing.T) {
	t.Parallel()
	first := func(topUp int64) func(*usage.Rated) {
		return func(r *usage.Rated) {
			r.BilledMinor, r.TopUpMinor, r.RatedMinor, r.AmountMinor = 0, topUp, 600+topUp, 600+topUp
		}
	}
	with := func(changes ...func(*usage.Rated)) func(*usage.Rated) {
		return func(r *usage.Rated) {
			for _, change := range changes {
				change(r)
			}
		}
	}
	included := func(r *usage.Rated) { r.Included = usage.Units(100) }
	rest := func(r *usage.Rated) { r.Rest = true }
	unused := func(r *usage.Rated) {
		r.Quantity, r.Charges = usage.Quantity{}, []usage.Charge{}
		r.RatedMinor, r.AmountMinor = r.TopUpMinor, r.TopUpMinor
	}
	late := func(r *usage.Rated) { r.Late, r.CarriedOver = true, true }
	large := func(r *usage.Rated) { r.Values = map[string]string{"model": "large"} }
	for name, c := range map[string]struct {
		change func(*usage.Rated)
		want   []string
	}{
		"a part is included": {with(first(0), included), []string{
			"usage: Calls, 1500, 600 (600, 0, 0), included 100",
			"included: Calls, included in the plan, 100, 0 (0, 0, 0)",
		}},
		"a part was, billed before": {with(included, func(r *usage.Rated) { r.Late = true }), []string{
			"late_usage: Calls, reported late for 2026-03-01 to 2026-04-01, 1500, 500 (600, 100, 0), included 100, late",
			"included: Calls, included in the plan, 100, 0 (0, 0, 0)",
		}},
		"what waits includes nothing yet": {with(included, func(r *usage.Rated) { r.Waits = true }), []string{
			"usage: Calls, not billed: more than an invoice can charge, 1500, 500 (600, 100, 0), included 100",
		}},
		"less than the minimum": {first(400), []string{
			"usage: Calls, 1500, 600 (600, 0, 0)",
			"minimum: Calls, up to the minimum of the period, 0, 400 (400, 0, 400)",
		}},
		"a cent less, a part included": {with(first(1), included), []string{
			"usage: Calls, 1500, 600 (600, 0, 0), included 100",
			"included: Calls, included in the plan, 100, 0 (0, 0, 0)",
			"minimum: Calls, up to the minimum of the period, 0, 1 (1, 0, 1)",
		}},
		"billed before: the difference": {with(first(400), func(r *usage.Rated) { r.BilledMinor, r.AmountMinor = 1, 999 }),
			[]string{"usage: Calls, 1500, 999 (1000, 1, 400)"}},
		"carried over": {with(first(400), late), []string{
			"late_usage: Calls, carried over from 2026-03-01 to 2026-04-01, 1500, 600 (600, 0, 0), late",
			"minimum: Calls, up to the minimum of the period, 0, 400 (400, 0, 400)",
		}},
		"the use of a rate": {with(first(0), large), []string{
			"usage: Calls (model large), 1500, 600 (600, 0, 0), map[model:large]",
		}},
		"a rate, less than the minimum": {with(first(400), large), []string{
			"usage: Calls (model large), 1500, 600 (600, 0, 0), map[model:large]",
			"minimum: Calls, up to the minimum of the period, 0, 400 (400, 0, 400)",
		}},
		"the rest, less than the minimum": {with(first(400), rest), []string{
			"usage: Calls (all other), 1500, 600 (600, 0, 0), rest",
			"minimum: Calls, up to the minimum of the period, 0, 400 (400, 0, 400)",
		}},
		"no rest, a cent less": {with(first(1), rest, unused), []string{
			"minimum: Calls, up to the minimum of the period, 0, 1 (1, 0, 1)",
		}},
		"no rest, not less": {with(first(0), rest, unused), []string{"usage: Calls (all other), 0, 0 (0, 0, 0), rest"}},
		"no use, less than the minimum": {with(first(400), unused), []string{
			"usage: Calls, 0, 0 (0, 0, 0)",
			"minimum: Calls, up to the minimum of the period, 0, 400 (400, 0, 400)",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rated(t)
			c.change(&r)
			charges := len(r.Charges)
			var got []string
			for _, l := range invoice.LinesOf([]usage.Rated{r}) {
				got = append(got, written(l))
				if l.Kind == invoice.Included || l.Kind == invoice.Minimum {
					charges = 0
				}
				if len(l.Rated.Charges) != charges {
					t.Errorf("%s has %d charges, want %d", l.Description, len(l.Rated.Charges), charges)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

func written(l invoice.Line) string {
	r := l.Rated
	text := fmt.Sprintf("%s: %s, %s, %d (%d, %d, %d)", l.Kind, l.Description, r.Quantity, l.AmountMinor, r.RatedMinor,
		r.BilledMinor, r.TopUpMinor)
	if r.AmountMinor != l.AmountMinor {
		text += fmt.Sprintf(", explained as %d", r.AmountMinor)
	}
	if !r.Included.IsZero() {
		text += ", included " + r.Included.String()
	}
	if r.Late {
		text += ", late"
	}
	if r.Values != nil {
		text += fmt.Sprintf(", %v", r.Values)
	}
	if r.Rest {
		text += ", rest"
	}
	return text
}

func TestPrepaidLinesTakeOffWhatCreditsPay(t *testing.T) {
	t.Parallel()
	got := invoice.PrepaidLines([]usage.CreditUse{{CreditID: "ucr_1", Minor: 250}, {CreditID: "ucr_2", Minor: 1}})
	want := []invoice.Line{
		{Kind: invoice.Prepaid, Description: "Prepaid usage credit", AmountMinor: -250},
		{Kind: invoice.Prepaid, Description: "Prepaid usage credit", AmountMinor: -1},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestOnlyLinesOfUseHaveAQuantity(t *testing.T) {
	t.Parallel()
	r := rated(t)
	for want, l := range map[string]invoice.Line{
		"1500": {Kind: invoice.Usage, Rated: &r}, "": {Kind: invoice.Minimum, Rated: &r},
	} {
		if got := l.Quantity(); got != want {
			t.Errorf("%s: %q, want %q", l.Kind, got, want)
		}
	}
	if got := (invoice.Line{Kind: invoice.Pushed}).Quantity(); got != "" {
		t.Errorf("a pushed line: %q", got)
	}
}

func TestExplanation_NamesRateAndPackages(t *testing.T) {
	t.Parallel()
	r := rated(t)
	r.Values = map[string]string{"model": "large"}
	r.Charges[1].PackageSize = 1
	got := invoice.NewLineExplanation(invoice.Line{Rated: &r})
	if got.Values["model"] != "large" || got.Tiers[0].PackageSize != nil || *got.Tiers[1].PackageSize != 1 {
		t.Errorf("got %+v", got)
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
