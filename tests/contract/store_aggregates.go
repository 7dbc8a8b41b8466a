package contract

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"sundry/core/cardsetup"
	"sundry/core/checkout"
	"sundry/core/customer"
	"sundry/core/dispute"
	"sundry/core/invoice"
	"sundry/core/ledger"
	"sundry/core/metadata"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/paymentmethod"
	"sundry/core/payout"
	"sundry/core/plan"
	"sundry/core/refund"
	"sundry/core/subscription"
	"sundry/core/usage"
	"sundry/ports"
)

// aggregate is a repository of what is inserted, read by its id and updated by its revision, with the rules that all of
// these keep.
type aggregate[S any] struct {
	// make returns a state with every stored member set.
	make func(id, creatorID string) S
	// change sets what may be another later.
	change func(s *S)
	// key returns the id and the revision.
	key    func(s *S) (id string, revision *int64)
	insert func(ctx context.Context, r ports.Repos, s S) error
	get    func(ctx context.Context, r ports.Repos, s S) (S, error)
	update func(ctx context.Context, r ports.Repos, s S) error
	// list is nil where nothing is listed.
	list func(ctx context.Context, r ports.Repos, creatorID string, page ports.Page) (ports.List[S], error)
}

// aggregateCases has one case per aggregate.
func aggregateCases() storeCases {
	return storeCases{
		"a sale":             salesKept().keepsItsRules,
		"a payout":           payoutsKept().keepsItsRules,
		"a payout account":   payoutAccountsKept().keepsItsRules,
		"a payment":          paymentsKept().keepsItsRules,
		"a saved card":       cardsKept().keepsItsRules,
		"a card setup":       setupsKept().keepsItsRules,
		"a refund":           refundsKept().keepsItsRules,
		"a dispute":          disputesKept().keepsItsRules,
		"a checkout session": sessionsKept().keepsItsRules,
		"a customer":         customersKept().keepsItsRules,
		"a subscription":     subscriptionsKept().keepsItsRules,
		"a billing plan":     billingPlansKept().keepsItsRules,
		"an invoice":         invoicesKept().keepsItsRules,
		"a file":             filesKept().keepsItsRules,
		"a second step":      secondStepsKept().keepsItsRules,
		"a usage credit":     usageCreditsKept().keepsItsRules,

		"a payment in its transaction":          paymentsKept().isReadAsWritten,
		"a checkout session in its transaction": sessionsKept().isReadAsWritten,
		"a customer in its transaction":         customersKept().isReadAsWritten,
	}
}

func (a aggregate[S]) keepsItsRules(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	first := a.make("1", creator)
	a.wantMissing(t, store, first)
	atomically(t, store, func(ctx context.Context, r ports.Repos) error { return a.insert(ctx, r, first) })
	a.want(t, store, first)

	changed := first
	a.change(&changed)
	_, revision := a.key(&changed)
	*revision++
	atomically(t, store, func(ctx context.Context, r ports.Repos) error { return a.update(ctx, r, changed) })
	a.want(t, store, changed)
	stale := first // somebody who has read what it was before
	_, revision = a.key(&stale)
	*revision++
	wantStale(t, store, func(ctx context.Context, r ports.Repos) error { return a.update(ctx, r, stale) })
	wantStale(t, store, func(ctx context.Context, r ports.Repos) error {
		return a.update(ctx, r, a.make("unknown", creator))
	})
	a.want(t, store, changed)

	undo := errors.New("undo")
	err := store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
		return errors.Join(undo, a.insert(ctx, r, a.make("2", creator)))
	})
	wantError(t, "a transaction that is undone", err, undo)
	a.wantMissing(t, store, a.make("2", creator))
	a.isListed(t, store, changed)
}

// isReadAsWritten is for what a store may keep in memory until the transaction ends.
func (a aggregate[S]) isReadAsWritten(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	s := a.make("1", creator)
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		err := a.insert(ctx, r, s)
		for range 2 {
			a.wantIn(ctx, t, r, s)
			a.change(&s)
			_, revision := a.key(&s)
			*revision++
			err = errors.Join(err, a.update(ctx, r, s))
		}
		a.wantIn(ctx, t, r, s)
		return err
	})
	a.want(t, store, s)
}

