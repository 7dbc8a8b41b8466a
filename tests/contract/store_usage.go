package contract

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/core/period"
	"sundry/core/usage"
	"sundry/ports"
)

func usageCases() storeCases {
	return storeCases{
		"meters, products and prices are kept":         metersProductsAndPricesAreKept,
		"a meter is billed once per subscription":      aMeterIsBilledOncePerSubscription,
		"a stream is changed from its latest version":  aStreamIsChangedFromItsLatestVersion,
		"a report is accepted once per key":            aReportIsAcceptedOncePerKey,
		"reports are listed in windows":                reportsAreListedInWindows,
		"reports of an account are listed":             reportsOfAnAccountAreListed,
		"reports at once are counted once each":        reportsAtOnceAreCountedOnceEach,
		"a void report is not counted":                 aVoidReportIsNotCounted,
		"what was billed is told from what is counted": whatWasBilledIsToldFromWhatIsCounted,
		"an alert is reached once in a period":         anAlertIsReachedOnceInAPeriod,
		"what is left of credits is found":             whatIsLeftOfCreditsIsFound,
		"use is told apart by dimensions":              useIsToldApartByDimensions,
		"combinations of values are bounded":           combinationsOfValuesAreBounded,
		"parts are unsettled when they change":         partsAreUnsettledWhenTheyChange,
	}
}

func metersProductsAndPricesAreKept(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	ctx, catalog := t.Context(), store.Read(t.Context()).Usage.Catalog
	var tiers usage.Tiers
	if err := json.Unmarshal([]byte(`[{"upTo":10,"unitAmountDecimal":"1.5"},{"upTo":null,"unitAmountDecimal":"0.25"}]`),
		&tiers); err != nil {
		t.Fatal(err)
	}
	entry := func(id, creatorID string) (usage.Meter, usage.Product, usage.Price) {
		m, p, price := filled[usage.Meter](), filled[usage.Product](), filled[usage.Price]()
		m.ID, m.CreatorID, m.EventName = "mtr_"+id, creatorID, "calls-"+id
		p.ID, p.CreatorID = "prd_"+id, creatorID
		price.ID, price.CreatorID, price.ProductID, price.Tiers = "pri_"+id, creatorID, p.ID, tiers
		price.TiersMode = usage.Package
		return m, p, price
	}
	insert := func(id, creatorID string) error {
		m, p, price := entry(id, creatorID)
		return store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
			return errors.Join(r.Usage.Catalog.InsertMeter(ctx, m), r.Usage.Catalog.InsertProduct(ctx, p),
				r.Usage.Catalog.InsertPrice(ctx, price))
		})
	}
	for _, id := range []string{"1", "2", "3"} {
		if err := insert(id, creator); err != nil {
			t.Fatal(err)
		}
	}
	if err := insert("4", "crt_2"); err != nil {
		t.Fatal(err)
	}
	m, p, price := entry("2", creator)
	gotMeter, err1 := catalog.GetMeter(ctx, creator, m.ID)
	byEvent, err2 := catalog.GetMeterByEvent(ctx, creator, m.EventName)
	gotProduct, err3 := catalog.GetProduct(ctx, creator, p.ID)
	gotPrice, err4 := catalog.GetPrice(ctx, creator, price.ID)
	if err := errors.Join(err1, err2, err3, err4); err != nil || !reflect.DeepEqual(gotMeter, m) ||
		!reflect.DeepEqual(byEvent, m) || gotProduct != p || !reflect.DeepEqual(gotPrice, price) {
		t.Errorf("got %+v, %+v, %+v, %+v, %v", gotMeter, byEvent, gotProduct, gotPrice, err)
	}
	_, err1 = catalog.GetMeter(ctx, "crt_2", m.ID)
	_, err2 = catalog.GetMeterByEvent(ctx, "crt_2", m.EventName)
	_, err3 = catalog.GetProduct(ctx, "crt_2", p.ID)
	_, err4 = catalog.GetPrice(ctx, "crt_2", price.ID)
	for _, err := range []error{err1, err2, err3, err4} {
		wantError(t, "another account's", err, ports.ErrNotFound)
	}
	again, _, _ := entry("9", creator)
	again.EventName = m.EventName
	wantIndex(t, store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		return r.Usage.Catalog.InsertMeter(ctx, again)
	}),
		"usage_meters_creator_id_event_name")

	first, err1 := catalog.ListMeters(ctx, creator, ports.Page{Limit: 2})
	rest, err2 := catalog.ListMeters(ctx, creator, ports.Page{Limit: 2, After: first.Next})
	products, err3 := catalog.ListProducts(ctx, creator, ports.Page{Limit: 9})
	prices, err4 := catalog.ListPrices(ctx, creator, ports.Page{Limit: 9})
	var got []string
	for _, m := range append(first.Items, rest.Items...) {
		got = append(got, m.ID)
	}
	for _, p := range products.Items {
		got = append(got, p.ID)
	}
	for _, p := range prices.Items {
		got = append(got, p.ID)
	}
	if err := errors.Join(err1, err2, err3, err4); err != nil ||
		strings.Join(got, " ") != "mtr_3 mtr_2 mtr_1 prd_3 prd_2 prd_1 pri_3 pri_2 pri_1" {
		t.Errorf("listed %s, %v", got, err)
	}
}

