package e2e_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"sundry/tests/harness"
)

// compareAll ends a step: it looks again until nothing is under way, and fails where that does not help.
func (l *webhookLife) compareAll() {
	l.settles(func() string {
		l.refresh()
		l.poll()
		found := cmp.Or(l.compareEvents(), l.compareDeliveries())
		if running := tasksOf(l.T, l.a, "running"); found == "" && len(running) > 0 {
			return fmt.Sprintf("%+v run on", running)
		}
		return found
	})
	l.compareMessages()
	l.compareFilters()
	l.clocks = append(l.clocks, clockOf(l.T, l.a))
	l.step++
	l.receiver.next()
}

// settles looks until nothing is wrong any more, and fails where that does not help.
func (l *webhookLife) settles(look func() (wrong string)) {
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		wrong := look()
		if wrong == "" {
			return
		}
		if time.Now().After(end) {
			l.r.Fatal(wrong)
		}
	}
}

// refresh reads the endpoints as they are.
func (l *webhookLife) refresh() {
	for _, h := range l.hooks {
		if h.id == "" || !h.last().exists && h.last().step < l.step {
			continue
		}
		state := hookState{step: l.step}
		response := l.a.AsBackend(l, get, endpointsPath+"/"+h.id, nil)
		if response.Status == http.StatusNotFound {
			if !slices.ContainsFunc(h.states[1:], func(s hookState) bool { return !s.exists }) {
				l.r.Fatalf("endpoint %s is gone", h.name)
			}
		} else {
			response.Want(l, 200).Into(l, &state.hookEndpoint)
			state.exists = true
			l.orderSecrets(h)
		}
		h.states = append(h.states, state)
	}
}

// orderSecrets puts the present secret last: of rotations at once the responses do not tell which was the last.
func (l *webhookLife) orderSecrets(h *hook) {
	if h.secrets[len(h.secrets)-1].step < l.step {
		return
	}
	path := endpointsPath + "/" + h.id + "/secret"
	current := text(l.T, l.a.AsBackend(l, get, path, nil).Want(l, 200).Map(l)["secret"])
	at := slices.IndexFunc(h.secrets, func(s hookSecret) bool { return s.secret == current })
	if at < 0 {
		l.r.Fatalf("endpoint %s has a secret that nobody was shown", h.name)
	}
	last := h.secrets[at]
	h.secrets = append(slices.Delete(h.secrets, at, at+1), last)
}

// poll reads the events on from the last cursor, in pages of a few.
func (l *webhookLife) poll() {
	for more := true; more; {
		query := url.Values{"order": {"asc"}, "limit": {"7"}}
		if l.cursor != "" {
			query.Set("cursor", l.cursor)
		}
		var page struct {
			Data       []json.RawMessage
			HasMore    bool
			NextCursor *string
		}
		l.a.AsBackend(l, get, "/v1/events?"+query.Encode(), nil).Want(l, 200).Into(l, &page)
		if page.NextCursor == nil {
			l.r.Fatal("the cursor of the oldest events first is null")
		}
		l.cursor, more = *page.NextCursor, page.HasMore
		for _, raw := range page.Data {
			e := hookEvent{raw: raw, step: l.step}
			if err := json.Unmarshal(raw, &e); err != nil {
				l.r.Fatal(err)
			}
			l.events = append(l.events, e)
		}
	}
}

