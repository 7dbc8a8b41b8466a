package contract

import (
	"context"
	"testing"
	"time"

	"sundry/core/id"
	"sundry/core/image"
	"sundry/core/listing"
	"sundry/core/money"
	"sundry/core/operator"
	"sundry/core/payment"
	"sundry/core/quota"
	"sundry/ports"
)

func accountsAreListed(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	ctx := t.Context()
	ada, bob := insertCreator(t, store, 1, "ada_1@example.com"), insertCreator(t, store, 2, "bob@example.com")
	ada.Suspend("sells fakes", noon.Add(time.Hour))
	draft, archived := listingState(1), listingState(2)
	draft.CreatorID, archived.CreatorID, archived.Status = ada.State().ID, ada.State().ID, listing.Archived
	insertListings(t, store, draft, archived)
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		for n, p := range []payment.State{
			{Status: payment.Succeeded, Amount: money.Amount{Minor: 1900, Currency: "eur"}},
			{Status: payment.Succeeded, Amount: money.Amount{Minor: 100, Currency: "eur"}},
			{Status: payment.Succeeded, Amount: money.Amount{Minor: 500, Currency: "jpy"}},
			{Status: payment.Declined, Amount: money.Amount{Minor: 7000, Currency: "eur"}},
		} {
			paid := paymentState(newID(id.Payment, byte(n+1)), ada.State().ID)
			paid.Status, paid.Amount, paid.SettledAt = p.Status, p.Amount, noon
			paid.Sale.ReceiptNumber = ""
			if err := r.Payments.Payments.Insert(ctx, paid); err != nil {
				return err
			}
		}
		return r.Identity.Creators.Update(ctx, ada)
	})
	wantAda := operator.Account{
		ID: ada.State().ID, Email: "ada_1@example.com", DisplayName: "Ada Ünï", CreatedAt: ada.State().CreatedAt,
		SuspendedAt: noon.Add(time.Hour), SuspensionReason: "sells fakes", Listings: 1,
		Sales: []money.Amount{{Minor: 2000, Currency: "eur"}, {Minor: 500, Currency: "jpy"}},
	}
	wantBob := operator.Account{ID: bob.State().ID, Email: "bob@example.com", DisplayName: "Ada Ünï",
		CreatedAt: bob.State().CreatedAt}
	for text, want := range map[string][]operator.Account{
		"": {wantBob, wantAda}, "BOB": {wantBob}, "a_1": {wantAda}, "ADA": {wantBob, wantAda}, wantAda.ID: {wantAda},
		"%": {}, "a1": {},
	} {
		got, err := store.Read(ctx).Operator.Accounts.List(ctx, text, ports.Page{Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Items)+len(want) > 0 {
			same(t, "accounts with "+text, got.Items, want)
		}
	}
	first, err := store.Read(ctx).Operator.Accounts.List(ctx, "", ports.Page{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	second, err := store.Read(ctx).Operator.Accounts.List(ctx, "", ports.Page{Limit: 1, After: first.Next})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the pages", append(first.Items, second.Items...), []operator.Account{wantBob, wantAda})
	same(t, "the end", second.Next, ports.Cursor{})
}

func limitsAreKept(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	set := func(creatorID string, of quota.Resource, value int64) {
		atomically(t, store, func(ctx context.Context, r ports.Repos) error {
			if err := r.Operator.Limits.Lock(ctx, creatorID, of); err != nil {
				return err
			}
			return r.Operator.Limits.Set(ctx, creatorID, of, value)
		})
	}
	want := func(creatorID string, want map[quota.Resource]int64) {
		t.Helper()
		got, err := store.Read(t.Context()).Operator.Limits.List(t.Context(), creatorID)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "limits of "+creatorID, got, want)
	}
	set("crt_1", quota.Listings, 5)
	set("crt_1", quota.Listings, 6)
	set("crt_1", quota.Requests, 0)
	set("crt_2", quota.Listings, 7)
	want("crt_1", map[quota.Resource]int64{quota.Listings: 6, quota.Requests: 0})
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		return r.Operator.Limits.Delete(ctx, "crt_1", quota.Listings)
	})
	want("crt_1", map[quota.Resource]int64{quota.Requests: 0})
	want("crt_2", map[quota.Resource]int64{quota.Listings: 7})
	want("crt_3", map[quota.Resource]int64{})
}

func actionsOnlyGrow(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	all := make([]operator.Action, 3)
	for i := range all {
		all[i] = operator.Action{ID: newID(operator.ActionPrefix, []byte{3, 2, 1}[i]), Operator: "root", Kind: operator.Suspended,
			CreatorID: []string{"crt_1", "crt_2", "crt_1"}[i], Note: "sells fakes", At: noon}
		atomically(t, store, func(ctx context.Context, r ports.Repos) error {
			return r.Operator.Actions.Insert(ctx, all[i])
		})
	}
	for creatorID, want := range map[string][]operator.Action{"": all, "crt_1": {all[0], all[2]}, "crt_2": {all[1]}} {
		got, err := store.Read(t.Context()).Operator.Actions.List(t.Context(), creatorID, ports.Page{Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		same(t, "actions of "+creatorID, got.Items, want)
	}
}

func usesAreCounted(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	ctx := t.Context()
	ada, bob := insertCreator(t, store, 1, "ada@example.com").State().ID,
		insertCreator(t, store, 2, "bob@example.com").State().ID
	archived, other := listingState(2), listingState(3)
	archived.Status, other.CreatorID = listing.Archived, "crt_other"
	insertListings(t, store, listingState(1), archived, other)
	revoked := issueKey(3, ada)
	revoked.Revoke(noon)
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		for _, k := range []byte{1, 2, 4} { // the second ends after two hours, the fourth after four
			if err := r.Identity.APIKeys.Insert(ctx, issueKey(k, ada)); err != nil {
				return err
			}
		}
		if err := r.Identity.APIKeys.Insert(ctx, revoked); err != nil {
			return err
		}
		if err := r.Identity.APIKeys.Insert(ctx, issueKey(5, bob)); err != nil {
			return err
		}
		for n, body := range []string{"one", "three", "four"} {
			if err := r.Images.Insert(ctx, image.Stored{ID: newID(id.Image, byte(n)), CreatorID: []string{ada, ada, bob}[n],
				CreatedAt: noon, Picture: image.Picture{ContentType: image.PNG, Body: []byte(body)}}); err != nil {
				return err
			}
		}
		return nil
	})
	r := store.Read(ctx)
	listings, err := r.Catalog.Listings.Count(ctx, listingState(1).CreatorID)
	if err != nil || listings != 1 {
		t.Errorf("%d listings, %v; want the one that is not archived", listings, err)
	}
	keys, err := r.Identity.APIKeys.Count(ctx, ada, noon.Add(3*time.Hour))
	if err != nil || keys != 2 {
		t.Errorf("%d keys, %v; want the two that work", keys, err)
	}
	n, bytes, err := r.Images.Used(ctx, ada)
	if err != nil || n != 2 || bytes != 8 {
		t.Errorf("%d images of %d bytes, %v; want 2 of 8", n, bytes, err)
	}
	if n, bytes, err = r.Images.Used(ctx, "crt_9"); err != nil || n != 0 || bytes != 0 {
		t.Errorf("%d images of %d bytes of nobody, %v", n, bytes, err)
	}
}
