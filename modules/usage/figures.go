package usage

import (
	"context"
	"fmt"
	"time"

	"sundry/core/civil"
	"sundry/core/usage"
	"sundry/ports"
)

// Figures are the use of an account's meters by day.
type Figures struct {
	civil.Days
	// Meters are those that have any use in the days, newest first.
	Meters []MeterFigures
	// CompleteThrough is the time, on the account's clock, up to which every accepted report counts: the answer's own.
	CompleteThrough time.Time
}

// MeterFigures are the use of a meter.
type MeterFigures struct {
	Meter usage.Meter
	// Days are in their order, without those on which nothing was reported.
	Days []usage.DayUse
	// Total is the use of all of the days (usage.Aggregation.Over).
	Total usage.DayUse
}

// Figures returns the use of the account's meters by day, of one meter unless that is "". VALIDATION_FAILED, and
// NOT_FOUND for a meter of another account.
func (s *Service) Figures(ctx context.Context, creatorID, meterID string, asked civil.Days) (Figures, error) {
	now, err := s.deps.Clock.Now(ctx, creatorID)
	if err != nil {
		return Figures{}, err
	}
	days, err := asked.CompleteAt(now)
	if err != nil {
		return Figures{}, err
	}
	figures := Figures{Days: days, CompleteThrough: now}
	if meterID != "" {
		if _, err := s.Meter(ctx, creatorID, meterID); err != nil {
			return Figures{}, err
		}
	}
	r := s.deps.Store.Read(ctx)
	use, err := r.Usage.Rollups.ListDays(ctx, creatorID, meterID, days)
	if err != nil {
		return Figures{}, err
	}
	byMeter := map[string][]usage.DayUse{}
	for _, d := range use {
		byMeter[d.MeterID] = append(byMeter[d.MeterID], d.DayUse)
	}
	meters, err := ports.AllPages(func(p ports.Page) (ports.List[usage.Meter], error) {
		return r.Usage.Catalog.ListMeters(ctx, creatorID, p)
	})
	if err != nil {
		return Figures{}, err
	}
	for _, m := range meters {
		days, ok := byMeter[m.ID]
		if !ok {
			continue
		}
		total, fits := m.Aggregation.Over(days)
		if !fits {
			return Figures{}, fmt.Errorf("figures of meter %s: the sum has too many digits", m.ID)
		}
		figures.Meters = append(figures.Meters, MeterFigures{m, days, total})
	}
	return figures, nil
}