func (a aggregate[S]) want(t *testing.T, store StoreAdapter, want S) {
	t.Helper()
	a.wantIn(t.Context(), t, store.Read(t.Context()), want)
}

func (a aggregate[S]) wantIn(ctx context.Context, t *testing.T, r ports.Repos, want S) {
	t.Helper()
	if got, err := a.get(ctx, r, want); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
	}
}

func (a aggregate[S]) wantMissing(t *testing.T, store StoreAdapter, s S) {
	t.Helper()
	_, err := a.get(t.Context(), store.Read(t.Context()), s)
	wantError(t, "what is not there", err, ports.ErrNotFound)
}

// isListed reads the account's list page by page: newest first, and nothing of others.
func (a aggregate[S]) isListed(t *testing.T, store StoreAdapter, first S) {
	t.Helper()
	if a.list == nil {
		return
	}
	var want []S
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		want = []S{first}
		for _, id := range []string{"2", "3", "4", "5"} {
			s := a.make(id, creator)
			want = append(want, s)
			if err := a.insert(ctx, r, s); err != nil {
				return err
			}
		}
		return a.insert(ctx, r, a.make("6", "crt_2"))
	})
	slices.Reverse(want)
	var got []S
	page := ports.Page{Limit: 2}
	for range want {
		list, err := a.list(t.Context(), store.Read(t.Context()), creator, page)
		if err != nil || len(list.Items) > page.Limit {
			t.Fatalf("a page of %d, %v", len(list.Items), err)
		}
		got = append(got, list.Items...)
		if page.After = list.Next; page.After == (ports.Cursor{}) {
			break
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("listed\n%+v\nwant\n%+v", got, want)
	}
	if list, err := a.list(t.Context(), store.Read(t.Context()), "crt_3", page); err != nil || len(list.Items) != 0 {
		t.Errorf("an account without any lists %+v, %v", list.Items, err)
	}
}

// wantStale fails unless a transaction with this write runs again. That is the sign of a stale revision, which may be
// reported by the write, by a later statement or by the commit.
func wantStale(t *testing.T, store StoreAdapter, write func(ctx context.Context, r ports.Repos) error) {
	t.Helper()
	again := errors.New("runs again")
	runs := 0
	err := store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
		if runs++; runs > 1 {
			return again
		}
		return write(ctx, r)
	})
	if !errors.Is(err, again) {
		t.Errorf("a stale write: %v, want the transaction to run again", err)
	}
}

// filled returns a value with every exported member set, so that one that is not stored shows.
func filled[T any]() (filled T) {
	setAll(reflect.ValueOf(&filled).Elem(), 1)
	return filled
}

// setAll sets a value and what is in it. Times are whole milliseconds and amounts are of one currency, as all that is
// stored.
func setAll(v reflect.Value, n int) {
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(catalogTime.Add(time.Duration(n) * time.Minute)))
		return
	case money.Currency:
		v.SetString("eur")
		return
	case metadata.Pairs:
		v.Set(reflect.ValueOf(metadata.New(map[string]string{"order": "7"})))
		return
	case plan.Terms: // what it contains has a form of its own
		v.Set(reflect.ValueOf(plan.Terms{
			Entitlements: []plan.Entitlement{{Key: "export", Type: plan.Boolean, Bool: true}},
		}))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprint("x", n))
	case reflect.Int, reflect.Int64, reflect.Int32:
		v.SetInt(int64(n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint8:
		v.SetUint(7)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		setAll(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		setAll(v.Index(0), n)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		setAll(key, n)
		setAll(value, n)
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				setAll(v.Field(i), n+i)
			}
		}
	default:
	}
}

