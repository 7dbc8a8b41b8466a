package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"sundry/tests/bench/process"
)

// side is one of the two that are compared.
type side struct {
	name     string
	shop     shop
	server   server
	database int // the process of PostgreSQL
	turns    []turn
	customer atomic.Int64
}

// turn holds the figures of one turn: purchases a second, their time, and the processor time of each in the shop and in
// PostgreSQL.
type turn struct {
	rate                   float64
	p50, p95, shop, stored time.Duration
}

// String prints it.
func (t turn) String() string {
	return fmt.Sprintf("%.1f/s, p50 %v, p95 %v, processor %v + %v in PostgreSQL", t.rate, t.p50.Round(time.Millisecond),
		t.p95.Round(time.Millisecond), t.shop.Round(100*time.Microsecond), t.stored.Round(100*time.Microsecond))
}

// measure has buyers buy until the time is over, each one purchase after the other. What was begun in time counts.
func (s *side) measure(ctx context.Context, buyers int, lasts time.Duration, kept bool) error {
	shop, stored, err := s.used()
	if err != nil {
		return err
	}
	began := time.Now()
	took, err := s.buyAll(ctx, buyers, lasts)
	if err != nil {
		return err
	}
	lasted := time.Since(began)
	shopAfter, storedAfter, err := s.used()
	if err != nil {
		return err
	}
	slices.Sort(took)
	n := len(took)
	t := turn{rate: float64(n) / lasted.Seconds(), p50: took[n/2], p95: took[n*95/100],
		shop: (shopAfter - shop) / time.Duration(n), stored: (storedAfter - stored) / time.Duration(n)}
	if kept {
		s.turns = append(s.turns, t)
		fmt.Printf("  %s, %d buyers: %s\n", s.name, buyers, t)
	}
	return nil
}

// used is the processor time that the shop and PostgreSQL have used so far.
func (s *side) used() (shop, stored time.Duration, err error) {
	shop, err = s.server.Processor()
	if err != nil || s.database == 0 {
		return shop, 0, err
	}
	stored, err = process.Processor(s.database)
	return shop, stored, err
}

func (s *side) buyAll(ctx context.Context, buyers int, lasts time.Duration) ([]time.Duration, error) {
	var mu sync.Mutex
	var all []time.Duration
	var failed error
	end := time.Now().Add(lasts)
	var wg sync.WaitGroup
	for range buyers {
		wg.Go(func() {
			for time.Now().Before(end) && ctx.Err() == nil {
				began := time.Now()
				err := s.shop.buy(ctx, "buyer-"+strconv.FormatInt(s.customer.Add(1), 10))
				mu.Lock()
				all, failed = append(all, time.Since(began)), errors.Join(failed, err)
				stop := failed != nil
				mu.Unlock()
				if stop {
					return
				}
			}
		})
	}
	wg.Wait()
	return all, errors.Join(failed, ctx.Err())
}

// compare prints the medians of both sides, and how many times of theirs ours are.
func compare(ours, theirs *side) string {
	a, b := ours.median(), theirs.median()
	return fmt.Sprintf("\n  sundry %s\n  %s %s\n  %.1f times the purchases a second, 1/%.0f of the processor time",
		a, theirs.name, b, a.rate/b.rate, float64(b.shop+b.stored)/float64(a.shop+a.stored))
}

// median is each figure's.
func (s *side) median() turn {
	return turn{
		rate:   middle(s.turns, func(t turn) float64 { return t.rate }),
		p50:    middle(s.turns, func(t turn) time.Duration { return t.p50 }),
		p95:    middle(s.turns, func(t turn) time.Duration { return t.p95 }),
		shop:   middle(s.turns, func(t turn) time.Duration { return t.shop }),
		stored: middle(s.turns, func(t turn) time.Duration { return t.stored }),
	}
}

func middle[T float64 | time.Duration](of []turn, figure func(turn) T) T {
	figures := make([]T, len(of))
	for i, t := range of {
		figures[i] = figure(t)
	}
	slices.Sort(figures)
	return figures[len(figures)/2]
}
