package treasury

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"sundry/core/civil"
	"sundry/core/fault"
	"sundry/core/ledger"
	"sundry/core/money"
)

const (
	// MaxRevenueDays bounds the days of one answer: two years, so that a year can be compared with the one before.
	MaxRevenueDays = 731
	// defaultRevenueDays are the latest days, today included.
	defaultRevenueDays = 30
)

// RevenueQuery asks for the days from one to another, both included, UTC. Zero is the last of 30 days, today included.
type RevenueQuery struct{ From, To civil.Date }

// Revenue is what an account sold.
type Revenue struct {
	RevenueQuery
	// Days are ordered by day and currency; without those on which nothing was posted.
	Days []ledger.DayFigures
	// CompleteThrough is the time, on the account's clock, up to which everything counts: the answer's own.
	CompleteThrough time.Time
}

// ByCurrency yields the days of each currency, in the order of the currencies.
func (r Revenue) ByCurrency() iter.Seq2[money.Currency, []ledger.DayFigures] {
	days := map[money.Currency][]ledger.DayFigures{}
	for _, d := range r.Days {
		days[d.Currency] = append(days[d.Currency], d)
	}
	return func(yield func(money.Currency, []ledger.DayFigures) bool) {
		for _, currency := range slices.Sorted(maps.Keys(days)) {
			if !yield(currency, days[currency]) {
				return
			}
		}
	}
}

// Revenue returns the account's figures by day (ledger.Figures). VALIDATION_FAILED.
func (s *Service) Revenue(ctx context.Context, creatorID string, q RevenueQuery) (Revenue, error) {
	now, err := s.deps.Clock.Now(ctx, creatorID)
	if err != nil {
		return Revenue{}, err
	}
	if q.To == 0 {
		q.To = max(civil.DateIn(time.UTC, now), q.From) // which may be a day that is still to come
	}
	if q.From == 0 {
		q.From = q.To + 1 - defaultRevenueDays
	}
	var f fault.Violations
	f.Check(q.From <= q.To, "from", fault.DetailInvalid, "The first day must not be after the last.")
	f.Check(q.To-q.From < MaxRevenueDays, "from", fault.DetailInvalid,
		fmt.Sprintf("At most %d days at once.", MaxRevenueDays))
	if err := f.Err(); err != nil {
		return Revenue{}, err
	}
	days, err := s.deps.Store.Read(ctx).Treasury.Ledger.Days(ctx, creatorID, q.From, q.To)
	return Revenue{RevenueQuery: q, Days: days, CompleteThrough: now}, err
}