func salesKept() aggregate[ledger.SaleState] {
	return aggregate[ledger.SaleState]{
		make: func(id, creatorID string) ledger.SaleState {
			s := filled[ledger.SaleState]()
			s.PaymentID, s.CreatorID, s.Revision = "pay_"+id, creatorID, 1
			s.Total.Minor, s.Tax.Minor, s.Returned.Minor, s.ReturnedTax.Minor = 1000, 100, 90, 9
			return s
		},
		change: func(s *ledger.SaleState) {
			s.Pending.Minor, s.Returned.Minor, s.ReturnedTax.Minor, s.Refunded.Minor, s.Lost.Minor = -5, 200, 20, 150, 50
			s.DisputeID, s.Disputed.Amount.Minor, s.Disputed.Tax.Minor, s.Released = "", 0, 0, false
		},
		key: func(s *ledger.SaleState) (string, *int64) { return s.PaymentID, &s.Revision },
		insert: func(ctx context.Context, r ports.Repos, s ledger.SaleState) error {
			return r.Treasury.Sales.Insert(ctx, s)
		},
		get: func(ctx context.Context, r ports.Repos, s ledger.SaleState) (ledger.SaleState, error) {
			return r.Treasury.Sales.Get(ctx, s.PaymentID)
		},
		update: func(ctx context.Context, r ports.Repos, s ledger.SaleState) error {
			return r.Treasury.Sales.Update(ctx, s)
		},
	}
}

func payoutsKept() aggregate[payout.State] {
	return aggregate[payout.State]{
		make: func(id, creatorID string) payout.State {
			s := filled[payout.State]()
			s.ID, s.CreatorID, s.Revision, s.StatementURL = "po_"+id, creatorID, 1, ""
			return s
		},
		change: func(s *payout.State) {
			s.Status, s.FailureReason, s.PaidAt, s.FailedAt = payout.Failed, "returned", time.Time{}, catalogTime
		},
		key: func(s *payout.State) (string, *int64) { return s.ID, &s.Revision },
		insert: func(ctx context.Context, r ports.Repos, s payout.State) error {
			return r.Treasury.Payouts.Insert(ctx, s)
		},
		get: func(ctx context.Context, r ports.Repos, s payout.State) (payout.State, error) {
			return r.Treasury.Payouts.Get(ctx, s.ID)
		},
		update: func(ctx context.Context, r ports.Repos, s payout.State) error {
			return r.Treasury.Payouts.Update(ctx, s)
		},
		list: func(
			ctx context.Context, r ports.Repos, creatorID string, page ports.Page,
		) (ports.List[payout.State], error) {
			return r.Treasury.Payouts.List(ctx, creatorID, "", page)
		},
	}
}

func payoutAccountsKept() aggregate[payout.AccountState] {
	return aggregate[payout.AccountState]{
		make: func(id, creatorID string) payout.AccountState {
			s := filled[payout.AccountState]()
			s.ID, s.CreatorID, s.Revision = "acct_"+id, creatorID+"/"+id, 1
			return s
		},
		change: func(s *payout.AccountState) {
			s.ID, s.Country, s.Status, s.RequirementsDue, s.DisabledReason = "acct_9", "DE", payout.AccountReady, []string{"a",
				"b"}, ""
			s.UpdatedAt = catalogTime.Add(time.Hour)
		},
		key: func(s *payout.AccountState) (string, *int64) { return s.CreatorID, &s.Revision },
		insert: func(ctx context.Context, r ports.Repos, s payout.AccountState) error {
			return r.Treasury.Accounts.Insert(ctx, s)
		},
		get: func(ctx context.Context, r ports.Repos, s payout.AccountState) (payout.AccountState, error) {
			return r.Treasury.Accounts.Get(ctx, s.CreatorID)
		},
		update: func(ctx context.Context, r ports.Repos, s payout.AccountState) error {
			return r.Treasury.Accounts.Update(ctx, s)
		},
	}
}

// paymentState is an attempt with every member set; each has a subject of its own.
func paymentState(id, creatorID string) payment.State {
	s := filled[payment.State]()
	s.ID, s.CreatorID, s.Revision, s.SubjectID, s.Purpose = "pay_"+id, creatorID, 1, "sub_"+id, payment.ForSubscription
	s.Sale.ReceiptNumber = "R-" + id
	return s
}

