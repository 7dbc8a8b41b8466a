package contract

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"sundry/ports"
)

var keyTime = time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)

// keyRecord is an unanswered record made the given time after keyTime, with a lease of a minute.
func keyRecord(after time.Duration) ports.IdempotencyRecord {
	at := keyTime.Add(after)
	return ports.IdempotencyRecord{
		CreatorID: "crt_1", Route: "POST /x", Key: "k", BodyHash: []byte{1, 2}, CreatedAt: at,
		LeaseUntil: at.Add(time.Minute),
	}
}

func completed(r ports.IdempotencyRecord, body string) ports.IdempotencyRecord {
	r.Status, r.Body = 201, []byte(body)
	return r
}

// keyStore runs each step in a transaction of its own, as requests do.
type keyStore struct {
	*testing.T
	store StoreAdapter
}

func (k keyStore) in(step func(ctx context.Context, keys ports.IdempotencyKeys) error) error {
	return k.store.Atomically(
		k.Context(), func(ctx context.Context, r ports.Repos) error { return step(ctx, r.Idempotency) },
	)
}

func (k keyStore) save(r ports.IdempotencyRecord) error {
	return k.in(func(ctx context.Context, keys ports.IdempotencyKeys) error {
		return keys.Insert(ctx, r, r.CreatedAt.Add(-24*time.Hour))
	})
}

func (k keyStore) finish(r ports.IdempotencyRecord) error {
	return k.in(func(ctx context.Context, keys ports.IdempotencyKeys) error { return keys.Complete(ctx, r) })
}

func (k keyStore) want(want ports.IdempotencyRecord) {
	k.Helper()
	err := k.in(func(ctx context.Context, keys ports.IdempotencyKeys) error {
		got, locked, err := keys.Lock(ctx, want.CreatorID, want.Route, want.Key)
		if err != nil || !locked || got.Status != want.Status || !bytes.Equal(got.Body, want.Body) ||
			!bytes.Equal(got.BodyHash, want.BodyHash) ||
			!got.CreatedAt.Equal(want.CreatedAt) || !got.LeaseUntil.Equal(want.LeaseUntil) {
			k.Errorf("found %+v, locked %v, %v; want %+v", got, locked, err, want)
		}
		return nil
	})
	if err != nil {
		k.Error(err)
	}
}

func (k keyStore) forget(before time.Time) error {
	return k.in(func(ctx context.Context, keys ports.IdempotencyKeys) error { return keys.DeleteBefore(ctx, before) })
}

func leaseCases() map[string]func(k keyStore) {
	return map[string]func(k keyStore){
		"a key nobody used has no record": func(k keyStore) {
			err := k.in(func(ctx context.Context, keys ports.IdempotencyKeys) error {
				_, locked, err := keys.Lock(ctx, "crt_1", "POST /x", "other")
				if !locked {
					k.Error("not locked")
				}
				return err
			})
			if !errors.Is(err, ports.ErrNotFound) {
				k.Errorf("%v, want ErrNotFound", err)
			}
		},
		"a lease keeps others out, even of the same instant": func(k keyStore) {
			must(k, k.save(keyRecord(0)))
			for _, after := range []time.Duration{0, 59 * time.Second} {
				if err := k.save(keyRecord(after)); !errors.Is(err, ports.ErrStale) {
					k.Errorf("%v later: %v", after, err)
				}
			}
			k.want(keyRecord(0))
		},
		"a lease that is over lets the next in, and the first one's response is nobody's": func(k keyStore) {
			must(k, k.save(keyRecord(0)))
			must(k, k.save(keyRecord(time.Minute)))
			if err := k.finish(completed(keyRecord(0), "first")); !errors.Is(err, ports.ErrNotFound) {
				k.Errorf("the first finished: %v", err)
			}
			must(k, k.finish(completed(keyRecord(time.Minute), "second")))
			k.want(completed(keyRecord(time.Minute), "second"))
		},
		"a response stays for a day": func(k keyStore) {
			must(k, k.save(keyRecord(0)))
			must(k, k.finish(completed(keyRecord(0), "first")))
			if err := k.finish(completed(keyRecord(0), "again")); !errors.Is(err, ports.ErrNotFound) {
				k.Errorf("finished twice: %v", err)
			}
			if err := k.save(keyRecord(24 * time.Hour)); !errors.Is(err, ports.ErrStale) {
				k.Errorf("replaced within the day: %v", err)
			}
			k.want(completed(keyRecord(0), "first"))
			must(k, k.save(completed(keyRecord(24*time.Hour+time.Millisecond), "new")))
			k.want(completed(keyRecord(24*time.Hour+time.Millisecond), "new"))
		},
		"a lease released frees the key at once": func(k keyStore) {
			must(k, k.save(keyRecord(0)))
			back := keyRecord(0)
			back.LeaseUntil = back.CreatedAt
			must(k, k.finish(back))
			must(k, k.save(keyRecord(0)))
			k.want(keyRecord(0))
		},
		"accounts, routes and keys are apart": func(k keyStore) {
			must(k, k.save(keyRecord(0)))
			for _, change := range []func(*ports.IdempotencyRecord){
				func(r *ports.IdempotencyRecord) { r.CreatorID = "crt_2" },
				func(r *ports.IdempotencyRecord) { r.Route = "POST /y" },
				func(r *ports.IdempotencyRecord) { r.Key = "K" },
			} {
				other := keyRecord(0)
				change(&other)
				must(k, k.save(other))
				k.want(other)
			}
		},
		"what is old is forgotten": func(k keyStore) {
			must(k, k.save(keyRecord(0)))
			must(k, k.forget(keyTime))
			k.want(keyRecord(0))
			must(k, k.forget(keyTime.Add(time.Millisecond)))
			must(k, k.save(keyRecord(0)))
		},
	}
}

func must(k keyStore, err error) {
	k.Helper()
	if err != nil {
		k.Fatal(err)
	}
}
