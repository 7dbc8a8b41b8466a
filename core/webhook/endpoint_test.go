package webhook_test

import (
	"testing"
	"time"

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
		t.Error("a well endpoint that stays well has not changed")
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

func TestFiveDaysOfNothingButFailureDisable(t *testing.T) {
	t.Parallel()
	almost := start.Add(webhook.DisableAfter - time.Millisecond)
	e := newEndpoint()
	e.Failed(false, false, start)
	if e.Failed(false, false, almost) != nil || !e.State().Enabled {
		t.Fatal("disabled before five days had passed")
	}
	if e.Failed(false, false, start.Add(webhook.DisableAfter)) == nil || e.State().DisabledReason != webhook.DisabledByFailing {
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
	if string(s.Secret) != "second" || string(s.PreviousSecret) != "first" || !s.PreviousUntil.Equal(start.Add(24*time.Hour)) {
		t.Errorf("after a rotation: %+v", s)
	}
	e.Rotate([]byte("third"), start.Add(time.Hour))
	s = e.State()
	if string(s.Secret) != "third" || string(s.PreviousSecret) != "second" || !s.PreviousUntil.Equal(start.Add(25*time.Hour)) {
		t.Errorf("after a second rotation: %+v", s)
	}
}