func aMeterIsBilledOncePerSubscription(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	insert := func(id, subscriptionID, meterID string) error {
		p := billingPlanState(id, creator)
		p.SubscriptionID = subscriptionID
		return store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			if meterID == "" {
				return insertBillingPlan(ctx, r, p)
			}
			p.MeterID, p.PriceID = meterID, "pri_1"
			return r.Usage.Plans.Insert(ctx, p)
		})
	}
	if err := errors.Join(
		insert("1", "sub_1", ""), insert("2", "sub_1", ""), insert("3", "sub_2", "mtr_1"),
	); err != nil {
		t.Fatal(err)
	}
	wantIndex(t, insert("4", "sub_1", "mtr_1"), "usage_billing_plans_creator_id_subscription_id_meter_id")
	plans := store.Read(t.Context()).Usage.Plans
	for subscriptionID, want := range map[string]int{"sub_1": 2, "sub_2": 1, "sub_3": 0} {
		all, err1 := plans.ListBySubscription(t.Context(), creator, subscriptionID)
		page, err2 := plans.List(t.Context(), creator, subscriptionID, ports.Page{Limit: 9})
		if err := errors.Join(err1, err2); err != nil || len(all) != want || len(page.Items) != want {
			t.Errorf("%s has %d plans, a page of %d, %v; want %d", subscriptionID, len(all), len(page.Items), err, want)
		}
	}
	_, err := plans.Get(t.Context(), "crt_2", "ubp_1")
	wantError(t, "another account's", err, ports.ErrNotFound)
}

// stream returns a stream that counts calls of a subscription, by the day from catalogTime on.
func stream(id int64, subscriptionID string) ports.UsageStream {
	return ports.UsageStream{
		ID: id, CreatorID: creator, CustomerID: "cus_1", ExternalCustomerID: "ada", SubscriptionID: subscriptionID,
		MeterID: "mtr_1", EventName: "calls",
		Aggregation: usage.Sum, Included: 100, Version: 1,
		Schedule: usage.Schedule{Anchor: catalogTime, Interval: period.Day, Count: 1, StartsAt: catalogTime},
	}
}