// compareEvents returns how the events differ from the changes that the API shows.
func (l *webhookLife) compareEvents() string {
	of := map[string]int{} // by type and object
	announced := map[string]int64{}
	for _, e := range l.events {
		of[e.Type+" "+cmp.Or(e.Data.ID, e.Data.PaymentID)]++
		if e.Type == "customer.access_changed" {
			name := e.Data.ExternalCustomerID
			if e.Data.PreviousVersion != announced[name] || e.Data.Version <= e.Data.PreviousVersion {
				return fmt.Sprintf("%s was announced at %d, then %s", name, announced[name], e.raw)
			}
			announced[name] = e.Data.Version
		}
	}
	want := func(n int, kind, id string) string {
		if got := of[kind+" "+id]; got != n {
			return fmt.Sprintf("%d events %s of %s, want %d", got, kind, id, n)
		}
		return ""
	}
	type object struct{ ID, Status, Purpose string }
	var found []string
	for _, p := range allAs[object](l.T, l.a, "/v1/payments", url.Values{}) {
		if p.Purpose != "invoice" {
			found = append(found, want(one(p.Status == "succeeded"), "payment.completed", p.ID))
		}
	}
	for _, r := range allAs[object](l.T, l.a, "/v1/refunds", url.Values{}) {
		found = append(found, want(one(r.Status == "succeeded"), "refund.created", r.ID))
	}
	for _, d := range allAs[object](l.T, l.a, "/v1/disputes", url.Values{}) {
		found = append(found, want(1, "dispute.opened", d.ID),
			want(one(d.Status == "won" || d.Status == "lost"), "dispute.closed", d.ID))
	}
	for _, s := range allAs[object](l.T, l.a, "/v1/subscriptions", url.Values{}) {
		found = append(found, want(1, "subscription.created", s.ID),
			want(one(s.Status == "canceled"), "subscription.canceled", s.ID),
			want(one(s.Status == "expired"), "subscription.expired", s.ID))
	}
	for _, i := range allAs[object](l.T, l.a, "/v1/invoices", url.Values{}) {
		found = append(found, want(1, "invoice.created", i.ID), want(1, "invoice.finalized", i.ID),
			want(one(i.Status == "paid"), "invoice.paid", i.ID))
	}
	for name, at := range announced {
		if now := version(l.T, l.a.Access(l, name)["version"]); now < at {
			return fmt.Sprintf("%s was announced at %d and is at %d", name, at, now)
		}
	}
	return cmp.Or(found...)
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

// compareDeliveries returns how the deliveries differ from the events and from what the receivers took.
func (l *webhookLife) compareDeliveries() string {
	for _, h := range l.hooks {
		if !h.last().exists {
			continue
		}
		made := map[string]hookDelivery{}
		for _, d := range allAs[hookDelivery](l.T, l.a, endpointsPath+"/"+h.id+"/deliveries", url.Values{}) {
			if _, twice := made[d.EventID]; twice {
				return fmt.Sprintf("two deliveries of %s to %s", d.EventID, h.name)
			}
			made[d.EventID] = d
			if found := h.compare(d, l.receiver.codes(h.name, d.EventID)); found != "" {
				return found
			}
		}
		for _, e := range l.events {
			some, always := h.takes(e)
			switch _, is := made[e.ID]; {
			case is && !some:
				return fmt.Sprintf("%s (step %d) has a delivery to %s: %+v", e.raw, e.step, h.name, h.during(e.step))
			case !is && always:
				return fmt.Sprintf("%s (step %d) has no delivery to %s: %+v", e.raw, e.step, h.name, h.during(e.step))
			}
		}
	}
	return ""
}

// takes reports whether an event may be, or must be delivered to the endpoint.
func (h *hook) takes(e hookEvent) (some, always bool) {
	if e.Type == "webhook_endpoint.test" {
		return e.Data.EndpointID == h.id, e.Data.EndpointID == h.id
	}
	some, always = h.wants(e.step, e.Type)
	created, _ := time.Parse(time.RFC3339, e.CreatedAt)
	for _, replay := range h.replays {
		may, must := h.wants(replay.step, e.Type)
		some = some || replay.step >= e.step && may
		always = always || replay.step > e.step && must && !created.Before(replay.from)
	}
	return some, always
}

// compare returns what is wrong with a delivery, whose messages were responded to with codes.
func (h *hook) compare(d hookDelivery, codes []int) string {
	var logged []int
	taken := false // an attempt that was fenced may be logged after it
	for i, a := range d.Attempts {
		if a.Number != i+1 {
			return fmt.Sprintf("the attempts of %s are not in order: %+v", d.ID, d.Attempts)
		}
		code := 0
		if a.StatusCode != nil {
			code = *a.StatusCode
		}
		taken = taken || code >= 200 && code < 300
		if a.Error == nil || !bytes.HasPrefix([]byte(*a.Error), []byte("not sent")) {
			logged = append(logged, code)
		}
	}
	slices.Sort(logged)
	slices.Sort(codes)
	waits := d.NextAttemptAt != nil
	right := map[string]bool{
		"pending":   waits == h.last().Enabled,
		"delivered": taken && !waits,
		"failed":    !waits && len(d.Attempts) >= 10,
	}[d.Status]
	if !right || d.AttemptCount != len(d.Attempts) || !slices.Equal(logged, codes) {
		return fmt.Sprintf("endpoint %s (enabled: %t) has %+v, and responded %v", h.name, h.last().Enabled, d, codes)
	}
	return ""
}

// compareMessages fails for messages that nobody asked for, that are not the event, or that are signed wrongly.
func (l *webhookLife) compareMessages() {
	all, now := l.receiver.messages(), clockOf(l.T, l.a)
	l.poll() // after the messages, whose events were written before
	events := map[string]hookEvent{}
	for _, e := range l.events {
		events[e.ID] = e
	}
	for _, m := range all[l.checked:] {
		at := slices.IndexFunc(l.hooks, func(h *hook) bool { return h.name == m.endpoint })
		e, known := events[m.header.Get("webhook-id")]
		if at < 0 || !known {
			l.r.Fatalf("a message of %q to %s", m.header.Get("webhook-id"), m.path)
		}
		h := l.hooks[at]
		if !bytes.Equal(m.body, e.raw) {
			l.r.Fatalf("%s got %s, the event is %s", h.name, m.body, e.raw)
		}
		if !slices.ContainsFunc(h.during(m.step), func(s hookState) bool {
			return s.exists && s.Enabled && s.URL == l.receiver.server.URL+m.path
		}) {
			l.r.Fatalf("a message came to %s in step %d, when the endpoint was %+v", m.path, m.step, h.during(m.step))
		}
		l.compareSignature(h, m, now)
	}
	l.checked = len(all)
}

// compareSignature fails for a message that the secrets of its time do not verify, or one that was replaced long ago.
func (l *webhookLife) compareSignature(h *hook, m hookMessage, now time.Time) {
	first := 0
	for i, s := range h.secrets {
		if s.step < m.step-hookLag {
			first = i
		}
	}
	verified := slices.IndexFunc(h.secrets[first:], func(s hookSecret) bool { return verifies(l.T, s.secret, m.message) })
	if verified < 0 {
		l.r.Fatalf("a message to %s is not signed by a secret of its time", h.name)
	}
	for i, s := range h.secrets[:first] {
		replacing := h.secrets[i+1].step
		begun, known := l.clocks[max(replacing, 0)], now
		if replacing+1 < len(l.clocks) {
			known = l.clocks[replacing+1]
		}
		expected := i == first-1 && now.Before(begun.Add(24*time.Hour))
		over := i < first-1 || !l.clocks[max(m.step-hookLag, 0)].Before(known.Add(24*time.Hour))
		if signed := verifies(l.T, s.secret, m.message); signed && over || !signed && expected && len(h.secrets) == first+1 {
			l.r.Fatalf("a message to %s, whose secret was replaced between %s and %s, is signed by it: %t", h.name, begun, known,
				signed)
		}
	}
}

// compareFilters fails where lists of events leave some out or show some twice.
func (l *webhookLife) compareFilters() {
	check := func(query url.Values, holds func(e hookEvent) bool) {
		ids := func(events []hookEvent) (ids []string) {
			for _, e := range events {
				if holds(e) {
					ids = append(ids, e.ID)
				}
			}
			return ids
		}
		name, least := query.Encode(), len(ids(l.events))
		var got []string
		for _, e := range allAs[hookEvent](l.T, l.a, "/v1/events", query) {
			got = append(got, e.ID)
		}
		l.poll()
		if want := ids(l.events); len(got) < least || len(got) > len(want) || !slices.Equal(got, want[:len(got)]) {
			l.r.Fatalf("%s lists %v, want %v", name, got, want)
		}
	}
	check(url.Values{}, func(hookEvent) bool { return true })
	if len(l.events) == 0 {
		return
	}
	drawn := l.events[(l.step*7)%len(l.events)]
	check(url.Values{"type": {drawn.Type}}, func(e hookEvent) bool { return e.Type == drawn.Type })
	check(url.Values{"createdFrom": {drawn.CreatedAt}}, func(e hookEvent) bool { return e.CreatedAt >= drawn.CreatedAt })
	check(url.Values{"createdTo": {drawn.CreatedAt}}, func(e hookEvent) bool { return e.CreatedAt < drawn.CreatedAt })
	if customers := l.customers(); len(customers) > 0 {
		c := customers[l.step%len(customers)]
		check(url.Values{"customerId": {c.ID}}, func(e hookEvent) bool {
			by, name := e.Data.CustomerID, e.Data.ExternalCustomerID
			return by == c.ID || by == "" && name != "" && (name == c.ID || name == c.external())
		})
		if c.external() == "" {
			return
		}
		check(url.Values{"externalCustomerId": {c.external()}}, func(e hookEvent) bool {
			by, name := e.Data.CustomerID, e.Data.ExternalCustomerID
			return name == c.external() || name == "" && by == c.ID
		})
	}
}

// end lets every receiver take what comes, moves the clock over all retries and enables what is disabled: then
// everything has arrived.
func (l *webhookLife) end() {
	for _, h := range l.hooks {
		l.receiver.answer(h.name, "ok")
	}
	l.wait(4 * 24 * time.Hour)()
	for _, h := range l.hooks {
		if h.last().exists {
			l.put(h, l.a.AsBackend(l, http.MethodPatch, endpointsPath+"/"+h.id, harness.JSON{"enabled": true}))
		}
	}
	l.wait(4 * 24 * time.Hour)()
	l.compareAll()
	l.settles(func() string {
		for _, h := range l.hooks {
			if !h.last().exists {
				continue
			}
			path := endpointsPath + "/" + h.id + "/deliveries"
			if left := all(l.T, l.a, path, url.Values{"status": {"pending"}}); len(left) > 0 {
				return fmt.Sprintf("%d deliveries to %s never arrive", len(left), h.name)
			}
		}
		return ""
	})
	l.compareAll()
	announced := map[string]int64{}
	for _, e := range l.events {
		if e.Type == "customer.access_changed" {
			announced[e.Data.ExternalCustomerID] = e.Data.Version
		}
	}
	for _, c := range l.customers() {
		if now := version(l.T, l.a.Access(l, c.access())["version"]); now != announced[c.access()] {
			l.r.Fatalf("the access of %s is at %d and was announced at %d", c.access(), now, announced[c.access()])
		}
	}
}
