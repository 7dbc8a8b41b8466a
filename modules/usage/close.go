package usage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/usage"
	"sundry/ports"
)

// ClosePeriod closes the current period of a billing plan: counts, rates and publishes what its invoice contains. Task
// TaskClose. Its cost does not depend on the number of reports.
func (s *Service) ClosePeriod(ctx context.Context, t ports.Task) error {
	if err := s.countPeriods(ctx); err != nil {
		return err
	}
	return s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		state, err := r.Usage.Plans.Get(ctx, t.CreatorID, t.Subject)
		if errors.Is(err, ports.ErrNotFound) || err == nil && state.Status == usage.PlanEnded {
			return r.Tasks.Done(ctx, t)
		}
		if err != nil {
			return err
		}
		now, err := r.Clock.Now(ctx, t.CreatorID)
		if err != nil {
			return err
		}
		if now.Before(state.NextInvoiceAt()) {
			return r.Tasks.Postpone(ctx, t, state.NextInvoiceAt())
		}
		next, err := s.closePeriod(ctx, r, usage.RestoreBillingPlan(state), now)
		if err != nil {
			return err
		}
		if next.Status == usage.PlanEnded {
			return r.Tasks.Done(ctx, t)
		}
		return r.Tasks.Postpone(ctx, t, next.NextInvoiceAt())
	})
}

// closePeriod closes a period that has ended.
func (s *Service) closePeriod(
	ctx context.Context, r ports.Repos, p *usage.BillingPlan, now time.Time,
) (usage.PlanState, error) {
	before := p.State()
	closed, err := p.Close(now)
	if err != nil {
		return usage.PlanState{}, err
	}
	next, repriced := p.State(), before.PriceID != p.State().PriceID
	last := next.Status == usage.PlanEnded
	if last { // after the last invoice nothing may arrive any more
		if err := r.Usage.Streams.LockIntake(ctx); err != nil {
			return next, err
		}
	}
	if err := r.Usage.Rollups.LockShared(ctx); err != nil { // closings of other plans need not wait
		return next, err
	}
	b, err := s.load(ctx, r, next, r.Usage.Streams.GetForUpdate)
	if err != nil {
		return next, err
	}
	invoiceID := s.deps.IDs.New(id.Invoice)
	lines, err := b.rate(ctx, r, closed)
	if err != nil {
		return next, err
	}
	credits, err := s.fit(ctx, r, b, lines, before.NextInvoiceAt())
	if err != nil {
		return next, err
	}
	if err := s.publishLimits(ctx, r, b, lines, now); err != nil {
		return next, err
	}
	if err := b.settle(ctx, r, lines, invoiceID, s.deps.Clock.Real()); err != nil {
		return next, err
	}
	if last {
		if err := s.grantLeft(ctx, r, b, usage.CreditLeft(lines), before.NextInvoiceAt()); err != nil {
			return next, err
		}
	}
	if last || repriced { // who remembers the stream with its price reads it again
		b.stream.Closed = last
		b.stream.Version++
		if err := r.Usage.Streams.Update(ctx, b.stream); err != nil {
			return next, err
		}
	}
	if err := r.Usage.Plans.Update(ctx, next); err != nil {
		return next, err
	}
	lines = usage.Asked(lines)
	uses, err := s.useCredits(ctx, r, credits, invoiceID, before.NextInvoiceAt())
	if err != nil {
		return next, err
	}
	subscription, err := r.Subscriptions.Subscriptions.Get(ctx, next.SubscriptionID)
	if err != nil {
		return next, err
	}
	err = s.deps.Bus.Publish(ctx, r, usage.PeriodClosed{
		InvoiceID: invoiceID, Plan: next, Period: closed, Currency: b.price.Currency, Lines: lines,
		TaxBehavior: subscription.Offer.TaxBehavior, Credits: uses, At: before.NextInvoiceAt(),
	})
	if err != nil {
		return next, err
	}
	return next, s.publishCountsChanged(ctx, r, b.stream)
}