// openStream writes a stream and returns it as it is stored.
func openStream(t *testing.T, store StoreAdapter, s ports.UsageStream) ports.UsageStream {
	t.Helper()
	atomically(t, store, func(ctx context.Context, r ports.Repos) error { return r.Usage.Streams.Insert(ctx, s) })
	found, err := store.Read(t.Context()).Usage.Streams.Get(t.Context(), s.CreatorID, s.SubscriptionID, s.EventName)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func aStreamIsChangedFromItsLatestVersion(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	first := openStream(t, store, stream(1, "sub_1"))
	want := stream(1, "sub_1")
	if first != want {
		t.Errorf("got  %+v\nwant %+v", first, want)
	}
	streams := store.Read(t.Context()).Usage.Streams
	if got, err := streams.GetByID(t.Context(), first.ID); err != nil || got != first {
		t.Errorf("by id: %+v, %v", got, err)
	}
	insert := func(ctx context.Context, r ports.Repos) error { return r.Usage.Streams.Insert(ctx, stream(2, "sub_1")) }
	wantIndex(t, store.Atomically(t.Context(), insert), "usage_streams_creator_id_subscription_id_event_name")
	changed := first
	changed.PlanID, changed.Closed, changed.Included, changed.Version = "ubp_1", true, 7, 2
	changed.Schedule.EndsAt = catalogTime.Add(time.Hour)
	atomically(t, store, func(ctx context.Context, r ports.Repos) error { return r.Usage.Streams.Update(ctx, changed) })
	wantStale(t, store, func(ctx context.Context, r ports.Repos) error { return r.Usage.Streams.Update(ctx, changed) })
	if got, err := streams.GetByID(t.Context(), first.ID); err != nil || got != changed {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, changed)
	}
	mails := stream(3, "sub_1")
	mails.EventName, mails.MeterID = "mails", "mtr_2"
	openStream(t, store, mails)
	openStream(t, store, stream(4, "sub_2"))
	bySubscription, err1 := streams.ListBySubscription(t.Context(), creator, "sub_1")
	byCustomer, err2 := streams.ListByCustomer(t.Context(), creator, "ada")
	others, err3 := streams.ListByCustomer(t.Context(), "crt_2", "ada")
	if err := errors.Join(err1, err2, err3); err != nil || len(bySubscription) != 2 ||
		bySubscription[1].EventName != "mails" ||
		len(byCustomer) != 2 || byCustomer[0].SubscriptionID != "sub_2" || len(others) != 0 {
		t.Errorf(
			"of the subscription %+v, open of the customer %+v, another account's %+v, %v", bySubscription, byCustomer,
			others, err,
		)
	}
	_, err1 = streams.Get(t.Context(), "crt_2", "sub_1", "calls")
	wantError(t, "another account's", err1, ports.ErrNotFound)
	_, err2 = streams.GetByID(t.Context(), 999)
	wantError(t, "an unknown id", err2, ports.ErrNotFound)
}

// report is a report into a stream's first period.
func report(s ports.UsageStream, key, quantity string) ports.IncomingReport {
	q, err := usage.ParseQuantity(quantity)
	if err != nil {
		panic(err)
	}
	return ports.IncomingReport{
		ID: "uev_" + key, CreatorID: s.CreatorID, Key: key, Fingerprint: [16]byte{quantity[0]},
		StreamID:      s.ID,
		StreamVersion: s.Version, PeriodStart: catalogTime, At: catalogTime.Add(time.Minute), ReceivedAt: realNow(),
		Quantity: q,
	}
}

func accept(t *testing.T, store StoreAdapter, reports ...ports.IncomingReport) (all []ports.IntakeOutcome) {
	t.Helper()
	for some := range slices.Chunk(reports, 100) {
		outcomes, err := store.Accept(t.Context(), some)
		if err != nil || len(outcomes) != len(some) {
			t.Fatalf("%d outcomes of %d reports, %v", len(outcomes), len(some), err)
		}
		all = append(all, outcomes...)
	}
	return all
}

// counted is a period of a stream with everything that was committed.
func counted(t *testing.T, store StoreAdapter, s ports.UsageStream) (rollup ports.UsageRollup) {
	t.Helper()
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		if err := r.Usage.Rollups.Lock(ctx); err != nil {
			return err
		}
		var err error
		rollup, err = r.Usage.Rollups.GetCurrent(ctx, s, catalogTime)
		return err
	})
	return rollup
}

func wantCounted(t *testing.T, store StoreAdapter, s ports.UsageStream, want string) {
	t.Helper()
	if got := counted(t, store, s).Total.Quantity.String(); got != want {
		t.Errorf("counted %s, want %s", got, want)
	}
}

