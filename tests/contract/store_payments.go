package contract

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	"sundry/core/dispute"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/paymentmethod"
	"sundry/core/refund"
	"sundry/ports"
)

func paymentCases() storeCases {
	return storeCases{
		"a subject has one live attempt":               aSubjectHasOneLiveAttempt,
		"attempts at once leave one live":              attemptsAtOnceLeaveOneLive,
		"who settles a payment waits for the other":    whoSettlesAPaymentWaitsForTheOther,
		"who settles a refund waits for the other":     whoSettlesARefundWaitsForTheOther,
		"payments are found by their search":           paymentsAreFoundByTheirSearch,
		"payments are found by their standing":         paymentsAreFoundByTheirStanding,
		"payments are found by buyer, and totaled":     paymentsAreFoundByBuyerAndTotaled,
		"live payments are listed oldest first":        livePaymentsAreListedOldestFirst,
		"abandoned payments have no task":              abandonedPaymentsHaveNoTask,
		"a customer's payments are those that took":    aCustomersPaymentsAreThoseThatTook,
		"usable cards are listed newest first":         usableCardsAreListedNewestFirst,
		"a processor's refund is known once":           aProcessorsRefundIsKnownOnce,
		"a credit note's number is given once":         aCreditNotesNumberIsGivenOnce,
		"a refund is found by its request for a while": aRefundIsFoundByItsRequestForAWhile,
		"a processor's dispute is known once":          aProcessorsDisputeIsKnownOnce,
		"an inbound event is received once":            anInboundEventIsReceivedOnce,
	}
}

// livePayment is an attempt that is not settled.
func livePayment(id, creatorID, subjectID string) payment.State {
	p := paymentState(id, creatorID)
	p.SubjectID, p.Status, p.SettledAt, p.Sale.ReceiptNumber = subjectID, payment.Pending, time.Time{}, ""
	return p
}

func insertPayments(t *testing.T, store StoreAdapter, payments ...payment.State) error {
	t.Helper()
	return store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
		for _, p := range payments {
			if err := r.Payments.Payments.Insert(ctx, p); err != nil {
				return err
			}
		}
		return nil
	})
}

func aSubjectHasOneLiveAttempt(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	payments := store.Read(t.Context()).Payments.Payments
	_, err := payments.GetLive(t.Context(), payment.ForSubscription, "sub_1")
	wantError(t, "before any attempt", err, ports.ErrNotFound)
	live := livePayment("1", creator, "sub_1")
	if err := insertPayments(t, store, live); err != nil {
		t.Fatal(err)
	}
	if got, err := payments.GetLive(t.Context(), payment.ForSubscription, "sub_1"); err != nil || got.ID != live.ID {
		t.Errorf("got %+v, %v", got, err)
	}
	wantError(
		t, "a second live attempt", insertPayments(t, store, livePayment("2", creator, "sub_1")), ports.ErrDuplicate,
	)
	other := livePayment("3", creator, "sub_1")
	other.Purpose = payment.ForInvoice // another purpose may use the same id
	if err := insertPayments(t, store, other, livePayment("4", creator, "sub_2")); err != nil {
		t.Error(err)
	}
	settled := live
	settled.Status, settled.SettledAt, settled.Revision = payment.Declined, catalogTime, 2
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		return r.Payments.Payments.Update(ctx, settled)
	})
	_, err = payments.GetLive(t.Context(), payment.ForSubscription, "sub_1")
	wantError(t, "once it is settled", err, ports.ErrNotFound)
	if err := insertPayments(t, store, livePayment("5", creator, "sub_1")); err != nil {
		t.Errorf("the next attempt: %v", err)
	}
}

func attemptsAtOnceLeaveOneLive(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	results := make(chan error, 6)
	for _, id := range []string{"1", "2", "3", "4", "5", "6"} {
		go func() { results <- insertPayments(t, store, livePayment(id, creator, "sub_1")) }()
	}
	made := 0
	for range cap(results) {
		if err := <-results; err == nil {
			made++
		} else if !errors.Is(err, ports.ErrDuplicate) {
			t.Error(err)
		}
	}
	live, err := store.Read(t.Context()).Payments.Payments.ListLive(t.Context(), creator, 9)
	if err != nil || made != 1 || len(live) != 1 {
		t.Errorf("%d were committed, %d are live, %v; want one", made, len(live), err)
	}
}

