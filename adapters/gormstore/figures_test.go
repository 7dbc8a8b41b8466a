package gormstore_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"sundry/adapters/gormstore"
	"sundry/core/civil"
	"sundry/core/id"
	"sundry/core/ledger"
	"sundry/core/money"
	"sundry/ports"
	"sundry/tests/testdb"
)

// shop posts to a ledger at random and counts beside it what its figures ought to be.
type shop struct {
	t         *testing.T
	random    *rand.Rand
	store     *gormstore.Store
	at        time.Time // real time, and that of the account
	ids, nth  int       // nth keeps the ids of shops apart
	want      map[civil.Date]ledger.Figures
	creators  int64 // the creator's accounts, but for payouts
	open      []*ledger.Sale
	refunded  map[string]refundOf
	currency  money.Currency
	creatorID string
}

type refundOf struct {
	sale  *ledger.Sale
	share ledger.Share
}

func (s *shop) amount(minor int64) money.Amount {
	return money.Amount{Minor: minor, Currency: s.currency}
}

func (s *shop) id(prefix string) string {
	s.ids++
	return fmt.Sprintf("%s_%d_%d", prefix, s.nth, s.ids)
}

// post writes a posting that is to change the figures of the day by some.
func (s *shop) post(p ledger.Posting, change ledger.Figures) {
	s.t.Helper()
	if p.Empty() {
		return
	}
	s.ids++
	entry := id.First(id.LedgerEntry, s.at.Add(time.Duration(3*s.ids+s.nth)*time.Millisecond))
	booked := p.Booked(entry, s.creatorID, s.at)
	err := s.store.Atomically(s.t.Context(), func(ctx context.Context, r ports.Repos) error {
		return r.Treasury.Ledger.Insert(ctx, []ledger.Posting{booked})
	})
	if err != nil {
		s.t.Fatal(err)
	}
	day := civil.DateIn(time.UTC, s.at)
	if change != (ledger.Figures{}) {
		s.want[day] = s.want[day].Plus(change)
	}
	for _, leg := range p.Legs {
		switch leg.Account {
		case ledger.CreatorPending, ledger.CreatorAvailable, ledger.CreatorReserved, ledger.CreatorInTransit:
			s.creators -= leg.Amount.Minor
		default:
		}
	}
}

// step does one of the things that post.
func (s *shop) step() {
	s.t.Helper()
	must := func(err error) {
		if err != nil {
			s.t.Fatal(err)
		}
	}
	var sale *ledger.Sale
	if len(s.open) > 0 {
		sale = s.open[s.random.IntN(len(s.open))]
	}
	switch what := s.random.IntN(10); {
	case sale == nil || what < 4:
		total := s.random.Int64N(9000) + 10
		tax, fee := s.random.Int64N(total/5+1), s.random.Int64N(total/5+1)
		sold, postings, err := ledger.NewSale(ledger.Receipt{
			PaymentID: s.id("pay"), CreatorID: s.creatorID, Total: s.amount(total), Tax: s.amount(tax),
			PlatformFee: s.amount(fee), ProcessorFee: s.amount(3),
		}, s.at)
		must(err)
		s.post(postings[0], ledger.Figures{Sales: 1, Gross: total, Tax: tax, Fees: fee})
		s.post(postings[1], ledger.Figures{})
		s.open = append(s.open, sold)
	case what == 4 && sale.State().Returned.Minor == 0:
		state := sale.State()
		reversal, err := sale.Reverse(ledger.Share{Amount: state.Total, Tax: state.Tax})
		must(err)
		s.post(reversal, ledger.Figures{
			Refunds: state.Total.Minor, Tax: -state.Tax.Minor, Fees: -state.PlatformFee.Minor,
		})
	case what == 5 && !sale.State().Released && !s.at.Before(sale.State().AvailableAt):
		release, err := sale.Release(s.at)
		must(err)
		s.post(release, ledger.Figures{})
	case what == 6 && len(s.refunded) > 0:
		refundID := slices.Sorted(maps.Keys(s.refunded))[0]
		back := s.refunded[refundID]
		delete(s.refunded, refundID)
		s.post(back.sale.ReverseRefund(refundID, back.share), ledger.Figures{
			Refunds: -back.share.Amount.Minor, Tax: back.share.Tax.Minor,
		})
	case what == 7 && sale.State().DisputeID == "" && sale.State().Refundable().Minor > 0:
		_, opened, err := sale.OpenDispute(s.id("dsp"), sale.State().Refundable())
		must(err)
		s.post(opened, ledger.Figures{})
	case sale.State().DisputeID != "":
		if what%2 == 0 {
			won, err := sale.WinDispute()
			must(err)
			s.post(won, ledger.Figures{})
			return
		}
		lost, posting, err := sale.LoseDispute(sale.State().Total)
		must(err)
		s.post(posting, ledger.Figures{Disputes: lost.Amount.Minor, Tax: -lost.Tax.Minor})
	case sale.State().Refundable().Minor > 0:
		share, err := sale.ReserveRefund(s.amount(s.random.Int64N(sale.State().Refundable().Minor) + 1))
		must(err)
		refundID := s.id("ref")
		s.post(sale.CompleteRefund(refundID, share), ledger.Figures{Refunds: share.Amount.Minor, Tax: -share.Tax.Minor})
		s.refunded[refundID] = refundOf{sale, share}
	}
}

