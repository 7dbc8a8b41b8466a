// Command bench prints each speed budget of the architecture as a ratio beside a bare reference measured in the same
// run, with the built program, PostgreSQL and, as users run it, Redis. Nothing here passes or fails: machines differ,
// ratios are for people to look at.
//
//	go run ./tests/bench            everything
//	go run ./tests/bench access slots    only the benches whose names contain one of these
//	go run ./tests/bench -events 50000000 full    ingest beside fifty million reports
//	go run ./tests/bench -fill 1000000             the same beside a million sales
//	go run ./tests/bench -turn 200ms -turns 1 -renewals 100    quickly, to see that each row works
//	go run ./tests/bench -profile cpu.pprof 304     with profiles of the program: processor time and allocations
//
// TEST_DATABASE_URL names the PostgreSQL and REDIS_URL the Redis; without the latter the program does without one.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"
)

// round is the time for which each side is loaded before the other has its turn, and rounds the number of turns of
// each: what disturbs the machine disturbs both.
var (
	round  = 2 * time.Second
	rounds = 4
)

// bench is one line of the budget table.
type bench struct {
	name   string
	budget string
	run    func(ctx context.Context, w *fixture) (measured string, err error)
}

var benches = []bench{
	{"access read 200", "≥ 0.85 of bare fiber + key check + one pgx point read", accessRead},
	{"access read 304", "≥ 0.95 of the same", accessNotModified},
	{"checkout session create", "≥ 0.70 of a bare transaction of three inserts", sessionCreate},
	{"payments, 1 account", "≥ 0.10 of a bare transaction of three inserts", paymentsOfOne},
	{"payments, 16 accounts", "≥ 0.12 of the same", paymentsOfMany},
	{"payments, buyers of one", "never fewer with 4, 16 and 64 buyers at once than with less", buyersOfOne},
	{"overload, payments", "offered 2 and 5 times: ≥ 0.80 of the peak are made", overload},
	{"beside due deliveries", "one account has a million (-due): p95 of another at most doubles", beside(dueTasks)},
	{"beside a hung endpoint", "the same", beside(hungEndpoint)},
	{"beside a listing", "read 2,000 times a second: the same", beside(readListing)},
	{"beside long-polls", "10,000 of one account: the same", beside(longPolls)},
	{"slots, pure", "31 days, 60 bookings: ≤ 20 µs", monthOfSlots},
	{"slots over HTTP", "≥ 0.18 of a bare point read; p99 < 16 ms at 8 connections, however many sessions are in the past",
		slotsOverHTTP},
	{"webhook deliveries", "≥ 0.55 of a plain signed POST loop that commits each, as many in flight", deliveriesToMany},
	{"deliveries to one endpoint", "≥ 0.35 of the same", deliveriesToOne},
	{"webhook delay", "from a payment's response to the receiver at 100 payments/s: p95 ≤ 60 ms", deliveryDelay},
	{"usage event, single", "≥ 0.75 of bare fiber + the same group commit", usageSingle},
	{"usage batch of 100", "≥ 0.60 of a bare group commit of the same rows", usageBatch},
	{"usage event, full table", "≥ 0.80 of the same on the empty table (-events sets how many are stored)", usageFull},
	{"usage flush", "per million reports", usageFlush},
	{"usage rating", "4 tiers: ≤ 300 ns, ≤ 2 allocations", usageRating},
	{"usage period close", "≤ 1.1 from 1 to 500 reports each", usageClose},
	{"renewals", "10,000 due in the same minute: ≥ 300/s; another account's are done in the first tenth of it", renewals},
	{"figures", "≤ 100 ms with a million sales (-fill), as on an empty account", figures},
	{"verify", "all invariants over all history: under a minute with a million sales (-fill)", verifyAll},
	{"start", "≤ 0.25 s to ready, ≤ 60 MB idle", start},
	{"idle", "≤ 10 Redis commands and 2 transactions a second, ≤ 1 % of a core, ≤ 60 MB", idle},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	profile := flag.String("profile", "", "write a CPU profile of the program to this file")
	serve := flag.String("reference", "", "serve the bare reference on this address, as the command itself has it done")
	flag.IntVar(&storedEvents, "events", storedEvents, "how many reports of use are stored for the bench on a full table")
	flag.DurationVar(&round, "turn", round, "how long each side is loaded before the other has its turn")
	flag.IntVar(&rounds, "turns", rounds, "how many turns each side has after a warm-up")
	flag.IntVar(&renewalsDue, "renewals", renewalsDue, "how many subscriptions are due in the same minute")
	flag.IntVar(&filledRows, "fill", 0, "how many sales and deliveries are there before the benches, made in SQL")
	flag.IntVar(&dueDeliveries, "due", dueDeliveries, "how many deliveries of one account are due beside another's sales")
	flag.Parse()
	var err error
	if *serve != "" {
		err = serveReference(ctx, *serve)
	} else {
		err = run(ctx, *profile, flag.Args())
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, profile string, only []string) (err error) {
	w, err := newFixture(ctx, profile)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	if err := w.fillTables(filledRows); err != nil {
		return fmt.Errorf("fill the tables: %w", err)
	}
	if profile != "" {
		stop, err := w.program.Profile()
		if err != nil {
			return err
		}
		defer stop()
	}
	for _, b := range benches {
		if len(only) > 0 && !slices.ContainsFunc(only, func(part string) bool { return strings.Contains(b.name, part) }) {
			continue
		}
		measured, err := b.run(ctx, w)
		if err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
		fmt.Printf("%-26s %s\n%26s budget: %s\n", b.name, measured, "", b.budget)
	}
	return nil
}
