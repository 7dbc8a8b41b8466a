package payment_test

import (
	"math"
	"strings"
	"testing"

	"sundry/core/dispute"
	"sundry/core/fault"
	"sundry/core/locale"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/tax"
)

func eur(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "eur"} }

func TestOnlyACheckoutHasASession(t *testing.T) {
	t.Parallel()
	for purpose, want := range map[payment.Purpose]string{payment.ForCheckout: "x", payment.ForSubscription: "",
		payment.ForInvoice: ""} {
		if got := (payment.Subject{Purpose: purpose, SubjectID: "x"}).CheckoutID(); got != want {
			t.Errorf("%s: %q", purpose, got)
		}
	}
}

func TestTheTotalOfASale(t *testing.T) {
	t.Parallel()
	sale := payment.Sale{Subtotal: eur(1000), Discount: eur(100), Tax: eur(190), TaxAdded: eur(190), Credit: eur(50)}
	if total, err := sale.Total(); err != nil || total != eur(1040) {
		t.Errorf("%+v, %v", total, err)
	}
	for name, broken := range map[string]func(*payment.Sale){
		"another currency of the discount": func(s *payment.Sale) { s.Discount.Currency = "usd" },
		"another currency of the credit":   func(s *payment.Sale) { s.Credit.Currency = "usd" },
		"another currency of the tax":      func(s *payment.Sale) { s.TaxAdded.Currency = "usd" },
		"more than fits":                   func(s *payment.Sale) { s.TaxAdded.Minor = math.MaxInt64 },
	} {
		s := sale
		broken(&s)
		if total, err := s.Total(); err == nil {
			t.Errorf("%s: %+v", name, total)
		}
	}
	if total, err := (payment.Sale{Subtotal: eur(1000),
		Discount: money.Amount{Minor: 100, Currency: "usd"}}).Total(); err == nil {
		t.Errorf("another currency before amounts without one: %+v", total)
	}
}

