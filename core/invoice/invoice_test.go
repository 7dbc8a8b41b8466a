package invoice_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/core/fault"
	"sundry/core/fault/faulttest"
	"sundry/core/invoice"
	"sundry/core/metadata"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/tax"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func eur(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "eur"} }

func newInvoice(t *testing.T, amounts ...int64) (*invoice.Invoice, []invoice.Event) {
	t.Helper()
	s := invoice.State{ID: "inv_1", Currency: "eur"}
	for _, amount := range amounts {
		s.Lines = append(s.Lines, invoice.Line{Kind: invoice.Pushed, AmountMinor: amount})
	}
	inv, events, err := invoice.New(s, now)
	if err != nil {
		t.Fatal(err)
	}
	return inv, events
}

func names(events []invoice.Event) string {
	var all []string
	for _, e := range events {
		all = append(all, e.EventName()+"/"+string(e.Invoice().Status))
	}
	return strings.Join(all, " ")
}

func TestANewInvoiceIsFinalizedAndOpen(t *testing.T) {
	t.Parallel()
	inv, events := newInvoice(t, 1500, -200)
	s := inv.State()
	if s.Status != invoice.Open || s.Total != eur(1300) || s.Subtotal != eur(1300) || s.Tax != eur(0) || s.Revision != 1 {
		t.Errorf("%+v", s)
	}
	if got := names(events); got != "invoice.created/open invoice.finalized/open" {
		t.Errorf("events %s", got)
	}
}

func TestAnInvoiceOfNothingIsPaidAtOnce(t *testing.T) {
	t.Parallel()
	inv, events := newInvoice(t, 500, -500)
	if s := inv.State(); s.Status != invoice.Paid || !s.PaidAt.Equal(now) || s.AttemptCount != 0 {
		t.Errorf("%+v", s)
	}
	if got := names(events); got != "invoice.created/open invoice.finalized/open invoice.paid/paid" {
		t.Errorf("events %s", got)
	}
}

func TestTheTaxIsOnTopOnlyOfAmountsThatExcludeIt(t *testing.T) {
	t.Parallel()
	for behavior, want := range map[tax.Behavior]int64{tax.Exclusive: 1190, tax.Inclusive: 1000, "": 1000} {
		inv, _, err := invoice.New(invoice.State{
			Currency: "eur", Lines: []invoice.Line{{AmountMinor: 1000}}, Tax: eur(190),
			TaxDetails: tax.Details{Behavior: behavior},
		}, now)
		if err != nil {
			t.Fatal(err)
		}
		if s := inv.State(); s.Subtotal != eur(1000) || s.Tax != eur(190) || s.Total != eur(want) ||
			s.TaxAdded() != eur(want-1000) {
			t.Errorf("%q: %+v", behavior, s)
		}
	}
}

func TestSumsBeyondAnIntegerAreAnErrorAndNoInvoice(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]invoice.State{
		"of the lines": {Currency: "eur", Lines: []invoice.Line{{AmountMinor: math.MaxInt64}, {AmountMinor: 1}}},
		"of amount and tax": {Currency: "eur", Lines: []invoice.Line{{AmountMinor: 1}}, Tax: eur(math.MaxInt64),
			TaxDetails: tax.Details{Behavior: tax.Exclusive}},
		"of three, back again": {Currency: "eur", Lines: []invoice.Line{{AmountMinor: math.MaxInt64}, {AmountMinor: 1},
			{AmountMinor: -math.MaxInt64}}},
	} {
		if inv, events, err := invoice.New(s, now); !errors.Is(err, money.ErrOverflow) || inv != nil || events != nil {
			t.Errorf("%s: %v, %v", name, inv, err)
		}
	}
}

func TestWhoReadsAnInvoiceCannotChangeIt(t *testing.T) {
	t.Parallel()
	inv, events := newInvoice(t, 100)
	inv.State().Lines[0].AmountMinor = 1
	events[0].Invoice().Lines[0].AmountMinor = 1
	if got := inv.State().Lines[0].AmountMinor; got != 100 {
		t.Errorf("the line is %d", got)
	}
}

func TestTotalsOutOfRangeAreRefused(t *testing.T) {
	t.Parallel()
	for name, amount := range map[string]int64{"below zero": -1, "above what a card takes": 100_000_000_000} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := invoice.New(invoice.State{Currency: "eur", Lines: []invoice.Line{{AmountMinor: amount}}}, now)
			if !fault.Is(err, fault.LimitReached) {
				t.Errorf("%v", err)
			}
		})
	}
	_, _, err := invoice.New(invoice.State{
		Currency: "eur", Lines: []invoice.Line{{AmountMinor: 99_999_999_999}}, Tax: eur(27_000_000_000),
		TaxDetails: tax.Details{Behavior: tax.Exclusive},
	}, now)
	if err != nil {
		t.Errorf("with tax on top of the most: %v", err)
	}
	if inv, _ := newInvoice(t, 99_999_999_999); inv.State().Status != invoice.Open {
		t.Errorf("the most that a card takes: %+v", inv.State())
	}
}