func paymentsKept() aggregate[payment.State] {
	return aggregate[payment.State]{
		make: paymentState,
		change: func(s *payment.State) {
			s.Status, s.Decline, s.ProcessorID, s.Method, s.Brand, s.Last4 = payment.Succeeded, payment.DeclineReason{},
				"pi_2", "tok_2", "amex", "0005"
			s.CustomerID, s.Sale.ReceiptNumber = "cus_2", "R-2nd"
			s.SettledAt, s.Refunded.Minor, s.ProcessorFee.Minor = catalogTime.Add(time.Hour), 7, 8
		},
		key: func(s *payment.State) (string, *int64) { return s.ID, &s.Revision },
		insert: func(ctx context.Context, r ports.Repos, s payment.State) error {
			return r.Payments.Payments.Insert(ctx, s)
		},
		get: func(ctx context.Context, r ports.Repos, s payment.State) (payment.State, error) {
			return r.Payments.Payments.Get(ctx, s.ID)
		},
		update: func(ctx context.Context, r ports.Repos, s payment.State) error {
			return r.Payments.Payments.Update(ctx, s)
		},
		list: func(
			ctx context.Context, r ports.Repos, creatorID string, page ports.Page,
		) (ports.List[payment.State], error) {
			found, err := r.Payments.Payments.List(ctx, creatorID, ports.PaymentSearch{}, page)
			list := ports.List[payment.State]{Next: found.Next, Last: found.Last}
			for _, p := range found.Items {
				list.Items = append(list.Items, p.State)
			}
			return list, err
		},
	}
}

func cardsKept() aggregate[paymentmethod.State] {
	return aggregate[paymentmethod.State]{
		make: func(id, creatorID string) paymentmethod.State {
			s := filled[paymentmethod.State]()
			s.ID, s.CreatorID, s.Revision, s.RemovedAt = "pm_"+id, creatorID, 1, time.Time{}
			return s
		},
		change: func(s *paymentmethod.State) { s.RemovedAt = catalogTime.Add(time.Hour) },
		key:    func(s *paymentmethod.State) (string, *int64) { return s.ID, &s.Revision },
		insert: func(ctx context.Context, r ports.Repos, s paymentmethod.State) error {
			return r.Payments.PaymentMethods.Insert(ctx, s)
		},
		get: func(ctx context.Context, r ports.Repos, s paymentmethod.State) (paymentmethod.State, error) {
			return r.Payments.PaymentMethods.Get(ctx, s.ID)
		},
		update: func(ctx context.Context, r ports.Repos, s paymentmethod.State) error {
			return r.Payments.PaymentMethods.Update(ctx, s)
		},
	}
}

func setupsKept() aggregate[cardsetup.State] {
	return aggregate[cardsetup.State]{
		make: func(id, creatorID string) cardsetup.State {
			s := filled[cardsetup.State]()
			s.ID, s.CreatorID, s.Revision = "seti_"+id, creatorID, 1
			return s
		},
		change: func(s *cardsetup.State) {
			s.Status, s.AttemptID, s.ProcessorID, s.Mandate, s.PaymentMethodID = "completed", "a2", "p2", "m2", "pm_2"
			s.LastError = payment.DeclineReason{}
		},
		key: func(s *cardsetup.State) (string, *int64) { return s.ID, &s.Revision },
		insert: func(ctx context.Context, r ports.Repos, s cardsetup.State) error {
			return r.Payments.CardSetups.Insert(ctx, s)
		},
		get: func(ctx context.Context, r ports.Repos, s cardsetup.State) (cardsetup.State, error) {
			return r.Payments.CardSetups.Get(ctx, s.ID)
		},
		update: func(ctx context.Context, r ports.Repos, s cardsetup.State) error {
			return r.Payments.CardSetups.Update(ctx, s)
		},
	}
}

// refundState is a refund with every member set; each has numbers of its own.
func refundState(id, creatorID string) refund.State {
	s := filled[refund.State]()
	s.ID, s.CreatorID, s.Revision, s.CreditNoteURL = "ref_"+id, creatorID, 1, ""
	s.ProcessorID, s.CreditNoteNumber, s.RequestKey = "re_"+id, "C-"+id, "k"+id
	return s
}

