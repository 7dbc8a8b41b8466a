package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sundry/tests/harness"
	"sundry/tests/testdb"
)

// moneyLives returns the number of random lifecycles per engine: few by default, MONEY_LIFECYCLES in a long run.
func moneyLives(t *testing.T) int {
	t.Helper()
	n, err := strconv.Atoi(os.Getenv("MONEY_LIFECYCLES"))
	if err != nil {
		return 8
	}
	return n
}

// moneyBooks models the account's ledger from the responses that the test has seen, without any rule of the program.
type moneyBooks struct {
	*fixture
	r         *rand.Rand
	share     int64 // what the creator has, wherever it is
	tax       int64
	paidOut   int64
	sales     []soldSale
	happening []string
}

// soldSale is a sale with what is left of it.
type soldSale struct {
	paymentID, checkoutID string
	refundIDs             []string
	total, tax            int64
	returned, taxReturned int64
	disputeID             string
}

func (b *moneyBooks) did(format string, args ...any) {
	b.happening = append(b.happening, fmt.Sprintf(format, args...))
}

// check compares the ledger with the books after each step.
func (b *moneyBooks) check(t *testing.T) {
	t.Helper()
	balance := b.balance(t)
	if got := balance[0] + balance[1] + balance[2] + balance[3]; got != b.share-b.paidOut || balance[2] < 0 ||
		balance[3] < 0 {
		t.Fatalf(
			"the balance is %v, in all %d, want %d, after\n%s", balance, got, b.share-b.paidOut,
			strings.Join(b.happening, "\n"),
		)
	}
	const taxes = "SELECT CAST(COALESCE(-SUM(tax_payable), 0) AS BIGINT) FROM ledger_postings WHERE creator_id = $1"
	if got := b.Count(t, taxes, b.ID); got != b.tax {
		t.Fatalf("%d tax is owed, want %d, after\n%s", got, b.tax, strings.Join(b.happening, "\n"))
	}
}

// sellOne sells something at a random price, also by a card whose response is lost and by one that disputes.
func (b *moneyBooks) sellOne(t *testing.T) {
	t.Helper()
	price := 100 + b.r.Int64N(50_000)
	// A response is lost with …9003, and …9102 pays late, when the clock has moved.
	card := []string{harness.CardSucceeds, harness.CardSucceeds, cardDisputed, "4000000000009003",
		"4000000000009102"}[b.r.IntN(5)]
	over := harness.JSON{}
	if country := []string{"", "DE", "FR", "US"}[b.r.IntN(4)]; country != "" {
		over["customer"] = harness.JSON{"country": country}
	}
	session := b.NewSession(t, b.book(t, price), "default", harness.Unique("user"), over)
	b.Pay(t, session, card)
	receipt := b.Receipt(t, session)
	for tries := 0; receipt["status"] != "paid" && tries < 20; tries++ { // the response was lost: reconciling finds it
		b.advance(t, 30)
		receipt = b.Receipt(t, session)
	}
	s := b.sold(t, session.ID, receipt)
	if card == cardDisputed {
		s.disputeID = b.disputeOf(t, s.paymentID)
		b.did("disputed: %s", s.disputeID)
	}
	b.sales = append(b.sales, s)
}

// sold enters a sale into the books.
func (b *moneyBooks) sold(t *testing.T, checkoutID string, receipt harness.JSON) soldSale {
	t.Helper()
	s := soldSale{
		paymentID: text(t, receipt["paymentId"]), checkoutID: checkoutID, total: version(t, receipt["totalInCents"]),
		tax: version(t, receipt["taxInCents"]),
	}
	fee := -b.posted(t, s.paymentID)["sale platform_fee"]
	b.share += s.total - s.tax - fee
	b.tax += s.tax
	b.did("sale of %d with %d tax and a fee of %d: %s", s.total, s.tax, fee, s.paymentID)
	return s
}

