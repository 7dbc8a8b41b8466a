package access_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	core "sundry/core/access"
	"sundry/core/customer"
	"sundry/core/fault"
	"sundry/core/plan"
	"sundry/modules/access"
	"sundry/ports"
)

func use(key string, amount int64) access.Consumption {
	return access.Consumption{ConsumeRequest: core.ConsumeRequest{Key: "images", Amount: amount}, IdempotencyKey: key}
}

func TestConsumingCredits(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		h.give(images(10, time.Time{}))
		h.give(images(4, noon.Add(time.Hour)))
		first, err := h.ConsumeCredits(t.Context(), creator, ada, use("job-1", 6))
		want := core.Balance{Key: "images", Unit: "image", Amount: 6, Granted: 14, Used: 6, Balance: 8, Version: 3}
		if err != nil || first != want {
			t.Fatalf("%+v, %v; want %+v", first, err, want)
		}
		if _, err := h.ConsumeCredits(t.Context(), creator, ada, use("job-2", 1)); err != nil {
			t.Fatal(err)
		}
		if again, err := h.ConsumeCredits(t.Context(), creator, ada, use("job-1", 6)); err != nil || again != want {
			t.Errorf("the same use again: %+v, %v; want the first response", again, err)
		}
		if d := h.snapshot(); d.Version != 4 || !strings.Contains(string(d.Body),
			`"granted":14,"used":7,"balance":7,"expiresAt":null`) {
			t.Errorf("version %d: %s", d.Version, d.Body)
		}
		h.verified()
	})
}

func TestAUseIsKnownUnderANewName(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		h.give(images(10, time.Time{}))
		first, err := h.ConsumeCredits(t.Context(), creator, ada, use("job-1", 6))
		if err != nil {
			t.Fatal(err)
		}
		for _, names := range [][2]string{{ada, "lovelace"}, {"lovelace", ada}, {ada, "countess"}} {
			renamed := customer.Renamed{State: customer.State{ID: "cus_1", CreatorID: creator}, From: names[0], To: names[1]}
			h.atomically(func(ctx context.Context, r ports.Repos) error { return h.OnCustomerRenamed(ctx, r, renamed) })
			for _, name := range names {
				if again, err := h.ConsumeCredits(t.Context(), creator, name, use("job-1", 6)); err != nil || again != first {
					t.Errorf("again as %s, now %s: %+v, %v; want %+v", name, names[1], again, err, first)
				}
			}
		}
		if left, err := h.ConsumeCredits(t.Context(), creator, "countess", use("job-2", 1)); err != nil || left.Balance != 3 {
			t.Errorf("left %+v, %v", left, err)
		}
		h.verified()
	})
}

func TestUsesThatAreRefused(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		h.give(images(10, time.Time{}))
		h.give(access.GrantRequest{Credits: []plan.Credit{{Key: "time", Unit: "hour", Amount: 1}}})
		h.give(access.GrantRequest{Credits: []plan.Credit{{Key: "time", Unit: "minute", Amount: 1}}})
		if _, err := h.ConsumeCredits(t.Context(), creator, ada, use("taken", 1)); err != nil {
			t.Fatal(err)
		}
		before := h.snapshot()
		otherKey, otherUnit, anyUnit := use("taken", 1), use("taken", 1), use("x", 1)
		otherKey.Key, otherUnit.Unit, anyUnit.Key = "time", "image", "time"
		for name, c := range map[string]struct {
			customer string
			use      access.Consumption
			code     fault.Code
			fields   []string
		}{
			"more than there is":           {ada, use("x", 10), fault.InsufficientBalance, nil},
			"a customer without any":       {"grace", use("x", 1), fault.InsufficientBalance, nil},
			"a key that named more":        {ada, use("taken", 2), fault.IdempotencyKeyMismatch, nil},
			"a key that named something":   {ada, otherKey, fault.IdempotencyKeyMismatch, nil},
			"a key with a unit it had not": {ada, otherUnit, fault.IdempotencyKeyMismatch, nil},
			"a credit of two units":        {ada, anyUnit, fault.ValidationFailed, []string{"unit"}},
			"nothing at all": {
				"", access.Consumption{}, fault.ValidationFailed,
				[]string{"externalCustomerId", "key", "amount", "idempotencyKey"},
			},
			"a negative amount": {ada, use("x", -1), fault.ValidationFailed, []string{"amount"}},
			"an idempotency key too long": {
				ada, use(strings.Repeat("é", 256), 1), fault.ValidationFailed, []string{"idempotencyKey"},
			},
			"a customer's name with a bell": {
				"a\x07", use("x", 1), fault.ValidationFailed, []string{"externalCustomerId"},
			},
		} {
			_, err := h.ConsumeCredits(t.Context(), creator, c.customer, c.use)
			if !fault.Is(err, c.code) || !reflect.DeepEqual(fieldsOf(err), c.fields) {
				t.Errorf("%s: %v (fields %v), want %s %v", name, err, fieldsOf(err), c.code, c.fields)
			}
		}
		if after := h.snapshot(); after.ETag != before.ETag {
			t.Errorf("refusals changed the snapshot to %s", after.Body)
		}
		if _, err := h.ConsumeCredits(t.Context(), creator, ada, use("x", 9)); err != nil {
			t.Errorf("a refused use took its idempotency key: %v", err)
		}
		h.verified()
	})
}

func TestParallelUsesNeverTakeMoreThanThereIs(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		const uses, given = 64, 40
		h.give(images(given/2, time.Time{}))
		h.give(images(given/2, noon.Add(time.Hour)))
		var all sync.WaitGroup
		var succeeded, short atomic.Int64
		for i := range uses {
			all.Go(func() {
				_, err := h.ConsumeCredits(t.Context(), creator, ada, use(fmt.Sprint(i), 1))
				switch {
				case err == nil:
					succeeded.Add(1)
				case fault.Is(err, fault.InsufficientBalance):
					short.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		all.Wait()
		if succeeded.Load() != given || short.Load() != uses-given {
			t.Errorf(
				"%d uses succeeded and %d fell short, want %d and %d", succeeded.Load(), short.Load(), given,
				uses-given,
			)
		}
		d := h.snapshot()
		if d.Version != 2+given || !strings.Contains(string(d.Body), `"granted":40,"used":40,"balance":0,"expiresAt":null`) {
			t.Errorf("version %d: %s", d.Version, d.Body)
		}
		h.verified()
	})
}

func TestOneUseAskedManyTimesAtOnceIsTakenOnce(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, h *fixture) {
		h.give(images(40, time.Time{}))
		var all sync.WaitGroup
		for range 16 {
			all.Go(func() {
				b, err := h.ConsumeCredits(t.Context(), creator, ada, use("same", 5))
				if err != nil || b.Used != 5 || b.Version != 2 {
					t.Errorf("%+v, %v", b, err)
				}
			})
		}
		all.Wait()
		h.verified()
	})
}
