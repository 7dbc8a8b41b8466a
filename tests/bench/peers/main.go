// Command peers sets up shops of others beside Sundry, on the same PostgreSQL and Redis, and makes the same purchase in
// all of them: one digital product, by a new customer, from the first request to the paid order.
//
//	TEST_DATABASE_URL=postgres://… REDIS_URL=redis://… go run ./tests/bench/peers                  Medusa and Vendure
//	TEST_DATABASE_URL=postgres://… REDIS_URL=redis://… go run ./tests/bench/peers -buyers 4,16 vendure
//
// It needs Node.js with npm, which installs the shops into the user's cache, and as the user of the database one who may
// create databases. Sundry and the shop take turns; each turn prints its figures, and the medians are the last line.
// docs/benchmarks.md has a run with what is unequal in it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net/url"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"time"
)

// shop is one that is measured.
type shop interface {
	// prepare installs it and fills its database with something to sell.
	prepare(ctx context.Context, e environment) error
	// start starts it.
	start(ctx context.Context, e environment) (server, error)
	// buy makes one purchase by a customer who is new to it.
	buy(ctx context.Context, customer string) error
}

// server is a shop that runs.
type server interface {
	Processor() (time.Duration, error)
	Resident() (mb int, err error)
	End()
}

// peers are the shops of others, by name.
var peers = map[string]shop{"medusa": &medusa{}, "vendure": &vendure{}}

// settings of a run.
type settings struct {
	buyers []int
	turn   time.Duration
	turns  int
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	var s settings
	buyers := flag.String("buyers", "8,16", "how many buyers buy at once, one number for each comparison")
	flag.DurationVar(&s.turn, "turn", 20*time.Second, "how long each side is bought from before the other has its turn")
	flag.IntVar(&s.turns, "turns", 3, "how many turns each side has after a warm-up")
	flag.Parse()
	err := errors.Join(s.parseBuyers(*buyers), run(ctx, s, flag.Args()))
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func (s *settings) parseBuyers(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 {
			return fmt.Errorf("-buyers takes numbers, such as 8,16: %q", text)
		}
		s.buyers = append(s.buyers, n)
	}
	return nil
}

func run(ctx context.Context, s settings, names []string) error {
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(peers))
	}
	for _, name := range names {
		if peers[name] == nil {
			return fmt.Errorf("no peer is named %q, but %s", name, strings.Join(slices.Sorted(maps.Keys(peers)), " and "))
		}
	}
	for _, name := range names {
		if err := beside(ctx, s, name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// beside measures Sundry and one peer in turns.
func beside(ctx context.Context, s settings, name string) (err error) {
	ours, closeOurs, err := ready(ctx, "sundry", 0, &sundry{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeOurs()) }()
	theirs, closeTheirs, err := ready(ctx, name, 1, peers[name])
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeTheirs()) }()
	for _, buyers := range s.buyers {
		for turn := range s.turns + 1 { // the first warms up
			for _, side := range []*side{ours, theirs} {
				if err := side.measure(ctx, buyers, s.turn, turn > 0); err != nil {
					return err
				}
			}
		}
		fmt.Printf("%s beside sundry, %d buyers: %s\n", name, buyers, compare(ours, theirs))
		ours.turns, theirs.turns = nil, nil
	}
	return nil
}

// ready prepares and starts a shop in a database of its own, on the n-th database of the Redis.
func ready(ctx context.Context, name string, n int, of shop) (_ *side, closing func() error, err error) {
	e, drop, err := newEnvironment(ctx, name, n)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, drop())
		}
	}()
	if err := of.prepare(ctx, e); err != nil {
		return nil, nil, err
	}
	began := time.Now()
	running, err := of.start(ctx, e)
	if err != nil {
		return nil, nil, err
	}
	took := time.Since(began)
	resident, err := running.Resident()
	fmt.Printf("%s: ready after %.1f s, %d MB\n", name, took.Seconds(), resident)
	return &side{name: name, shop: of, server: running, database: e.postmaster},
		func() error { running.End(); return drop() }, err
}

// redisDatabase is the address of the n-th database behind that of REDIS_URL.
func redisDatabase(n int) (string, error) {
	address, err := url.Parse(os.Getenv("REDIS_URL"))
	if err != nil || address.Host == "" {
		return "", errors.New("set REDIS_URL, such as redis://127.0.0.1:6379/1")
	}
	first, _ := strconv.Atoi(strings.Trim(address.Path, "/"))
	address.Path = "/" + strconv.Itoa(first+n)
	return address.String(), nil
}
