package webhook_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"sundry/core/fault"
	"sundry/core/fault/faulttest"
	"sundry/core/webhook"
)

func newEndpoint() *webhook.Endpoint {
	url, events := "https://hooks.example.com/", []string{"*"}
	return webhook.NewEndpoint("whe_1", "crt_1", webhook.EndpointEdit{URL: &url, Events: &events}, []byte("first"), start)
}

func TestTheCircuitOpensAfterFiveFailuresAndProbesOnce(t *testing.T) {
	t.Parallel()
	e := newEndpoint()
	for i := range 5 {
		if wait, probe := e.Admit(start); !wait.IsZero() || probe {
			t.Fatalf("after %d failures: wait until %s, probe %v; want an ordinary attempt", i, wait, probe)
		}
		e.Failed(false, false, start)
	}
	open := start.Add(5 * time.Second)
	if wait, probe := e.Admit(start); !wait.Equal(open) || probe {
		t.Fatalf("the circuit is open until %s (probe %v), want %s", wait, probe, open)
	}
	if wait, probe := e.Admit(open); !wait.IsZero() || !probe {
		t.Fatalf("half open: wait %s, probe %v; want a probe", wait, probe)
	}
	if wait, probe := e.Admit(open); !wait.Equal(open.Add(webhook.ProbeLease)) || probe {
		t.Fatalf("while one probe is out: wait %s, probe %v; want to wait for it", wait, probe)
	}
	e.Failed(false, true, open)
	if wait, _ := e.Admit(open); !wait.Equal(open.Add(10 * time.Second)) {
		t.Errorf("a failed probe keeps the circuit open until %s, want twice as long", wait)
	}
	e.Failed(false, false, open)
	if wait, _ := e.Admit(open); !wait.Equal(open.Add(10 * time.Second)) {
		t.Errorf("an attempt that was under way when the circuit opened moved its end to %s", wait)
	}
	for range 100 {
		e.Failed(false, true, open)
	}
	if wait, _ := e.Admit(open); !wait.Equal(open.Add(5 * time.Minute)) {
		t.Errorf("a long-dead endpoint is left alone until %s, want five minutes", wait)
	}
	if !e.Succeeded() {
		t.Error("a success after failures changes the endpoint")
	}
	if s := e.State(); s.Failures != 0 || !s.FailingSince.IsZero() || !s.OpenUntil.IsZero() {
		t.Errorf("after a success: %+v", s)
	}
	if e.Succeeded() {
		t.Error("a healthy endpoint that stays healthy has not changed")
	}
}

func TestGoneDisablesAtOnceAndOnlyOnce(t *testing.T) {
	t.Parallel()
	e := newEndpoint()
	disabled := e.Failed(true, false, start)
	if s := e.State(); disabled == nil || s.Enabled || s.DisabledReason != webhook.DisabledByGone {
		t.Fatalf("after 410: %+v, emitted %v", s, disabled)
	}
	if e.Failed(true, false, start) != nil {
		t.Error("an endpoint that is off was disabled again")
	}
	on := true
	if !e.Edit(webhook.EndpointEdit{Enabled: &on}, start) {
		t.Error("enabling a disabled endpoint wakes its backlog")
	}
	if s := e.State(); !s.Enabled || s.DisabledReason != "" || s.Failures != 0 {
		t.Errorf("enabled again: %+v", s)
	}
	if e.Edit(webhook.EndpointEdit{Enabled: &on}, start) {
		t.Error("enabling an enabled endpoint wakes nothing")
	}
}

func TestAFailureCountsFromTheEndOfTheWait(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		early time.Duration
		more  int
	}{"as the wait ends": {0, 1}, "a moment before": {time.Millisecond, 0}} {
		e := newEndpoint()
		for e.State().OpenUntil.IsZero() {
			e.Failed(false, false, start)
		}
		before := e.State()
		e.Failed(false, false, before.OpenUntil.Add(-c.early))
		if got := e.State().Failures - before.Failures; got != c.more {
			t.Errorf("%s: %d failures more, want %d", name, got, c.more)
		}
	}
}

func TestFiveDaysOfNothingButFailureDisable(t *testing.T) {
	t.Parallel()
	almost := start.Add(webhook.DisableAfter - time.Millisecond)
	e := newEndpoint()
	e.Failed(false, false, start)
	if e.Failed(false, false, almost) != nil || !e.State().Enabled {
		t.Fatal("disabled before five days had passed")
	}
	if e.Failed(false, false, start.Add(webhook.DisableAfter)) == nil ||
		e.State().DisabledReason != webhook.DisabledByFailing {
		t.Fatalf("five days of failure: %+v", e.State())
	}

	e = newEndpoint()
	e.Failed(false, false, start)
	e.Succeeded()
	e.Failed(false, false, almost)
	if e.Failed(false, false, start.Add(webhook.DisableAfter)) != nil || !e.State().Enabled {
		t.Error("one success in the five days did not begin them again")
	}
}

