package e2e_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"time"

	"pgregory.net/rapid"

	"sundry/tests/harness"
)

// anyPlan draws a billing plan; nil where there is none.
func (l *usageLife) anyPlan() (streamOf, *modelPlan) {
	for _, i := range rapid.Permutation([]int{0, 1, 2}).Draw(l.r, "plan of") {
		if of := (streamOf{l.sub.ID, l.meters[i]}); l.plans[of] != nil {
			return of, l.plans[of]
		}
	}
	return streamOf{}, nil
}

func (l *usageLife) reprice() wish {
	of, p := l.anyPlan()
	if p == nil || l.repriced[p.id] {
		return nothing
	}
	l.repriced[p.id] = true
	price := of.meter.prices[rapid.IntRange(0, len(of.meter.prices)-1).Draw(l.r, "price")]
	return func() {
		response := l.a.AsBackend(l, post, "/v1/usage/billing-plans/"+p.id+"/change", harness.JSON{"priceId": price.id})
		if l.allowed(response); response.Status == http.StatusOK {
			var changed billingPlanView
			response.Into(l, &changed)
			p.prices = append(p.prices, priceSince{changed.CurrentPeriodEnd, price})
		}
	}
}

func (l *usageLife) endPlan() wish {
	_, p := l.anyPlan()
	if p == nil || rapid.IntRange(0, 3).Draw(l.r, "not yet") > 0 {
		return nothing
	}
	return l.post("/v1/usage/billing-plans/"+p.id+"/end", nil)
}

func (l *usageLife) cancelRarely() wish {
	if rapid.IntRange(0, 2).Draw(l.r, "not yet") > 0 {
		return nothing
	}
	return l.cancel()
}

func (l *usageLife) time() wish {
	return l.wait(time.Duration(rapid.IntRange(1, 9*24).Draw(l.r, "hours")) * time.Hour)
}

func (l *usageLife) minutes() wish {
	return l.wait(time.Duration(rapid.IntRange(1, 200).Draw(l.r, "seconds")) * time.Second)
}

// toPeriod moves the clock to where a period ends, or its invoice is made.
func (l *usageLife) toPeriod() wish {
	_, p := l.anyPlan()
	if p == nil {
		return nothing
	}
	const invoice = 2 * time.Minute
	return l.until(p.until.Add(rapid.SampledFrom([]time.Duration{
		-time.Millisecond, 0, time.Millisecond, invoice - time.Millisecond, invoice, 3 * p.every, 3*p.every + invoice,
	}).Draw(l.r, "after the end")))
}

// toRenewal moves the clock behind the end of the subscription's period, in half of the cases on a card that fails.
func (l *usageLife) toRenewal() wish {
	card := nothing
	if rapid.Bool().Draw(l.r, "unpaid") {
		card = l.saveCard(cardFailsLater)
	}
	to := l.until(l.sub.CurrentPeriodEnd.Add(time.Duration(rapid.IntRange(0, 60).Draw(l.r, "hours later")) * time.Hour))
	return func() {
		card()
		to()
	}
}

func (l *usageLife) saveCard(number string) wish {
	return l.post("/v1/sandbox/customers/"+l.sub.CustomerID+"/cards", harness.JSON{"cardNumber": number})
}

func (l *usageLife) rename() wish {
	body := harness.JSON{"externalCustomerId": rapid.SampledFrom([]string{"ada", "bob"}).Draw(l.r, "name")}
	return func() { l.allowed(l.a.AsBackend(l, http.MethodPatch, "/v1/customers/"+l.sub.CustomerID, body)) }
}

func (l *usageLife) buyCredit() wish {
	if l.name == "" {
		return nothing
	}
	body := harness.SessionBody(l.topUp, "two", l.name, nil)
	return func() {
		if session, ok := l.opens(body); ok {
			l.payWith(session, harness.CardSucceeds, "ada@buyer.example")
		}
	}
}

func (l *usageLife) card() wish {
	return l.saveCard(rapid.SampledFrom([]string{harness.CardSucceeds, cardFailsLater}).Draw(l.r, "number"))
}

// look reads what others change meanwhile.
func (l *usageLife) look() wish {
	of, p := l.anyPlan()
	paths := []string{
		"/v1/usage/summary?subscriptionId=" + l.sub.ID, "/v1/metrics/usage", "/v1/usage/events",
		"/v1/customer-access/" + l.access(),
	}
	if p != nil {
		paths = append(paths, "/v1/usage/billing-plans/"+p.id+"/preview", "/v1/metrics/usage?meterId="+of.meter.id)
	}
	path := rapid.SampledFrom(paths).Draw(l.r, "path")
	return func() { l.allowed(l.a.AsBackend(l, get, path, nil)) }
}

