package ledger_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sundry/core/fault"
	"sundry/core/ledger"
	"sundry/core/money"
)

var start = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// german is a sale of 119.00 with 19.00 tax and a fee of 5.95.
func german(t interface{ Fatal(...any) }) (*ledger.Sale, []ledger.Posting) {
	sale, postings, err := ledger.NewSale(ledger.Receipt{
		PaymentID: "pay_1", CreatorID: "crt_1", Total: eur(11900), Tax: eur(1900), PlatformFee: eur(595),
		ProcessorFee: eur(204),
	}, start)
	if err != nil {
		t.Fatal(err)
	}
	return sale, postings
}

func legs(t *testing.T, p ledger.Posting, want ...ledger.Leg) {
	t.Helper()
	if err := p.Check(); err != nil {
		t.Error(err)
	}
	if !slices.Equal(p.Legs, want) {
		t.Errorf("%s: got %+v, want %+v", p.Kind, p.Legs, want)
	}
}

func TestASaleIsPostedLineByLine(t *testing.T) {
	t.Parallel()
	_, postings := german(t)
	legs(t, postings[0], ledger.Leg{Account: "processor_clearing", Amount: eur(11900)},
		ledger.Leg{Account: "tax_payable", Amount: eur(-1900)},
		ledger.Leg{Account: "platform_fee", Amount: eur(-595)}, ledger.Leg{Account: "creator_pending", Amount: eur(-9405)})
	legs(t, postings[1], ledger.Leg{Account: "processor_fee", Amount: eur(204)}, ledger.Leg{Account: "processor_clearing",
		Amount: eur(-204)})
}

func TestASaleHoldsWhatItIsMadeOf(t *testing.T) {
	t.Parallel()
	sale, _ := german(t)
	none := ledger.Share{Amount: eur(0), Tax: eur(0)}
	want := ledger.SaleState{
		PaymentID: "pay_1", CreatorID: "crt_1", Total: eur(11900), Tax: eur(1900), PlatformFee: eur(595),
		ProcessorFee: eur(204), Pending: eur(9405), Returned: eur(0), ReturnedTax: eur(0), Refunded: eur(0), Lost: eur(0),
		Disputed: none, AvailableAt: start.Add(7 * 24 * time.Hour), CreatedAt: start, Revision: 1,
	}
	if got := sale.State(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	sale = ledger.RestoreSale(want)
	if _, _, err := sale.OpenDispute("dsp_1", eur(5000)); err != nil {
		t.Fatal(err)
	}
	if _, err := sale.WinDispute(); err != nil || sale.State().Disputed != none {
		t.Errorf("after a dispute that was won %+v is disputed, %v", sale.State().Disputed, err)
	}
}

func TestASaleIsPendingForAWeek(t *testing.T) {
	t.Parallel()
	sale, _ := german(t)
	if got := sale.State().AvailableAt.Format(time.RFC3339); got != "2026-11-29T12:00:00Z" {
		t.Errorf("available at %s", got)
	}
}

func TestAFreeSaleMovesNothing(t *testing.T) {
	t.Parallel()
	sale, postings, err := ledger.NewSale(ledger.Receipt{PaymentID: "pay_1", Total: eur(0), Tax: eur(0),
		PlatformFee: eur(0), ProcessorFee: eur(0)}, start)
	if err != nil || len(postings) != 2 || !postings[0].Empty() || !postings[1].Empty() {
		t.Fatalf("%+v, %v", postings, err)
	}
	if held, posting, err := sale.OpenDispute("dsp_1", eur(100)); err != nil || held.Amount != eur(0) ||
		held.Tax != eur(0) || !posting.Empty() {
		t.Errorf("a dispute holds %+v by %+v, %v", held, posting, err)
	}
}

func TestTaxOfPartialRefundsIsCumulative(t *testing.T) {
	t.Parallel()
	sale, _ := german(t)
	for _, c := range []struct{ amount, tax int64 }{{1, 0}, {5000, 798}, {4000, 639}, {2899, 463}} {
		if share, err := sale.ReserveRefund(eur(c.amount)); err != nil || share.Tax != eur(c.tax) {
			t.Errorf("a refund of %d has the tax %+v, want %d, %v", c.amount, share.Tax, c.tax, err)
		}
	}
}

// Stores save a sale only if its revision is still the one that they read.
func TestEveryChangeOfASaleIsItsNextRevision(t *testing.T) {
	t.Parallel()
	sale, _ := german(t)
	var share ledger.Share
	reserve := func() (err error) { share, err = sale.ReserveRefund(eur(1000)); return err }
	dispute := func() error { _, _, err := sale.OpenDispute("dsp_1", eur(500)); return err }
	revision := sale.State().Revision
	if revision != 1 {
		t.Errorf("a new sale has revision %d", revision)
	}
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"a refund is reserved", reserve},
		{"it is abandoned", func() error { sale.AbandonRefund(share); return nil }},
		{"another is reserved", reserve},
		{"it is completed", func() error { sale.CompleteRefund("ref_1", share); return nil }},
		{"it comes back", func() error { sale.ReverseRefund("ref_1", share); return nil }},
		{"a dispute is opened", dispute},
		{"it is won", func() error { _, err := sale.WinDispute(); return err }},
		{"another is opened", dispute},
		{"it is lost", func() error { _, _, err := sale.LoseDispute(eur(0)); return err }},
		{"the rest is released", func() error { _, err := sale.Release(start.Add(ledger.HoldPeriod)); return err }},
	} {
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if revision++; sale.State().Revision != revision {
			t.Fatalf("%s: revision %d, want %d", step.name, sale.State().Revision, revision)
		}
	}
	reversed, _ := german(t)
	all := ledger.Share{Amount: eur(11900), Tax: eur(1900)}
	if _, err := reversed.Reverse(all); err != nil || reversed.State().Revision != 2 {
		t.Errorf("reversed: revision %d, %v", reversed.State().Revision, err)
	}
}