func aReportIsAcceptedOncePerKey(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	s := openStream(t, store, stream(1, "sub_1"))
	twin := report(s, "k1", "5")
	twin.ID = "uev_twin"
	outcomes := accept(t, store, report(s, "k1", "5"), report(s, "k2", "7"), twin)
	same := ports.IntakeOutcome{ID: outcomes[0].ID, Duplicate: true, SameBody: true}
	if outcomes[0].Duplicate || outcomes[1] != (ports.IntakeOutcome{ID: "uev_k2"}) || outcomes[2] != same {
		t.Errorf("of two reports with one key, one is the first: %+v", outcomes)
	}
	if again := accept(t, store, twin)[0]; again != same {
		t.Errorf("again: %+v", again)
	}
	differs := report(s, "k1", "9")
	differs.ID = "uev_differs"
	if other := accept(t, store, differs)[0]; other != (ports.IntakeOutcome{ID: "uev_k1", Duplicate: true}) {
		t.Errorf("with another body: %+v", other)
	}
	old := report(s, "k3", "1")
	old.StreamVersion++
	if moved := accept(t, store, old)[0]; !moved.Moved || moved.Duplicate {
		t.Errorf("placed by another version: %+v", moved)
	}
	early := report(s, "k4", "1")
	early.ClockOffset = time.Hour
	if moved := accept(t, store, early)[0]; !moved.Moved {
		t.Errorf("placed by another clock: %+v", moved)
	}
	wantCounted(t, store, s, "12")
	reports := store.Read(t.Context()).Usage.Reports
	got, err := reports.Get(t.Context(), creator, "k1")
	if err != nil || got.ID != "uev_k1" || got.StreamID != s.ID || !got.PeriodStart.Equal(catalogTime) || got.Voided ||
		got.Deleted {
		t.Errorf("got %+v, %v", got, err)
	}
	_, err = reports.Get(t.Context(), "crt_2", "k1")
	wantError(t, "another account's key", err, ports.ErrNotFound)
	_, err = reports.Get(t.Context(), creator, "k3")
	wantError(t, "what was not written", err, ports.ErrNotFound)
}

// reportsAreListedInWindows writes reports of two streams three at a time, and reads those of one.
func reportsAreListedInWindows(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	s, other := openStream(t, store, stream(1, "sub_1")), openStream(t, store, stream(2, "sub_2"))
	var want []string
	for n := range 4 {
		of := func(s ports.UsageStream, key string) ports.IncomingReport {
			r := report(s, fmt.Sprint(key, n), "1.5")
			r.At = catalogTime.Add(time.Duration(n) * time.Minute)
			return r
		}
		accept(t, store, of(s, "a"), of(other, "b"), of(s, "c"))
		want = append([]string{fmt.Sprint("uev_c", n), fmt.Sprint("uev_a", n)}, want...)
	}
	read := func(f ports.ReportFilter, limit int) (ids []string, last ports.ListedReport) {
		t.Helper()
		for page, n := (ports.Page{Limit: limit}), 0; ; n++ {
			found, err := store.Read(t.Context()).Usage.Reports.List(t.Context(), f, page)
			if err != nil || len(found.Items) > limit || n > 20 {
				t.Fatalf("page %d of %+v: %+v, %v", n, f, found, err)
			}
			for _, one := range found.Items {
				ids, last = append(ids, one.ID), one
			}
			if page.After = found.Next; found.Next == (ports.Cursor{}) {
				return ids, last
			}
		}
	}
	f := ports.ReportFilter{StreamIDs: []int64{s.ID}, ReceivedSince: realNow().Add(-time.Hour)}
	for _, f.Window = range []int{1, 2, 4, 100} {
		for _, limit := range []int{1, 2, 3, 100} {
			ids, one := read(f, limit)
			if !slices.Equal(ids, want) || one.StreamID != s.ID || one.Key != "a0" || one.Quantity.String() != "1.5" ||
				!one.At.Equal(catalogTime) || !one.PeriodStart.Equal(catalogTime) || !one.VoidedAt.IsZero() ||
				one.InvoiceID != "" || one.ReceivedAt.IsZero() {
				t.Errorf("window %d, limit %d: %v, last %+v; want %v", f.Window, limit, ids, one, want)
			}
		}
	}
	within := f
	within.From, within.To = catalogTime.Add(time.Minute), catalogTime.Add(3*time.Minute)
	if ids, _ := read(within, 3); !slices.Equal(ids, want[2:6]) {
		t.Errorf("of two minutes: %v, want %v", ids, want[2:6])
	}
	f.StreamIDs = append(f.StreamIDs, other.ID)
	if ids, _ := read(f, 100); len(ids) != 12 {
		t.Errorf("of both: %v", ids)
	}
	f.ReceivedSince, f.Window = realNow().Add(2*time.Hour), 1
	if found, err := store.Read(t.Context()).Usage.Reports.List(t.Context(), f, ports.Page{Limit: 1}); err != nil ||
		len(found.Items) != 0 || found.Next != (ports.Cursor{}) {
		t.Errorf("received later than all: %+v, %v", found, err)
	}
	if found, err := store.Read(t.Context()).Usage.Reports.List(t.Context(), ports.ReportFilter{Window: 1},
		ports.Page{Limit: 1}); err != nil || len(found.Items) != 0 {
		t.Errorf("of no stream: %+v, %v", found, err)
	}
}

