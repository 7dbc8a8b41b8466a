package redislock

import (
	"crypto/rand"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"sundry/core/slot"
	"sundry/tests/contract"
	"sundry/tests/testredis"
)

func TestContract(t *testing.T) {
	t.Parallel()
	client := testredis.Client(t, testredis.Shared)
	locks := New(client, "contract-"+rand.Text())
	locks.wait = time.Minute // however slow the machine is
	contract.SlotLocks(t, locks)
}

func TestWithoutRedisAnErrorSaysSoInTime(t *testing.T) {
	t.Parallel()
	server := miniredis.RunT(t)
	client := redis.NewClient(&redis.Options{Addr: server.Addr(), MaxRetries: -1, DialTimeout: 100 * time.Millisecond})
	t.Cleanup(func() { _ = client.Close() })
	server.Close()
	begin := time.Now()
	entered, err := New(client, "sundry").TryLock(t.Context(), "crt_1", "a", []slot.Interval{{}}, time.Minute)
	if entered || err == nil || time.Since(begin) > 5*time.Second {
		t.Errorf("%v, %v after %s", entered, err, time.Since(begin))
	}
	if err := New(client, "sundry").Unlock(t.Context(), "crt_1", "a"); err == nil {
		t.Error("leaving reported nothing")
	}
}
