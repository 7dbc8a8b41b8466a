package contract

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/core/civil"
	"sundry/core/payment"
	"sundry/core/subscription"
	"sundry/ports"
)

func subscriptionCases() storeCases {
	return storeCases{
		"movements are added up once":             movementsAreAddedUpOnce,
		"a checkout starts one subscription":      aCheckoutStartsOneSubscription,
		"subscriptions are found by their search": subscriptionsAreFoundByTheirSearch,
		"a quote is used by one transaction":      aQuoteIsUsedByOneTransaction,
		"a renewal buys a period once":            aRenewalBuysAPeriodOnce,
		"stalled subscriptions are found":         stalledSubscriptionsAreFound,
	}
}

func insertSubscriptions(t *testing.T, store StoreAdapter, subscriptions ...subscription.State) error {
	t.Helper()
	return store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
		for _, s := range subscriptions {
			if err := insertSubscription(ctx, r, s); err != nil {
				return err
			}
		}
		return nil
	})
}

func aCheckoutStartsOneSubscription(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	first, again := subscriptionState("1", creator), subscriptionState("2", creator)
	again.CheckoutID = first.CheckoutID
	if err := insertSubscriptions(t, store, first); err != nil {
		t.Fatal(err)
	}
	wantIndex(t, insertSubscriptions(t, store, again), "subscriptions_checkout_id")
	subscriptions := store.Read(t.Context()).Subscriptions.Subscriptions
	if got, err := subscriptions.GetByCheckout(t.Context(), first.CheckoutID); err != nil ||
		!reflect.DeepEqual(got, first) {
		t.Errorf("got %+v, %v; want %+v", got, err, first)
	}
	_, err := subscriptions.GetByCheckout(t.Context(), "cs_unknown")
	wantError(t, "another checkout's", err, ports.ErrNotFound)
}

func subscriptionsAreFoundByTheirSearch(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	ada, grace, other, elsewhere := subscriptionState("1", creator), subscriptionState("2", creator),
		subscriptionState("3", creator), subscriptionState("4", "crt_2")
	ada.ExternalCustomerID, ada.Status = "ada", subscription.StatusActive
	grace.ExternalCustomerID, grace.Status = "grace", subscription.StatusCanceled
	other.ExternalCustomerID, other.CustomerID, other.Status = "ada", ada.CustomerID, subscription.StatusCanceled
	if err := insertSubscriptions(t, store, ada, grace, other, elsewhere); err != nil {
		t.Fatal(err)
	}
	subscriptions := store.Read(t.Context()).Subscriptions.Subscriptions
	for name, c := range map[string]struct {
		filter ports.SubscriptionFilter
		want   []string
	}{
		"all":                  {ports.SubscriptionFilter{}, []string{"sub_3", "sub_2", "sub_1"}},
		"by customer":          {ports.SubscriptionFilter{CustomerID: ada.CustomerID}, []string{"sub_3", "sub_1"}},
		"by external customer": {ports.SubscriptionFilter{ExternalCustomerID: "grace"}, []string{"sub_2"}},
		"by status": {
			ports.SubscriptionFilter{Status: subscription.StatusCanceled}, []string{"sub_3", "sub_2"},
		},
		"by all of them": {
			ports.SubscriptionFilter{
				CustomerID: ada.CustomerID, ExternalCustomerID: "ada", Status: subscription.StatusActive,
			},
			[]string{"sub_1"},
		},
	} {
		c.filter.CreatorID = creator
		list, err := subscriptions.List(t.Context(), c.filter, ports.Page{Limit: 9})
		if got := subscriptionIDs(list.Items); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v; want %v", name, got, err, c.want)
		}
	}
	email := "" // of the customers, as insertSubscription makes them
	if found, err := store.Read(t.Context()).Customers.Customers.Get(t.Context(), grace.CustomerID); err == nil {
		email = found.Email
	}
	for name, c := range map[string]struct {
		external, email string
		want            []string
	}{
		"of a named buyer":      {"ada", "", []string{"sub_3", "sub_1"}},
		"named, with an e-mail": {"grace", email, []string{"sub_2"}},
		"of nobody":             {"", "", nil},
		"of an unknown address": {"", "nobody@example.com", nil},
	} {
		list, err := subscriptions.ListByBuyer(t.Context(), creator, c.external, c.email)
		if got := subscriptionIDs(list); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v; want %v", name, got, err, c.want)
		}
	}
	byAddress, err := subscriptions.ListByBuyer(t.Context(), creator, "", strings.ToUpper(email))
	if got := subscriptionIDs(byAddress); err != nil || email == "" || !slices.Contains(got, "sub_2") {
		t.Errorf("by the address %q in another case: %v, %v", email, got, err)
	}
	found, err := subscriptions.ListByCustomer(t.Context(), ada.CustomerID)
	if got := subscriptionIDs(found); err != nil || !slices.Equal(got, []string{"sub_3", "sub_1"}) {
		t.Errorf("of a customer: %v, %v", got, err)
	}
	first, err1 := subscriptions.ListAfter(t.Context(), "", 2)
	second, err2 := subscriptions.ListAfter(t.Context(), "sub_2", 2)
	if got := subscriptionIDs(append(first, second...)); errors.Join(err1, err2) != nil ||
		!slices.Equal(got, []string{"sub_1", "sub_2", "sub_3", "sub_4"}) {
		t.Errorf("two pages of all: %v, %v, %v", got, err1, err2)
	}
}

