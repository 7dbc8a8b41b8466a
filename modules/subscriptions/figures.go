package subscriptions

import (
	"context"
	"maps"
	"slices"
	"time"

	"sundry/core/civil"
	"sundry/core/money"
	"sundry/core/subscription"
	"sundry/ports"
)

// movedBatch bounds the subscriptions of which one transaction adds up the movements.
const movedBatch = 200

// SumMovements adds the movements of subscriptions up by day, until none is left. It may run in several processes.
func (s *Service) SumMovements(ctx context.Context) error {
	for more := true; more; {
		err := s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
			moved, err := r.Subscriptions.Movements.ListUnrolled(ctx, movedBatch)
			if err != nil {
				return err
			}
			more = len(moved) == movedBatch
			var days []ports.MovementDay
			for _, one := range moved {
				ok, err := r.Subscriptions.Movements.SetRolled(ctx, one)
				if err != nil {
					return err
				}
				for _, m := range one.Unrolled(one.Rolled) {
					if ok {
						days = append(days, ports.MovementDay{
							CreatorID: one.CreatorID, Day: civil.DateIn(time.UTC, m.At), Currency: one.Offer.Price.Currency,
							Kind: m.Kind, Minor: m.Minor, Count: 1,
						})
					}
				}
			}
			return r.Subscriptions.Movements.Add(ctx, days)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Figures sum up the movements of an account's subscriptions in a span of days.
type Figures struct {
	civil.Days
	// Currencies are ordered by currency; those in which there never was a movement are left out.
	Currencies []CurrencyFigures
	// CompleteThrough is the time, on the account's clock, up to which everything counts: the answer's own.
	CompleteThrough time.Time
}

// CurrencyFigures are those in one currency.
type CurrencyFigures struct {
	Currency money.Currency
	// Opening is the state at the first instant, Total the movements, and Days those of the days that have any.
	Opening Standing
	Total   Moves
	Days    []DayMoves
}

// Standing is the monthly recurring revenue at an instant, and the number of subscriptions that bring it.
type Standing struct{ MRR, Subscriptions int64 }

// Moves sum movements by kind: what each did to the MRR, and how many there were.
type Moves map[subscription.MovementKind]Move

// Move is the sum of the movements of one kind.
type Move struct{ Minor, Count int64 }

// DayMoves are the movements of a day, and the state at its end.
type DayMoves struct {
	Day     civil.Date
	Moves   Moves
	Closing Standing
}

// after returns the standing after movements.
func (s Standing) after(m Moves) Standing {
	for _, move := range m {
		s.MRR += move.Minor
	}
	s.Subscriptions += m[subscription.NewRevenue].Count + m[subscription.Reactivation].Count - m[subscription.Churn].Count
	return s
}

// Since returns the figures from a day on: those before it are the opening.
func (c CurrencyFigures) Since(first civil.Date) CurrencyFigures {
	later := CurrencyFigures{Currency: c.Currency, Opening: c.Opening, Total: Moves{}}
	for _, d := range c.Days {
		if d.Day < first {
			later.Opening = d.Closing
			continue
		}
		for kind, move := range d.Moves {
			later.Total[kind] = Move{later.Total[kind].Minor + move.Minor, later.Total[kind].Count + move.Count}
		}
		later.Days = append(later.Days, d)
	}
	return later
}

// Closing returns the state at the last instant.
func (c CurrencyFigures) Closing() Standing { return c.Opening.after(c.Total) }

// ChurnRate returns the share of the subscriptions at the first instant that ended; ok is false when there were none.
func (c CurrencyFigures) ChurnRate() (rate float64, ok bool) {
	return share(c.Total[subscription.Churn].Count, c.Opening.Subscriptions)
}

// TrialConversion returns the share of the trials that ended in the time of which something was paid; ok is false when
// none ended.
func (c CurrencyFigures) TrialConversion() (rate float64, ok bool) {
	converted := c.Total[subscription.TrialConverted].Count
	return share(converted, converted+c.Total[subscription.TrialLost].Count)
}

func share(part, whole int64) (rate float64, ok bool) {
	if whole <= 0 {
		return 0, false
	}
	return float64(part) / float64(whole), true
}

// Figures returns the movements of the account's subscriptions. VALIDATION_FAILED.
func (s *Service) Figures(ctx context.Context, creatorID string, asked civil.Days) (Figures, error) {
	now, err := s.deps.Store.Read(ctx).Clock.Now(ctx, creatorID)
	if err != nil {
		return Figures{}, err
	}
	span, err := asked.CompleteAt(now)
	if err != nil {
		return Figures{}, err
	}
	days, err := s.deps.Store.Read(ctx).Subscriptions.Movements.Sum(ctx, creatorID, span.From, span.To)
	return Figures{Days: span, Currencies: byCurrency(days, span.From), CompleteThrough: now}, err
}

// byCurrency puts the movements of days together; what is of a day before the first is the opening.
func byCurrency(days []ports.MovementDay, first civil.Date) (all []CurrencyFigures) {
	moves := map[money.Currency]map[civil.Date]Moves{}
	for _, d := range days {
		if moves[d.Currency] == nil {
			moves[d.Currency] = map[civil.Date]Moves{}
		}
		if moves[d.Currency][d.Day] == nil {
			moves[d.Currency][d.Day] = Moves{}
		}
		move := moves[d.Currency][d.Day][d.Kind]
		moves[d.Currency][d.Day][d.Kind] = Move{move.Minor + d.Minor, move.Count + d.Count}
	}
	for _, currency := range slices.Sorted(maps.Keys(moves)) {
		ever := CurrencyFigures{Currency: currency}
		standing := Standing{}
		for _, day := range slices.Sorted(maps.Keys(moves[currency])) {
			standing = standing.after(moves[currency][day])
			ever.Days = append(ever.Days, DayMoves{day, moves[currency][day], standing})
		}
		all = append(all, ever.Since(first))
	}
	return all
}