// draw draws a report. valid is false for one that is to be refused whatever is done at the same time.
func (l *usageLife) draw() (r *modelReport, valid bool) {
	m := l.anyMeter()
	quantity := rapid.SampledFrom(m.quantities).Draw(l.r, "quantity")
	r = &modelReport{key: harness.Unique("report"), meter: m, quantity: number(quantity)}
	r.body = harness.JSON{
		"meter": m.event, "quantity": json.Number(quantity), "idempotencyKey": r.key, "subscriptionId": l.sub.ID,
	}
	if l.name != "" && rapid.IntRange(0, 3).Draw(l.r, "by name") == 0 {
		delete(r.body, "subscriptionId")
		r.body["externalCustomerId"] = l.name
	}
	if m.property != "" {
		if r.value = rapid.SampledFrom(m.values).Draw(l.r, "value"); r.value != "" {
			r.body["properties"] = harness.JSON{m.property: r.value}
		}
	}
	now, valid := clockOf(l.T, l.a), true
	switch rapid.SampledFrom([]string{"now", "now", "ago", "ago", "bound", "ahead", "wrong"}).Draw(l.r, "when") {
	case "ago":
		now = now.Add(-time.Duration(rapid.IntRange(0, 25*24*60).Draw(l.r, "minutes")) * time.Minute)
	case "bound":
		if _, p := l.anyPlan(); p != nil {
			now = p.current.Add(time.Duration(rapid.IntRange(-1, 1).Draw(l.r, "ms")) * time.Millisecond)
		}
	case "ahead":
		now = now.Add(time.Duration(rapid.IntRange(0, 299).Draw(l.r, "seconds")) * time.Second)
	case "wrong":
		if valid = false; m.aggregation == "SUM" {
			now = now.Add(-36 * day)
		} else {
			r.body["quantity"] = -1
		}
	default:
		return r, true
	}
	r.body["timestamp"] = now.Format(time.RFC3339Nano)
	return r, valid
}

// took records the outcome of a report.
func (l *usageLife) took(r *modelReport, valid bool, accepted bool, id, code string) {
	if !accepted && valid { // it may have become too old meanwhile, or its subscription or billing plan may have ended
		at, _ := r.body["timestamp"].(string)
		tooOld := code == "VALIDATION_FAILED" && at != "" && l.instant(at).Before(clockOf(l.T, l.a).Add(-35*day))
		valid = !tooOld && code != "PERIOD_CLOSED" && code != "NOT_FOUND"
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case accepted && valid:
		r.id, l.reports[r.key], l.sent = id, r, append(l.sent, r.key)
	case accepted || valid:
		l.faults = append(l.faults, fmt.Sprintf("report %v: accepted %t, %s", r.body, accepted, code))
	}
}

type reportAnswer struct {
	ID                  string
	Accepted, Duplicate bool
	Code                string // of a refusal
	Error               struct{ Code string }
}

func (l *usageLife) report() wish {
	r, valid := l.draw()
	return func() {
		response := l.a.AsBackend(l, post, "/v1/usage/events", r.body)
		var got reportAnswer
		l.allowed(response)
		response.Into(l, &got)
		l.took(r, valid, response.Status == http.StatusAccepted, got.ID, got.Code)
	}
}

// again draws a report that was accepted, the same or with other content.
func (l *usageLife) again() (r *modelReport, body harness.JSON, same bool) {
	if len(l.sent) == 0 {
		return nil, nil, false
	}
	r = l.reports[rapid.SampledFrom(l.sent).Draw(l.r, "key")]
	body, same = maps.Clone(r.body), rapid.Bool().Draw(l.r, "same")
	if !same {
		properties := harness.JSON{"other": "content"}
		if r.value != "" {
			properties[r.meter.property] = r.value
		}
		body["properties"] = properties
	}
	return r, body, same
}

func (l *usageLife) repeat() wish {
	r, body, same := l.again()
	if r == nil {
		return nothing
	}
	return func() {
		response := l.a.AsBackend(l, post, "/v1/usage/events", body)
		var got reportAnswer
		l.allowed(response)
		response.Into(l, &got)
		accepted := response.Status == http.StatusAccepted
		if accepted != same || same && (!got.Duplicate || got.ID != r.id) {
			l.fault("report %v again, same %t: %d %s", body, same, response.Status, response.Body)
		}
	}
}

func (l *usageLife) fault(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = append(l.faults, fmt.Sprintf(format, args...))
}

// batch reports several, some of them twice.
func (l *usageLife) batch() wish {
	var reports []*modelReport
	var valid []bool
	var events []harness.JSON
	for range rapid.IntRange(2, 8).Draw(l.r, "reports") {
		r, ok := l.draw()
		for range rapid.IntRange(1, 2).Draw(l.r, "times") {
			reports, valid, events = append(reports, r), append(valid, ok), append(events, r.body)
		}
	}
	return func() {
		var got struct{ Results []reportAnswer }
		response := l.a.AsBackend(l, post, "/v1/usage/events/batch", harness.JSON{"events": events})
		l.allowed(response)
		response.Into(l, &got)
		if len(got.Results) != len(reports) {
			l.fault("batch: %s", response.Body)
			return
		}
		for i, r := range reports {
			one := got.Results[i]
			if i == 0 || reports[i-1] != r {
				l.took(r, valid[i], one.Accepted, one.ID, one.Error.Code)
				continue
			}
			first := got.Results[i-1]
			if one.Accepted != first.Accepted || one.ID != first.ID || one.Duplicate != one.Accepted {
				l.fault("batch: %v is %+v, and then %+v", r.body, first, one)
			}
		}
	}
}

func (l *usageLife) void() wish {
	if len(l.sent) == 0 {
		return nothing
	}
	r := l.reports[l.sent[max(0, len(l.sent)-1-rapid.IntRange(0, 12).Draw(l.r, "back"))]]
	return func() {
		response := l.a.AsBackend(l, post, "/v1/usage/events/"+url.PathEscape(r.key)+"/void", nil)
		l.allowed(response)
		l.mu.Lock()
		defer l.mu.Unlock()
		r.voided = r.voided || response.Status == http.StatusOK
		r.kept = response.Status == http.StatusConflict
	}
}
