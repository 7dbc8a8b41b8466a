//go:build unix

package faults

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"sundry/tests/harness"
	"sundry/tests/testenv"
)

// The flags of `task chaos`. Without -for, TestChaos lasts as long as CI can afford.
var (
	chaosSeed = flag.Uint64("seed", 0, "the seed of TestChaos; 0 for a new one")
	chaosFor  = flag.Duration("for", 0, "how long TestChaos lasts")
)

const (
	// chaosInCI is the duration of TestChaos in CI.
	chaosInCI = 2 * time.Minute
	// chaosRenewals is the number of subscriptions that fall due after a third of it.
	chaosRenewals = 40
)

// chaos is a deployment of three processes that serve and two that work, on a PostgreSQL with a synchronous standby and
// a Redis of its own, all behind proxies.
type chaos struct {
	*Deployment
	t         *testing.T
	pair      *pair
	databases [2]*Proxy
	redis     *server
	processes []*Process
	commands  []string
	vars      []map[string]string
	// disks means that the data of PostgreSQL have a file system of their own.
	disks bool
}

func newChaos(t *testing.T) *chaos {
	t.Helper()
	c := &chaos{Deployment: makeDeployment(t), t: t, disks: canMount(t)}
	prepare := func(*server) {}
	if c.disks {
		prepare = (*server).mountDisk
	}
	c.pair = newPrimaryOn(t, prepare)
	c.pair.follow(freeAddress(t))
	skewed, err := skewedBinary()
	if err != nil {
		t.Fatal(err)
	}
	c.program = skewed
	redis, redisURL, ok := redisServer(t)
	if !ok {
		t.Skip("Redis is not installed here")
	}
	c.redis, c.RedisURL, c.Redis = redis, redisURL, NewProxy(t, redisURL)
	addresses := make([]string, len(c.databases))
	for i := range c.databases {
		c.databases[i] = NewProxy(t, c.pair.address(i))
		addresses[i] = c.databases[i].listener.Addr().String()
	}
	maps.Copy(c.env, map[string]string{
		"DATABASE_URL": primaryOf(addresses...), "REDIS_URL": c.Redis.Via(redisURL),
	})
	for _, command := range []string{"serve", "serve", "serve", "worker", "worker"} {
		vars := map[string]string{"ADDR": freeAddress(t)}
		c.commands, c.vars = append(c.commands, command), append(c.vars, vars)
		c.processes = append(c.processes, c.Start(t, command, vars))
	}
	return c
}

// restart starts the process of a number again, at its address.
func (c *chaos) restart(i int) { c.processes[i] = c.Start(c.t, c.commands[i], c.vars[i]) }

// calamity is a fault and its end. Two of one target are not made at once.
type calamity struct {
	target, name string
	begin, end   func()
	// longest is the longest that it lasts.
	longest time.Duration
}

// process draws one process.
func (c *chaos) process(random *rand.Rand) (i int, target string) {
	i = random.IntN(len(c.processes))
	return i, fmt.Sprintf("process %d (%s)", i, c.commands[i])
}

// draw is the next calamity.
func (c *chaos) draw(random *rand.Rand, long bool) calamity {
	const short = 6 * time.Second
	i, process := c.process(random)
	pause := short
	if long { // longer than the lease of a task, so that another process takes it over
		pause = 30 * time.Second
	}
	slow := time.Duration(20+random.IntN(300)) * time.Millisecond
	skew := time.Duration(random.IntN(121)-60) * time.Second
	nothing := func() {}
	all := []calamity{
		{process, "is killed", func() { c.processes[i].Kill() }, func() { c.restart(i) }, short},
		{process, "is paused", func() { c.processes[i].Pause(c.t) }, func() { c.processes[i].Continue(c.t) }, pause},
		{process, fmt.Sprint("is replaced by one whose clock is ahead by ", skew), func() { c.skew(i, skew) }, nothing, 1},
		{process, "is replaced", func() { c.processes[i].Terminate(c.t) }, func() { c.restart(i) }, time.Second},
		{"database", "is cut off", func() { c.eachDatabase((*Proxy).Cut) }, func() { c.eachDatabase((*Proxy).Restore) }, short},
		{"database", fmt.Sprintf("is slow by %s", slow), func() { c.slowDatabase(slow) }, func() { c.slowDatabase(0) }, short},
		{"database", "hangs", func() { c.slowDatabase(time.Hour) }, func() { c.slowDatabase(0) }, short},
		{"database", "crashes", func() { c.leader().die(syscall.SIGQUIT) }, c.recover, time.Second},
		{"database", "fails over", c.pair.failOver, func() { c.pair.follow(c.pair.servers[1-c.pair.primary].addr) }, time.Second},
		{"redis", "is cut off", c.Redis.Cut, c.Redis.Restore, short},
		{"redis", fmt.Sprintf("is slow by %s", slow), func() { c.Redis.Slow(slow) }, func() { c.Redis.Slow(0) }, short},
		{"redis", "crashes", func() { c.redis.die(syscall.SIGKILL) }, c.redis.start, short},
		{"redis", "is emptied", func() { c.flush() }, nothing, time.Second},
		{"database", "has a full disk", func() { c.leader().fillDisk() }, c.makeRoom, short},
	}
	drawn := all[random.IntN(len(all))]
	if drawn.name == "has a full disk" && !c.disks {
		return calamity{"nothing", "happens", nothing, nothing, time.Second}
	}
	return drawn
}