// rivals is the number of transactions of eachWaits.
const rivals = 8

// eachWaits has many transactions read a row for update and change it: each sees what the one before has made of it, so
// none runs again.
func eachWaits(t *testing.T, store StoreAdapter, change func(ctx context.Context, r ports.Repos) error) {
	t.Helper()
	results := make(chan int, rivals)
	for range rivals {
		go func() {
			runs := 0
			err := store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
				runs++
				return change(ctx, r)
			})
			if err != nil {
				t.Error(err)
			}
			results <- runs
		}()
	}
	for range rivals {
		if runs := <-results; runs != 1 {
			t.Errorf("a transaction ran %d times, want it to wait for its turn", runs)
		}
	}
}

func whoSettlesAPaymentWaitsForTheOther(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	p := paymentState("1", creator)
	p.Refunded.Minor = 0
	if err := insertPayments(t, store, p); err != nil {
		t.Fatal(err)
	}
	eachWaits(t, store, func(ctx context.Context, r ports.Repos) error {
		loaded, err := r.Payments.Payments.GetForUpdate(ctx, p.ID, p.Purpose)
		if err != nil {
			return err
		}
		loaded.Refunded.Minor++
		loaded.Revision++
		return r.Payments.Payments.Update(ctx, loaded)
	})
	got, err := store.Read(t.Context()).Payments.Payments.Get(t.Context(), p.ID)
	if err != nil || got.Refunded.Minor != rivals {
		t.Errorf("counted %d, %v; want %d", got.Refunded.Minor, err, rivals)
	}
	err = store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
		_, err := r.Payments.Payments.GetForUpdate(ctx, "pay_unknown", payment.ForCheckout)
		return err
	})
	wantError(t, "an unknown payment", err, ports.ErrNotFound)
}

func whoSettlesARefundWaitsForTheOther(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	f := refundState("1", creator)
	f.FailureReason = ""
	atomically(t, store, func(ctx context.Context, r ports.Repos) error { return r.Payments.Refunds.Insert(ctx, f) })
	eachWaits(t, store, func(ctx context.Context, r ports.Repos) error {
		loaded, err := r.Payments.Refunds.GetForUpdate(ctx, f.ID)
		if err != nil {
			return err
		}
		loaded.FailureReason += "x"
		loaded.Revision++
		return r.Payments.Refunds.Update(ctx, loaded)
	})
	got, err := store.Read(t.Context()).Payments.Refunds.Get(t.Context(), f.ID)
	if err != nil || len(got.FailureReason) != rivals {
		t.Errorf("counted %q, %v; want %d", got.FailureReason, err, rivals)
	}
}

