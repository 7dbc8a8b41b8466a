package e2e_test

import (
	"cmp"
	"net/url"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sundry/tests/harness"
)

// usageLife is that of a customer whose use of several meters is billed.
type usageLife struct {
	*customerLife
	product string
	topUp   harness.Listing
	meters  []*modelMeter
	// reports are those that were accepted, by their keys; sent lists these in their order.
	reports map[string]*modelReport
	sent    []string
	// plans are the billing plans, by subscription and meter.
	plans map[streamOf]*modelPlan
	// included lists, by subscription, which plan includes units of the meter "calls", and since when. The last is plan.
	included map[string][]includedSince
	plan     string
	// trialEnd is that of the subscription when it was read last.
	trialEnd *time.Time
	// repriced are the plans whose price a wish of the step changes.
	repriced map[string]bool
}

type streamOf struct {
	subscription string
	meter        *modelMeter
}

// includedSince names the plan that counts from an instant on, but not in periods that were closed when it was paid.
type includedSince struct {
	since, paid time.Time
	plan        string
}

var includedUnits = map[string]int64{"basic": 5, "studio": 20}

// TestAnyInterleavingOfUse_BillsEachUnitOnce reports use of several meters, bills it by prices of all kinds, and does
// other random things to its subscription, one after another and several at once. After each, `sundry verify` looks at
// all of it, and every answer about the use is compared with a model of what was accepted.
func TestAnyInterleavingOfUse_BillsEachUnitOnce(t *testing.T) {
	t.Parallel()
	eachLife(t, func(one *life) {
		l := newUsageLife(one)
		l.live(map[string]func() wish{
			"report": l.report, "report more": l.report, "report again": l.repeat, "batch": l.batch,
			"batch more": l.batch, "another batch": l.batch, "void": l.void, "time": l.time, "a little time": l.minutes,
			"period": l.toPeriod, "renewal": l.toRenewal, "reprice": l.reprice, "end": l.endPlan, "name": l.rename,
			"buy credit": l.buyCredit, "refund": l.refund, "dispute": l.answerDispute, "card": l.card, "pause": l.pause,
			"resume": l.resume, "cancel": l.cancelRarely, "look": l.look,
		}, map[string]func(*rapid.T){
			"":       func(*rapid.T) { l.compare() },
			"change": func(*rapid.T) { l.changePlan() },
			"bill":   func(*rapid.T) { l.bill() },
			"buy it again": func(*rapid.T) {
				l.subscribe()
				l.observe()
			},
		})
	})
}

func newUsageLife(one *life) *usageLife {
	l := &usageLife{
		customerLife: &customerLife{
			life: one, name: rapid.SampledFrom([]string{"ada", ""}).Draw(one.r, "name"), listing: plans(one.T, one.a, 0),
		},
		reports: map[string]*modelReport{}, plans: map[streamOf]*modelPlan{}, repriced: map[string]bool{},
		included: map[string][]includedSince{},
	}
	m := &metered{fixture: &fixture{Account: l.a}, event: ""}
	l.product, l.topUp = m.product(l.T), m.topUp(l.T)
	meters := modelMeters()
	trial := map[string]int{"basic": rapid.SampledFrom([]int{0, 0, 14}).Draw(l.r, "trial")}
	for plan, units := range includedUnits {
		body := renewingPlan(plan, trial[plan], eur("month", 1000*len(plan)))
		body["meters"] = []harness.JSON{{"eventName": meters[0].event, "included": units}}
		l.a.AsCreator(l, put, "/v1/listings/"+l.listing.ID+"/plans/"+plan, body).Want(l, 200)
	}
	for _, i := range rapid.Permutation([]int{0, 1, 2, 3, 4}).Draw(l.r, "meters")[:3] {
		l.meters = append(l.meters, meters[i])
	}
	for _, one := range l.meters {
		body := harness.JSON{"name": one.event, "eventName": one.event, "aggregation": one.aggregation}
		switch one.property {
		case "user":
			body["uniqueProperty"] = "user"
		case "model":
			body["dimensions"] = []string{"model"}
		}
		one.id = m.make(l.T, "/v1/usage/meters", body)
		for i, price := range one.prices {
			one.prices[i].id = m.make(l.T, "/v1/usage/prices", price.body(l.product))
		}
	}
	l.subscribe()
	l.observe()
	for range 2 {
		l.bill()
	}
	return l
}

// subscribe buys a plan unless a subscription runs. A customer may have no name yet.
func (l *usageLife) subscribe() {
	if l.sub.ID != "" && l.sub.EndedAt == nil {
		return
	}
	plan, over := rapid.SampledFrom([]string{"basic", "studio"}).Draw(l.r, "plan"), harness.JSON{}
	if l.name == "" {
		over = harness.JSON{"catalog": nil, "externalCustomerId": nil, "listingId": l.listing.ID}
	}
	session, ok := l.opens(harness.SessionBody(l.listing, plan, l.name, over))
	if !ok {
		l.r.Fatal(l.faults, "no session")
	}
	l.payWith(session, harness.CardSucceeds, "ada@buyer.example")
	l.sub, l.plan = subscription(l.T, l.a, text(l.T, l.a.Receipt(l.T, session)["subscriptionId"])), ""
	l.trialEnd = l.sub.TrialEndsAt
}