func TestARefundTakesFromPendingUntilTheSaleIsReleased(t *testing.T) {
	t.Parallel()
	sale, _ := german(t)
	first, err := sale.ReserveRefund(eur(5000))
	if err != nil || first.Tax != eur(798) {
		t.Fatalf("%+v, %v", first, err)
	}
	legs(t, sale.CompleteRefund("ref_1", first), ledger.Leg{Account: "tax_payable", Amount: eur(798)},
		ledger.Leg{Account: "creator_pending", Amount: eur(4202)}, ledger.Leg{Account: "processor_clearing",
			Amount: eur(-5000)})
	release, err := sale.Release(start.Add(ledger.HoldPeriod))
	if err != nil {
		t.Fatal(err)
	}
	legs(t, release, ledger.Leg{Account: "creator_pending", Amount: eur(5203)}, ledger.Leg{Account: "creator_available",
		Amount: eur(-5203)})
	second, err := sale.ReserveRefund(eur(6900))
	if err != nil || second.Tax != eur(1102) {
		t.Fatalf("%+v, %v", second, err)
	}
	legs(t, sale.CompleteRefund("ref_2", second), ledger.Leg{Account: "tax_payable", Amount: eur(1102)},
		ledger.Leg{Account: "creator_available", Amount: eur(5798)}, ledger.Leg{Account: "processor_clearing",
			Amount: eur(-6900)})
	if s := sale.State(); s.Refunded != eur(11900) || s.ReturnedTax != eur(1900) || s.Refundable().Minor != 0 {
		t.Errorf("%+v", s)
	}
}

func TestALostDisputeTakesWhatItHeld(t *testing.T) {
	t.Parallel()
	sale, _ := german(t)
	_, opened, err := sale.OpenDispute("dsp_1", eur(11900))
	if err != nil {
		t.Fatal(err)
	}
	legs(t, opened, ledger.Leg{Account: "disputed_funds", Amount: eur(11900)}, ledger.Leg{Account: "processor_clearing",
		Amount: eur(-11900)},
		ledger.Leg{Account: "creator_pending", Amount: eur(10000)},
		ledger.Leg{Account: "creator_reserved", Amount: eur(-10000)})
	_, lost, err := sale.LoseDispute(eur(11900))
	if err != nil {
		t.Fatal(err)
	}
	legs(t, lost, ledger.Leg{Account: "creator_reserved", Amount: eur(10000)},
		ledger.Leg{Account: "tax_payable", Amount: eur(1900)},
		ledger.Leg{Account: "disputed_funds", Amount: eur(-11900)})
	if s := sale.State(); s.Lost != eur(11900) || s.DisputeID != "" || s.Refundable().Minor != 0 {
		t.Errorf("%+v", s)
	}
}