func paymentsAreFoundByTheirSearch(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		named := customerState("1", creator)
		named.ExternalCustomerID = "ada"
		session := sessionState("1", creator)
		session.ReferenceID, session.ExternalCustomerID = "ref-7", "ada"
		begun := subscriptionState("2", creator)
		begun.CheckoutID = session.ID
		return errors.Join(r.Customers.Customers.Insert(ctx, named), r.Checkout.Sessions.Insert(ctx, session),
			insertSubscription(ctx, r, begun))
	})
	bought, renewed, failed := paymentState("1", creator), paymentState("2", creator), paymentState("3", creator)
	bought.Purpose, bought.SubjectID, bought.CustomerID, bought.CreatedAt = payment.ForCheckout, "cs_1", "cus_1",
		catalogTime
	renewed.CustomerID, renewed.CreatedAt = "cus_1", catalogTime.Add(time.Hour)
	failed.CustomerID, failed.CreatedAt = "cus_2", catalogTime.Add(2*time.Hour)
	bought.Status, renewed.Status, failed.Status = payment.Succeeded, payment.Succeeded, payment.Declined
	if err := insertPayments(t, store, bought, renewed, failed, paymentState("4", "crt_2")); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		search ports.PaymentSearch
		want   []string
	}{
		"all":                  {ports.PaymentSearch{}, []string{"pay_3", "pay_2", "pay_1"}},
		"by status":            {ports.PaymentSearch{Status: payment.Succeeded}, []string{"pay_2", "pay_1"}},
		"by customer":          {ports.PaymentSearch{CustomerID: "cus_1"}, []string{"pay_2", "pay_1"}},
		"by external customer": {ports.PaymentSearch{ExternalCustomerID: "ada"}, []string{"pay_2", "pay_1"}},
		"by reference":         {ports.PaymentSearch{ReferenceID: "ref-7"}, []string{"pay_1"}},
		"by subscription":      {ports.PaymentSearch{SubscriptionID: "sub_2"}, []string{"pay_2", "pay_1"}},
		"by another's":         {ports.PaymentSearch{SubscriptionID: "sub_4"}, nil},
		"by time": {
			ports.PaymentSearch{Created: ports.Created{From: catalogTime, To: catalogTime.Add(time.Hour)}},
			[]string{"pay_1"},
		},
		"by what is apart": {ports.PaymentSearch{CustomerID: "cus_2", Status: payment.Succeeded}, nil},
		"by customers":     {ports.PaymentSearch{CustomerIDs: []string{"cus_1", "cus_9"}}, []string{"pay_2", "pay_1"}},
		"by ids":           {ports.PaymentSearch{IDs: []string{"pay_3", "pay_1", "pay_4"}}, []string{"pay_3", "pay_1"}},
		"by no customers":  {ports.PaymentSearch{CustomerIDs: []string{}}, nil},
	} {
		list, err := store.Read(t.Context()).Payments.Payments.List(
			t.Context(), creator, c.search, ports.Page{Limit: 9},
		)
		var got []string
		for _, p := range list.Items {
			got = append(got, p.ID)
			if p.CustomerID == "cus_1" && p.ExternalCustomerID != "ada" || (p.ID == "pay_1") != (p.ReferenceID == "ref-7") {
				t.Errorf("%s: %s is of %q with reference %q", name, p.ID, p.ExternalCustomerID, p.ReferenceID)
			}
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v; want %v", name, got, err, c.want)
		}
	}
}

func paymentsAreFoundByBuyerAndTotaled(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	for id, email := range map[string]string{"1": "Grace@example.com", "2": "ada@example.com"} {
		s := sessionState(id, creator)
		s.Email, s.Buyer.Name = email, "Name "+id
		atomically(t, store, func(ctx context.Context, r ports.Repos) error {
			return r.Checkout.Sessions.Insert(ctx, s)
		})
	}
	var all []payment.State
	for i, status := range []payment.Status{payment.Succeeded, payment.Declined, payment.Succeeded} {
		p := paymentState(strconv.Itoa(i+1), creator)
		p.Purpose, p.SubjectID, p.Status = payment.ForCheckout, "cs_"+strconv.Itoa(i+1), status
		p.Amount, p.Refunded.Minor = money.Amount{Minor: 100, Currency: "eur"}, 0
		all = append(all, p)
	}
	all[0].Refunded.Minor, all[2].Amount.Currency = 30, "usd"
	if err := insertPayments(t, store, all...); err != nil {
		t.Fatal(err)
	}
	payments := store.Read(t.Context()).Payments.Payments
	for text, want := range map[string][]string{
		"grace@": {"pay_1"}, "EXAMPLE": {"pay_2", "pay_1"}, "Name 2": {"pay_2"}, "nobody": nil,
	} {
		if got, err := payments.FindByBuyer(t.Context(), creator, text, 9); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q finds %v, %v; want %v", text, got, err, want)
		}
	}
	want := []ports.PaymentTotal{{Currency: "eur", Count: 2, Paid: 100, Refunded: 30}, {Currency: "usd", Count: 1, Paid: 100}}
	if got, err := payments.Totals(t.Context(), creator, ports.PaymentSearch{}); err != nil || !slices.Equal(got, want) {
		t.Errorf("totals %+v, %v; want %+v", got, err, want)
	}
	declined := ports.PaymentSearch{Status: payment.Declined}
	if got, err := payments.Totals(t.Context(), creator, declined); err != nil || len(got) != 1 ||
		got[0] != (ports.PaymentTotal{Currency: "eur", Count: 1}) {
		t.Errorf("totals of the declined %+v, %v", got, err)
	}
}

