package e2e_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sundry/tests/harness"
)

// webhookLife is that of an account's webhook endpoints, while its customers buy.
type webhookLife struct {
	*customersLife
	receiver *hookReceiver
	hooks    []*hook
	step     int
	// events are all that were polled, oldest first, up to the cursor.
	events []hookEvent
	cursor string
	// clocks has the account's time at the beginning of each step.
	clocks []time.Time
	// checked counts the messages whose signatures were.
	checked int
}

// hook is an endpoint with all that it was. The first state is that it is not there.
type hook struct {
	name, id string
	moves    int
	states   []hookState
	secrets  []hookSecret
	replays  []hookReplay
}

type hookState struct {
	step int
	hookEndpoint
	exists bool
}

// hookSecret is a secret that was the signing one from some time of a step on.
type hookSecret struct {
	step   int
	secret string
}

// hookReplay is a replay of the events from a time on.
type hookReplay struct {
	step int
	from time.Time
}

type hookEvent struct {
	ID, Type, CreatedAt string
	Data                struct {
		ID, EndpointID, PaymentID, CustomerID, ExternalCustomerID string
		Version, PreviousVersion                                  int64
	}
	raw  json.RawMessage
	step int // after which it was polled
}

type hookDelivery struct {
	ID, EventID, EventType, Status string
	AttemptCount                   int
	NextAttemptAt                  *string
	Attempts                       []struct {
		Number     int
		StatusCode *int
		Error      *string
	}
}

// TestAnyInterleavingOfEndpoints_LosesNoEvent sells, refunds and grants to customers while the account's webhook
// endpoints are made, changed, rotated, replayed, disabled and deleted, one thing after another and several at once,
// and while their receivers take messages or do not. After each, `sundry verify` looks at all of it, and the events,
// the deliveries and what the receivers took are compared.
func TestAnyInterleavingOfEndpoints_LosesNoEvent(t *testing.T) {
	t.Parallel()
	eachLife(t, func(one *life) {
		l := &webhookLife{customersLife: &customersLife{
			life: one, once: one.a.Published(t, nil), club: plans(one.T, one.a, 0), erased: map[string]bool{},
		}, receiver: newHookReceiver()}
		defer l.receiver.server.Close()
		l.clocks = append(l.clocks, clockOf(l.T, l.a))
		l.make()()
		l.live(map[string]func() wish{
			"time": l.time, "retries": l.retries, "buy": l.buy, "cause": l.cause, "another cause": l.cause, "make": l.make,
			"filter": l.filter, "move": l.move, "switch": l.turn, "switch again": l.turn, "rotate": l.rotate,
			"delete": l.remove, "answer": l.answer, "replay": l.replay, "redeliver": l.redeliver,
			"redeliver again": l.redeliver, "test": l.test, "wait": l.await,
		}, map[string]func(*rapid.T){
			"": func(*rapid.T) {
				l.verify()
				l.compareAll()
			},
		})
		l.end()
	})
}

// drawHook draws an endpoint, and is false where there is none.
func (l *webhookLife) drawHook() (*hook, bool) {
	kept := slices.DeleteFunc(slices.Clone(l.hooks), func(h *hook) bool { return !h.last().exists })
	if len(kept) == 0 {
		return nil, false
	}
	return kept[rapid.IntRange(0, len(kept)-1).Draw(l.r, "endpoint")], true
}

func (h *hook) last() hookState { return h.states[len(h.states)-1] }

// hookLag is the number of steps for which what was read of an endpoint may still have an effect: a step ends once no
// task runs, but not all that is under way has a task still.
const hookLag = 2

// during are the states that the endpoint may have had for what happened in a step.
func (h *hook) during(step int) []hookState {
	first := 0
	for i, s := range h.states {
		if s.step < step-hookLag {
			first = i
		}
	}
	end := first
	for end < len(h.states) && h.states[end].step <= step {
		end++
	}
	return h.states[first:end]
}

// wants counts the states of a step whose filters take a type.
func (h *hook) wants(step int, eventType string) (some, always bool) {
	always = true
	for _, s := range h.during(step) {
		takes := s.exists && slices.ContainsFunc(s.Events, func(filter string) bool {
			family, isFamily := strings.CutSuffix(filter, "*")
			return filter == eventType || isFamily && strings.HasPrefix(eventType, family)
		})
		some, always = some || takes, always && takes
	}
	return some, always
}

func (l *webhookLife) filters() []string {
	return rapid.SampledFrom([][]string{
		{"*"}, {"*"}, {"customer.access_changed"}, {"payment.*", "refund.created"}, {"subscription.*", "dispute.*"},
		{"webhook_endpoint.*", "payment.completed"},
	}).Draw(l.r, "filters")
}

// put notes a state of an endpoint that a response has shown.
func (l *webhookLife) put(h *hook, response *harness.Response) {
	if l.allowed(response); response.Status >= 300 {
		return
	}
	var shown hookEndpoint
	response.Into(l, &shown)
	l.mu.Lock()
	defer l.mu.Unlock()
	h.states = append(h.states, hookState{l.step, shown, true})
	if shown.Secret != "" {
		h.secrets = append(h.secrets, hookSecret{l.step, shown.Secret})
	}
}