// check compares the figures that are read with those that were counted.
func (s *shop) check(when string) {
	s.t.Helper()
	first, last := civil.DateIn(time.UTC, balanceDay), civil.DateIn(time.UTC, s.at)
	days, err := s.store.Read(s.t.Context()).Treasury.Ledger.Days(s.t.Context(), s.creatorID, first, last)
	if err != nil {
		s.t.Fatal(err)
	}
	got, net := map[civil.Date]ledger.Figures{}, int64(0)
	for _, d := range days {
		if d.Currency == s.currency {
			got[d.Day] = d.Figures
			net += d.Net()
		}
	}
	if !maps.Equal(got, s.want) {
		s.t.Fatalf("%s: got %+v, want %+v", when, got, s.want)
	}
	if net != s.creators {
		s.t.Fatalf("%s: a net of %d, but the creator's accounts hold %d", when, net, s.creators)
	}
}

func TestFiguresAreThoseOfTheLedger(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		random := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // what it posts is no secret
		store := engine.Open(t)
		newShop := func(nth int, creatorID string, currency money.Currency) *shop {
			return &shop{
				t: t, random: random, store: store, at: balanceDay, want: map[civil.Date]ledger.Figures{},
				refunded: map[string]refundOf{}, currency: currency, creatorID: creatorID, nth: nth,
			}
		}
		shops := []*shop{newShop(0, "crt_1", "eur"), newShop(1, "crt_1", "usd"), newShop(2, "crt_2", "eur")}
		for range 25 {
			for _, s := range shops {
				for range 6 {
					s.step()
				}
				s.check("with what was posted last")
				s.at = s.at.Add(time.Duration(random.IntN(40)) * time.Hour)
			}
			latest := slices.MaxFunc(shops, func(a, b *shop) int { return a.at.Compare(b.at) })
			if err := gormstore.SumDaysInPages(t.Context(), store, latest.at, random.IntN(6)+1); err != nil {
				t.Fatal(err)
			}
			for _, s := range shops {
				s.at = latest.at // no posting has an earlier id than one that was counted
				s.check("with what was added up")
			}
		}
		if got, err := store.Read(t.Context()).Treasury.Ledger.Days(t.Context(), "crt_3", 0, 99_999); err != nil ||
			len(got) != 0 {
			t.Errorf("of an account without postings: %+v, %v", got, err)
		}
	})
}