func refundsKept() aggregate[refund.State] {
	return aggregate[refund.State]{
		make: refundState,
		change: func(s *refund.State) {
			s.Status, s.FailureReason, s.CreditNoteNumber, s.Full, s.SettledAt = refund.Failed, "closed", "C-2nd", false,
				time.Time{}
		},
		key: func(s *refund.State) (string, *int64) { return s.ID, &s.Revision },
		insert: func(ctx context.Context, r ports.Repos, s refund.State) error {
			return r.Payments.Refunds.Insert(ctx, s)
		},
		get: func(ctx context.Context, r ports.Repos, s refund.State) (refund.State, error) {
			return r.Payments.Refunds.Get(ctx, s.ID)
		},
		update: func(ctx context.Context, r ports.Repos, s refund.State) error {
			return r.Payments.Refunds.Update(ctx, s)
		},
		list: func(
			ctx context.Context, r ports.Repos, creatorID string, page ports.Page,
		) (ports.List[refund.State], error) {
			return r.Payments.Refunds.List(ctx, creatorID, "", page)
		},
	}
}

// disputeState is a dispute with every member set; each has a processor's id of its own.
func disputeState(id, creatorID string) dispute.State {
	s := filled[dispute.State]()
	s.ID, s.CreatorID, s.Revision, s.ProcessorID = "dsp_"+id, creatorID, 1, "dp_"+id
	return s
}

func disputesKept() aggregate[dispute.State] {
	return aggregate[dispute.State]{
		make: disputeState,
		change: func(s *dispute.State) {
			s.Status, s.Response, s.Evidence, s.ClosedAt = dispute.Won, dispute.NoResponse, dispute.Evidence{}, time.Time{}
		},
		key: func(s *dispute.State) (string, *int64) { return s.ID, &s.Revision },
		insert: func(ctx context.Context, r ports.Repos, s dispute.State) error {
			return r.Payments.Disputes.Insert(ctx, s)
		},
		get: func(ctx context.Context, r ports.Repos, s dispute.State) (dispute.State, error) {
			return r.Payments.Disputes.Get(ctx, s.ID)
		},
		update: func(ctx context.Context, r ports.Repos, s dispute.State) error {
			return r.Payments.Disputes.Update(ctx, s)
		},
		list: func(
			ctx context.Context, r ports.Repos, creatorID string, page ports.Page,
		) (ports.List[dispute.State], error) {
			return r.Payments.Disputes.List(ctx, creatorID, "", page)
		},
	}
}

// sessionState is a session with every member set.
func sessionState(id, creatorID string) checkout.State {
	s := filled[checkout.State]()
	s.ID, s.CreatorID, s.Revision, s.DiscountTerms = "cs_"+id, creatorID, 1, nil
	s.TrialDropped = false // with it the offer has no trial
	return s
}

func sessionsKept() aggregate[checkout.State] {
	return aggregate[checkout.State]{
		make: sessionState,
		change: func(s *checkout.State) {
			s.Email, s.Buyer, s.Slots, s.Status = "b@example.com", customer.Details{Name: "B"}, []checkout.AppointmentSlot{},
				checkout.StatusPaid
			s.TrialDropped, s.Offer.TrialDays = true, 0
			s.Discount.Minor, s.Tax.Minor, s.Total.Minor, s.Attempts, s.LivePaymentID = 1, 2, 3, 9, ""
			s.LastError, s.PaymentID, s.CustomerID, s.SubscriptionID = payment.DeclineReason{}, "pay_9", "cus_9", "sub_9"
			s.ReceiptNumber, s.PaidAt, s.ExpiresAt = "R-9", catalogTime, catalogTime.Add(time.Hour)
		},
		key: func(s *checkout.State) (string, *int64) { return s.ID, &s.Revision },
		insert: func(ctx context.Context, r ports.Repos, s checkout.State) error {
			return r.Checkout.Sessions.Insert(ctx, s)
		},
		get: func(ctx context.Context, r ports.Repos, s checkout.State) (checkout.State, error) {
			return r.Checkout.Sessions.Get(ctx, s.ID)
		},
		update: func(ctx context.Context, r ports.Repos, s checkout.State) error {
			return r.Checkout.Sessions.Update(ctx, s)
		},
		list: func(ctx context.Context, r ports.Repos, creatorID string, page ports.Page) (ports.List[checkout.State],
			error) {
			return r.Checkout.Sessions.List(ctx, creatorID, ports.SessionSearch{}, page)
		},
	}
}

