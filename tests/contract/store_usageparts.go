package contract

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sundry/core/metadata"
	"sundry/core/usage"
	"sundry/ports"
)

// dividedStream opens a stream of a meter whose use is told apart by model.
func dividedStream(t *testing.T, store StoreAdapter) ports.UsageStream {
	t.Helper()
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		m := filled[usage.Meter]()
		m.ID, m.CreatorID, m.Dimensions = "mtr_1", creator, []string{"model"}
		return r.Usage.Catalog.InsertMeter(ctx, m)
	})
	return openStream(t, store, stream(1, "sub_1"))
}

// ofModel is report of a use with a model.
func ofModel(s ports.UsageStream, key, quantity, model string) ports.IncomingReport {
	r := report(s, key, quantity)
	r.Dimensions = metadata.New(map[string]string{"model": model})
	return r
}

// flushed counts everything that was committed.
func flushed(t *testing.T, store StoreAdapter) {
	t.Helper()
	end, err := store.Position(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		_, err := r.Usage.Rollups.Flush(ctx, end, 10_000, catalogTime)
		return err
	})
}

// partsOf writes the parts of a stream's first period.
func partsOf(t *testing.T, store StoreAdapter, s ports.UsageStream) (parts []usage.Combined, text string) {
	t.Helper()
	atomically(t, store, func(ctx context.Context, r ports.Repos) (err error) {
		if err = r.Usage.Rollups.Lock(ctx); err == nil {
			parts, err = r.Usage.Rollups.ListParts(ctx, s, catalogTime)
		}
		return err
	})
	var all []string
	for _, p := range parts {
		all = append(all, p.Quantity.String()+p.Values.Map()["model"])
	}
	slices.Sort(all)
	return parts, strings.Join(all, " ")
}

func useIsToldApartByDimensions(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	s := dividedStream(t, store)
	want := func(want string) {
		t.Helper()
		if _, got := partsOf(t, store, s); got != want {
			t.Errorf("the parts are %q, want %q", got, want)
		}
		flushed(t, store)
		if _, got := partsOf(t, store, s); got != want {
			t.Errorf("once they are counted the parts are %q, want %q", got, want)
		}
		found, err := store.Read(t.Context()).Usage.Audit.Misdivided(t.Context(), 9)
		if err != nil || len(found) != 0 {
			t.Errorf("misdivided %v, %v", found, err)
		}
	}
	void := func(key string) { t.Helper(); voidReport(t, store, key) }
	want("")
	accept(t, store, ofModel(s, "a", "0.1", "L"), ofModel(s, "b", "0.2", "L"), ofModel(s, "c", "4", "S"), report(s, "d", "8"))
	want("0.3L 4S 8")
	accept(t, store, ofModel(s, "e", "-1.000000000001", "S"), ofModel(s, "f", "2", "M"))
	void("f")
	void("b")
	void("d")
	want("0 0.1L 2.999999999999S")
	plain := stream(2, "sub_2")
	plain.MeterID = "mtr_2"
	plain = openStream(t, store, plain)
	accept(t, store, report(plain, "plain", "8"))
	flushed(t, store)
	if _, got := partsOf(t, store, plain); got != "8" {
		t.Errorf("without dimensions the parts are %q", got)
	}
}

func combinationsOfValuesAreBounded(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	s := dividedStream(t, store)
	reports := make([]ports.IncomingReport, usage.MaxCombinations+5)
	for n := range reports {
		reports[n] = ofModel(s, fmt.Sprint("k", n), "1", fmt.Sprintf("m%04d", n))
	}
	accept(t, store, reports[:usage.MaxCombinations-1]...)
	flushed(t, store)
	accept(t, store, reports[usage.MaxCombinations-1:]...)
	want := func() {
		t.Helper()
		parts, _ := partsOf(t, store, s)
		rest := slices.IndexFunc(parts, func(p usage.Combined) bool { return p.Values == usage.Values{} })
		if len(parts) != usage.MaxCombinations+1 || rest < 0 || parts[rest].Quantity != usage.Units(5) {
			t.Errorf("there are %d parts, the rest is part %d; want one beyond %d, of 5", len(parts), rest,
				usage.MaxCombinations)
		}
	}
	want()
	flushed(t, store)
	want()
	again := ofModel(s, "again", "1", "m0007")
	accept(t, store, again)
	if parts, _ := partsOf(t, store, s); !slices.Contains(parts, usage.Combined{
		Values: again.Dimensions, Quantity: usage.Units(2),
	}) {
		t.Error("a combination that is there is not told apart any more")
	}
}

func partsAreUnsettledWhenTheyChange(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	s := dividedStream(t, store)
	accept(t, store, ofModel(s, "a", "5", "L"))
	flushed(t, store)
	unsettled := func() (n int) {
		t.Helper()
		atomically(t, store, func(ctx context.Context, r ports.Repos) error {
			if err := r.Usage.Rollups.Lock(ctx); err != nil {
				return err
			}
			found, err := r.Usage.Rollups.ListUnsettled(ctx, s)
			n = len(found)
			return err
		})
		return n
	}
	billed := counted(t, store, s)
	billed.InvoiceID, billed.BilledQuantity, billed.BilledMinor, billed.BilledAt = "inv_1", billed.Total.Quantity, 500,
		catalogTime
	billed.BilledParts = []usage.Part{{Quantity: usage.Units(5), BilledMinor: 500}, {}}
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		return errors.Join(r.Usage.Rollups.SetBilled(ctx, s, billed), r.Usage.Rollups.SetPartsBilled(ctx, s, catalogTime))
	})
	got, err := store.Read(t.Context()).Usage.Rollups.Get(t.Context(), s, catalogTime)
	if err != nil || !slices.Equal(got.BilledParts, billed.BilledParts) {
		t.Errorf("billed %+v, %v; want %+v", got.BilledParts, err, billed.BilledParts)
	}
	if n := unsettled(); n != 0 {
		t.Errorf("%d periods are unsettled once they are billed", n)
	}
	accept(t, store, ofModel(s, "b", "-2", "L"), ofModel(s, "c", "2", "S"))
	if n := unsettled(); n != 1 {
		t.Errorf("%d periods are unsettled while parts wait, want 1", n)
	}
	flushed(t, store)
	if n := unsettled(); n != 1 {
		t.Errorf("%d periods are unsettled once parts have changed, want 1", n)
	}
}