func (l *webhookLife) make() wish {
	h := &hook{name: strconv.Itoa(len(l.hooks)), states: []hookState{{step: -2}}}
	if len(l.hooks) > 6 {
		return nothing
	}
	l.hooks = append(l.hooks, h)
	l.receiver.answer(h.name, rapid.SampledFrom(hookAnswers).Draw(l.r, "answer"))
	body := harness.JSON{"url": l.receiver.server.URL + "/" + h.name + "/0", "events": l.filters(),
		"maxInFlight": rapid.SampledFrom([]int{1, 4, 32}).Draw(l.r, "in flight")}
	return func() {
		response := l.a.AsBackend(l, http.MethodPost, endpointsPath, body)
		l.put(h, response)
		h.id = h.last().ID
	}
}

func (l *webhookLife) patch(change func(h *hook) harness.JSON) wish {
	h, ok := l.drawHook()
	if !ok {
		return nothing
	}
	body := change(h)
	return func() { l.put(h, l.a.AsBackend(l, http.MethodPatch, endpointsPath+"/"+h.id, body)) }
}

func (l *webhookLife) filter() wish {
	return l.patch(func(*hook) harness.JSON { return harness.JSON{"events": l.filters()} })
}

func (l *webhookLife) move() wish {
	return l.patch(func(h *hook) harness.JSON {
		h.moves++
		return harness.JSON{"url": fmt.Sprintf("%s/%s/%d", l.receiver.server.URL, h.name, h.moves)}
	})
}

func (l *webhookLife) turn() wish {
	return l.patch(func(*hook) harness.JSON {
		return harness.JSON{"enabled": rapid.IntRange(0, 2).Draw(l.r, "off") > 0}
	})
}

func (l *webhookLife) answer() wish {
	h, ok := l.drawHook()
	if !ok {
		return nothing
	}
	how := rapid.SampledFrom(hookAnswers).Draw(l.r, "answer")
	return func() { l.receiver.answer(h.name, how) }
}

// onHook is a POST to a path of an endpoint.
func (l *webhookLife) onHook(path string, body any, then func(h *hook, response *harness.Response)) wish {
	h, ok := l.drawHook()
	if !ok {
		return nothing
	}
	return func() { then(h, l.a.AsBackend(l, http.MethodPost, endpointsPath+"/"+h.id+path, body)) }
}

func (l *webhookLife) rotate() wish { return l.onHook("/rotate-secret", nil, l.put) }

func (l *webhookLife) test() wish {
	return l.onHook("/test", nil, func(_ *hook, response *harness.Response) { l.allowed(response) })
}

func (l *webhookLife) replay() wish {
	from := clockOf(l.T, l.a).Add(-time.Duration(rapid.IntRange(1, 2000).Draw(l.r, "hours")) * time.Hour)
	return l.onHook("/replay", harness.JSON{"from": from.Format(time.RFC3339)},
		func(h *hook, response *harness.Response) {
			if l.allowed(response); response.Status == http.StatusAccepted {
				l.mu.Lock()
				defer l.mu.Unlock()
				h.replays = append(h.replays, hookReplay{l.step, from})
			}
		})
}

func (l *webhookLife) redeliver() wish {
	h, ok := l.drawHook()
	if !ok {
		return nothing
	}
	path := endpointsPath + "/" + h.id + "/deliveries"
	made := allAs[hookDelivery](l.T, l.a, path, url.Values{})
	if len(made) == 0 {
		return nothing
	}
	return l.post(path+"/"+made[rapid.IntRange(0, len(made)-1).Draw(l.r, "delivery")].ID+"/redeliver", nil)
}

func (l *webhookLife) remove() wish {
	h, ok := l.drawHook()
	if !ok || rapid.Bool().Draw(l.r, "not yet") {
		return nothing
	}
	return func() {
		response := l.a.AsBackend(l, http.MethodDelete, endpointsPath+"/"+h.id, nil)
		if l.allowed(response); response.Status == http.StatusOK {
			l.mu.Lock()
			defer l.mu.Unlock()
			h.states = append(h.states, hookState{step: l.step})
		}
	}
}

// cause draws something that events follow from.
func (l *webhookLife) cause() wish {
	causes := map[string]func() wish{
		"name": l.name, "grant": l.grant, "revoke": l.revoke, "use credit": l.useCredit, "refund": l.refund, "ask": l.ask,
		"dispute": l.answerDispute, "invoice": l.invoice,
	}
	return causes[rapid.SampledFrom(slices.Sorted(maps.Keys(causes))).Draw(l.r, "cause")]()
}

func (l *webhookLife) invoice() wish {
	if c, ok := l.customer(); ok {
		return l.invoiceOf(c.ID)
	}
	return nothing
}

// retries moves the clock over some of the schedule's pauses.
func (l *webhookLife) retries() wish {
	return l.wait(time.Duration(rapid.IntRange(1, 6*60*60).Draw(l.r, "seconds")) * time.Second)
}

// await polls for an access that is there already.
func (l *webhookLife) await() wish {
	name := rapid.SampledFrom(customerNames).Draw(l.r, "name")
	known := version(l.T, l.a.Access(l, name)["version"])
	return func() {
		path := fmt.Sprintf("%s?afterVersion=%d&waitSeconds=%d", accessPath(name), max(known-1, 0), min(known, 25))
		if got := version(l.T, l.a.AsBackend(l, get, path, nil).Want(l, 200).Map(l)["version"]); got < known {
			l.Errorf("waited for %s beyond %d, got %d", name, known-1, got)
		}
	}
}
