// Command bench prints each speed budget of the architecture as a ratio beside a bare reference measured in the same
// run, on PostgreSQL. Nothing here passes or fails: machines differ, ratios are for people to look at.
//
//	go run ./tests/bench            everything
//	go run ./tests/bench access     only the benches whose name contains "access"
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"
)

// round is how long each side is loaded before the other has its turn, and rounds how often they take turns: what
// disturbs the machine disturbs both.
const (
	round  = 2 * time.Second
	rounds = 4
)

// bench is one line of the budget table.
type bench struct {
	name   string
	budget string
	run    func(ctx context.Context, w *world) (measured string, err error)
}

var benches = []bench{
	{"access read 200", "≥ 0.70 of bare fiber + key check + one pgx point read", accessRead},
	{"access read 304", "≥ 0.80 of the same", accessNotModified},
	{"checkout session create", "≥ 0.40 of a bare transaction of three inserts", sessionCreate},
	{"slots, pure", "31 days, 60 bookings: ≤ 50 µs", monthOfSlots},
	{"slots over HTTP", "the same: p99 < 25 ms, however many sessions are in the past", slotsOverHTTP},
	{"webhook deliveries", "≥ 0.35 of a plain signed POST loop that commits each, as many in flight", deliveries},
	{"webhook delay", "from the cause's answer to the receiver at 100/s: p95 ≤ 250 ms", deliveryDelay},
	{"start", "≤ 1.5 s to ready, ≤ 120 MB idle", start},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, only []string) (err error) {
	w, err := newWorld(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	for _, b := range benches {
		if len(only) > 0 && !strings.Contains(b.name, only[0]) {
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