// reportsOfAnAccountAreListed writes reports of two accounts, and reads those of one.
func reportsOfAnAccountAreListed(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	first, second, foreign := stream(1, "sub_1"), stream(2, "sub_2"), stream(3, "sub_1")
	second.EventName, foreign.CreatorID = "seats", "crt_2"
	first, second, foreign = openStream(t, store, first), openStream(t, store, second), openStream(t, store, foreign)
	for n := range 3 {
		accept(t, store, report(first, fmt.Sprint("a", n), "1"), report(foreign, fmt.Sprint("b", n), "1"))
		accept(t, store, report(second, fmt.Sprint("c", n), "1"))
	}
	for eventName, want := range map[string]string{
		"": "uev_c2 uev_a2 uev_c1 uev_a1 uev_c0 uev_a0", "calls": "uev_a2 uev_a1 uev_a0", "seats": "uev_c2 uev_c1 uev_c0",
		"unknown": "",
	} {
		f := ports.ReportFilter{
			CreatorID: creator, EventName: eventName, ReceivedSince: realNow().Add(-time.Hour), Window: 4,
		}
		var ids []string
		for page := (ports.Page{Limit: 2}); ; {
			found, err := store.Read(t.Context()).Usage.Reports.List(t.Context(), f, page)
			if err != nil {
				t.Fatal(err)
			}
			for _, one := range found.Items {
				ids = append(ids, one.ID)
			}
			if page.After = found.Next; found.Next == (ports.Cursor{}) {
				break
			}
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("of the meter %q: %s, want %s", eventName, got, want)
		}
	}
	all, err := store.Read(t.Context()).Usage.Streams.ListByID(t.Context(), []int64{foreign.ID, first.ID, 99})
	if err != nil || len(all) != 2 {
		t.Errorf("streams by id: %+v, %v", all, err)
	}
}