func subscriptionIDs(of []subscription.State) (ids []string) {
	for _, s := range of {
		ids = append(ids, s.ID)
	}
	return ids
}

// aQuoteIsUsedByOneTransaction has many transactions read a quote and use it: reading locks it.
func aQuoteIsUsedByOneTransaction(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	s, q := subscriptionState("1", creator), filled[subscription.Quote]()
	q.ID, q.CreatorID, q.SubscriptionID, q.UsedAt = "qt_1", creator, s.ID, time.Time{}
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		return errors.Join(insertSubscription(ctx, r, s), r.Subscriptions.Quotes.Insert(ctx, q))
	})
	get := func(id string) (got subscription.Quote, err error) {
		err = store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			got, err = r.Subscriptions.Quotes.Get(ctx, id)
			return err
		})
		return got, err
	}
	if got, err := get(q.ID); err != nil || !reflect.DeepEqual(got, q) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, q)
	}
	_, err := get("qt_unknown")
	wantError(t, "an unknown quote", err, ports.ErrNotFound)
	const rivals = 8
	results := make(chan bool, rivals)
	for range rivals {
		go func() {
			used := false
			err := store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
				used = false
				loaded, err := r.Subscriptions.Quotes.Get(ctx, q.ID)
				if err != nil || !loaded.UsedAt.IsZero() {
					return err
				}
				used, loaded.UsedAt = true, catalogTime
				return r.Subscriptions.Quotes.Update(ctx, loaded)
			})
			if err != nil {
				t.Error(err)
			}
			results <- used && err == nil
		}()
	}
	used := 0
	for range rivals {
		if <-results {
			used++
		}
	}
	if got, err := get(q.ID); err != nil || used != 1 || !got.UsedAt.Equal(catalogTime) {
		t.Errorf("%d used it, %+v, %v; want one", used, got, err)
	}
}

func aRenewalBuysAPeriodOnce(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	if err := insertSubscriptions(
		t, store, subscriptionState("1", creator), subscriptionState("2", creator),
	); err != nil {
		t.Fatal(err)
	}
	period := func(paymentID, subscriptionID string, kind subscription.ChargeKind, start time.Time) ports.PaidPeriod {
		p := filled[ports.PaidPeriod]()
		p.PaymentID, p.CreatorID, p.SubscriptionID, p.Kind, p.Start = paymentID, creator, subscriptionID, kind, start
		return p
	}
	insert := func(p ports.PaidPeriod) error {
		return store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			return r.Subscriptions.PaidPeriods.Insert(ctx, p)
		})
	}
	first := period("pay_1", "sub_1", subscription.Renewal, catalogTime)
	for _, p := range []ports.PaidPeriod{
		first, period("pay_2", "sub_1", subscription.Renewal, catalogTime.Add(time.Hour)), period("pay_3", "sub_2",
			subscription.Renewal, catalogTime),
		period("pay_4", "sub_1", subscription.PlanChange, catalogTime),
		period("pay_5", "sub_1", subscription.PlanChange,
			catalogTime),
	} {
		if err := insert(p); err != nil {
			t.Fatalf("%+v: %v", p, err)
		}
	}
	for _, p := range []ports.PaidPeriod{
		period("pay_6", "sub_1", subscription.Renewal, catalogTime), period("pay_6", "sub_1", subscription.Resumption,
			catalogTime),
		period("pay_1", "sub_1", subscription.PlanChange, catalogTime.Add(9*time.Hour)),
	} {
		wantError(t, "bought twice", insert(p), ports.ErrDuplicate)
	}
	periods := store.Read(t.Context()).Subscriptions.PaidPeriods
	if got, err := periods.Get(t.Context(), "pay_1"); err != nil || got != first {
		t.Errorf("got %+v, %v; want %+v", got, err, first)
	}
	_, err := periods.Get(t.Context(), "pay_6")
	wantError(t, "what was refused", err, ports.ErrNotFound)
}

// stalledSubscriptionsAreFound has a subscription for each way to a next step, and two without any.
func stalledSubscriptionsAreFound(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	var all []subscription.State
	for _, id := range []string{"1", "2", "3", "4", "5", "6"} {
		s := subscriptionState(id, creator)
		s.Status, s.Disputes = subscription.StatusActive, nil
		all = append(all, s)
	}
	all[0].Status = subscription.StatusCanceled
	all[1].Disputes = []subscription.OpenDispute{{ID: "dsp_1"}}
	if err := insertSubscriptions(t, store, all...); err != nil {
		t.Fatal(err)
	}
	settled := paymentState("6", creator)
	settled.Purpose, settled.SubjectID = payment.ForSubscription, "sub_6"
	if err := insertPayments(t, store, livePayment("4", creator, "sub_4"), settled); err != nil {
		t.Fatal(err)
	}
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		return r.Tasks.Ensure(ctx, "subscription.due", "sub_3", creator, catalogTime)
	})
	stalled, err := store.Read(t.Context()).Subscriptions.Audit.Stalled(t.Context(), 9)
	if err != nil || !slices.Equal(stalled, []string{"sub_5", "sub_6"}) {
		t.Errorf("%v, %v; want sub_5 and sub_6", stalled, err)
	}
}

