package ledger_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sundry/core/dispute"
	"sundry/core/ledger"
	"sundry/core/money"
	"sundry/core/payout"
	"sundry/core/refund"
)

// book is one creator's ledger with everything that posts to it, moved at random.
type book struct {
	t        *rapid.T
	now      time.Time
	ids      int
	sums     map[ledger.Account]int64
	posted   map[string]bool // source and kind
	sales    []*ledger.Sale
	refunds  []*refund.Refund
	disputes []*dispute.Dispute
	payouts  []*payout.Payout
}

func (b *book) id(prefix string) string {
	b.ids++
	return fmt.Sprintf("%s_%d", prefix, b.ids)
}

// post writes postings as the store does: balanced, and once per source and kind.
func (b *book) post(postings ...ledger.Posting) {
	for _, p := range postings {
		if err := p.Check(); err != nil {
			b.t.Fatal(err)
		}
		if p.Empty() {
			continue
		}
		if key := p.SourceID + "/" + string(p.Kind); b.posted[key] {
			b.t.Fatalf("%s was posted twice", key)
		} else {
			b.posted[key] = true
		}
		for _, leg := range p.Legs {
			b.sums[leg.Account] += leg.Amount.Minor
		}
	}
}

func (b *book) must(err error) {
	if err != nil {
		b.t.Fatal(err)
	}
}

// pick returns a random element; ok is false when there is none.
func pick[T any](b *book, label string, all []T) (one T, ok bool) {
	if len(all) == 0 {
		return one, false
	}
	return all[rapid.IntRange(0, len(all)-1).Draw(b.t, label)], true
}

func (b *book) sell(*rapid.T) {
	total := rapid.Int64Range(1, 50_000).Draw(b.t, "total")
	tax := rapid.Int64Range(0, total/4).Draw(b.t, "tax")
	sale, postings, err := ledger.NewSale(ledger.Receipt{
		PaymentID: b.id("pay"), CreatorID: "crt_1", Total: eur(total), Tax: eur(tax),
		PlatformFee:  eur(rapid.Int64Range(0, total/2).Draw(b.t, "fee")),
		ProcessorFee: eur(rapid.Int64Range(0, 100).Draw(b.t, "cost")),
	}, b.now)
	b.must(err)
	b.post(postings...)
	b.sales = append(b.sales, sale)
}

func (b *book) release(*rapid.T) {
	b.now = b.now.Add(time.Duration(rapid.IntRange(0, 5).Draw(b.t, "days")) * 24 * time.Hour)
	for _, sale := range b.sales {
		if !b.now.Before(sale.State().AvailableAt) {
			posting, err := sale.Release(b.now)
			b.must(err)
			b.post(posting)
		}
	}
}

func (b *book) askRefund(*rapid.T) {
	sale, ok := pick(b, "sale", b.sales)
	if !ok {
		return
	}
	amount := eur(rapid.Int64Range(1, 60_000).Draw(b.t, "amount"))
	before := sale.State()
	share, err := sale.ReserveRefund(amount)
	if refused := before.DisputeID != "" || amount.Minor > before.Refundable().Minor; refused != (err != nil) {
		b.t.Fatalf("refund of %d of %+v: %v", amount.Minor, before, err)
	}
	if err == nil {
		b.refunds = append(b.refunds, refund.NewPending(refund.State{ID: b.id("ref"),
			Return: ledger.Return{PaymentID: before.PaymentID, Share: share},
		}, b.now))
	}
}

func (b *book) sale(paymentID string) *ledger.Sale {
	i := slices.IndexFunc(b.sales, func(s *ledger.Sale) bool { return s.State().PaymentID == paymentID })
	return b.sales[i]
}