// cancelOne sells an appointment, often returns a part of it, and cancels it: what is left is refunded in that step.
func (b *moneyBooks) cancelOne(t *testing.T) {
	t.Helper()
	a := b.booked(t)
	s := b.sold(
		t, a.CheckoutID,
		b.AsBackend(t, get, "/v1/checkout-sessions/"+a.CheckoutID+"/receipt?headless=true", nil).Want(t, 200).Map(t),
	)
	if b.r.IntN(2) == 0 {
		b.returned(t, &s, b.refund(t, s.paymentID, 1+b.r.Int64N(s.total-1)).Want(t, 201).Map(t))
	}
	canceled := b.cancel(t, a.ID, harness.JSON{})
	refundID := text(t, canceled["refundId"])
	var f harness.JSON
	for range 600 {
		if f = b.AsBackend(t, get, "/v1/refunds/"+refundID, nil).Want(t, 200).Map(t); f["status"] == "succeeded" {
			break
		}
		b.advance(t, 1)
	}
	b.returned(t, &s, f)
	if f["status"] != "succeeded" || s.returned != s.total {
		t.Fatalf("canceling refunded %v, of %+v after\n%s", f, s, strings.Join(b.happening, "\n"))
	}
	b.sales = append(b.sales, s)
}

// returned enters a refund into the books. All of a sale comes with exactly its tax.
func (b *moneyBooks) returned(t *testing.T, s *soldSale, f harness.JSON) {
	t.Helper()
	amount, tax := version(t, f["amountInCents"]), version(t, f["taxInCents"])
	s.refundIDs = append(s.refundIDs, text(t, f["id"]))
	s.returned, s.taxReturned = s.returned+amount, s.taxReturned+tax
	b.share, b.tax = b.share-(amount-tax), b.tax-tax
	b.did("refund of %d with %d tax of %s", amount, tax, s.paymentID)
	if s.returned == s.total && s.taxReturned != s.tax || tax < 0 || tax > amount {
		t.Fatalf(
			"all of %s is returned with %d of %d tax, after\n%s", s.paymentID, s.taxReturned, s.tax,
			strings.Join(b.happening, "\n"),
		)
	}
}

// sellTwice pays a session, and then lets the money of an earlier attempt arrive, which the processor reports more
// than once. That money is refunded, and none of it is the creator's.
func (b *moneyBooks) sellTwice(t *testing.T) {
	t.Helper()
	order := harness.Unique("order")
	session := b.NewSession(t, b.book(t, 100+b.r.Int64N(50_000)), "default", harness.Unique("user"),
		harness.JSON{"referenceId": order, "customer": harness.JSON{"country": "DE"}})
	b.Pay(t, session, harness.CardAsksAlways).Refuses(t, 402, "AUTHENTICATION_REQUIRED")
	b.Pay(t, session, harness.CardSucceeds).Want(t, 200)
	s := b.sold(t, session.ID, b.Receipt(t, session))
	var attempts struct{ Data []struct{ ID string } }
	b.AsBackend(t, get, "/v1/payments?referenceId="+order, nil).Want(t, 200).Into(t, &attempts)
	if len(attempts.Data) != 2 || attempts.Data[0].ID != s.paymentID {
		t.Fatalf("the attempts of %s are %v", order, attempts.Data)
	}
	late := attempts.Data[1].ID
	b.Exec(
		t,
		"UPDATE sandbox_charges SET outcome = (SELECT outcome FROM sandbox_charges WHERE payment_id = $2) WHERE payment_id = $1",
		late, s.paymentID,
	)
	b.Exec(t, "UPDATE payments SET status = 'processing', settled_at = NULL WHERE id = $1", late)
	b.reported(t, "payment", late)
	b.reported(t, "payment", late)
	b.advance(t, 30)
	if n := b.Count(
		t, "SELECT COUNT(*) FROM payments WHERE id = $1 AND status = 'succeeded' AND refunded = amount", late,
	); n != 1 {
		t.Fatalf("the late money of %s was kept, after\n%s", late, strings.Join(b.happening, "\n"))
	}
	b.listed(t, late, "paid_twice", false)
	b.did("late money of %s", late)
	b.sales = append(b.sales, s)
}

// reported is an event of the processor about an object, often doubled.
func (b *moneyBooks) reported(t *testing.T, kind, objectID string) {
	t.Helper()
	event := processorEvent(
		t, b.App, harness.JSON{"id": harness.Unique("evt"), "kind": kind, "objectId": objectID, "creatorId": b.ID},
		time.Now(),
	)
	for range 1 + b.r.IntN(2) {
		b.Ask(t, event).Want(t, 200)
	}
}

