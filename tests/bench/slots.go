package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"sundry/core/civil"
	"sundry/core/slot"
)

const (
	slotRuns        = 5000
	slotRequests    = 200 // of each connection
	slotConnections = 8
	pastSessions    = 5000
)

// monthOfSlots measures a month of a busy creator's calendar as a pure function.
func monthOfSlots(context.Context, *fixture) (string, error) {
	hours := slot.Settings{Timezone: "America/New_York"}.Clean()
	for _, weekday := range []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"} {
		hours.Weekly = append(hours.Weekly, slot.WeeklyHours{Weekday: weekday,
			Hours: slot.Hours{Start: "09:00", End: "17:00"}})
	}
	availability, err := hours.Availability()
	if err != nil {
		return "", err
	}
	viewer, err := civil.ParseZone("Europe/Paris")
	if err != nil {
		return "", err
	}
	now := time.Date(2026, 2, 20, 12, 0, 0, 0, time.UTC)
	q := slot.Query{Availability: availability, Now: now,
		Policy: slot.Policy{Duration: 60, Step: 30, BufferBefore: 10, BufferAfter: 10, HorizonDays: 60, DailyCap: 5}}
	for i := range 60 {
		from := now.Add(time.Duration(i) * 17 * time.Hour)
		q.Busy, q.Booked = append(q.Busy, slot.Interval{From: from, Until: from.Add(time.Hour)}), append(q.Booked, from)
	}
	first := civil.DateIn(viewer, now) + 9
	took, open := make([]time.Duration, slotRuns), 0
	for i := range took {
		begin := time.Now()
		open = len(slot.Open(q, first, first+30, viewer))
		took[i] = time.Since(begin)
	}
	return fmt.Sprintf("%s for %d open times", quantiles(took), open), nil
}

func quantiles(took []time.Duration) string {
	slices.Sort(took)
	return fmt.Sprintf("p50 %v, p99 %v", took[len(took)/2], took[len(took)*99/100])
}

// slotsOverHTTP measures the same month asked over HTTP, of a creator with sixty sessions ahead and thousands behind.
func slotsOverHTTP(ctx context.Context, w *fixture) (string, error) {
	var listing struct{ ID, CreatorID string }
	if err := w.call("GET", "/v1/listings/one-hour", nil, &listing); err != nil {
		return "", err
	}
	_, err := w.pool.Exec(w.ctx, `INSERT INTO reservations SELECT 'clm_bench_' || n, $1, $2, 'var', 'cs', 0, 'confirmed', at, at + 3600000, at, at + 3600000, 'UTC', 'virtual', 0, 1
		FROM (SELECT n, (extract(epoch FROM now())::bigint + n * 43200) * 1000 AS at FROM generate_series(-$3::int, 60) AS n) AS ahead`,
		listing.CreatorID, listing.ID, pastSessions)
	if err != nil {
		return "", err
	}
	from := time.Now().AddDate(0, 0, 1)
	url := fmt.Sprintf("%s/v1/listings/%s/slots/range?from=%s&to=%s&timezone=Europe/Paris",
		w.base, listing.ID, from.Format(time.DateOnly), from.AddDate(0, 0, 30).Format(time.DateOnly))
	took := make([]time.Duration, slotConnections*slotRequests)
	var failed atomic.Pointer[error]
	var wg sync.WaitGroup
	for turn := range slices.Chunk(took, slotRequests) {
		wg.Go(func() {
			for i := range turn {
				begin := time.Now()
				status, _, err := fasthttp.Get(nil, url)
				if err != nil || status != fasthttp.StatusOK {
					failed.Store(new(fmt.Errorf("responded %d: %w", status, err)))
					return
				}
				turn[i] = time.Since(begin)
			}
		})
	}
	wg.Wait()
	if err := failed.Load(); err != nil {
		return "", *err
	}
	if err := w.buy("bench-slots"); err != nil {
		return "", err
	}
	ratio, err := w.compare(ctx,
		&side{name: "sundry", status: 200, request: func(r *fasthttp.Request) { r.SetRequestURI(url) }},
		&side{name: "bare", status: 200, request: w.get(w.bare+"/document/bench-slots", "")})
	// They have no appointments, which the row about verify would report.
	_, deleteErr := w.pool.Exec(w.ctx, "DELETE FROM reservations WHERE id LIKE 'clm_bench_%'")
	err = errors.Join(err, deleteErr)
	return fmt.Sprintf("%s; %s at %d connections, %d sessions in the past", ratio, quantiles(took), slotConnections,
		pastSessions), err
}