// settleRefund reports an outcome, perhaps one that is known, or that contradicts an earlier one.
func (b *book) settleRefund(*rapid.T) {
	r, ok := pick(b, "refund", b.refunds)
	if !ok {
		return
	}
	before, sale := r.State(), b.sale(r.State().PaymentID)
	if rapid.Bool().Draw(b.t, "succeeds") {
		_, changed, err := r.Succeed("C-1", false, b.now)
		if changed {
			b.post(sale.CompleteRefund(before.ID, before.Share))
		}
		if (err != nil) != (before.Status == refund.Failed) {
			b.t.Fatal(err)
		}
		return
	}
	if !r.Fail("declined", b.now) {
		return
	}
	if before.Status == refund.Succeeded {
		b.post(sale.ReverseRefund(before.ID, before.Share))
	} else {
		sale.AbandonRefund(before.Share)
	}
}

func (b *book) openDispute(*rapid.T) {
	sale, ok := pick(b, "sale", b.sales)
	if !ok {
		return
	}
	disputeID := b.id("dsp")
	share, posting, err := sale.OpenDispute(disputeID, eur(rapid.Int64Range(1, 60_000).Draw(b.t, "claimed")))
	if err != nil {
		return
	}
	b.post(posting)
	d, _ := dispute.Open(dispute.State{ID: disputeID,
		Return: ledger.Return{PaymentID: sale.State().PaymentID, Share: share},
	}, b.now)
	b.disputes = append(b.disputes, d)
}

func (b *book) reportDispute(*rapid.T) {
	d, ok := pick(b, "dispute", b.disputes)
	if !ok {
		return
	}
	status := rapid.SampledFrom([]dispute.Status{dispute.NeedsResponse, dispute.UnderReview, dispute.Won,
		dispute.Lost}).Draw(b.t, "status")
	_, closed, err := d.Apply(status, b.now)
	if err != nil || !closed {
		return
	}
	sale := b.sale(d.State().PaymentID)
	var posting ledger.Posting
	if status == dispute.Won {
		posting, err = sale.WinDispute()
	} else {
		var lost ledger.Share
		lost, posting, err = sale.LoseDispute(eur(rapid.Int64Range(1, 60_000).Draw(b.t, "claimed at last")))
		d.Lose(lost)
	}
	b.must(err)
	b.post(posting)
}

func (b *book) askPayout(*rapid.T) {
	available := -b.sums[ledger.CreatorAvailable]
	p, posting, err := payout.Ask(b.id("po"), "crt_1", payout.Request{}, payout.Funds{
		Available: money.Amount{Minor: available, Currency: "eur"}, Minimum: 1000,
		Account: payout.AccountState{AccountReport: payout.AccountReport{Status: payout.AccountReady}},
	}, b.now)
	if (err != nil) != (available < 1000) {
		b.t.Fatalf("payout of %d: %v", available, err)
	}
	if err == nil {
		b.post(posting)
		b.payouts = append(b.payouts, p)
	}
}

func (b *book) settlePayout(*rapid.T) {
	p, ok := pick(b, "payout", b.payouts)
	if !ok {
		return
	}
	if rapid.Bool().Draw(b.t, "paid") {
		if _, posting, changed, _ := p.Pay(b.now); changed {
			b.post(posting)
		}
		return
	}
	if _, posting, changed := p.Fail("account_closed", b.now); changed {
		b.post(posting)
	}
}

// check compares every account with what it must be by the objects.
func (b *book) check(*rapid.T) {
	want := map[ledger.Account]int64{}
	for _, sale := range b.sales {
		b.expectSale(want, sale.State())
	}
	for _, r := range b.refunds {
		if s := r.State(); s.Status == refund.Succeeded {
			want[ledger.ProcessorClearing] -= s.Share.Amount.Minor
			want[ledger.TaxPayable] += s.Share.Tax.Minor
		}
	}
	for _, d := range b.disputes {
		expectDispute(want, d.State())
	}
	for _, p := range b.payouts {
		switch s := p.State(); s.Status {
		case payout.Pending:
			want[ledger.CreatorInTransit] -= s.Amount.Minor
		case payout.Paid:
			want[ledger.ProcessorClearing] -= s.Amount.Minor
		case payout.Failed:
		}
	}
	var total int64
	for account, sum := range b.sums {
		total += sum
		if account != ledger.CreatorAvailable && sum != want[account] {
			b.t.Fatalf("%s is %d, want %d", account, sum, want[account])
		}
	}
	if total != 0 {
		b.t.Fatalf("the book is off by %d", total)
	}
}