// rumors are reports of all that ever happened to a sale, in any order.
func (b *moneyBooks) rumors(t *testing.T) {
	t.Helper()
	s := b.sales[b.r.IntN(len(b.sales))]
	about := [][2]string{
		{"payment", s.paymentID}, {"refunds", s.paymentID},
		{"dispute", "dp_sandbox_" + strings.TrimPrefix(s.paymentID, "pay_")},
	}
	for _, id := range s.refundIDs {
		about = append(about, [2]string{"refund", id})
	}
	b.r.Shuffle(len(about), func(i, j int) { about[i], about[j] = about[j], about[i] })
	for _, one := range about {
		b.reported(t, one[0], one[1])
	}
	b.advance(t, 1)
	b.did("late reports of %s: %v", s.paymentID, about)
}

// refundSome refunds a random part, or all that is left.
func (b *moneyBooks) refundSome(t *testing.T) {
	t.Helper()
	s := &b.sales[b.r.IntN(len(b.sales))]
	left := s.total - s.returned
	minor := b.r.Int64N(max(left, 1)+1) + b.r.Int64N(2)
	response := b.refund(t, s.paymentID, minor)
	if s.disputeID != "" || left == 0 || minor > left {
		response.Refuses(t, 409, "NOT_REFUNDABLE")
		return
	}
	b.returned(t, s, response.Want(t, 201).Map(t))
}

// decide ends a dispute, with the processor's events before and after, doubled.
func (b *moneyBooks) decide(t *testing.T) {
	t.Helper()
	for i := range b.sales {
		s := &b.sales[i]
		if s.disputeID == "" {
			continue
		}
		object := "dp_sandbox_" + strings.TrimPrefix(s.paymentID, "pay_")
		b.reported(t, "dispute", object)
		switch b.r.IntN(3) {
		case 0:
			b.AsBackend(t, post, "/v1/disputes/"+s.disputeID+"/evidence", harness.JSON{"text": "winning_evidence"}).Want(t, 200)
			b.did("won %s", s.disputeID)
		case 1:
			b.AsBackend(t, post, "/v1/disputes/"+s.disputeID+"/evidence", harness.JSON{"text": "losing_evidence"}).Want(t, 200)
			b.lose(s)
		default:
			b.AsBackend(t, post, "/v1/disputes/"+s.disputeID+"/accept", nil).Want(t, 200)
			b.lose(s)
		}
		s.disputeID = ""
		b.reported(t, "dispute", object)
		b.advance(t, 1)
		return
	}
}

// unanswered books the disputes that the bank decided because nobody responded.
func (b *moneyBooks) unanswered(t *testing.T) {
	t.Helper()
	for i := range b.sales {
		s := &b.sales[i]
		if s.disputeID != "" && b.AsBackend(t, get, "/v1/disputes/"+s.disputeID, nil).
			Want(t, 200).Map(t)["status"] == "lost" {
			b.lose(s)
			s.disputeID = ""
		}
	}
}

func (b *moneyBooks) lose(s *soldSale) {
	amount, tax := s.total-s.returned, s.tax-s.taxReturned
	s.returned, s.taxReturned = s.total, s.tax
	b.share, b.tax = b.share-(amount-tax), b.tax-tax
	b.did("lost %s", s.disputeID)
}

// payOut asks for all that is available, or for what the sandbox's bank refuses.
func (b *moneyBooks) payOut(t *testing.T) {
	t.Helper()
	body := harness.JSON{"currency": "eur"}
	if b.r.IntN(4) == 0 {
		body["amountInCents"] = 1313
	}
	response := b.AsBackend(t, post, "/v1/payouts", body)
	if response.Status == 409 {
		response.Refuses(t, 409, "INSUFFICIENT_BALANCE")
		return
	}
	p := response.Want(t, 201).Map(t)
	if p["status"] == "paid" {
		b.paidOut += version(t, p["amountInCents"])
	}
	b.did("payout of %v: %v", p["amountInCents"], p["status"])
}