// access is the name under which the customer's access is read.
func (l *usageLife) access() string { return cmp.Or(l.name, l.sub.CustomerID) }

// observe reads the subscription, whose plan may be one that was planned for the end of the period before.
func (l *usageLife) observe() {
	l.sub = subscription(l.T, l.a, l.sub.ID)
	l.name = l.sub.ExternalCustomerID
	if l.sub.Plan == l.plan {
		return
	}
	since := includedSince{since: l.sub.CurrentPeriodStart, plan: l.sub.Plan}
	for _, p := range allAs[struct {
		SubscriptionID string
		CreatedAt      time.Time
	}](l.T, l.a, "/v1/payments", url.Values{"status": {"succeeded"}}) {
		if p.SubscriptionID == l.sub.ID {
			since.paid = p.CreatedAt
		}
	}
	l.include(since)
}

func (l *usageLife) include(since includedSince) {
	l.plan = since.plan
	l.included[l.sub.ID] = append(l.included[l.sub.ID], since)
}

// changePlan is no wish: what is included by a period's end is known only when nothing else moves the clock.
func (l *usageLife) changePlan() {
	now := clockOf(l.T, l.a)
	l.ask("change", harness.JSON{
		"plan":          map[string]string{"basic": "studio", "studio": "basic"}[l.sub.Plan],
		"prorationMode": rapid.SampledFrom([]string{"charge_now", "next_period", "next_period"}).Draw(l.r, "mode"),
	})()
	if l.sub = subscription(l.T, l.a, l.sub.ID); l.sub.Plan != l.plan {
		l.include(includedSince{since: now, plan: l.sub.Plan})
	}
	l.endTrial()
}

// endTrial cuts the running periods of the billing plans where the change has ended the subscription's trial: they are
// the last that are free.
func (l *usageLife) endTrial() {
	before := l.trialEnd
	if l.trialEnd = l.sub.TrialEndsAt; before == nil || l.trialEnd == nil || !l.trialEnd.Before(*before) {
		return
	}
	for _, m := range l.meters {
		p := l.plans[streamOf{l.sub.ID, m}]
		if p == nil || p.ended {
			continue
		}
		p.before = append(p.before, p.starts()...)
		p.start, p.anchor, p.freeUntil = p.current, l.trialEnd.Add(-2*p.every), *l.trialEnd
		for i := range p.prices { // one for the next period begins with that
			if p.prices[i].since.After(*l.trialEnd) {
				p.prices[i].since = *l.trialEnd
			}
		}
		l.leaveBefore(p, streamOf{l.sub.ID, m})
	}
}

// leaveBefore marks reports that stay in periods before the first one of a plan.
func (l *usageLife) leaveBefore(p *modelPlan, of streamOf) {
	for _, r := range l.reports {
		if r.meter == of.meter && r.subscription == of.subscription {
			r.early = r.at.Before(p.start) && !r.periodStart.Equal(p.start)
		}
	}
}

// billingPlanView holds the members of a billing plan that this test reads.
type billingPlanView struct {
	ID, Status, PriceID                  string
	NextPriceID                          *string
	CurrentPeriodStart, CurrentPeriodEnd time.Time
	EndsAt                               *time.Time
}

func (l *usageLife) anyMeter() *modelMeter { return l.meters[rapid.IntRange(0, 2).Draw(l.r, "meter")] }

// bill makes a billing plan for a meter that has none.
func (l *usageLife) bill() {
	m := l.anyMeter()
	of, every := streamOf{l.sub.ID, m}, rapid.SampledFrom([]string{"day", "week", "week"}).Draw(l.r, "every")
	price := m.prices[rapid.IntRange(0, len(m.prices)-1).Draw(l.r, "price")]
	if l.plans[of] != nil || l.sub.EndedAt != nil {
		return
	}
	var made billingPlanView
	l.a.AsBackend(l, post, "/v1/usage/billing-plans", harness.JSON{
		"subscriptionId": l.sub.ID, "meterId": m.id, "priceId": price.id, "billingInterval": every,
	}).Want(l, 201).Into(l, &made)
	p := &modelPlan{
		id: made.ID, start: made.CurrentPeriodStart, prices: []priceSince{{price: price}},
		every: map[string]time.Duration{"day": day, "week": 7 * day}[every],
	}
	p.anchor = made.CurrentPeriodEnd.Add(-p.every)
	if l.plans[of] = p; l.sub.TrialEndsAt != nil {
		p.freeUntil = *l.sub.TrialEndsAt
	}
	l.leaveBefore(p, of)
}