func (b *book) expectSale(want map[ledger.Account]int64, s ledger.SaleState) {
	if s.Returned.Minor < 0 || s.Refundable().Minor < 0 || s.ReturnedTax.Minor < 0 || s.ReturnedTax.Minor > s.Tax.Minor ||
		s.Refunded.Minor < 0 {
		b.t.Fatalf("impossible: %+v", s)
	}
	if s.Refundable().Minor == 0 && s.ReturnedTax != s.Tax {
		b.t.Fatalf("all went back but not all tax: %+v", s)
	}
	b.expectReturned(s)
	want[ledger.ProcessorClearing] += s.Total.Minor - s.ProcessorFee.Minor
	want[ledger.ProcessorFee] += s.ProcessorFee.Minor
	want[ledger.TaxPayable] -= s.Tax.Minor
	want[ledger.PlatformFee] -= s.PlatformFee.Minor
	want[ledger.CreatorPending] -= s.Pending.Minor
	want[ledger.CreatorReserved] -= s.Disputed.Amount.Minor - s.Disputed.Tax.Minor
	want[ledger.DisputedFunds] += s.Disputed.Amount.Minor
}

// expectReturned compares what a sale counts as returned with its refunds and disputes.
func (b *book) expectReturned(s ledger.SaleState) {
	want := s
	want.Returned, want.ReturnedTax, want.Refunded, want.Lost = eur(0), eur(0), eur(0), eur(0)
	take := func(share ledger.Share, done bool, to *money.Amount) {
		want.Returned.Minor += share.Amount.Minor
		want.ReturnedTax.Minor += share.Tax.Minor
		if done {
			to.Minor += share.Amount.Minor
		}
	}
	for _, r := range b.refunds {
		if one := r.State(); one.PaymentID == s.PaymentID && one.Status != refund.Failed {
			take(one.Share, one.Status == refund.Succeeded, &want.Refunded)
		}
	}
	for _, d := range b.disputes {
		if one := d.State(); one.PaymentID == s.PaymentID && one.Status != dispute.Won {
			take(one.Share, one.Status == dispute.Lost, &want.Lost)
		}
	}
	if s != want {
		b.t.Fatalf("the sale counts %+v, its refunds and disputes come to %+v", s, want)
	}
}

func expectDispute(want map[ledger.Account]int64, s dispute.State) {
	if s.Status != dispute.Won {
		want[ledger.ProcessorClearing] -= s.Share.Amount.Minor
	}
	if s.Status == dispute.Lost {
		want[ledger.TaxPayable] += s.Share.Tax.Minor
	}
}

// Sales, refunds in parts, disputes and payouts with failures, doubled and contradicting reports: every posting and
// every account balances after each step. A check is a hundred lives, of which 20,000 take seconds; the same through
// the whole program is TestRandomLivesOfMoneyKeepTheBooks.
func TestAccountsBalanceAfterEachStep(t *testing.T) {
	t.Parallel()
	for range 200 {
		if t.Failed() {
			break
		}
		rapid.Check(t, liveAtRandom)
	}
}

func liveAtRandom(t *rapid.T) {
	b := &book{t: t, now: start, sums: map[ledger.Account]int64{}, posted: map[string]bool{}}
	t.Repeat(map[string]func(*rapid.T){
		"sell": b.sell, "release": b.release, "ask refund": b.askRefund, "settle refund": b.settleRefund,
		"open dispute": b.openDispute, "report dispute": b.reportDispute, "ask payout": b.askPayout,
		"settle payout": b.settlePayout, "": b.check,
	})
}