// customerState is a customer with every member set; each has an external id of its own.
func customerState(id, creatorID string) customer.State {
	s := filled[customer.State]()
	s.ID, s.CreatorID, s.Revision, s.ExternalCustomerID = "cus_"+id, creatorID, 1, "user-"+id
	return s
}

func customersKept() aggregate[customer.State] {
	return aggregate[customer.State]{
		make: customerState,
		change: func(s *customer.State) {
			s.ExternalCustomerID, s.Email, s.DisplayName, s.Details = "", "b@example.com", "B",
				customer.Details{Address: customer.Address{Country: "DE"}}
			s.Metadata = metadata.Pairs{}
			s.UpdatedAt = catalogTime.Add(time.Hour)
		},
		key: func(s *customer.State) (string, *int64) { return s.ID, &s.Revision },
		insert: func(ctx context.Context, r ports.Repos, s customer.State) error {
			return r.Customers.Customers.Insert(ctx, s)
		},
		get: func(ctx context.Context, r ports.Repos, s customer.State) (customer.State, error) {
			return r.Customers.Customers.Get(ctx, s.ID)
		},
		update: func(ctx context.Context, r ports.Repos, s customer.State) error {
			return r.Customers.Customers.Update(ctx, s)
		},
		list: func(ctx context.Context, r ports.Repos, creatorID string, page ports.Page) (ports.List[customer.State],
			error) {
			return r.Customers.Customers.List(ctx, ports.CustomerFilter{CreatorID: creatorID}, page)
		},
	}
}

// subscriptionState is a subscription with every member set; each has a checkout of its own.
func subscriptionState(id, creatorID string) subscription.State {
	s := filled[subscription.State]()
	s.ID, s.CreatorID, s.Revision, s.CheckoutID, s.CustomerID = "sub_"+id, creatorID, 1, "cs_"+id, "cus_"+id
	return s
}

// insertSubscription writes a subscription with its customer.
func insertSubscription(ctx context.Context, r ports.Repos, s subscription.State) error {
	_, err := r.Customers.Customers.Get(ctx, s.CustomerID)
	if errors.Is(err, ports.ErrNotFound) {
		c := customerState("1", s.CreatorID)
		c.ID, c.ExternalCustomerID = s.CustomerID, ""
		err = r.Customers.Customers.Insert(ctx, c)
	}
	if err != nil {
		return err
	}
	return r.Subscriptions.Subscriptions.Insert(ctx, s)
}

func subscriptionsKept() aggregate[subscription.State] {
	return aggregate[subscription.State]{
		make: subscriptionState,
		change: func(s *subscription.State) {
			s.Status, s.Planned, s.Discount, s.Charge, s.CancelAtPeriodEnd = subscription.StatusCanceled, nil, nil, nil, false
			s.Dunning, s.Credit.Minor, s.PeriodValue.Minor = subscription.Dunning{}, 5, 6
			s.PausedAt, s.EndedAt, s.CanceledAt = time.Time{}, catalogTime, catalogTime
		},
		key:    func(s *subscription.State) (string, *int64) { return s.ID, &s.Revision },
		insert: insertSubscription,
		get: func(ctx context.Context, r ports.Repos, s subscription.State) (subscription.State, error) {
			return r.Subscriptions.Subscriptions.Get(ctx, s.ID)
		},
		update: func(ctx context.Context, r ports.Repos, s subscription.State) error {
			return r.Subscriptions.Subscriptions.Update(ctx, s)
		},
		list: func(ctx context.Context, r ports.Repos, creatorID string, page ports.Page) (ports.List[subscription.State],
			error) {
			return r.Subscriptions.Subscriptions.List(ctx, ports.SubscriptionFilter{CreatorID: creatorID}, page)
		},
	}
}