// reportsAtOnceAreCountedOnceEach reports from many requests, half of them doubled, while steps of counting run.
func reportsAtOnceAreCountedOnceEach(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	s := openStream(t, store, stream(1, "sub_1"))
	const requests = 20
	done := make(chan error, requests)
	for n := range requests {
		go func() {
			one := report(s, fmt.Sprint("k", n/2), "1")
			one.ID = fmt.Sprint("uev_", n)
			_, err := store.Accept(t.Context(), []ports.IncomingReport{one})
			done <- err
		}()
	}
	flush := func() {
		end, err := store.Position(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		atomically(t, store, func(ctx context.Context, r ports.Repos) error {
			_, err := r.Usage.Rollups.Flush(ctx, end, 3, catalogTime)
			return err
		})
	}
	for range requests {
		if err := <-done; err != nil {
			t.Error(err)
		}
		flush()
	}
	wantCounted(t, store, s, fmt.Sprint(requests/2))
	if found, err := store.Read(t.Context()).Usage.Audit.Miscounted(t.Context(), 9); err != nil || len(found) != 0 {
		t.Errorf("miscounted %v, %v", found, err)
	}
}

func aVoidReportIsNotCounted(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	s := openStream(t, store, stream(1, "sub_1"))
	accept(t, store, report(s, "k1", "5"), report(s, "k2", "7"))
	void := func(key string) { t.Helper(); voidReport(t, store, key) }
	void("k1")
	wantCounted(t, store, s, "7")
	if got, err := store.Read(t.Context()).Usage.Reports.Get(t.Context(), creator, "k1"); err != nil || !got.Voided {
		t.Errorf("got %+v, %v; want it void", got, err)
	}
	twin := report(s, "k1", "5")
	twin.ID = "uev_twin"
	if again := accept(t, store, twin)[0]; !again.Duplicate {
		t.Errorf("the key of a void report is free: %+v", again)
	}
	wantCounted(t, store, s, "7")
}

func whatWasBilledIsToldFromWhatIsCounted(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	s := openStream(t, store, stream(1, "sub_1"))
	accept(t, store, report(s, "k1", "5"))
	unsettled := func() (found []ports.UsageRollup) {
		t.Helper()
		atomically(t, store, func(ctx context.Context, r ports.Repos) (err error) {
			if err = r.Usage.Rollups.Lock(ctx); err != nil {
				return err
			}
			if _, err = r.Usage.Rollups.GetCurrent(ctx, s, catalogTime); err != nil {
				return err
			}
			found, err = r.Usage.Rollups.ListUnsettled(ctx, s)
			return err
		})
		return found
	}
	if found := unsettled(); len(found) != 0 {
		t.Errorf("before any invoice: %+v", found)
	}
	billed := counted(t, store, s)
	billed.InvoiceID, billed.BilledQuantity, billed.BilledMinor, billed.BilledAt = "inv_1", billed.Total.Quantity, 500,
		catalogTime
	atomically(
		t, store, func(ctx context.Context, r ports.Repos) error { return r.Usage.Rollups.SetBilled(ctx, s, billed) },
	)
	got, err := store.Read(t.Context()).Usage.Rollups.Get(t.Context(), s, catalogTime)
	if err != nil || got.InvoiceID != "inv_1" || got.BilledMinor != 500 ||
		got.BilledQuantity != billed.BilledQuantity || !got.BilledAt.Equal(catalogTime) {
		t.Errorf("got %+v, %v; want %+v", got, err, billed)
	}
	if got, err := store.Read(t.Context()).Usage.Rollups.Get(t.Context(), s, catalogTime.Add(time.Hour)); err != nil ||
		got.InvoiceID != "" {
		t.Errorf("a period without use: %+v, %v", got, err)
	}
}

func anAlertIsReachedOnceInAPeriod(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	alert := func(id, creatorID string) usage.Alert {
		a := filled[usage.Alert]()
		a.ID, a.CreatorID, a.SubscriptionID, a.MeterID = "ual_"+id, creatorID, "sub_1", "mtr_1"
		return a
	}
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		return errors.Join(
			r.Usage.Alerts.Insert(ctx, alert("1", creator)), r.Usage.Alerts.Insert(ctx, alert("2", creator)),
			r.Usage.Alerts.Insert(ctx, alert("3", "crt_2")),
		)
	})
	alerts := store.Read(t.Context()).Usage.Alerts
	if got, err := alerts.Get(t.Context(), creator, "ual_1"); err != nil || got != alert("1", creator) {
		t.Errorf("got %+v, %v", got, err)
	}
	_, err := alerts.Get(t.Context(), "crt_2", "ual_1")
	wantError(t, "another account's", err, ports.ErrNotFound)
	list, err := alerts.List(t.Context(), creator, ports.Page{Limit: 9})
	if err != nil || !slices.Equal(list.Items, []usage.Alert{alert("2", creator), alert("1", creator)}) {
		t.Errorf("listed %+v, %v", list.Items, err)
	}
	results := markAtOnce(t, store, alert("1", creator))
	if results != 1 {
		t.Errorf("reached %d times at once, want once", results)
	}
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		next, err := r.Usage.Alerts.MarkReached(ctx, alert("1", creator), catalogTime.Add(time.Hour))
		other, err2 := r.Usage.Alerts.MarkReached(ctx, alert("2", creator), catalogTime)
		if !next || !other {
			t.Errorf("another period %v, another alert %v; want both to be first", next, other)
		}
		return errors.Join(err, err2)
	})
	remove := func(creatorID string) error {
		return store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			return r.Usage.Alerts.Delete(ctx, creatorID, "ual_1")
		})
	}
	wantError(t, "another account's", remove("crt_2"), ports.ErrNotFound)
	if err := remove(creator); err != nil {
		t.Error(err)
	}
	wantError(t, "a deleted one", remove(creator), ports.ErrNotFound)
}