// live is one lifecycle: a sale, and eight things that happen to it and to others.
func (b *moneyBooks) live(t *testing.T) {
	t.Helper()
	b.sellOne(t)
	b.check(t)
	for range 8 {
		switch b.r.IntN(9) {
		case 0:
			b.sellOne(t)
		case 1, 2:
			b.refundSome(t)
		case 3:
			b.decide(t)
		case 4:
			b.advance(t, b.r.Int64N(8*24*3600))
			b.did("time passes")
			b.unanswered(t)
		case 5:
			b.cancelOne(t)
		case 6:
			b.sellTwice(t)
		case 7:
			b.rumors(t)
		default:
			b.payOut(t)
		}
		b.check(t)
	}
}

// Whatever happens to sales, in whatever order, the ledger contains what was seen, tax returns to the cent, and nothing
// that may not be negative is.
func TestRandomLivesOfMoneyKeepTheBooks(t *testing.T) {
	t.Parallel()
	const atOnce = 4 // most of a life is waiting
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		app := harness.New(t, engine, nil)
		seed := uint64(time.Now().UnixNano())
		t.Logf("seed %d", seed)
		var lived atomic.Int64
		t.Run("lives", func(t *testing.T) {
			for worker := range atOnce {
				t.Run(strconv.Itoa(worker), func(t *testing.T) {
					t.Parallel()
					random := rand.New(rand.NewPCG(seed, uint64(worker))) //nolint:gosec // a test
					for lived.Add(1) <= int64(moneyLives(t)) && !t.Failed() {
						b := &moneyBooks{fixture: &fixture{Account: app.NewAccount(t)}, r: random}
						b.live(t)
					}
				})
			}
		})
		t.Logf("%d lives", min(lived.Load(), int64(moneyLives(t))))
		wantTaxReport(t, app)
		verified(t, app)
	})
}

func TestParallelPaymentsAndRefundsNumberWithoutGap(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		const sales = 20
		listing := w.book(t, 2000)
		var wait sync.WaitGroup
		for range sales {
			wait.Go(func() {
				session := w.NewSession(t, listing, "default", harness.Unique("user"), nil)
				w.Pay(t, session, harness.CardSucceeds)
				w.AsBackend(t, post, "/v1/refunds", harness.JSON{
					"checkoutId": session.ID, "reason": "all", "amountInCents": 500,
				})
			})
		}
		wait.Wait()
		for _, series := range []string{"R", "C"} {
			highest := w.Count(
				t,
				"SELECT COALESCE(MAX(CAST(SUBSTR(number, 10) AS BIGINT)), 0) FROM documents WHERE creator_id = $1 AND series = $2",
				w.ID, series,
			)
			if n := w.Count(
				t, "SELECT COUNT(DISTINCT number) FROM documents WHERE creator_id = $1 AND series = $2", w.ID, series,
			); n != sales || highest != sales {
				t.Errorf("series %s has %d numbers, the highest %d", series, n, highest)
			}
		}
		verified(t, app)
	})
}

// A full refund and a dispute of one payment come at once: together they take no more than was paid.
func TestARefundAndADisputeNeverTakeTheSameMoney(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		listing := w.book(t, 10000)
		for range 5 {
			session := w.NewSession(t, listing, "default", harness.Unique("user"), nil)
			w.Pay(t, session, cardDisputed).Want(t, 200)
			paymentID := text(t, w.Receipt(t, session)["paymentId"])
			response := w.refund(t, paymentID, 0) // the dispute's event is on its way
			w.disputeOf(t, paymentID)
			taken := w.Count(
				t,
				"SELECT CAST(COALESCE(-SUM(processor_clearing), 0) AS BIGINT) FROM ledger_postings WHERE (source_id IN (SELECT id FROM refunds WHERE payment_id = $1) OR source_id IN (SELECT id FROM disputes WHERE payment_id = $1))",
				paymentID,
			)
			if taken != 10000 || response.Status != 201 && response.Status != 409 {
				t.Errorf("after a refund (%d) and a dispute %d of 10000 is taken", response.Status, taken)
			}
		}
		verified(t, app)
	})
}