// billingPlanState is a plan with every member set; each has a meter of its own.
func billingPlanState(id, creatorID string) usage.PlanState {
	s := filled[usage.PlanState]()
	s.ID, s.CreatorID, s.Revision, s.MeterID, s.PriceID = "ubp_"+id, creatorID, 1, "mtr_"+id, "pri_"+id
	s.Schedule.Count = 1 // a billing interval is one of its units
	return s
}

// insertBillingPlan writes a plan with its meter, product and price.
func insertBillingPlan(ctx context.Context, r ports.Repos, s usage.PlanState) error {
	meter, product, price := filled[usage.Meter](), filled[usage.Product](), filled[usage.Price]()
	meter.ID, meter.CreatorID, meter.EventName = s.MeterID, s.CreatorID, s.MeterID
	product.ID, product.CreatorID = "prd_"+s.ID, s.CreatorID
	price.ID, price.CreatorID, price.ProductID = s.PriceID, s.CreatorID, product.ID
	return cmp.Or(r.Usage.Catalog.InsertMeter(ctx, meter), r.Usage.Catalog.InsertProduct(ctx, product),
		r.Usage.Catalog.InsertPrice(ctx, price), r.Usage.Plans.Insert(ctx, s))
}

func billingPlansKept() aggregate[usage.PlanState] {
	return aggregate[usage.PlanState]{
		make: billingPlanState,
		change: func(s *usage.PlanState) {
			s.Status, s.Current, s.Schedule.EndsAt = usage.PlanEnded, usage.Period{Start: catalogTime,
				End: catalogTime.Add(time.Hour)}, catalogTime
		},
		key:    func(s *usage.PlanState) (string, *int64) { return s.ID, &s.Revision },
		insert: insertBillingPlan,
		get: func(ctx context.Context, r ports.Repos, s usage.PlanState) (usage.PlanState, error) {
			return r.Usage.Plans.Get(ctx, s.CreatorID, s.ID)
		},
		update: func(ctx context.Context, r ports.Repos, s usage.PlanState) error { return r.Usage.Plans.Update(ctx, s) },
		list: func(ctx context.Context, r ports.Repos, creatorID string, page ports.Page) (ports.List[usage.PlanState],
			error) {
			return r.Usage.Plans.List(ctx, creatorID, "", page)
		},
	}
}

// invoiceState is an invoice with every member set; each has a key, a number and a period of its own.
func invoiceState(id, creatorID string) invoice.State {
	s := filled[invoice.State]()
	s.ID, s.CreatorID, s.Revision, s.Links = "inv_"+id, creatorID, 1, invoice.Links{}
	s.Key, s.Number, s.PeriodStart = "k"+id, "I-"+id, "p"+id
	return s
}

func invoicesKept() aggregate[invoice.State] {
	return aggregate[invoice.State]{
		make: invoiceState,
		change: func(s *invoice.State) {
			s.Status, s.AttemptCount, s.FirstFailedAt, s.NextAttemptAt = invoice.Paid, 9, time.Time{}, time.Time{}
			s.DeclineCode, s.PaymentID, s.PaidAt = "", "pay_9", catalogTime.Add(time.Hour)
		},
		key: func(s *invoice.State) (string, *int64) { return s.ID, &s.Revision },
		insert: func(ctx context.Context, r ports.Repos, s invoice.State) error {
			return r.Invoicing.Invoices.Insert(ctx, s)
		},
		get: func(ctx context.Context, r ports.Repos, s invoice.State) (invoice.State, error) {
			return r.Invoicing.Invoices.Get(ctx, s.ID)
		},
		update: func(ctx context.Context, r ports.Repos, s invoice.State) error {
			return r.Invoicing.Invoices.Update(ctx, s)
		},
		list: func(
			ctx context.Context, r ports.Repos, creatorID string, page ports.Page,
		) (ports.List[invoice.State], error) {
			return r.Invoicing.Invoices.List(ctx, creatorID, ports.InvoiceSearch{}, page)
		},
	}
}
