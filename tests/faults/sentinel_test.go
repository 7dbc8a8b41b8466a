//go:build unix

package faults

import (
	"context"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/redis/go-redis/v9"

	"sundry/tests/harness"
	"sundry/tests/testdb"
)

// watchedRedis is a Redis with a replica, and a Sentinel that lets the replica take over. address leads to the
// Sentinel.
func watchedRedis(t *testing.T) (primary *server, address string) {
	t.Helper()
	primary, _, ok := redisServer(t)
	if !ok {
		t.Skip("Redis' own program is not installed here")
	}
	replica, _, _ := redisServer(t)
	host, port, _ := net.SplitHostPort(primary.addr)
	follower := redis.NewClient(&redis.Options{Addr: replica.addr})
	t.Cleanup(func() { _ = follower.Close() })
	if err := follower.ReplicaOf(t.Context(), host, port).Err(); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, "the replica follows", func() bool {
		state, err := follower.Info(t.Context(), "replication").Result()
		return err == nil && strings.Contains(state, "master_link_status:up")
	})

	watcher := newServer(t, primary.path, "")
	_, at, _ := net.SplitHostPort(watcher.addr)
	settings := filepath.Join(watcher.dir, "sentinel.conf")
	err := os.WriteFile(settings, []byte("bind "+host+"\nport "+at+"\nsentinel monitor sundry "+host+" "+port+" 1\n"+
		"sentinel down-after-milliseconds sundry 500\nsentinel failover-timeout sundry 5000\n"), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	watcher.args = []string{settings, "--sentinel"}
	watcher.start()
	asked := redis.NewSentinelClient(&redis.Options{Addr: watcher.addr})
	t.Cleanup(func() { _ = asked.Close() })
	harness.Eventually(t, "the Sentinel knows the replica", func() bool {
		known, err := asked.Replicas(context.WithoutCancel(t.Context()), "sundry").Result()
		return err == nil && len(known) == 1 && known[0]["master-link-status"] == "ok"
	})
	return primary, "redis://" + watcher.addr + "/0?master_name=sundry"
}

func TestAFailoverOfRedisLosesNoSale(t *testing.T) {
	t.Parallel()
	d := newDeployment(t)
	d.DatabaseURL = testdb.Postgres.URL(t)
	primary, address := watchedRedis(t)
	maps.Copy(d.env, map[string]string{"DATABASE_URL": d.DatabaseURL, "REDIS_URL": address})
	serve := d.Start(t, "serve", nil)
	d.Start(t, "worker", nil)
	finds := func() bool {
		ready := serve.App.AskUnjudged(t, harness.Request{Method: http.MethodGet, Path: "/readyz"}).Map(t)
		return ready["redis"] == "ok"
	}
	harness.Eventually(t, "the primary is found", finds)
	sold := startSales(t, serve.App.NewAccount(t), 4, 0)
	sold.await(t, "sales", 20)

	primary.die(syscall.SIGKILL)
	sold.await(t, "sales after the primary's death", 4)
	harness.Eventually(t, "the replica is found", finds)
	sold.await(t, "sales after the failover", 20)
	sold.end(t, d)
	d.Verify(t)
}
