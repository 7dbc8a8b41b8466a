package e2e_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"net/url"
	"slices"
	"time"
)

// compare fails for an answer about the use that is not the model's.
func (l *usageLife) compare() {
	l.wait(time.Second)() // after which all reports are counted
	l.wait(time.Second)() // and their counts shown
	clear(l.repriced)
	l.observe()
	l.verify()
	for of, p := range l.plans {
		var shown billingPlanView
		l.a.AsBackend(l, get, "/v1/usage/billing-plans/"+p.id, nil).Want(l, 200).Into(l, &shown)
		p.endsAt, p.current, p.until, p.ended = shown.EndsAt, shown.CurrentPeriodStart, shown.CurrentPeriodEnd,
			shown.Status == "ended"
		if want := p.price(p.current).id; shown.PriceID != want {
			l.r.Fatalf("%s of %s is billed by %s since %s, want %s", p.id, of.meter.event, shown.PriceID, p.current, want)
		}
	}
	use := l.compareReports()
	l.compareBills(use)
	l.compareCounts(use)
	l.compareDays()
}

// useOf are the reports by their stream and the start of their period.
type useOf map[streamOf]map[time.Time][]*modelReport

// compareReports compares the list of reports with those that were accepted, and their periods.
func (l *usageLife) compareReports() useOf {
	listed := allAs[struct {
		ID, SubscriptionID, Meter, IdempotencyKey, Status string
		Quantity                                          json.Number
		Timestamp, PeriodStart                            time.Time
	}](l.T, l.a, "/v1/usage/events", url.Values{})
	if len(listed) != len(l.reports) {
		l.r.Fatalf("%d reports are listed, and %d were accepted", len(listed), len(l.reports))
	}
	use := useOf{}
	for _, u := range listed {
		r := l.reports[u.IdempotencyKey]
		if r == nil || r.id != u.ID || r.meter.event != u.Meter || r.voided != (u.Status == "voided") ||
			r.kept && u.Status != "invoiced" {
			l.r.Fatalf("listed %+v, accepted %+v", u, r)
		}
		r.subscription, r.at, r.counts, r.periodStart = u.SubscriptionID, u.Timestamp, number(u.Quantity.String()),
			u.PeriodStart
		if r.meter.aggregation != "UNIQUE" && r.counts.Cmp(r.quantity) != 0 {
			l.r.Fatalf("listed %+v, accepted %v", u, r.body)
		}
		of := streamOf{r.subscription, r.meter}
		if p := l.plans[of]; p != nil && !r.early && !p.period(r.at).Equal(r.periodStart) {
			l.r.Fatalf("%+v is in the period from %s, want %s of %+v", u, r.periodStart, p.period(r.at), p)
		}
		if use[of] == nil {
			use[of] = map[time.Time][]*modelReport{}
		}
		use[of][r.periodStart.UTC()] = append(use[of][r.periodStart.UTC()], r)
	}
	return use
}

// billedPart names the part of a period of a billing plan that a line is about.
type billedPart struct {
	plan  string
	start time.Time
	part  int
}

type usageLine struct {
	Kind, Description string
	AmountInCents     int64
	Quantity          json.Number
	PeriodStart       *time.Time
}

// sumLines adds lines to what is asked for by part.
func sumLines(asked map[billedPart]int64, plan string, lines []usageLine) (sum int64) {
	for _, line := range lines {
		sum += line.AmountInCents
		if line.PeriodStart != nil {
			asked[billedPart{plan, line.PeriodStart.UTC(), partOf(line.Description)}] += line.AmountInCents
		}
	}
	return sum
}

