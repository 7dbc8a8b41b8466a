package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sundry/core/discount"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/listing"
	"sundry/core/money"
	"sundry/ports"
)

func (s fixture) discount(t *testing.T, draft discount.Draft) discount.State {
	t.Helper()
	d, err := s.CreateDiscount(t.Context(), s.ada, draft)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (s fixture) redeem(ctx context.Context, discountID, checkoutID string) error {
	return s.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		return s.RedeemDiscount(ctx, r, s.ada, discountID, checkoutID)
	})
}

func (s fixture) terms(t *testing.T, creatorID, code string, sale discount.Sale) (terms discount.Terms, err error) {
	t.Helper()
	err = s.store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
		terms, err = s.DiscountTerms(ctx, r, creatorID, code, sale)
		return err
	})
	return terms, err
}

// mustVerify fails when the module's part of `sundry verify` finds anything.
func (s fixture) mustVerify(t *testing.T) {
	t.Helper()
	if lines, err := s.Verify(t.Context()); err != nil || len(lines) > 0 {
		t.Errorf("verify: %v, %v", lines, err)
	}
}

func TestADiscountLivesUntilItIsDeleted(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, s fixture) {
		ctx := t.Context()
		own, others := s.active(t, proposal(listing.Digital, "mine-1")), s.ids.New(id.Listing)
		draft := discount.Draft{
			Code: "Spring-26", PercentOff: new(20), MaxRedemptions: new(3), ListingIDs: []string{own.ID},
		}
		d := s.discount(t, draft)
		for name, bad := range map[string]discount.Draft{
			"the same code":            {Code: "SPRING-26", PercentOff: new(5)},
			"somebody else's listing":  {Code: "OTHER", PercentOff: new(5), ListingIDs: []string{own.ID, others}},
			"a draft full of mistakes": {},
		} {
			_, err := s.CreateDiscount(ctx, s.ada, bad)
			if fault.CodeOf(err) != fault.ValidationFailed {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := s.CreateDiscount(ctx, s.bob, discount.Draft{Code: "SPRING-26", PercentOff: new(5)}); err != nil {
			t.Errorf("codes are each account's own: %v", err)
		}
		if list, err := s.Discounts(ctx, s.ada, ports.Page{Limit: 10}); err != nil || len(list.Items) != 1 ||
			!reflect.DeepEqual(list.Items[0], d) {
			t.Errorf("listed %+v, %v", list.Items, err)
		}
		for _, outsider := range []func() error{
			func() error { _, err := s.Discount(ctx, s.bob, d.ID); return err },
			func() error { _, err := s.DeleteDiscount(ctx, s.bob, d.ID); return err },
			func() error { _, err := s.Discount(ctx, s.ada, "dsc_x"); return err },
			func() error { _, err := s.DeleteDiscount(ctx, s.ada, s.ids.New(id.Discount)); return err },
		} {
			wantCode(t, outsider(), fault.NotFoundCode)
		}
		if got, err := s.Discount(ctx, s.ada, d.ID); err != nil || !reflect.DeepEqual(got, d) {
			t.Errorf("after the refusals: %+v, %v", got, err)
		}
		for range 2 {
			gone, err := s.DeleteDiscount(ctx, s.ada, d.ID)
			if err != nil || gone.DeletedAt.IsZero() || gone.Revision != 2 {
				t.Errorf("deleted %+v, %v", gone, err)
			}
		}
		if list, err := s.Discounts(ctx, s.ada, ports.Page{Limit: 10}); err != nil || len(list.Items) != 0 {
			t.Errorf("listed %+v, %v", list.Items, err)
		}
		s.discount(t, draft) // the code is free again
	})
}