func TestAWonDisputeReturnsToWhereTheSaleIs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		released bool
		account  ledger.Account
	}{"pending": {false, ledger.CreatorPending}, "available": {true, ledger.CreatorAvailable}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sale, _ := german(t)
			before := sale.State()
			if _, _, err := sale.OpenDispute("dsp_1", eur(11900)); err != nil {
				t.Fatal(err)
			}
			if c.released {
				if _, err := sale.Release(start.Add(ledger.HoldPeriod)); err != nil {
					t.Fatal(err)
				}
			}
			won, err := sale.WinDispute()
			if err != nil || won.Legs[3] != (ledger.Leg{Account: c.account, Amount: eur(-10000)}) {
				t.Errorf("%+v, %v", won, err)
			}
			if s := sale.State(); s.Refundable() != before.Total || (!c.released && s.Pending != before.Pending) {
				t.Errorf("%+v", s)
			}
		})
	}
}

func TestAReversedSaleLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	sale, _ := german(t)
	all := ledger.Share{Amount: eur(11900), Tax: eur(1900)}
	reversal, err := sale.Reverse(all)
	if err != nil {
		t.Fatal(err)
	}
	legs(t, reversal, ledger.Leg{Account: "tax_payable", Amount: eur(1900)},
		ledger.Leg{Account: "platform_fee", Amount: eur(595)},
		ledger.Leg{Account: "creator_pending", Amount: eur(9405)}, ledger.Leg{Account: "processor_clearing",
			Amount: eur(-11900)})
	before := sale.State()
	if again, err := sale.Reverse(all); err != nil || !again.Empty() || sale.State() != before ||
		before.Pending.Minor != 0 || before.Refunded != eur(11900) {
		t.Errorf("%+v, %v: %+v", again, err, before)
	}
}

func TestASaleIsReversedByWhatALostDisputeLeft(t *testing.T) {
	t.Parallel()
	sale, _ := german(t)
	if _, _, err := sale.OpenDispute("dsp_1", eur(4000)); err != nil {
		t.Fatal(err)
	}
	lost, _, err := sale.LoseDispute(eur(4000))
	if err != nil {
		t.Fatal(err)
	}
	left := ledger.Share{Amount: eur(7900), Tax: eur(1900 - lost.Tax.Minor)}
	reversal, err := sale.Reverse(left)
	if err != nil {
		t.Fatal(err)
	}
	legs(t, reversal, ledger.Leg{Account: "tax_payable", Amount: left.Tax},
		ledger.Leg{Account: "platform_fee", Amount: eur(595)},
		ledger.Leg{Account: "creator_pending", Amount: eur(7900 - left.Tax.Minor - 595)},
		ledger.Leg{Account: "processor_clearing", Amount: eur(-7900)})
	if s := sale.State(); s.Refunded != left.Amount || s.Lost != lost.Amount || s.Pending.Minor != 0 ||
		s.ReturnedTax != s.Tax {
		t.Errorf("%+v", s)
	}
}

// The buyer gets the money in another way, for which the creator keeps the platform's fee.
func TestAReversalThatCameBackIsTheCreators(t *testing.T) {
	t.Parallel()
	sale, _ := german(t)
	before := sale.State()
	all := ledger.Share{Amount: eur(11900), Tax: eur(1900)}
	if _, err := sale.Reverse(all); err != nil {
		t.Fatal(err)
	}
	back := sale.ReturnReversal(all)
	legs(t, back, ledger.Leg{Account: "processor_clearing", Amount: eur(11900)},
		ledger.Leg{Account: "tax_payable", Amount: eur(-1900)}, ledger.Leg{Account: "creator_pending", Amount: eur(-10000)})
	if back.SourceType != "payment" || back.SourceID != "pay_1" || back.Kind != "refund_failed" {
		t.Errorf("posted as %s of the %s %s", back.Kind, back.SourceType, back.SourceID)
	}
	before.Pending.Minor += before.PlatformFee.Minor
	before.Revision = sale.State().Revision
	if got := sale.State(); got != before {
		t.Errorf("%+v, want %+v", got, before)
	}
}