// TestASaleThatDoesNotAddUpIsRefused breaks a sound sale, with tax on top and with tax inside, in each of its sums.
func TestASaleThatDoesNotAddUpIsRefused(t *testing.T) {
	t.Parallel()
	onTop := payment.Sale{
		Subtotal: eur(1000), Discount: eur(100), Tax: eur(190), TaxAdded: eur(190), Credit: eur(50),
		TaxDetails: tax.Details{Behavior: tax.Exclusive}, Lines: []payment.Line{{Amount: eur(1100)}, {Amount: eur(-100)}},
	}
	inside := onTop
	inside.TaxAdded, inside.TaxDetails = eur(0), tax.Details{Behavior: tax.Inclusive}
	allTax := payment.Sale{Subtotal: eur(100), Discount: eur(0), Tax: eur(100), TaxAdded: eur(0), Credit: eur(0)}
	for name, c := range map[string]struct {
		of     payment.Sale
		amount int64
		change func(*payment.Sale)
		want   string // "" for a sound sale
	}{
		"tax on top":                  {onTop, 1040, func(*payment.Sale) {}, ""},
		"tax inside":                  {inside, 850, func(*payment.Sale) {}, ""},
		"no tax":                      {inside, 850, func(s *payment.Sale) { s.Tax = eur(0) }, ""},
		"no lines":                    {inside, 850, func(s *payment.Sale) { s.Lines = nil }, ""},
		"all of it tax":               {allTax, 100, func(*payment.Sale) {}, ""},
		"another amount":              {onTop, 1041, func(*payment.Sale) {}, "the sale sums to 1040, not 1041"},
		"another currency":            {onTop, 1040, func(s *payment.Sale) { s.Credit.Currency = "usd" }, "usd"},
		"tax inside that is added":    {onTop, 1040, func(s *payment.Sale) { s.TaxDetails.Behavior = tax.Inclusive }, "tax is added"},
		"tax on top that is not":      {inside, 850, func(s *payment.Sale) { s.TaxDetails.Behavior = tax.Exclusive }, "tax is added"},
		"tax below zero":              {inside, 850, func(s *payment.Sale) { s.Tax = eur(-1) }, "tax is added"},
		"more tax than is charged":    {inside, 850, func(s *payment.Sale) { s.Tax = eur(851) }, "tax is added"},
		"lines that sum to more":      {inside, 850, func(s *payment.Sale) { s.Lines = s.Lines[:1] }, "sum to 1100, not 1000"},
		"one line that sums to less":  {inside, 850, func(s *payment.Sale) { s.Lines = s.Lines[1:] }, "sum to -100, not 1000"},
		"a line of nothing by itself": {inside, 850, func(s *payment.Sale) { s.Lines = []payment.Line{{}} }, "sum to 0, not 1000"},
	} {
		s := c.of
		c.change(&s)
		if err := s.Check(eur(c.amount)); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestTheItemOfASaleIsItsFirstThatCosts(t *testing.T) {
	t.Parallel()
	sale := payment.Sale{Lines: []payment.Line{
		{Description: "unused time", Amount: eur(-300)}, {Description: "free", Amount: eur(0)},
		{Description: "a cent", Amount: eur(1)}, {Description: "the next plan", Amount: eur(900)},
	}}
	if got := sale.Item().Description; got != "a cent" {
		t.Error(got)
	}
	if got := (payment.Sale{Lines: sale.Lines[:2]}).Item(); got != (payment.Line{}) {
		t.Errorf("of nothing: %+v", got)
	}
}

func TestALineOfAChangeIsInTheReadersLanguage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		line     payment.Line
		language string
		want     string
	}{
		"as the seller named it": {payment.Line{Description: "Field guide"}, "de", "Field guide"},
		"a whole period":         {payment.Line{Description: "Pro", Share: payment.PlanShare{Plan: "Pro+"}}, "en", "Pro+"},
		"some days":              {payment.Line{Share: payment.PlanShare{Plan: "Pro", Left: 3, Days: 30}}, "en", "Pro (3 of 30 days)"},
		"the only day":           {payment.Line{Share: payment.PlanShare{Plan: "Pro", Left: 1, Days: 1}}, "en", "Pro (1 of 1 days)"},
		"unused days": {
			payment.Line{Share: payment.PlanShare{Plan: "Pro", Unused: true, Left: 3, Days: 30}}, "de",
			"Nicht genutzte Zeit: Pro (3 von 30 Tagen)",
		},
	} {
		if got := c.line.Text(locale.Parse(c.language)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestTheStandingOfAPayment(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status   payment.Status
		refunded int64
		latest   dispute.Status
		want     payment.Standing
	}{
		"paid":                           {payment.Succeeded, 0, "", payment.StandingPaid},
		"a cent went back":               {payment.Succeeded, 1, "", payment.StandingPartlyRefunded},
		"all but a cent":                 {payment.Succeeded, 99, "", payment.StandingPartlyRefunded},
		"all of it":                      {payment.Succeeded, 100, "", payment.StandingRefunded},
		"disputed":                       {payment.Succeeded, 0, dispute.NeedsResponse, payment.StandingDisputed},
		"under review":                   {payment.Succeeded, 100, dispute.UnderReview, payment.StandingDisputed},
		"lost":                           {payment.Succeeded, 100, dispute.Lost, payment.StandingDisputeLost},
		"won":                            {payment.Succeeded, 0, dispute.Won, payment.StandingPaid},
		"won, and a part of it refunded": {payment.Succeeded, 1, dispute.Won, payment.StandingPartlyRefunded},
		"declined":                       {payment.Declined, 0, dispute.Lost, "declined"},
		"pending":                        {payment.Pending, 0, "", "pending"},
	} {
		s := payment.State{Status: c.status, Amount: eur(100), Refunded: eur(c.refunded)}
		if got := payment.StandingOf(s, c.latest); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	if got := payment.StandingOf(payment.State{Status: payment.Succeeded}, ""); got != payment.StandingPaid {
		t.Errorf("a payment of nothing: %s", got)
	}
	cent := payment.State{Status: payment.Succeeded, Amount: eur(1), Refunded: eur(1)}
	if got := payment.StandingOf(cent, ""); got != payment.StandingRefunded {
		t.Errorf("a cent that went back: %s", got)
	}
}

func TestDeclines(t *testing.T) {
	t.Parallel()
	for code, want := range map[payment.DeclineCode][2]bool{
		payment.InsufficientFunds: {true, false}, payment.LostCard: {true, true}, payment.MethodRequired: {true, true},
		payment.ProcessorUnavailable: {true, false}, "do_not_honor": {false, false},
	} {
		if got := [2]bool{code.Known(), code.Final()}; got != want {
			t.Errorf("%s: known and final %v, want %v", code, got, want)
		}
	}
	reason := payment.NewDecline(payment.ExpiredCard)
	refusal, ok := reason.Refusal().(*fault.Error) //nolint:errorlint // it is not wrapped
	if !ok || refusal.Code != fault.CardDeclined || refusal.DeclineCode != "expired_card" || refusal.Message != reason.Message ||
		reason.Message == "" {
		t.Errorf("%+v", reason.Refusal())
	}
}