// fit makes lines fit on one invoice and returns the credits that pay for them. What these leave waits for the next
// invoice where it is less than a card can be charged, unless no other follows.
func (s *Service) fit(
	ctx context.Context, r ports.Repos, b *billing, lines []usage.Rated, at time.Time,
) (prepaid, error) {
	usage.Fit(lines)
	due := usage.SumOf(lines)
	credits, err := s.creditsFor(ctx, r, b, due, at)
	left := due - credits.pay
	if err != nil || left == 0 || left >= s.deps.LeastCharge(b.price.Currency) || b.plan.Status == usage.PlanEnded {
		return credits, err
	}
	usage.CarryOver(lines)
	return prepaid{}, nil
}

// billing holds a plan and the data by which it bills.
type billing struct {
	plan   usage.PlanState
	meter  usage.Meter
	price  usage.Price // of the current period
	stream ports.UsageStream
	// periods are those that were rated, in the order of their lines.
	periods []ratedPeriod
}

// ratedPeriod is a period with its count, and the number of its lines: one, or one for each rate of its price.
type ratedPeriod struct {
	usage.Period
	count ports.UsageRollup
	parts []usage.Quantity // by rate, where the price has rates
	lines int
}

// load reads what a plan bills by; getStream reads its stream.
func (s *Service) load(
	ctx context.Context, r ports.Repos, p usage.PlanState,
	getStream func(ctx context.Context, creatorID, subscriptionID, eventName string) (ports.UsageStream, error),
) (*billing, error) {
	b := &billing{plan: p}
	var err error
	if b.meter, err = r.Usage.Catalog.GetMeter(ctx, p.CreatorID, p.MeterID); err != nil {
		return nil, err
	}
	if b.price, err = r.Usage.Catalog.GetPrice(ctx, p.CreatorID, p.PriceID); err != nil {
		return nil, err
	}
	b.stream, err = getStream(ctx, p.CreatorID, p.SubscriptionID, b.meter.EventName)
	return b, err
}

// rate rates a period, and again the earlier periods whose use changed since they were billed.
func (b *billing) rate(ctx context.Context, r ports.Repos, p usage.Period) ([]usage.Rated, error) {
	current, err := r.Usage.Rollups.GetCurrent(ctx, b.stream, p.Start)
	if err != nil {
		return nil, err
	}
	lines, err := b.rateOne(ctx, r, p, current)
	if err != nil {
		return nil, err
	}
	late, err := r.Usage.Rollups.ListUnsettled(ctx, b.stream)
	if err != nil {
		return nil, err
	}
	for _, u := range late {
		again, err := b.rateOne(ctx, r, b.stream.Schedule.At(u.PeriodStart), u)
		if err != nil {
			return nil, err
		}
		for i := range again {
			again[i].Late, again[i].CarriedOver = true, u.BilledAt.IsZero()
		}
		lines = append(lines, again...)
	}
	return lines, nil
}

// rateOne returns the lines of a period: one, or one for each rate of its price.
func (b *billing) rateOne(
	ctx context.Context, r ports.Repos, p usage.Period, u ports.UsageRollup,
) ([]usage.Rated, error) {
	price, err := r.Usage.Catalog.GetPrice(ctx, b.plan.CreatorID, b.plan.PriceOf(p))
	if err != nil {
		return nil, err
	}
	included, err := r.Usage.Streams.IncludedAt(ctx, b.stream, p.End)
	if err != nil {
		return nil, err
	}
	rated := ratedPeriod{Period: p, count: u}
	if len(price.Rates) > 0 {
		if err := b.split(ctx, r, price, &rated); err != nil {
			return nil, err
		}
	}
	use := usage.Use{
		Meter: b.meter, Price: price, Plan: b.plan, Period: p, Quantity: rated.count.Total.Quantity, Included: included,
		BilledMinor: u.BilledMinor,
	}
	for i, q := range rated.parts {
		part := usage.Part{Quantity: q}
		if i < len(u.BilledParts) {
			part.BilledMinor = u.BilledParts[i].BilledMinor
		}
		use.Parts = append(use.Parts, part)
	}
	lines := use.RateAll()
	rated.lines = len(lines)
	b.periods = append(b.periods, rated)
	return lines, nil
}

// split finds the quantities of a period by the rates of its price. Their sum is the quantity that is billed: reports
// that were accepted since the period was read are in the parts already.
func (b *billing) split(ctx context.Context, r ports.Repos, price usage.Price, p *ratedPeriod) error {
	all, err := r.Usage.Rollups.ListParts(ctx, b.stream, p.Start)
	if err != nil {
		return err
	}
	var ok bool
	if p.parts, ok = price.Split(all); ok {
		p.count.Total.Quantity, ok = usage.SumOfQuantities(p.parts)
	}
	if !ok {
		return fmt.Errorf("split usage stream %d by rates: the sum has too many digits", b.stream.ID)
	}
	return nil
}