func TestTheSecretBeforeARotationSignsForADay(t *testing.T) {
	t.Parallel()
	e := newEndpoint()
	e.Rotate([]byte("second"), start)
	s := e.State()
	if string(s.Secret) != "second" || string(s.PreviousSecret) != "first" ||
		!s.PreviousUntil.Equal(start.Add(24*time.Hour)) {
		t.Errorf("after a rotation: %+v", s)
	}
	e.Rotate([]byte("third"), start.Add(time.Hour))
	s = e.State()
	if string(s.Secret) != "third" || string(s.PreviousSecret) != "second" ||
		!s.PreviousUntil.Equal(start.Add(25*time.Hour)) {
		t.Errorf("after a second rotation: %+v", s)
	}
}

func TestTheLimitsAreThoseOfTheContract(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ got, want any }{
		"endpoints":         {webhook.MaxEndpoints, 50},
		"at a time":         {webhook.DefaultInFlight, 32},
		"failing":           {webhook.DisableAfter, 432000 * time.Second},
		"one probe":         {webhook.ProbeLease, 20000 * time.Millisecond},
		"a secret's bytes":  {webhook.SecretBytes, 32},
		"an older secret's": {webhook.SecretOverlap, 86400 * time.Second},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
}

func TestANewEndpointTakesWhatItsOwnerSays(t *testing.T) {
	t.Parallel()
	edit := webhook.EndpointEdit{URL: new("https://hooks.example.com/"), Events: &[]string{"*"}}
	want := webhook.EndpointState{
		ID: "whe_1", CreatorID: "crt_1", URL: "https://hooks.example.com/", Events: []string{"*"}, Enabled: true,
		MaxInFlight: 32,
		Secret:      []byte("first"), SubscribedSince: start.Add(30000 * time.Millisecond), CreatedAt: start, Revision: 1,
	}
	if got := webhook.NewEndpoint("whe_1", "crt_1", edit, []byte("first"), start).State(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	edit.MaxInFlight, edit.MaxPerSecond = new(3), new(4)
	want.MaxInFlight, want.MaxPerSecond = 3, 4
	if got := webhook.NewEndpoint("whe_1", "crt_1", edit, []byte("first"), start).State(); !reflect.DeepEqual(got, want) {
		t.Errorf("with limits: %+v, want %+v", got, want)
	}
}

func TestAnEditListsEveryFault(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit  webhook.EndpointEdit
		isNew bool
		want  string
	}{
		"nothing":              {webhook.EndpointEdit{}, false, ""},
		"nothing of a new one": {webhook.EndpointEdit{}, true, "url REQUIRED, events REQUIRED"},
		"a bad address":        {webhook.EndpointEdit{URL: new("nowhere"), Events: &[]string{"*"}}, true, "url INVALID"},
		"no filters":           {webhook.EndpointEdit{Events: &[]string{}}, false, "events REQUIRED"},
		"the least limits":     {webhook.EndpointEdit{MaxInFlight: new(1), MaxPerSecond: new(0)}, false, ""},
		"the largest limits":   {webhook.EndpointEdit{MaxInFlight: new(128), MaxPerSecond: new(1000)}, false, ""},
		"limits that are small": {webhook.EndpointEdit{MaxInFlight: new(0), MaxPerSecond: new(-1)}, false,
			"maxInFlight OUT_OF_RANGE, maxPerSecond OUT_OF_RANGE"},
		"limits that are large": {webhook.EndpointEdit{MaxInFlight: new(129), MaxPerSecond: new(1001)}, false,
			"maxInFlight OUT_OF_RANGE, maxPerSecond OUT_OF_RANGE"},
	} {
		var f fault.Violations
		c.edit.Check(c.isNew, webhook.Policy{}, &f)
		got := ""
		if err := f.Err(); err != nil {
			got = strings.Join(faulttest.Lines(t, err), ", ")
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Each edit of a failing endpoint changes exactly what its row lists.
func TestAnEditChangesWhatItNames(t *testing.T) {
	t.Parallel()
	failing := newEndpoint()
	for range 5 {
		failing.Failed(false, false, start)
	}
	now := start.Add(time.Hour)
	healthy := func(s *webhook.EndpointState) { s.Failures, s.FailingSince, s.OpenUntil = 0, time.Time{}, time.Time{} }
	disabled := failing.State()
	disabled.Enabled, disabled.DisabledReason = false, webhook.DisabledByFailing
	for name, c := range map[string]struct {
		from webhook.EndpointState
		edit webhook.EndpointEdit
		want func(*webhook.EndpointState)
		now  bool
	}{
		"nothing": {failing.State(), webhook.EndpointEdit{}, func(*webhook.EndpointState) {}, false},
		"the same address": {failing.State(), webhook.EndpointEdit{URL: new("https://hooks.example.com/")},
			func(*webhook.EndpointState) {}, false},
		"another address": {failing.State(), webhook.EndpointEdit{URL: new("https://other.example.com/")},
			func(s *webhook.EndpointState) {
				s.URL = "https://other.example.com/"
				healthy(s)
			}, false},
		"filters": {failing.State(), webhook.EndpointEdit{Events: &[]string{"payment.*"}}, func(s *webhook.EndpointState) {
			s.Events, s.SubscribedSince = []string{"payment.*"}, now.Add(30*time.Second)
		}, false},
		"limits": {failing.State(), webhook.EndpointEdit{MaxInFlight: new(7), MaxPerSecond: new(8)},
			func(s *webhook.EndpointState) {
				s.MaxInFlight, s.MaxPerSecond = 7, 8
			}, false},
		"off": {failing.State(), webhook.EndpointEdit{Enabled: new(false)}, func(s *webhook.EndpointState) {
			s.Enabled, s.DisabledReason = false, webhook.DisabledByOwner
		}, false},
		"on": {disabled, webhook.EndpointEdit{Enabled: new(true)}, func(s *webhook.EndpointState) {
			s.Enabled, s.DisabledReason = true, ""
			healthy(s)
		}, true},
		"off again": {disabled, webhook.EndpointEdit{Enabled: new(false)}, func(s *webhook.EndpointState) {
			s.DisabledReason = webhook.DisabledByOwner
		}, false},
	} {
		e, want := webhook.RestoreEndpoint(c.from), c.from
		c.want(&want)
		want.Revision++
		if enabledNow := e.Edit(c.edit, now); enabledNow != c.now || !reflect.DeepEqual(e.State(), want) {
			t.Errorf("%s: %v, %+v, want %+v", name, enabledNow, e.State(), want)
		}
	}
}

func TestEveryChangeOfAnEndpointRaisesItsRevision(t *testing.T) {
	t.Parallel()
	failing := newEndpoint()
	for range 5 {
		failing.Failed(false, false, start)
	}
	for name, do := range map[string]func(*webhook.Endpoint){
		"rotated":   func(e *webhook.Endpoint) { e.Rotate([]byte("second"), start) },
		"probed":    func(e *webhook.Endpoint) { e.Admit(start.Add(time.Hour)) },
		"succeeded": func(e *webhook.Endpoint) { e.Succeeded() },
		"failed":    func(e *webhook.Endpoint) { e.Failed(false, false, start) },
	} {
		e := webhook.RestoreEndpoint(failing.State())
		before := e.State().Revision
		if do(e); e.State().Revision != before+1 {
			t.Errorf("%s: revision %d after %d", name, e.State().Revision, before)
		}
	}
}

func TestTheOwnerEndsTheWaitOfAnOpenCircuit(t *testing.T) {
	t.Parallel()
	e := newEndpoint()
	if e.Retry(start) || e.State().Revision != 1 {
		t.Errorf("a closed circuit changed: %+v", e.State())
	}
	for range 5 {
		e.Failed(false, false, start)
	}
	before := e.State().Revision
	if !e.Retry(start.Add(time.Second)) || e.State().Revision != before+1 || e.Retry(start.Add(time.Second)) {
		t.Errorf("the wait did not end once: %+v", e.State())
	}
	if wait, probe := e.Admit(start.Add(time.Second)); !wait.IsZero() || !probe {
		t.Errorf("wait %s, probe %v; want a probe at once", wait, probe)
	}
}

func TestAnOpenCircuitWaitsLongerWithEachFailedProbe(t *testing.T) {
	t.Parallel()
	e, now := newEndpoint(), start
	for range 4 {
		e.Failed(false, false, now)
	}
	for _, seconds := range []int{5, 10, 20, 40, 80, 160, 300, 300, 300} {
		e.Failed(false, true, now)
		if wait, _ := e.Admit(now); wait.Sub(now) != time.Duration(seconds)*time.Second {
			t.Errorf("waits %s, want %d s", wait.Sub(now), seconds)
		}
	}
}

func TestTheEventOfADisabledEndpointIsNamed(t *testing.T) {
	t.Parallel()
	if got := (webhook.Disabled{}).EventName(); got != "webhook.disabled" {
		t.Error(got)
	}
}