// The table of every state and trigger.
func TestTransitions(t *testing.T) {
	t.Parallel()
	open := func(t *testing.T) *invoice.Invoice { inv, _ := newInvoice(t, 100); return inv }
	failed := func(t *testing.T) *invoice.Invoice {
		inv := open(t)
		if _, err := inv.Refused("card_declined", now, now); err != nil {
			t.Fatal(err)
		}
		return inv
	}
	paid := func(t *testing.T) *invoice.Invoice {
		inv := open(t)
		if _, _, err := inv.Charged("pay_1", now); err != nil {
			t.Fatal(err)
		}
		return inv
	}
	charge := func(id string) func(*invoice.Invoice) (bool, error) {
		return func(inv *invoice.Invoice) (bool, error) { _, changed, err := inv.Charged(id, now); return changed, err }
	}
	refuse := func(inv *invoice.Invoice) (bool, error) { _, err := inv.Refused("x", now, now); return err == nil, err }
	for name, c := range map[string]struct {
		from    func(*testing.T) *invoice.Invoice
		trigger func(*invoice.Invoice) (bool, error)
		want    invoice.Status
		changed bool
		err     bool
	}{
		"open, charged":                       {open, charge("pay_1"), invoice.Paid, true, false},
		"open, refused":                       {open, refuse, invoice.Failed, true, false},
		"failed, charged":                     {failed, charge("pay_1"), invoice.Paid, true, false},
		"failed, refused again":               {failed, refuse, invoice.Failed, true, false},
		"paid, the same charge again":         {paid, charge("pay_1"), invoice.Paid, false, false},
		"paid, another charge has to go back": {paid, charge("pay_2"), invoice.Paid, false, true},
		"paid, refused":                       {paid, refuse, invoice.Paid, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inv := c.from(t)
			before := inv.State()
			changed, err := c.trigger(inv)
			after := inv.State()
			if changed != c.changed || (err != nil) != c.err || after.Status != c.want {
				t.Errorf("changed %v, err %v, status %s", changed, err, after.Status)
			}
			if raised := after.Revision - before.Revision; raised == 1 != c.changed {
				t.Errorf("revision rose by %d", raised)
			}
		})
	}
}

func TestRetriesAfterOneThreeFiveAndSevenDays(t *testing.T) {
	t.Parallel()
	inv, _ := newInvoice(t, 100)
	at := now
	var days []int
	for {
		e, err := inv.Refused("insufficient_funds", at, at)
		if err != nil {
			t.Fatal(err)
		}
		if e.NextAttemptAt.IsZero() {
			break
		}
		at = e.NextAttemptAt
		days = append(days, int(at.Sub(now)/(24*time.Hour)))
	}
	if len(days) != 4 || days[0] != 1 || days[1] != 3 || days[2] != 5 || days[3] != 7 {
		t.Errorf("retries after %v days", days)
	}
	if s := inv.State(); s.AttemptCount != 5 || s.Status != invoice.Failed || s.DeclineCode != "insufficient_funds" {
		t.Errorf("%+v", s)
	}
}

func TestAnAmountBelowTheLeastChargeIsNotRetried(t *testing.T) {
	t.Parallel()
	inv, _ := newInvoice(t, 12)
	failed, err := inv.Refused(payment.AmountTooSmall, now, now)
	if err != nil || !failed.NextAttemptAt.IsZero() {
		t.Errorf("%v, next %s; want none", err, failed.NextAttemptAt)
	}
}

func TestAManualChargeMovesNoPlannedOne(t *testing.T) {
	t.Parallel()
	inv, _ := newInvoice(t, 100)
	_, _ = inv.Refused("x", now, now)
	for _, after := range []time.Duration{time.Hour, 25 * time.Hour} { // after the planned one, it is made up for
		e, err := inv.Refused("x", now.Add(time.Hour), now.Add(after))
		if err != nil || !e.NextAttemptAt.Equal(now.Add(24*time.Hour)) {
			t.Errorf("refused after %s: %v, next %s", after, err, e.NextAttemptAt)
		}
	}
	e, err := inv.Refused("x", now.Add(24*time.Hour), now.Add(25*time.Hour))
	if err != nil || !e.NextAttemptAt.Equal(now.Add(3*24*time.Hour)) {
		t.Errorf("%v, next %s", err, e.NextAttemptAt)
	}
}