// billed reads the invoices: there is one for each closed period, and it asks for its lines.
func (l *usageLife) billed() map[billedPart]int64 {
	asked, starts := map[billedPart]int64{}, map[string][]string{}
	for _, inv := range allAs[struct {
		ID, CustomerID, ExternalCustomerID, BillingPlanID, PeriodStart string
		TotalInCents                                                   int64
		LineItems                                                      []usageLine
	}](l.T, l.a, "/v1/invoices", url.Values{}) {
		l.compareName(inv.ID, inv.CustomerID, inv.ExternalCustomerID)
		if sum := sumLines(asked, inv.BillingPlanID, inv.LineItems); sum != inv.TotalInCents || sum < 0 {
			l.r.Fatalf("the lines are %d of %+v", sum, inv)
		}
		starts[inv.BillingPlanID] = append(starts[inv.BillingPlanID], inv.PeriodStart)
	}
	for _, p := range l.plans {
		var want []string
		for _, start := range append(slices.Clone(p.before), p.starts()...) {
			want = append(want, start.Format("2006-01-02T15:04:05.000Z"))
		}
		if slices.Sort(starts[p.id]); !slices.Equal(starts[p.id], want) {
			l.r.Fatalf("%+v has invoices of %v, want %v", p, starts[p.id], want)
		}
	}
	return asked
}

// compareName fails for something of the customer that has not their present name.
func (l *usageLife) compareName(id, customerID, name string) {
	if customerID == l.sub.CustomerID && name != l.name {
		l.r.Fatalf("%s is of %q, want %q", id, name, l.name)
	}
}

// includes returns what the subscription's plan includes of a meter in a period that ends at an instant.
func (l *usageLife) includes(of streamOf, end time.Time) (units int64) {
	for _, one := range l.included[of.subscription] {
		if of.meter.event == "calls" && one.since.Before(end) && end.Add(2*time.Minute).After(one.paid) {
			units = includedUnits[one.plan]
		}
	}
	return units
}

// compareBills compares what is billed and what will be with the price of what was accepted.
func (l *usageLife) compareBills(use useOf) {
	billed, left := l.billed(), int64(0)
	for of, p := range l.plans {
		due := func(start time.Time) (amounts [2]int64) {
			if !p.end(start).After(p.freeUntil) {
				return [2]int64{}
			}
			large, rest := split(use[of][start])
			amounts = p.price(start).parts(of.meter.count(large), of.meter.count(rest), l.includes(of, p.end(start)),
				start.Before(p.end(start)))
			for i := range amounts {
				amounts[i] -= billed[billedPart{p.id, start, i}]
			}
			return amounts
		}
		if p.ended {
			for _, start := range p.starts() {
				for i, amount := range due(start) {
					if amount > 0 {
						l.r.Fatalf("%+v has ended, and part %d of %s was never billed: %d", p, i, start, amount)
					}
					left -= amount
				}
			}
			continue
		}
		var parts []billedPart
		var amounts []int64
		for _, start := range append([]time.Time{p.current}, p.starts()...) {
			for i, amount := range due(start) {
				parts, amounts = append(parts, billedPart{p.id, start, i}), append(amounts, amount)
			}
		}
		want := map[billedPart]int64{}
		for i, amount := range capped(amounts) {
			want[parts[i]] = amount
		}
		l.comparePreview(p, of.meter.count(use[of][p.current]), want)
	}
	var granted int64
	for _, c := range allAs[struct {
		ID, CustomerID, ExternalCustomerID string
		CheckoutID                         *string
		GrantedInCents                     int64
	}](l.T, l.a, "/v1/usage/credits", url.Values{}) {
		l.compareName(c.ID, c.CustomerID, c.ExternalCustomerID)
		if c.CheckoutID == nil {
			granted += c.GrantedInCents
		}
	}
	if granted != left {
		l.r.Fatalf("credits of %d are left of plans that have ended, want %d", granted, left)
	}
}

// comparePreview compares the next invoice, and what it counts of the running period.
func (l *usageLife) comparePreview(p *modelPlan, count *big.Rat, want map[billedPart]int64) {
	var shown struct {
		UsageCreditInCents, TotalInCents int64
		Lines                            []usageLine
	}
	response := l.a.AsBackend(l, get, "/v1/usage/billing-plans/"+p.id+"/preview", nil).Want(l, 200)
	response.Into(l, &shown)
	got, counted := map[billedPart]int64{}, new(big.Rat)
	sum := sumLines(got, p.id, shown.Lines)
	for _, line := range shown.Lines {
		if line.Kind == "usage" {
			counted.Add(counted, number(line.Quantity.String()))
		}
	}
	none := func(_ billedPart, amount int64) bool { return amount == 0 }
	maps.DeleteFunc(got, none)
	maps.DeleteFunc(want, none)
	if !maps.Equal(got, want) || sum-shown.UsageCreditInCents != shown.TotalInCents {
		l.r.Fatalf("the preview of %+v asks for %v, want %v: %s", p, got, want, response.Body)
	}
	if counted.Cmp(count) != 0 {
		l.r.Fatalf("the preview of %+v counts %s, want %s: %s", p, counted, count, response.Body)
	}
}

