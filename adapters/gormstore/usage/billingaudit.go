package usage

import (
	"context"
	"fmt"
	"slices"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/apiformat"
	"sundry/core/invoice"
	core "sundry/core/usage"
	"sundry/ports"
)

// planPage bounds the billing plans whose history an audit has in memory.
const planPage = 50

// planHistory is everything that a billing plan has billed.
type planHistory struct {
	plan     core.PlanState
	prices   map[string]core.Price
	stream   ports.UsageStream
	rollups  map[time.Time]ports.UsageRollup
	invoices map[string]planInvoice // by the text of the period's start
	included []includedRow
	parts    map[rollupKey][]core.Combined // of all plans that were read together
}

type planInvoice struct {
	ID            string
	BillingPlanID string
	PeriodStart   string
	Lines         repo.JSONColumn[[]invoice.Line]
}

type includedRow struct{ StreamID, Since, Included int64 }

// Misbilled implements ports.UsageAudit. Invoices keep the arithmetic of their lines as JSON, so plans are read in
// pages and rated again.
func (t audit) Misbilled(ctx context.Context, limit int) ([]string, error) {
	return t.eachPlan(ctx, limit, planHistory.misbilled)
}

// Unbilled implements ports.UsageAudit.
func (t audit) Unbilled(ctx context.Context, limit int) ([]string, error) {
	return t.eachPlan(ctx, limit, planHistory.unbilled)
}

func (t audit) eachPlan(ctx context.Context, limit int, check func(planHistory) string) ([]string, error) {
	read := func(after string) ([]planHistory, error) {
		plans, err := repo.ListBy(t.Base, "audit billing plans", t.DB.Where("id > ?", after).Order("id").Limit(planPage),
			billingPlanRow.toState)
		if err != nil {
			return nil, err
		}
		return t.histories(ctx, plans)
	}
	return repo.AuditPages(limit, planPage, read, func(h planHistory) (id, wrong string, err error) {
		return h.plan.ID, check(h), nil
	})
}

func (t audit) histories(ctx context.Context, plans []core.PlanState) ([]planHistory, error) {
	const op = "audit billing plans"
	ids, creators, subscriptions := make([]string, len(plans)), make([]string, len(plans)), make([]string, len(plans))
	for i, p := range plans {
		ids[i], creators[i], subscriptions[i] = p.ID, p.CreatorID, p.SubscriptionID
	}
	found, err := repo.ListBy(t.Base, op, t.DB.Where("creator_id IN ? AND subscription_id IN ? AND plan_id IN ?", creators,
		subscriptions, ids), streamRow.toStream)
	if err != nil {
		return nil, err
	}
	byPlan, streamIDs := map[string]ports.UsageStream{}, make([]int64, len(found))
	for i, s := range found {
		byPlan[s.PlanID], streamIDs[i] = s, s.ID
	}
	rollups, err := repo.ListBy(t.Base, op, t.DB.Where("stream_id IN ?", streamIDs), rollupRow.toRollup)
	if err != nil {
		return nil, err
	}
	var invoices []planInvoice
	err = t.DB.Raw("SELECT id, billing_plan_id, period_start, lines FROM invoices WHERE creator_id IN ? "+
		"AND billing_plan_id IN ? AND billing_plan_id <> ''", creators, ids).Scan(&invoices).Error
	if err != nil {
		return nil, t.Failure(op, err)
	}
	var included []includedRow
	if err := t.DB.Raw("SELECT stream_id, since, included FROM usage_included WHERE stream_id IN ? ORDER BY since",
		streamIDs).Scan(&included).Error; err != nil {
		return nil, t.Failure(op, err)
	}
	parts, err := t.partsOf(streamIDs)
	if err != nil {
		return nil, err
	}
	histories := make([]planHistory, len(plans))
	for i, p := range plans {
		h := planHistory{plan: p, stream: byPlan[p.ID], rollups: map[time.Time]ports.UsageRollup{},
			invoices: map[string]planInvoice{}, parts: parts}
		if h.prices, err = t.pricesOf(ctx, p); err != nil {
			return nil, err
		}
		for _, u := range rollups {
			if u.StreamID == h.stream.ID {
				h.rollups[u.PeriodStart.UTC()] = u
			}
		}
		for _, inv := range invoices {
			if inv.BillingPlanID == p.ID {
				h.invoices[inv.PeriodStart] = inv
			}
		}
		h.included = slices.DeleteFunc(slices.Clone(included), func(r includedRow) bool { return r.StreamID != h.stream.ID })
		histories[i] = h
	}
	return histories, nil
}

