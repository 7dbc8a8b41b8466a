package treasury_test

import (
	"context"
	"flag"
	"os"
	"testing"

	"pgregory.net/rapid"

	"sundry/core/dispute"
	"sundry/core/payout"
	"sundry/core/refund"
	"sundry/ports"
	"sundry/tests/testdb"
)

func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "12"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// story runs random operations on the money of one account.
type story struct {
	*fixture
	sales    []string
	refunds  []*refund.State
	disputes []dispute.State
}

// TestMoneyIsConservedInAnyOrder sells, refunds, disputes, releases and pays out in random order and amounts. After
// each step every posting, sale and balance agrees with the others, and each cent that came in is somewhere.
func TestMoneyIsConservedInAnyOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s := &story{fixture: newFixture(t, testdb.SQLite.Open(t), config)}
		rt.Repeat(map[string]func(*rapid.T){
			"sell": func(rt *rapid.T) {
				total := rapid.Int64Range(1, 30_000).Draw(rt, "total")
				s.sales = append(s.sales, s.pay(total, rapid.Int64Range(0, total).Draw(rt, "tax")))
			},
			"refund": func(rt *rapid.T) {
				sale := pick(rt, s.sales)
				left := s.sale(sale).Refundable().Minor
				if f, err := s.refund(sale, rapid.Int64Range(0, left).Draw(rt, "amount")); err == nil {
					s.refunds = append(s.refunds, &f)
				}
			},
			"refund is made": func(rt *rapid.T) {
				if f := pick(rt, s.refunds); f.Status == refund.Pending {
					s.settleRefund(f, true)
				}
			},
			"refund fails": func(rt *rapid.T) {
				if f := pick(rt, s.refunds); f.Status != refund.Failed {
					s.settleRefund(f, false)
				}
			},
			"dispute": func(rt *rapid.T) {
				claim := rapid.Int64Range(1, 30_000).Draw(rt, "claim")
				if d, err := s.dispute(pick(rt, s.sales), claim); err == nil {
					s.disputes = append(s.disputes, d)
				}
			},
			"decide": func(rt *rapid.T) {
				if len(s.disputes) == 0 {
					rt.Skip("none is open")
				}
				d := s.disputes[0]
				s.disputes = s.disputes[1:]
				s.must(s.decide(d, rapid.SampledFrom([]dispute.Status{dispute.Won, dispute.Lost}).Draw(rt, "verdict")))
			},
			"time goes": func(*rapid.T) {
				s.clock.Advance(3 * day)
				s.work()
			},
			"pay out": func(rt *rapid.T) {
				outcomes := []payout.Status{payout.Pending, payout.Paid, payout.Failed}
				s.rail.outcome.Status = rapid.SampledFrom(outcomes).Draw(rt, "outcome")
				// refused while too little is available
				_, _ = s.RequestPayout(context.Background(), creatorID, all("eur"))
			},
			"payout comes back": func(rt *rapid.T) {
				if made := s.payouts(); len(made) > 0 {
					s.rail.outcome = ports.PayoutOutcome{Status: payout.Failed, Reason: "returned"}
					s.must(s.RefreshPayout(context.Background(), pick(rt, made).ID))
				}
			},
			"": func(rt *rapid.T) { s.check(rt) },
		})
	})
}

// pick draws one of what there is.
func pick[T any](rt *rapid.T, of []T) T {
	if len(of) == 0 {
		rt.Skip("there is none")
	}
	return rapid.SampledFrom(of).Draw(rt, "which")
}

func (s *story) check(rt *rapid.T) {
	lines, err := s.Verify(context.Background())
	if err != nil || len(lines) > 0 {
		rt.Fatalf("%v, %v", lines, err)
	}
	var pending, reserved int64
	for _, id := range s.sales {
		sale := s.sale(id)
		if sale.ReturnedTax.Minor < 0 || sale.ReturnedTax.Minor > sale.Tax.Minor || sale.Returned.Minor > sale.Total.Minor {
			rt.Fatalf("returned too much: %+v", sale)
		}
		if sale.Returned == sale.Total && sale.ReturnedTax != sale.Tax {
			rt.Fatalf("all went back without all of its tax: %+v", sale)
		}
		pending += sale.Pending.Minor
		reserved += sale.Disputed.Amount.Minor - sale.Disputed.Tax.Minor
	}
	for _, f := range s.refunds {
		if f.Status == refund.Pending && s.sale(f.PaymentID).Released {
			reserved += f.Share.Amount.Minor - f.Share.Tax.Minor
		}
	}
	b := s.balance()
	if b.Pending != pending || b.Reserved != reserved || b.InTransit < 0 {
		rt.Fatalf("%+v, want %d pending and %d reserved", b, pending, reserved)
	}
	var sent int64
	for _, p := range s.payouts() {
		if p.Status == payout.Pending {
			sent += p.Amount.Minor
		}
	}
	if b.InTransit != sent {
		rt.Fatalf("%d is in transit, want %d", b.InTransit, sent)
	}
}
