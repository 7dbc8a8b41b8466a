package contract

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"testing"
	"time"

	"sundry/core/discount"
	"sundry/core/money"
	"sundry/ports"
)

func discountState(id, code string) discount.State {
	return discount.State{
		ID: id, CreatorID: creator, Code: code, Key: discount.Key(code), PercentOff: 20, Duration: discount.Once,
		CreatedAt: catalogTime, Revision: 1,
	}
}

func discountsComeBackAsTheyWent(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	ctx, r := t.Context(), store.Read(t.Context())
	full := discountState("dsc_1", "Spring")
	full.PercentOff, full.AmountOff = 0, money.Amount{Minor: 500, Currency: "eur"}
	full.Duration, full.DurationInMonths, full.MaxRedemptions, full.Redeemed = discount.Repeating, 3, 7, 2
	full.ExpiresAt, full.ListingIDs = catalogTime.Add(time.Hour), []string{"lst_1", "lst_2"}
	bare := discountState("dsc_2", "autumn")
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		return errors.Join(r.Catalog.Discounts.Insert(ctx, full), r.Catalog.Discounts.Insert(ctx, bare))
	})
	for _, want := range []discount.State{full, bare} {
		byID, err1 := r.Catalog.Discounts.Get(ctx, creator, want.ID)
		byKey, err2 := r.Catalog.Discounts.GetByKey(ctx, creator, want.Key)
		if err := errors.Join(err1, err2); err != nil || !reflect.DeepEqual(byID, want) || !reflect.DeepEqual(byKey, want) {
			t.Errorf("got %+v and %+v, %v; want %+v", byID, byKey, err, want)
		}
	}
	_, byOther := r.Catalog.Discounts.Get(ctx, "crt_2", full.ID)
	wantError(t, "another account's", byOther, ports.ErrNotFound)
	_, byKey := r.Catalog.Discounts.GetByKey(ctx, "crt_2", full.Key)
	wantError(t, "another account's code", byKey, ports.ErrNotFound)
	insert := func(s discount.State) error {
		return store.Atomically(
			ctx, func(ctx context.Context, r ports.Repos) error { return r.Catalog.Discounts.Insert(ctx, s) },
		)
	}
	wantIndex(t, insert(discountState("dsc_3", "SPRING")), "discounts_creator_id_code_key")
	deleted := full
	deleted.DeletedAt, deleted.Revision = catalogTime.Add(time.Minute), 2
	atomically(
		t, store, func(ctx context.Context, r ports.Repos) error { return r.Catalog.Discounts.Update(ctx, deleted) },
	)
	wantError(t, "a stale change", store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		return r.Catalog.Discounts.Update(ctx, deleted)
	}), ports.ErrStale)
	if got, err := r.Catalog.Discounts.Get(ctx, creator, full.ID); err != nil || !reflect.DeepEqual(got, deleted) {
		t.Errorf("deleted: %+v, %v", got, err)
	}
	_, gone := r.Catalog.Discounts.GetByKey(ctx, creator, full.Key)
	wantError(t, "the code of a deleted discount", gone, ports.ErrNotFound)
	if err := insert(discountState("dsc_3", "SPRING")); err != nil {
		t.Errorf("the code of a deleted discount is taken: %v", err)
	}
	list, err := r.Catalog.Discounts.List(ctx, creator, ports.Page{Limit: 1})
	if err != nil || len(list.Items) != 1 || list.Items[0].ID != "dsc_3" || list.Next.ID != "dsc_3" {
		t.Errorf("the first page %+v, %v", list, err)
	}
	if list, err = r.Catalog.Discounts.List(ctx, creator, ports.Page{Limit: 5, After: list.Next}); err != nil ||
		len(list.Items) != 1 || list.Items[0].ID != "dsc_2" {
		t.Errorf("the second page %+v, %v; the deleted one is not listed", list, err)
	}
}

func redemptionsAreOnePerSession(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	ctx, r := t.Context(), store.Read(t.Context())
	use := ports.DiscountRedemption{CheckoutID: "cs_1", CreatorID: creator, DiscountID: "dsc_1", CreatedAt: catalogTime}
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		return errors.Join(
			r.Catalog.Discounts.Insert(ctx, discountState("dsc_1", "A")),
			r.Catalog.Discounts.InsertRedemption(ctx, use),
		)
	})
	if got, err := r.Catalog.Discounts.GetRedemption(ctx, creator, "cs_1"); err != nil || got != use {
		t.Errorf("got %+v, %v; want %+v", got, err, use)
	}
	err := store.Atomically(
		ctx, func(ctx context.Context, r ports.Repos) error { return r.Catalog.Discounts.InsertRedemption(ctx, use) },
	)
	wantError(t, "the same session again", err, ports.ErrStale)
	_, err = r.Catalog.Discounts.GetRedemption(ctx, "crt_2", "cs_1")
	wantError(t, "another account's", err, ports.ErrNotFound)
	if ids, err := r.Catalog.Audit.OverusedDiscounts(ctx, 9); err != nil || len(ids) != 1 || ids[0] != "dsc_1" {
		t.Errorf("a use that the discount does not count: %v, %v", ids, err)
	}
	for range 2 {
		atomically(t, store, func(ctx context.Context, r ports.Repos) error {
			return r.Catalog.Discounts.DeleteRedemption(ctx, creator, "cs_1")
		})
	}
	if ids, err := r.Catalog.Audit.OverusedDiscounts(ctx, 9); err != nil || len(ids) != 0 {
		t.Errorf("found %v, %v", ids, err)
	}
}

// aDiscountIsCountedInTurn has many transactions count one discount at once, with the row locked by the reading.
func aDiscountIsCountedInTurn(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		return r.Catalog.Discounts.Insert(ctx, discountState("dsc_1", "A"))
	})
	const rivals = 16
	var all sync.WaitGroup
	for range rivals {
		all.Go(func() {
			err := store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
				s, err := r.Catalog.Discounts.GetForUpdate(ctx, creator, "dsc_1")
				if err != nil {
					return err
				}
				s.Redeemed++
				s.Revision++
				return r.Catalog.Discounts.Update(ctx, s)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if s, err := store.Read(t.Context()).Catalog.Discounts.Get(
		t.Context(), creator, "dsc_1",
	); err != nil || s.Redeemed != rivals {
		t.Errorf("counted %d, %v; want %d", s.Redeemed, err, rivals)
	}
}