func TestReturnedInFull_CountsRefundsAndLostDisputes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		refunded, lost int64
		want           bool
	}{
		"nothing": {0, 0, false}, "a part": {11899, 0, false}, "refunds": {11900, 0, true},
		"lost disputes": {0, 11900, true}, "both": {4000, 7900, true}, "both in part": {4000, 7899, false},
	} {
		s := ledger.SaleState{Total: eur(11900), Returned: eur(11900), Refunded: eur(c.refunded), Lost: eur(c.lost)}
		if got := s.ReturnedInFull(); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Somebody returned a part of the money at the processor before all of it was to go back.
func TestASaleIsReversedByWhatRefundsLeft(t *testing.T) {
	t.Parallel()
	sale, _ := german(t)
	made, err := sale.ReserveRefund(eur(4000))
	if err != nil {
		t.Fatal(err)
	}
	left := ledger.Share{Amount: eur(7900), Tax: eur(1900 - made.Tax.Minor)}
	before := sale.State()
	if _, err := sale.Reverse(left); err == nil || sale.State() != before {
		t.Error("a sale was reversed while a refund is under way")
	}
	sale.CompleteRefund("ref_1", made)
	before = sale.State()
	for _, wrong := range []ledger.Share{
		{Amount: eur(11900), Tax: eur(1900)}, {Amount: eur(7900), Tax: eur(1900)}, {Amount: eur(7899), Tax: left.Tax},
	} {
		if _, err := sale.Reverse(wrong); err == nil || sale.State() != before {
			t.Errorf("reversed by %+v", wrong)
		}
	}
	reversal, err := sale.Reverse(left)
	if err != nil {
		t.Fatal(err)
	}
	legs(t, reversal, ledger.Leg{Account: "tax_payable", Amount: left.Tax},
		ledger.Leg{Account: "platform_fee", Amount: eur(595)},
		ledger.Leg{Account: "creator_pending", Amount: eur(7900 - left.Tax.Minor - 595)},
		ledger.Leg{Account: "processor_clearing", Amount: eur(-7900)})
	if s := sale.State(); s.Refunded != s.Total || s.ReturnedTax != s.Tax || s.Pending.Minor != 0 {
		t.Errorf("%+v", s)
	}
}

func TestARefundAndADisputeNeverTakeTheSameMoney(t *testing.T) {
	t.Parallel()
	sale, _ := german(t)
	share, err := sale.ReserveRefund(eur(4000)) // under way
	if err != nil {
		t.Fatal(err)
	}
	held, _, err := sale.OpenDispute("dsp_1", eur(11900))
	if err != nil || held.Amount != eur(7900) || held.Tax.Minor+share.Tax.Minor != 1900 {
		t.Fatalf("held %+v beside %+v, %v", held, share, err)
	}
	before := sale.State()
	if _, err := sale.ReserveRefund(eur(1)); !fault.Is(err, fault.NotRefundable) {
		t.Errorf("a refund while disputed: %v", err)
	}
	if _, _, err := sale.OpenDispute("dsp_2", eur(1)); !fault.Is(err, fault.StateConflict) {
		t.Errorf("a second dispute: %v", err)
	}
	if sale.State() != before {
		t.Error("a refused transition changed the sale")
	}
}

// The processor reports a dispute of what a refund there has left, and then that refund.
func TestRecordRefund_WhileDisputed(t *testing.T) {
	t.Parallel()
	sale, _ := german(t)
	if _, _, err := sale.OpenDispute("dsp_1", eur(7900)); err != nil {
		t.Fatal(err)
	}
	if _, err := sale.RecordRefund(eur(4001)); !fault.Is(err, fault.NotRefundable) {
		t.Errorf("more than the dispute has left: %v", err)
	}
	made, err := sale.RecordRefund(eur(4000))
	if err != nil {
		t.Fatal(err)
	}
	sale.CompleteRefund("ref_1", made)
	lost, _, err := sale.LoseDispute(eur(7900))
	if s := sale.State(); err != nil || lost.Amount != eur(7900) || !s.ReturnedInFull() || s.ReturnedTax != s.Tax {
		t.Errorf("%+v of %+v, %v", lost, s, err)
	}
}

// The bank takes back all that it claims: also what a refund was under way with, if that did not reach the buyer.
func TestALostDisputeTakesAllOfItsClaim(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		claimed money.Amount
		fails   func(*ledger.Sale, ledger.Share)
		lost    int64
	}{
		"the refund reaches the buyer":  {eur(11900), func(*ledger.Sale, ledger.Share) {}, 7900},
		"it fails":                      {eur(11900), (*ledger.Sale).AbandonRefund, 11900},
		"it fails, and a part is taken": {eur(9000), (*ledger.Sale).AbandonRefund, 9000},
		"it fails, and less is taken":   {eur(5000), (*ledger.Sale).AbandonRefund, 5000},
		"it comes back": {eur(11900), func(s *ledger.Sale, share ledger.Share) {
			s.CompleteRefund("ref_1", share)
			s.ReverseRefund("ref_1", share)
		}, 11900},
		"it fails, in another currency: what was held": {
			money.Amount{Minor: 13000, Currency: "usd"}, (*ledger.Sale).AbandonRefund, 7900,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sale, _ := german(t)
			share, err := sale.ReserveRefund(eur(4000))
			if err != nil {
				t.Fatal(err)
			}
			held, _, err := sale.OpenDispute("dsp_1", c.claimed)
			if err != nil {
				t.Fatal(err)
			}
			c.fails(sale, share)
			lost, posting, err := sale.LoseDispute(c.claimed)
			if err != nil || lost.Amount != eur(c.lost) || sale.State().Lost != eur(c.lost) {
				t.Fatalf("lost %+v of %+v, %v", lost, sale.State(), err)
			}
			sums := map[ledger.Account]int64{}
			for _, leg := range posting.Legs {
				sums[leg.Account] += leg.Amount.Minor
			}
			if sums[ledger.CreatorReserved]+sums[ledger.CreatorPending] != lost.Amount.Minor-lost.Tax.Minor ||
				sums[ledger.TaxPayable] != lost.Tax.Minor || sums[ledger.DisputedFunds] != -held.Amount.Minor ||
				sums[ledger.ProcessorClearing] != held.Amount.Minor-lost.Amount.Minor {
				t.Errorf("posted %v", sums)
			}
			if c.lost == 11900 && sale.State().ReturnedTax != eur(1900) {
				t.Errorf("%+v of the tax went back", sale.State().ReturnedTax)
			}
		})
	}
}

