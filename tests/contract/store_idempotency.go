package contract

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"sundry/ports"
)

func anIdempotencyKeyHasOneResponse(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	at := time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)
	first := ports.IdempotencyRecord{
		CreatorID: creator, Route: "POST /v1/things", Key: "k é", BodyHash: []byte{0, 1, 255}, Status: 201,
		Body:       []byte(`{"a":1}`),
		LeaseUntil: at.Add(time.Minute), CreatedAt: at,
	}
	claim := func() (found ports.IdempotencyRecord, locked bool, err error) {
		_ = store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			found, locked, err = r.Idempotency.Lock(ctx, first.CreatorID, first.Route, first.Key)
			return nil
		})
		return found, locked, err
	}
	save := func(record ports.IdempotencyRecord, staleBefore time.Time) error {
		return store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			return r.Idempotency.Insert(ctx, record, staleBefore)
		})
	}
	claimNew := func() error {
		return store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			return r.Idempotency.LockNew(ctx, first.CreatorID, first.Route, first.Key)
		})
	}
	if err := claimNew(); err != nil {
		t.Errorf("a new key: %v", err)
	}
	if _, locked, err := claim(); !locked || !errors.Is(err, ports.ErrNotFound) {
		t.Fatalf("a new key: locked %v, %v", locked, err)
	}
	if err := save(first, at.Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	if found, locked, err := claim(); err != nil || !locked || !reflect.DeepEqual(found, first) {
		t.Errorf("claimed %+v, locked %v, %v; want %+v", found, locked, err, first)
	}
	if err := claimNew(); !errors.Is(err, ports.ErrKeyTaken) {
		t.Errorf("a key with a response is new: %v", err)
	}
	other := first
	other.Status, other.Body, other.CreatedAt = 409, []byte("{}"), at.Add(48*time.Hour)
	if err := save(other, at); !errors.Is(err, ports.ErrStale) {
		t.Errorf("a response was replaced by another: %v", err)
	}
	if found, _, err := claim(); err != nil || !reflect.DeepEqual(found, first) {
		t.Errorf("after the refused replacement: %+v, %v", found, err)
	}
	if err := save(other, at.Add(time.Millisecond)); err != nil {
		t.Errorf("a response past its time was not replaced: %v", err)
	}
	if found, _, err := claim(); err != nil || !reflect.DeepEqual(found, other) {
		t.Errorf("after the replacement: %+v, %v; want %+v", found, err, other)
	}
}

func aClaimedIdempotencyKeyIsLockedUntilTheTransactionEnds(t *testing.T, db Database) {
	if db.OneProcess {
		return // there is never a second writer to claim it
	}
	store := db.Open(t, StoreOptions{})
	claim := func(ctx context.Context, r ports.Repos, key string) bool {
		_, locked, err := r.Idempotency.Lock(ctx, creator, "POST /v1/things", key)
		if !errors.Is(err, ports.ErrNotFound) && locked {
			t.Error(err)
		}
		return locked
	}
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		if !claim(ctx, r, "k") {
			t.Error("nobody else has it")
		}
		// t.Context() is not ctx: another transaction
		atomically(t, store, func(other context.Context, r ports.Repos) error {
			if claim(other, r, "k") || !claim(other, r, "k2") {
				t.Error("a claimed key was claimed again, or another was not")
			}
			return nil
		})
		return nil
	})
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		if !claim(ctx, r, "k") {
			t.Error("still locked after the transaction")
		}
		return nil
	})
	atomically(t, store, func(ctx context.Context, r ports.Repos) error {
		if err := r.Idempotency.LockNew(ctx, creator, "POST /v1/things", "new"); err != nil || !claim(ctx, r, "any") {
			t.Errorf("a new key: %v", err)
		}
		atomically(t, store, func(other context.Context, r ports.Repos) error {
			if claim(other, r, "new") {
				t.Error("a new key was claimed again")
			}
			return nil
		})
		err := store.Atomically(t.Context(), func(other context.Context, r ports.Repos) error {
			return r.Idempotency.LockNew(other, creator, "POST /v1/things", "new")
		})
		if !errors.Is(err, ports.ErrKeyTaken) {
			t.Errorf("a claimed key is new to another request: %v", err)
		}
		return nil
	})
}