func paymentsAreFoundByTheirStanding(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	disputes := map[string][]dispute.Status{
		"4": {dispute.NeedsResponse}, "5": {dispute.Lost, dispute.UnderReview}, "6": {dispute.Won, dispute.Lost},
		"7": {dispute.Won},
	}
	var all []payment.State
	for i, refunded := range []int64{0, 1, 100, 0, 1, 100, 0, 0} {
		p := paymentState(strconv.Itoa(i+1), creator)
		p.Status, p.Amount.Minor, p.Refunded.Minor = payment.Succeeded, 100, refunded
		all = append(all, p)
	}
	all[7].Status = payment.Declined
	if err := insertPayments(t, store, all...); err != nil {
		t.Fatal(err)
	}
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		var errs error
		for payment, statuses := range disputes {
			for i, status := range statuses {
				d := disputeState(payment+strconv.Itoa(i), creator)
				d.PaymentID, d.Status = "pay_"+payment, status
				errs = errors.Join(errs, r.Payments.Disputes.Insert(ctx, d))
			}
		}
		return errs
	})
	for standing, want := range map[payment.Standing][]string{
		payment.StandingPaid: {"pay_7", "pay_1"}, payment.StandingPartlyRefunded: {"pay_2"},
		payment.StandingRefunded: {"pay_3"}, payment.StandingDisputed: {"pay_5", "pay_4"},
		payment.StandingDisputeLost: {"pay_6"}, "declined": {"pay_8"}, "processing": nil,
	} {
		list, err := store.Read(t.Context()).Payments.Payments.List(
			t.Context(), creator, ports.PaymentSearch{Standing: standing}, ports.Page{Limit: 9},
		)
		var got []string
		for _, p := range list.Items {
			got = append(got, p.ID)
			if p.Standing() != standing {
				t.Errorf("%s is listed as %s and stands as %s", p.ID, standing, p.Standing())
			}
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v; want %v", standing, got, err, want)
		}
	}
}

func livePaymentsAreListedOldestFirst(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	err := insertPayments(t, store, livePayment("1", creator, "sub_1"), paymentState("2", creator), livePayment("3",
		creator, "sub_3"),
		livePayment("4", "crt_2", "sub_4"), livePayment("5", creator, "sub_5"))
	if err != nil {
		t.Fatal(err)
	}
	for limit, want := range map[int][]string{9: {"pay_1", "pay_3", "pay_5"}, 2: {"pay_1", "pay_3"}} {
		live, err := store.Read(t.Context()).Payments.Payments.ListLive(t.Context(), creator, limit)
		var got []string
		for _, p := range live {
			got = append(got, p.ID)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%v, %v; want %v", got, err, want)
		}
	}
}

// abandonedPaymentsHaveNoTask compares the age of attempts in real time, however far an account's clock is ahead.
func abandonedPaymentsHaveNoTask(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	const kind, ahead = "payment.charge", 24 * time.Hour
	old, tasked, young, ofAhead := livePayment("1", creator, "sub_1"), livePayment("2", creator, "sub_2"),
		livePayment("3", creator, "sub_3"), livePayment("4", "crt_2", "sub_4")
	before := old.CreatedAt.Add(time.Minute)
	young.CreatedAt = before.Add(time.Second)
	ofAhead.CreatedAt = before.Add(ahead - time.Second)
	youngAhead := livePayment("5", "crt_2", "sub_5")
	youngAhead.CreatedAt = before.Add(ahead + time.Second)
	if err := insertPayments(t, store, old, tasked, young, ofAhead, youngAhead, paymentState("6", creator)); err != nil {
		t.Fatal(err)
	}
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		return errors.Join(r.Tasks.Ensure(ctx, kind, tasked.ID, creator, before),
			r.Tasks.Ensure(ctx, "payment.refund", old.ID, creator, before),
			r.Sandbox.ClockOffsets.Advance(ctx, "crt_2", ahead))
	})
	for limit, want := range map[int][]string{9: {"pay_1", "pay_4"}, 1: {"pay_1"}} {
		found, err := store.Read(t.Context()).Payments.Payments.ListWithoutTask(t.Context(), kind, before, limit)
		var got []string
		for _, p := range found {
			got = append(got, p.ID)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%v, %v; want %v", got, err, want)
		}
	}
}