func TestADisputeHoldsItsClaimAtMostWhatIsLeft(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		claimed money.Amount
		held    int64
	}{
		"a part":                       {eur(5000), 5000},
		"all of it":                    {eur(11900), 11900},
		"more, as banks round":         {eur(11901), 11900},
		"another currency: all of it":  {money.Amount{Minor: 130, Currency: "usd"}, 11900},
		"nothing":                      {eur(0), 0},
		"less than nothing, a mistake": {eur(-1), -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sale, _ := german(t)
			before := sale.State()
			held, posting, err := sale.OpenDispute("dsp_1", c.claimed)
			if c.held < 0 {
				if err == nil || !posting.Empty() || sale.State() != before {
					t.Errorf("taken: %+v, %+v", held, posting)
				}
				return
			}
			if err != nil || held.Amount != eur(c.held) || sale.State().Disputed != held ||
				sale.State().Refundable() != eur(11900-c.held) {
				t.Errorf("held %+v, %v: %+v", held, err, sale.State())
			}
		})
	}
}

func TestASaleRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do   func(*ledger.Sale) error
		code fault.Code
	}{
		"more than was paid": {func(s *ledger.Sale) error {
			_, err := s.ReserveRefund(eur(11901))
			return err
		}, fault.NotRefundable},
		"nothing":           {func(s *ledger.Sale) error { _, err := s.ReserveRefund(eur(0)); return err }, fault.Internal},
		"a negative amount": {func(s *ledger.Sale) error { _, err := s.ReserveRefund(eur(-1)); return err }, fault.Internal},
		"another currency": {func(s *ledger.Sale) error {
			_, err := s.ReserveRefund(money.Amount{Minor: 1, Currency: "usd"})
			return err
		}, fault.Internal},
		"an early release": {func(s *ledger.Sale) error {
			_, err := s.Release(start.Add(ledger.HoldPeriod - 1))
			return err
		}, fault.Internal},
		"a win without dispute": {func(s *ledger.Sale) error { _, err := s.WinDispute(); return err }, fault.Internal},
		"a loss without one": {
			func(s *ledger.Sale) error { _, _, err := s.LoseDispute(eur(1)); return err }, fault.Internal,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sale, _ := german(t)
			before := sale.State()
			if err := c.do(sale); fault.CodeOf(err) != c.code {
				t.Errorf("got %v, want %s", err, c.code)
			}
			if sale.State() != before {
				t.Error("a refused transition changed the sale")
			}
		})
	}
}