// moved is a subscription with movements.
func moved(id, creatorID string, movements ...subscription.Movement) subscription.State {
	s := subscriptionState(id, creatorID)
	s.Offer.Price.Currency, s.StartedAt = "eur", catalogTime
	s.Movements, s.LastMovement, s.Counted = movements, int64(len(movements)), subscription.Counted{}
	for _, m := range movements {
		s.Counted.MRR += m.Minor
	}
	return s
}

// movementsBetween writes the creator's movements of some days after catalogTime, and how many there are.
func movementsBetween(t *testing.T, store StoreAdapter, from, to civil.Date) string {
	t.Helper()
	day := civil.DateIn(time.UTC, catalogTime)
	days, err := store.Read(t.Context()).Subscriptions.Movements.Sum(t.Context(), creator, day+from, day+to)
	if err != nil {
		t.Fatal(err)
	}
	sums, count := map[string]int64{}, int64(0)
	for _, d := range days {
		sums[fmt.Sprintf("%d %s %s", d.Day-day, d.Kind, d.Currency)] += d.Minor
		count += d.Count
	}
	return fmt.Sprint(sums, count)
}

// rollUp adds a subscription's movements to their days, unless somebody else did.
func rollUp(ctx context.Context, r ports.Repos, one ports.UnrolledSubscription) (ok bool, err error) {
	if ok, err = r.Subscriptions.Movements.SetRolled(ctx, one); !ok || err != nil {
		return ok, err
	}
	var days []ports.MovementDay
	for _, m := range one.Unrolled(one.Rolled) {
		days = append(days, ports.MovementDay{
			CreatorID: one.CreatorID, Day: civil.DateIn(time.UTC, m.At), Currency: "eur", Kind: m.Kind, Minor: m.Minor,
			Count: 1,
		})
	}
	return true, r.Subscriptions.Movements.Add(ctx, days)
}

// wantMovements checks the sums of two subscriptions that began on the same day, one of which grew two days later.
func wantMovements(t *testing.T, store StoreAdapter, when string) {
	t.Helper()
	for name, c := range map[string]struct {
		from, to civil.Date
		want     string
	}{
		"all":           {0, 9, "map[0 new eur:1000 2 expansion eur:40] 3"},
		"a beginning":   {0, 1, "map[0 new eur:1000] 2"},
		"with a past":   {1, 9, "map[0 new eur:1000 2 expansion eur:40] 3"},
		"only a past":   {5, 9, "map[4 expansion eur:40 4 new eur:1000] 3"},
		"a time before": {-9, -1, "map[] 0"},
	} {
		if got := movementsBetween(t, store, c.from, c.to); got != c.want {
			t.Errorf("%s: %s: %s, want %s", when, name, got, c.want)
		}
	}
}

func movementsAreAddedUpOnce(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	begun := subscription.Movement{N: 1, At: catalogTime, Kind: subscription.NewRevenue, Minor: 500}
	grown := subscription.Movement{N: 2, At: catalogTime.Add(48 * time.Hour), Kind: subscription.Expansion, Minor: 40}
	first, second, other := moved("1", creator, begun), moved("2", creator, begun, grown), moved("3", "crt_2", begun)
	if err := insertSubscriptions(t, store, first, second, other); err != nil {
		t.Fatal(err)
	}
	wantMovements(t, store, "before they are added up")
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		some, err := r.Subscriptions.Movements.ListUnrolled(ctx, 1)
		if err != nil || len(some) != 1 || some[0].ID != first.ID || some[0].Rolled != -1 {
			t.Fatalf("listed %+v, %v; want the first", some, err)
		}
		for _, want := range []bool{true, false} {
			if ok, err := rollUp(ctx, r, some[0]); ok != want || err != nil {
				t.Errorf("added up %t, %v; want %t", ok, err, want)
			}
		}
		return nil
	})
	wantMovements(t, store, "with one that is added up")
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		rest, err := r.Subscriptions.Movements.ListUnrolled(ctx, 9)
		if err != nil || len(rest) != 2 {
			t.Fatalf("listed %+v, %v; want the other two", rest, err)
		}
		for _, one := range rest {
			_, rolled := rollUp(ctx, r, one)
			err = errors.Join(err, rolled)
		}
		return err
	})
	wantMovements(t, store, "with all added up")
	first.Movements, first.LastMovement, first.Revision = append(first.Movements, grown), 2, 2
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		return r.Subscriptions.Subscriptions.Update(ctx, first)
	})
	if got, want := movementsBetween(t, store, 0, 9), "map[0 new eur:1000 2 expansion eur:80] 4"; got != want {
		t.Errorf("after one more: %s, want %s", got, want)
	}
}