func aCustomersPaymentsAreThoseThatTook(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	var all []payment.State
	for id, change := range map[string]func(p *payment.State){
		"1": func(*payment.State) {}, "2": func(p *payment.State) { p.Status = payment.Declined },
		"3": func(p *payment.State) { p.Amount.Minor = 0 },
		"4": func(*payment.State) {}, "5": func(p *payment.State) { p.CustomerID = "cus_2" },
	} {
		p := paymentState(id, creator)
		p.CustomerID, p.Status = "cus_1", payment.Succeeded
		change(&p)
		all = append(all, p)
	}
	if err := insertPayments(t, store, all...); err != nil {
		t.Fatal(err)
	}
	for limit, want := range map[int][]string{9: {"pay_4", "pay_1"}, 1: {"pay_4"}} {
		found, err := store.Read(t.Context()).Payments.Payments.ListByCustomer(t.Context(), "cus_1", limit)
		var got []string
		for _, p := range found {
			got = append(got, p.ID)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%v, %v; want %v", got, err, want)
		}
	}
}

func usableCardsAreListedNewestFirst(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		for _, id := range []string{"1", "2", "3", "4"} {
			card := cardsKept().make(id, creator)
			card.CustomerID = "cus_1"
			if id == "2" {
				card.RemovedAt = catalogTime
			}
			if id == "4" {
				card.CustomerID = "cus_2"
			}
			if err := r.Payments.PaymentMethods.Insert(ctx, card); err != nil {
				return err
			}
		}
		return nil
	})
	cards, err := store.Read(t.Context()).Payments.PaymentMethods.List(t.Context(), "cus_1")
	var got []string
	for _, card := range cards {
		got = append(got, card.ID)
	}
	if err != nil || !slices.Equal(got, []string{"pm_3", "pm_1"}) {
		t.Errorf("%v, %v; want pm_3 and pm_1", got, err)
	}
	var removed paymentmethod.State
	if removed, err = store.Read(t.Context()).Payments.PaymentMethods.Get(t.Context(), "pm_2"); err != nil ||
		removed.RemovedAt.IsZero() {
		t.Errorf("a removed card: %+v, %v", removed, err)
	}
}

func insertRefund(t *testing.T, store StoreAdapter, f refund.State) error {
	t.Helper()
	return store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
		return r.Payments.Refunds.Insert(ctx, f)
	})
}

func aProcessorsRefundIsKnownOnce(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	first, again, own, another := refundState("1", creator), refundState("2", creator), refundState("3", creator),
		refundState("4", creator)
	again.ProcessorID, own.ProcessorID, another.ProcessorID = first.ProcessorID, "", ""
	for _, f := range []refund.State{first, own, another} {
		if err := insertRefund(t, store, f); err != nil {
			t.Fatal(err)
		}
	}
	wantIndex(t, insertRefund(t, store, again), "refunds_processor_id")
	refunds := store.Read(t.Context()).Payments.Refunds
	if got, err := refunds.GetByProcessorID(t.Context(), first.ProcessorID); err != nil || got != first {
		t.Errorf("got %+v, %v; want %+v", got, err, first)
	}
	_, err := refunds.GetByProcessorID(t.Context(), "re_unknown")
	wantError(t, "an unknown id", err, ports.ErrNotFound)
}