func TestAPaymentEndsTheRetries(t *testing.T) {
	t.Parallel()
	inv, _ := newInvoice(t, 100)
	failed, err := inv.Refused("card_declined", now, now)
	if err != nil || failed.EventName() != "invoice.payment_failed" || failed.Invoice().AttemptCount != 1 {
		t.Fatalf("%+v, %v", failed, err)
	}
	paid, _, err := inv.Charged("pay_1", now.Add(time.Hour))
	if s := paid.Invoice(); err != nil || s.AttemptCount != 2 || !s.NextAttemptAt.IsZero() || s.DeclineCode != "" ||
		s.PaymentID != "pay_1" || !s.PaidAt.Equal(now.Add(time.Hour)) {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestEndRetries_CancelsThePlannedCharge(t *testing.T) {
	t.Parallel()
	inv, _ := newInvoice(t, 100)
	before := inv.State()
	if inv.EndRetries() || !reflect.DeepEqual(inv.State(), before) {
		t.Errorf("ended what was not planned: %+v", inv.State())
	}
	if _, err := inv.Refused("card_declined", now, now); err != nil {
		t.Fatal(err)
	}
	want := inv.State()
	want.NextAttemptAt = time.Time{}
	want.Revision++
	for _, first := range []bool{true, false} {
		if changed := inv.EndRetries(); changed != first || !reflect.DeepEqual(inv.State(), want) {
			t.Errorf("first %t: changed %t, %+v, want %+v", first, changed, inv.State(), want)
		}
	}
}

func TestTheMetadataOfAnInvoiceChange(t *testing.T) {
	t.Parallel()
	inv, _ := newInvoice(t, 100)
	before := inv.State()
	change := metadata.Change{Pairs: map[string]string{"ticket": "T-1"}}
	if changed, err := inv.SetMetadata(change); !changed || err != nil || inv.State().Revision != before.Revision+1 ||
		inv.State().Metadata.Map()["ticket"] != "T-1" {
		t.Errorf("%t, %v: %+v", changed, err, inv.State())
	}
	after := inv.State()
	if changed, err := inv.SetMetadata(change); changed || err != nil || !reflect.DeepEqual(inv.State(), after) {
		t.Errorf("the same again: %t, %v", changed, err)
	}
	many := metadata.Change{Pairs: map[string]string{}}
	for i := range 20 {
		many.Pairs[fmt.Sprint("key-", i)] = "v"
	}
	if changed, err := inv.SetMetadata(many); changed || !fault.Is(err, fault.ValidationFailed) ||
		!reflect.DeepEqual(inv.State(), after) {
		t.Errorf("one pair too many: %t, %v", changed, err)
	}
}

func TestADraftListsEveryFault(t *testing.T) {
	t.Parallel()
	huge, bad := int64(100_000_000_000), "31.01.2026"
	_, err := invoice.Draft{
		Currency: "EUR", PeriodStart: &bad,
		LineItems: []invoice.LineDraft{{}, {Description: "x", AmountInCents: &huge}},
	}.Parse()
	got := faulttest.Lines(t, err)
	for _, want := range []string{
		"customerId REQUIRED", "currency INVALID", "idempotencyKey REQUIRED", "periodStart INVALID",
		"lineItems[0].description REQUIRED",
		"lineItems[0].amountInCents REQUIRED", "lineItems[1].amountInCents OUT_OF_RANGE",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no %s in %v", want, got)
		}
	}
}

func TestTheKeyIsNotPartOfWhatABodySays(t *testing.T) {
	t.Parallel()
	one := int64(1)
	draft := invoice.Draft{CustomerID: "cus_1", Currency: "eur", IdempotencyKey: "k",
		LineItems: []invoice.LineDraft{{"x", &one}}}
	first, err := draft.Parse()
	if err != nil {
		t.Fatal(err)
	}
	draft.IdempotencyKey = "other"
	second, _ := draft.Parse()
	draft.Currency = "usd"
	third, _ := draft.Parse()
	if string(first.Fingerprint) != string(second.Fingerprint) || string(first.Fingerprint) == string(third.Fingerprint) {
		t.Error("the fingerprint is not that of the body without its key")
	}
}

// TestWhatADraftMaySay changes one member of a sound draft at a time.
func TestWhatADraftMaySay(t *testing.T) {
	t.Parallel()
	const most = 99_999_999_999
	amounts := func(all ...int64) func(*invoice.Draft) {
		return func(d *invoice.Draft) {
			d.LineItems = nil
			for _, amount := range all {
				d.LineItems = append(d.LineItems, invoice.LineDraft{Description: "x", AmountInCents: &amount})
			}
		}
	}
	thousandths := func(all ...int64) func(*invoice.Draft) {
		return func(d *invoice.Draft) {
			amounts(all...)(d)
			d.Currency = "kwd"
		}
	}
	described := func(n int) func(*invoice.Draft) {
		return func(d *invoice.Draft) { d.LineItems[0].Description = strings.Repeat("é", n) }
	}
	period := func(start, end string) func(*invoice.Draft) {
		return func(d *invoice.Draft) { d.PeriodStart, d.PeriodEnd = &start, &end }
	}
	pairs := func(value string) func(*invoice.Draft) {
		return func(d *invoice.Draft) { d.Metadata = &map[string]string{"order": value, "none": ""} }
	}
	behavior := func(b tax.Behavior) func(*invoice.Draft) { return func(d *invoice.Draft) { d.TaxBehavior = &b } }
	for name, c := range map[string]struct {
		change func(*invoice.Draft)
		want   []string
	}{
		"a sum in tens of thousandths":   {thousandths(1505, 5), nil},
		"a sum in thousandths":           {thousandths(1500, 5), []string{"lineItems NOT_ALLOWED"}},
		"no line":                        {amounts(), []string{"lineItems REQUIRED"}},
		"250 lines":                      {amounts(make([]int64, 250)...), nil},
		"251 lines":                      {amounts(make([]int64, 251)...), []string{"lineItems TOO_LONG"}},
		"a description of 500":           {described(500), nil},
		"a description of 501":           {described(501), []string{"lineItems[0].description TOO_LONG"}},
		"lines that come to nothing":     {amounts(5, -5), nil},
		"the most, and the most less":    {amounts(most, most, -most), nil},
		"more than the most in a line":   {amounts(most + 1), []string{"lineItems[0].amountInCents OUT_OF_RANGE"}},
		"more than the most taken off":   {amounts(most, -most-1), []string{"lineItems[1].amountInCents OUT_OF_RANGE"}},
		"more than the most in all":      {amounts(most, 1), []string{"lineItems OUT_OF_RANGE"}},
		"more taken off than asked for":  {amounts(5, -6), []string{"lineItems OUT_OF_RANGE"}},
		"dates":                          {period("2026-01-01", "2026-01-31"), nil},
		"instants":                       {period("2026-01-01T00:00:00Z", "2026-02-01T00:00:00.5+01:00"), nil},
		"a day that does not exist":      {period("2026-01-01", "2026-02-30"), []string{"periodEnd INVALID"}},
		"amounts that contain their tax": {behavior(tax.Inclusive), nil},
		"amounts without their tax":      {behavior(tax.Exclusive), nil},
		"metadata":                       {pairs("A-1"), nil},
		"too long a value":               {pairs(strings.Repeat("x", 501)), []string{"metadata.order TOO_LONG"}},
		"another tax":                    {behavior("none"), []string{"taxBehavior NOT_ALLOWED"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			draft := invoice.Draft{CustomerID: "cus_1", Currency: "eur", IdempotencyKey: "k"}
			amounts(7)(&draft)
			c.change(&draft)
			s, err := draft.Parse()
			if got := faulttest.Lines(t, err); !slices.Equal(got, c.want) {
				t.Fatalf("%v, want %v", got, c.want)
			}
			if err != nil {
				return
			}
			for i, line := range s.Lines {
				if want := (invoice.Line{Kind: invoice.Pushed, Description: draft.LineItems[i].Description,
					AmountMinor: *draft.LineItems[i].AmountInCents}); line != want {
					t.Errorf("line %d is %+v, want %+v", i, line, want)
				}
			}
			if draft.PeriodStart != nil && (s.PeriodStart != *draft.PeriodStart || s.PeriodEnd != *draft.PeriodEnd) {
				t.Errorf("the period became %s to %s", s.PeriodStart, s.PeriodEnd)
			}
			if got := s.Metadata.Map(); draft.Metadata != nil && !maps.Equal(got, map[string]string{"order": "A-1"}) {
				t.Errorf("the metadata is %v", got)
			}
			want := tax.Inclusive
			if draft.TaxBehavior != nil {
				want = *draft.TaxBehavior
			}
			if s.TaxDetails.Behavior != want {
				t.Errorf("the tax is %s, want %s", s.TaxDetails.Behavior, want)
			}
		})
	}
}