// skew replaces a process by one whose clock is wrong, until it is replaced again.
func (c *chaos) skew(i int, by time.Duration) {
	c.processes[i].Terminate(c.t)
	c.vars[i][clockSkew] = by.String()
	c.restart(i)
	delete(c.vars[i], clockSkew)
}

func (c *chaos) makeRoom() {
	c.leader().makeRoom()
	c.pair.synced()
}

func (c *chaos) leader() *server { return c.pair.servers[c.pair.primary] }

// recover starts the primary again. It may fail over as soon as the standby has what is seen on it.
func (c *chaos) recover() {
	c.leader().start()
	c.pair.synced()
}

func (c *chaos) eachDatabase(do func(*Proxy)) {
	for _, p := range c.databases {
		do(p)
	}
}

func (c *chaos) slowDatabase(by time.Duration) { c.eachDatabase(func(p *Proxy) { p.Slow(by) }) }

// flush empties Redis past its proxy.
func (c *chaos) flush() {
	past := *c.Deployment
	past.Redis = nil
	past.FlushRedis(c.t)
}

// strike makes one or two calamities, and ends them: the servers' first, since a process that starts needs them.
func (c *chaos) strike(random *rand.Rand, long bool, began time.Time) {
	first, second := c.draw(random, long), c.draw(random, long)
	struck := []calamity{first}
	if random.IntN(3) == 0 && second.target != first.target {
		struck = append(struck, second)
	}
	// A process that is being stopped needs its database.
	const replaced = "is replaced"
	if len(struck) == 2 && (strings.HasPrefix(first.name, replaced) || strings.HasPrefix(second.name, replaced)) {
		struck = struck[:1]
	}
	lasts := time.Duration(random.Int64N(int64(first.longest)))
	for _, one := range struck {
		c.t.Logf("%6.1fs %s %s", time.Since(began).Seconds(), one.target, one.name)
		one.begin()
	}
	time.Sleep(lasts)
	for _, server := range []bool{true, false} {
		for _, one := range struck {
			if strings.HasPrefix(one.target, "process") != server {
				one.end()
			}
		}
	}
	c.t.Logf("%6.1fs over", time.Since(began).Seconds())
	time.Sleep(time.Duration(random.Int64N(int64(3 * time.Second))))
}

// TestChaos lets buyers, integrators and receivers of events work while processes and servers die, hang and come back,
// and then holds every response that they got against what is there. `task chaos -- -seed N -for 10m` repeats a run:
// the seed decides which calamities happen, in which order and for how long.
func TestChaos(t *testing.T) {
	t.Parallel()
	length := *chaosFor
	if length == 0 {
		testenv.Need(t, testenv.Database)
		length = chaosInCI
	}
	seed := *chaosSeed
	if seed == 0 {
		seed = rand.Uint64N(1_000_000)
	}
	t.Logf("task chaos -- -seed %d -for %s", seed, length)
	c := newChaos(t)
	renewing := c.processes[0].App.NewAccount(t)
	subscribers(t, renewing, chaosRenewals)
	load := startLoad(t, c)
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // to be repeated
	renewed := false
	for began := time.Now(); time.Since(began) < length; {
		if !renewed && time.Since(began) > length/3 {
			renewed = true
			c.DatabaseURL = c.pair.leader()
			c.putForward(t, renewing.ID, 31*day)
		}
		c.strike(random, length > 2*chaosInCI, began)
	}
	load.end()
	c.DatabaseURL = c.pair.leader()
	harness.Eventually(t, "all work is done", func() bool {
		return c.Count(t, "SELECT COUNT(*) FROM deliveries WHERE status <> 'delivered'") == 0 &&
			c.Count(t, "SELECT COUNT(*) FROM tasks WHERE kind IN ('payment.charge', 'refund.send', 'webhook.deliver')") == 0
	})
	c.wantEachPaidOnce(t, chaosRenewals)
	load.check()
}