// pricesOf returns the prices that a plan has billed by, by id.
func (t audit) pricesOf(ctx context.Context, p core.PlanState) (map[string]core.Price, error) {
	ids := []string{p.PriceID}
	for _, earlier := range p.EarlierPrices {
		ids = append(ids, earlier.PriceID)
	}
	prices := map[string]core.Price{}
	for _, id := range ids {
		price, err := newCatalog(t.Base).GetPrice(ctx, p.CreatorID, id)
		if err != nil {
			return nil, err
		}
		prices[id] = price
	}
	return prices, nil
}

// rate is the price of a quantity of a period, and of its parts where the price has rates; ok is false when that is
// more than an invoice can charge.
func (h planHistory) rate(p core.Period, q core.Quantity, parts []core.Part) (minor int64, ok bool) {
	use := core.Use{Price: h.priceOf(p), Plan: h.plan, Period: p, Quantity: q, Parts: parts}
	for _, row := range h.included {
		if row.Since < p.End.UnixMilli() {
			use.Included = row.Included
		}
	}
	rated := use.RateAll()
	for _, line := range rated {
		minor += line.RatedMinor
	}
	return minor, !rated[0].Waits
}

func (h planHistory) priceOf(p core.Period) core.Price { return h.prices[h.plan.PriceOf(p)] }

// rateNow is rate of what a period has now.
func (h planHistory) rateNow(p core.Period, u ports.UsageRollup) (minor int64, ok bool) {
	var parts []core.Part
	if price := h.priceOf(p); len(price.Rates) > 0 {
		quantities, ok := price.Split(h.parts[newRollupKey(h.stream.ID, p.Start)])
		if !ok {
			return 0, false
		}
		for _, q := range quantities {
			parts = append(parts, core.Part{Quantity: q})
		}
	}
	return h.rate(p, u.Total.Quantity, parts)
}

// misbilled names the first closed period whose invoice is missing, or whose billed amount is not that of the invoices'
// lines or not the price of the billed quantity; "" when there is none.
func (h planHistory) misbilled() string {
	asked := map[time.Time]int64{}
	for _, inv := range h.invoices {
		for _, line := range inv.Lines.V {
			if line.Rated != nil {
				asked[line.Rated.PeriodStart.UTC()] += line.AmountMinor
			}
		}
	}
	left := 0
	for start := range h.invoices {
		if start >= apiformat.Instant(h.plan.Schedule.StartsAt) { // those before are of a trial that ended early
			left++
		}
	}
	for p := range h.plan.Closed() {
		inv, billed := h.invoices[apiformat.Instant(p.Start)]
		u := h.rollups[p.Start.UTC()]
		if !billed || u.InvoiceID != inv.ID || u.BilledMinor != asked[p.Start.UTC()] || !h.explains(p, u) {
			return h.name(p)
		}
		left--
	}
	if left > 0 {
		return h.plan.ID + ", an invoice of a period that is not closed"
	}
	return ""
}

// explains reports whether the billed amount of a period is the price of the billed quantity, or what was left of it
// when a credit was too large for an invoice: then the period's amount is smaller since. Of a period that has always
// cost more than an invoice can charge nothing is billed.
func (h planHistory) explains(p core.Period, u ports.UsageRollup) bool {
	if u.BilledAt.IsZero() {
		return u.BilledMinor == 0
	}
	var byRate int64
	for _, part := range u.BilledParts {
		byRate += part.BilledMinor
	}
	if u.BilledParts != nil && byRate != u.BilledMinor {
		return false
	}
	billed, ok := h.rate(p, u.BilledQuantity, u.BilledParts)
	if !ok || billed == u.BilledMinor {
		return ok
	}
	now, ok := h.rateNow(p, u)
	return ok && now < u.BilledMinor && u.BilledMinor < billed
}

// unbilled names the first closed period that an invoice cannot ask for, or of an ended plan that no invoice has asked
// for in full; "" when there is none.
func (h planHistory) unbilled() string {
	for p := range h.plan.Closed() {
		u := h.rollups[p.Start.UTC()]
		due, ok := h.rateNow(p, u)
		if !ok || h.plan.Status == core.PlanEnded && due > u.BilledMinor {
			return h.name(p)
		}
	}
	return ""
}

func (h planHistory) name(p core.Period) string {
	return fmt.Sprintf("%s, period from %s (usage %s)", h.plan.ID, apiformat.Instant(p.Start),
		newRollupKey(h.stream.ID, p.Start))
}