func aCreditNotesNumberIsGivenOnce(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	first, taken, elsewhere := refundState("1", creator), refundState("2", creator), refundState("3", "crt_2")
	taken.CreditNoteNumber, elsewhere.CreditNoteNumber = first.CreditNoteNumber, first.CreditNoteNumber
	none, another := refundState("4", creator), refundState("5", creator)
	none.CreditNoteNumber, another.CreditNoteNumber = "", ""
	for _, f := range []refund.State{first, elsewhere, none, another} {
		if err := insertRefund(t, store, f); err != nil {
			t.Fatal(err)
		}
	}
	wantIndex(t, insertRefund(t, store, taken), "refunds_creator_id_credit_note_number")
	list, err := store.Read(t.Context()).Payments.Refunds.List(
		t.Context(), creator, first.PaymentID, ports.Page{Limit: 9},
	)
	if err != nil || len(list.Items) != 3 {
		t.Errorf("%d of the payment, %v; want 3", len(list.Items), err)
	}
	if list, err := store.Read(t.Context()).Payments.Refunds.List(t.Context(), creator, "pay_9",
		ports.Page{Limit: 9}); err != nil || len(list.Items) != 0 {
		t.Errorf("of another payment %+v, %v", list.Items, err)
	}
}

func aRefundIsFoundByItsRequestForAWhile(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	f := refundState("1", creator)
	f.RequestKey, f.CreatedAt = "k", catalogTime
	if err := insertRefund(t, store, f); err != nil {
		t.Fatal(err)
	}
	find := func(creatorID, key string, since time.Time) (refund.State, error) {
		return store.Read(t.Context()).Payments.Refunds.GetByRequest(t.Context(), creatorID, key, since)
	}
	if got, err := find(creator, "k", catalogTime); err != nil || got != f {
		t.Errorf("got %+v, %v; want %+v", got, err, f)
	}
	_, err := find(creator, "k", catalogTime.Add(time.Millisecond))
	wantError(t, "since it was made", err, ports.ErrNotFound)
	_, err = find(creator, "l", catalogTime)
	wantError(t, "another key", err, ports.ErrNotFound)
	_, err = find("crt_2", "k", catalogTime)
	wantError(t, "another account", err, ports.ErrNotFound)
}

func aProcessorsDisputeIsKnownOnce(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	first, again := disputeState("1", creator), disputeState("2", "crt_2")
	again.ProcessorID = first.ProcessorID
	atomically(
		t, store, func(ctx context.Context, r ports.Repos) error { return r.Payments.Disputes.Insert(ctx, first) },
	)
	err := store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
		return r.Payments.Disputes.Insert(ctx, again)
	})
	wantIndex(t, err, "disputes_processor_id")
	disputes := store.Read(t.Context()).Payments.Disputes
	if got, err := disputes.GetByProcessorID(t.Context(), first.ProcessorID); err != nil || got.ID != first.ID {
		t.Errorf("got %+v, %v", got, err)
	}
	_, err = disputes.GetByProcessorID(t.Context(), "dp_unknown")
	wantError(t, "an unknown id", err, ports.ErrNotFound)
	for paymentID, want := range map[string]int{first.PaymentID: 1, "pay_9": 0} {
		if list, err := disputes.List(t.Context(), creator, paymentID, ports.Page{Limit: 9}); err != nil ||
			len(list.Items) != want {
			t.Errorf("%d disputes of %s, %v; want %d", len(list.Items), paymentID, err, want)
		}
	}
}

func anInboundEventIsReceivedOnce(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	e := ports.ProcessorEvent{ID: "evt_1", Kind: ports.AboutPayment, ObjectID: "pay_1", CreatorID: creator}
	insert := func() (isNew bool) {
		t.Helper()
		atomically(t, store, func(ctx context.Context, r ports.Repos) (err error) {
			isNew, err = r.Payments.ProcessorEvents.Insert(ctx, e, catalogTime)
			return err
		})
		return isNew
	}
	if !insert() || insert() {
		t.Error("the first is new, the second is not")
	}
	if got, err := store.Read(t.Context()).Payments.ProcessorEvents.Get(t.Context(), "evt_1"); err != nil || got != e {
		t.Errorf("got %+v, %v; want %+v", got, err, e)
	}
	_, err := store.Read(t.Context()).Payments.ProcessorEvents.Get(t.Context(), "evt_2")
	wantError(t, "an unknown event", err, ports.ErrNotFound)
}