// markAtOnce marks an alert as reached in many transactions at once, and returns how many of them were the first.
func markAtOnce(t *testing.T, store StoreAdapter, a usage.Alert) (firsts int) {
	t.Helper()
	const rivals = 6
	results := make(chan bool, rivals)
	for range rivals {
		go func() {
			first := false
			err := store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) (err error) {
				first, err = r.Usage.Alerts.MarkReached(ctx, a, catalogTime)
				return err
			})
			if err != nil {
				t.Error(err)
			}
			results <- first && err == nil
		}()
	}
	for range rivals {
		if <-results {
			firsts++
		}
	}
	return firsts
}

func usageCreditsKept() aggregate[usage.CreditState] {
	return aggregate[usage.CreditState]{
		make: func(id, creatorID string) usage.CreditState {
			s := filled[usage.CreditState]()
			s.ID, s.CreatorID, s.Revision = "ucr_"+id, creatorID, 1
			return s
		},
		change: func(s *usage.CreditState) { s.Used, s.Disputed, s.End, s.EndedAt = 7, false, "", time.Time{} },
		key:    func(s *usage.CreditState) (string, *int64) { return s.ID, &s.Revision },
		insert: func(ctx context.Context, r ports.Repos, s usage.CreditState) error {
			return r.Usage.Credits.Insert(ctx, s)
		},
		get: func(ctx context.Context, r ports.Repos, s usage.CreditState) (usage.CreditState, error) {
			return r.Usage.Credits.Get(ctx, s.CreatorID, s.ID)
		},
		update: func(ctx context.Context, r ports.Repos, s usage.CreditState) error {
			return r.Usage.Credits.Update(ctx, s)
		},
		list: func(
			ctx context.Context, r ports.Repos, creatorID string, page ports.Page,
		) (ports.List[usage.CreditState], error) {
			return r.Usage.Credits.List(ctx, ports.CreditFilter{CreatorID: creatorID}, page)
		},
	}
}

func whatIsLeftOfCreditsIsFound(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	credit := func(id, customerID string, end usage.CreditEnd) usage.CreditState {
		s := usageCreditsKept().make(id, creator)
		s.CustomerID, s.CheckoutID, s.End = customerID, "cs_"+id, end
		return s
	}
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		for _, s := range []usage.CreditState{
			credit("1", "cus_1", ""), credit("2", "cus_1", usage.CreditUsedUp), credit("3", "cus_2", ""),
		} {
			if err := r.Usage.Credits.Insert(ctx, s); err != nil {
				return err
			}
		}
		use := usage.CreditUse{CreditID: "ucr_1", Minor: 50}
		return errors.Join(r.Usage.Credits.InsertUse(ctx, creator, "inv_1", use, catalogTime),
			r.Usage.Credits.Rename(ctx, creator, "cus_1", "renamed"))
	})
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		left, err := r.Usage.Credits.ListLeft(ctx, creator, "cus_1")
		if err != nil || len(left) != 1 || left[0].ID != "ucr_1" || left[0].ExternalCustomerID != "renamed" {
			t.Errorf("left %+v, %v", left, err)
		}
		sold, err := r.Usage.Credits.ListByCheckout(ctx, creator, "cs_3")
		if err != nil || len(sold) != 1 || sold[0].ID != "ucr_3" || sold[0].ExternalCustomerID == "renamed" {
			t.Errorf("sold %+v, %v", sold, err)
		}
		return nil
	})
	uses, err := store.Read(t.Context()).Usage.Credits.ListUses(t.Context(), creator, "ucr_1")
	if want := (ports.CreditUse{InvoiceID: "inv_1", Minor: 50, At: catalogTime}); err != nil || len(uses) != 1 ||
		uses[0] != want {
		t.Errorf("used %+v, %v", uses, err)
	}
}

// voidReport voids the creator's report of a key.
func voidReport(t *testing.T, store StoreAdapter, key string) {
	t.Helper()
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		if err := r.Usage.Rollups.Lock(ctx); err != nil {
			return err
		}
		stored, err := r.Usage.Reports.Get(ctx, creator, key)
		if err != nil {
			return err
		}
		return r.Usage.Reports.Void(ctx, stored, catalogTime)
	})
}