// eachPeriod calls do with each rated period and its lines.
func (b *billing) eachPeriod(lines []usage.Rated, do func(p ratedPeriod, lines []usage.Rated) error) error {
	for _, p := range b.periods {
		if err := do(p, lines[:p.lines]); err != nil {
			return err
		}
		lines = lines[p.lines:]
	}
	return nil
}

// settle records what is billed of each period, at a real time. One that is owed more of a credit stays unsettled, and
// so does one that waits, whose reports can still be voided.
func (b *billing) settle(
	ctx context.Context, r ports.Repos, lines []usage.Rated, invoiceID string, billedAt time.Time,
) error {
	return b.eachPeriod(lines, func(p ratedPeriod, lines []usage.Rated) error {
		u, settled := p.count, !slices.ContainsFunc(lines, func(l usage.Rated) bool { return !l.Settled() })
		if u.InvoiceID == "" {
			u.InvoiceID = invoiceID
		}
		if settled {
			u.BilledQuantity = u.Total.Quantity
		}
		if !lines[0].Waits {
			u.BilledMinor += usage.SumOf(lines)
			u.BilledAt = billedAt
			u.BilledParts = p.billedParts(lines, settled)
		}
		err := r.Usage.Rollups.SetBilled(ctx, b.stream, u)
		if err != nil || !settled || len(b.meter.Dimensions) == 0 {
			return err
		}
		return r.Usage.Rollups.SetPartsBilled(ctx, b.stream, p.Start)
	})
}

// billedParts adds what the lines ask for to what was billed by rate; nil where the price has no rates.
func (p ratedPeriod) billedParts(lines []usage.Rated, settled bool) []usage.Part {
	if p.parts == nil {
		return nil
	}
	parts := make([]usage.Part, len(p.parts))
	copy(parts, p.count.BilledParts)
	for i := range parts {
		parts[i].BilledMinor += lines[i].AmountMinor
		if settled {
			parts[i].Quantity = p.parts[i]
		}
	}
	return parts
}

// publishLimits publishes the periods that wait because they cost more than an invoice can charge.
func (s *Service) publishLimits(
	ctx context.Context, r ports.Repos, b *billing, lines []usage.Rated, now time.Time,
) error {
	return b.eachPeriod(lines, func(p ratedPeriod, lines []usage.Rated) error {
		if !lines[0].Waits || lines[0].TooSmall {
			return nil
		}
		return s.deps.Bus.Publish(ctx, r, usage.LimitReached{
			Plan: b.plan, Meter: b.meter.EventName, Quantity: p.count.Total.Quantity, Period: p.Period, At: now,
		})
	})
}

// Preview rates the running period of a plan so far, with late use of earlier ones. NOT_FOUND, STATE_CONFLICT for a
// plan that has ended, LIMIT_REACHED.
func (s *Service) Preview(ctx context.Context, creatorID, planID string) (usage.Preview, error) {
	var preview usage.Preview
	err := s.deps.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		plan, err := r.Usage.Plans.Get(ctx, creatorID, planID)
		if err != nil {
			return ports.Missing(err, "billing plan")
		}
		if plan.Status == usage.PlanEnded {
			return fault.New(fault.StateConflict, "The billing plan has had its last invoice.")
		}
		if err := r.Usage.Rollups.Lock(ctx); err != nil {
			return err
		}
		b, err := s.load(ctx, r, plan, r.Usage.Streams.Get)
		if err != nil {
			return err
		}
		lines, err := b.rate(ctx, r, plan.Current)
		if err != nil {
			return err
		}
		if !usage.Fit(lines) {
			return usage.ErrTooMuch()
		}
		preview = usage.Preview{Plan: plan, Currency: b.price.Currency, Lines: usage.Asked(lines)}
		if preview.AsOf, err = r.Clock.Now(ctx, creatorID); err != nil {
			return err
		}
		credits, err := s.creditsFor(ctx, r, b, usage.SumOf(lines), preview.AsOf)
		preview.CreditMinor = credits.pay
		return err
	})
	return preview, err
}
