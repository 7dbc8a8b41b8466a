package treasury

import (
	"context"
	"iter"
	"maps"
	"slices"
	"time"

	"sundry/core/civil"
	"sundry/core/ledger"
	"sundry/core/money"
)

// Revenue holds an account's revenue by day and currency.
type Revenue struct {
	civil.Days
	// Figures are ordered by day and currency; without those on which nothing was posted.
	Figures []ledger.DayFigures
	// CompleteThrough is the time, on the account's clock, up to which everything counts: the answer's own.
	CompleteThrough time.Time
}

// ByCurrency yields the days of each currency, in the order of the currencies.
func (r Revenue) ByCurrency() iter.Seq2[money.Currency, []ledger.DayFigures] {
	days := map[money.Currency][]ledger.DayFigures{}
	for _, d := range r.Figures {
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
func (s *Service) Revenue(ctx context.Context, creatorID string, asked civil.Days) (Revenue, error) {
	now, err := s.deps.Clock.Now(ctx, creatorID)
	if err != nil {
		return Revenue{}, err
	}
	span, err := asked.CompleteAt(now)
	if err != nil {
		return Revenue{}, err
	}
	figures, err := s.deps.Store.Read(ctx).Treasury.Ledger.Days(ctx, creatorID, span.From, span.To)
	return Revenue{Days: span, Figures: figures, CompleteThrough: now}, err
}