type shownMeter struct {
	Key, SubscriptionID    string
	Quantity, Used         json.Number
	Included               int64
	PeriodStart, PeriodEnd time.Time
}

// compareCounts compares the counts of running periods with the reports.
func (l *usageLife) compareCounts(use useOf) {
	compare := func(where string, shown shownMeter, count json.Number) {
		of := streamOf{shown.SubscriptionID, l.meter(shown.Key)}
		if want := of.meter.count(use[of][shown.PeriodStart.UTC()]); number(count.String()).Cmp(want) != 0 {
			l.r.Fatalf("%s: %+v, want %s", where, shown, want)
		}
		now := clockOf(l.T, l.a)
		if want := l.includes(of, shown.PeriodEnd); now.Before(shown.PeriodEnd) && shown.Included != want {
			l.r.Fatalf("%s: %+v, want %d included", where, shown, want)
		}
		if p := l.plans[of]; p != nil && !shown.PeriodStart.Equal(p.period(now)) {
			l.r.Fatalf("%s: %+v, want the period of %+v", where, shown, p)
		}
	}
	var summary, access struct{ Meters []shownMeter }
	l.a.AsBackend(l, get, "/v1/usage/summary?subscriptionId="+l.sub.ID, nil).Want(l, 200).Into(l, &summary)
	l.a.AsBackend(l, get, "/v1/customer-access/"+l.access(), nil).Want(l, 200).Into(l, &access)
	running := 0
	for _, shown := range summary.Meters {
		compare("summary", shown, shown.Quantity)
	}
	for _, shown := range access.Meters {
		compare("access", shown, shown.Used)
		if shown.SubscriptionID == l.sub.ID {
			running++
		}
	}
	for of := range use {
		if p := l.plans[of]; of.subscription == l.sub.ID && l.sub.EndedAt == nil && (p == nil || !p.ended) {
			running--
		}
	}
	if running < 0 {
		l.r.Fatalf("the access of %s lacks meters: %+v", l.access(), access)
	}
}

func (l *usageLife) meter(event string) *modelMeter {
	return l.meters[slices.IndexFunc(l.meters, func(m *modelMeter) bool { return m.event == event })]
}

// compareDays compares the figures of each meter and day.
func (l *usageLife) compareDays() {
	var figures struct{ Data []meterUse }
	from := clockOf(l.T, l.a).AddDate(0, 0, -600).Format(time.DateOnly)
	to := clockOf(l.T, l.a).AddDate(0, 0, 1).Format(time.DateOnly)
	l.a.AsBackend(l, get, "/v1/metrics/usage?from="+from+"&to="+to, nil).Want(l, 200).Into(l, &figures)
	type slot struct{ meter, day, subscription string }
	reports, want, got := map[slot][]*modelReport{}, map[string]*big.Rat{}, map[string]*big.Rat{}
	for _, r := range l.reports {
		if !r.voided {
			s := slot{r.meter.event, r.at.UTC().Format(time.DateOnly), r.subscription}
			reports[s] = append(reports[s], r)
		}
	}
	for s, all := range reports {
		sum, name := all[0].meter.count(all), fmt.Sprint(s.meter, " ", s.day)
		if all[0].meter.aggregation == "UNIQUE" {
			sum = new(big.Rat)
			for _, r := range all {
				sum.Add(sum, r.counts)
			}
		}
		if want[name] == nil {
			want[name] = new(big.Rat)
		}
		want[name].Add(want[name], sum)
	}
	for _, m := range figures.Data {
		for _, d := range m.Days {
			got[fmt.Sprint(m.Key, " ", d.Day)] = number(d.Quantity.String())
		}
	}
	if !maps.EqualFunc(got, want, func(a, b *big.Rat) bool { return a.Cmp(b) == 0 }) {
		l.r.Fatalf("the days have %v, want %v", got, want)
	}
}