func TestACodeHasItsTermsForWhatItIsGoodFor(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, s fixture) {
		own := s.active(t, proposal(listing.Digital, "mine-1"))
		d := s.discount(t, discount.Draft{
			Code: "Five", AmountOffInCents: new(int64(500)), Currency: "eur", ListingIDs: []string{own.ID},
			ExpiresAt: time.Now().Add(time.Hour),
		})
		sale := discount.Sale{ListingID: own.ID, Subtotal: money.Amount{Minor: 1200, Currency: "eur"}}
		if terms, err := s.terms(t, s.ada, " fIVE ", sale); err != nil || terms != d.Terms() {
			t.Errorf("terms %+v, %v", terms, err)
		}
		dollars := sale
		dollars.Subtotal.Currency = "usd"
		for name, ask := range map[string]func() (discount.Terms, error){
			"an unknown code":  func() (discount.Terms, error) { return s.terms(t, s.ada, "six", sale) },
			"no code":          func() (discount.Terms, error) { return s.terms(t, s.ada, "", sale) },
			"another account":  func() (discount.Terms, error) { return s.terms(t, s.bob, "five", sale) },
			"another currency": func() (discount.Terms, error) { return s.terms(t, s.ada, "five", dollars) },
			"another thing": func() (discount.Terms, error) {
				return s.terms(t, s.ada, "five", discount.Sale{ListingID: "lst_2", Subtotal: sale.Subtotal})
			},
			"a code with a quote": func() (discount.Terms, error) { return s.terms(t, s.ada, "five' OR 1=1 --\x00", sale) },
		} {
			if _, err := ask(); fault.CodeOf(err) != fault.ValidationFailed {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// Many buyers pay at once with a code that few may use; those who fail give their use back, and others take it.
func TestACodeIsNeverUsedMoreOftenThanItMayBe(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, s fixture) {
		const most, buyers = 5, 24
		d := s.discount(t, discount.Draft{Code: "FEW", PercentOff: new(50), MaxRedemptions: new(most)})
		var used, refused atomic.Int64
		var all sync.WaitGroup
		for i := range buyers {
			all.Go(func() {
				switch err := s.redeem(t.Context(), d.ID, fmt.Sprintf("cs_%02d", i)); {
				case err == nil:
					used.Add(1)
				case fault.Is(err, fault.LimitReached):
					refused.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		all.Wait()
		if used.Load() != most || refused.Load() != buyers-most {
			t.Errorf("%d used it and %d were refused, want %d and %d", used.Load(), refused.Load(), most, buyers-most)
		}
		s.mustVerify(t)
		release := func(checkoutID string) {
			err := s.store.Atomically(
				t.Context(),
				func(ctx context.Context, r ports.Repos) error { return s.ReleaseDiscount(ctx, r, s.ada, checkoutID) },
			)
			if err != nil {
				t.Error(err)
			}
		}
		var holder string
		for i := range buyers {
			if _, err := s.store.Read(t.Context()).Catalog.Discounts.GetRedemption(
				t.Context(), s.ada, fmt.Sprintf("cs_%02d", i),
			); err == nil {
				holder = fmt.Sprintf("cs_%02d", i)
			}
		}
		if err := s.redeem(t.Context(), d.ID, holder); err != nil {
			t.Errorf("the same session again: %v", err)
		}
		for range 2 { // again, it changes nothing
			release(holder)
		}
		release("cs_unknown")
		if got, err := s.Discount(t.Context(), s.ada, d.ID); err != nil || got.Redeemed != most-1 {
			t.Errorf("used %d times, %v", got.Redeemed, err)
		}
		if err := s.redeem(t.Context(), d.ID, "cs_next"); err != nil {
			t.Errorf("the next buyer: %v", err)
		}
		if err := s.redeem(t.Context(), d.ID, "cs_last"); !fault.Is(err, fault.LimitReached) {
			t.Errorf("one buyer too many: %v", err)
		}
		s.mustVerify(t)
	})
}

func TestARolledBackUseIsNotCounted(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, s fixture) {
		d := s.discount(t, discount.Draft{Code: "ONE", PercentOff: new(50), MaxRedemptions: new(1)})
		died := errors.New("the process died")
		err := s.store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			return errors.Join(s.RedeemDiscount(ctx, r, s.ada, d.ID, "cs_1"), died)
		})
		if !errors.Is(err, died) {
			t.Fatal(err)
		}
		if err := s.redeem(t.Context(), d.ID, "cs_2"); err != nil {
			t.Errorf("after the rollback: %v", err)
		}
		s.mustVerify(t)
	})
}