func TestASaleWhoseFeeExceedsItIsADefect(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]ledger.Receipt{
		"the fee exceeds the share": {Total: eur(100), Tax: eur(19), PlatformFee: eur(82)},
		"a negative total":          {Total: eur(-1)},
		"a total below every share": {Total: eur(math.MinInt64), Tax: eur(1)},
		"a negative tax":            {Total: eur(1), Tax: eur(-1)},
		"a negative fee":            {Total: eur(1), PlatformFee: eur(-1)},
	} {
		if _, _, err := ledger.NewSale(r, start); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

func TestASecondReleaseMovesNothing(t *testing.T) {
	t.Parallel()
	sale, _ := german(t)
	if _, err := sale.Release(start.Add(ledger.HoldPeriod)); err != nil {
		t.Fatal(err)
	}
	before := sale.State()
	again, err := sale.Release(start.Add(ledger.HoldPeriod))
	if err != nil || !again.Empty() || sale.State() != before {
		t.Errorf("%+v, %v", again, err)
	}
}

// Any split of a payment into refunds returns exactly the tax that was charged, and no share has more tax than money.
func TestRefundsOfAnySplitReturnExactlyTheTax(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.Int64Range(1, 1_000_000).Draw(t, "total")
		tax := rapid.Int64Range(0, total).Draw(t, "tax")
		sale, _, err := ledger.NewSale(ledger.Receipt{PaymentID: "pay_1", Total: eur(total), Tax: eur(tax),
			PlatformFee: eur(0), ProcessorFee: eur(0)}, start)
		if err != nil {
			t.Fatal(err)
		}
		var reserved []ledger.Share
		for sale.State().Refundable().Minor > 0 {
			if len(reserved) > 0 && rapid.IntRange(0, 4).Draw(t, "abandon") == 0 { // out of order
				i := rapid.IntRange(0, len(reserved)-1).Draw(t, "which")
				sale.AbandonRefund(reserved[i])
				reserved = slices.Delete(reserved, i, i+1)
			}
			left := sale.State().Refundable().Minor
			share, err := sale.ReserveRefund(eur(max(1, min(left, left/rapid.Int64Range(1, 4).Draw(t, "part")))))
			if err != nil || share.Tax.Minor < 0 || share.Tax.Minor > share.Amount.Minor {
				t.Fatalf("share %+v, %v", share, err)
			}
			reserved = append(reserved, share)
		}
		var returned int64
		for _, share := range reserved {
			returned += share.Tax.Minor
		}
		if returned != tax || sale.State().ReturnedTax.Minor != tax {
			t.Fatalf("refunds returned %d of %d tax", returned, tax)
		}
	})
}

func TestPurchase_OfAReturn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		of   ledger.Return
		want string
	}{
		"a checkout":                  {ledger.Return{CheckoutID: "cs_1", CustomerID: "cus_1"}, "cs_1"},
		"a second payment of it":      {ledger.Return{CheckoutID: "cs_1"}, ""},
		"a renewal":                   {ledger.Return{CustomerID: "cus_1", SubscriptionID: "sub_1"}, ""},
		"nothing that anybody bought": {ledger.Return{PaymentID: "pay_1"}, ""},
	} {
		if got := c.of.Purchase(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
