package webhook_test

import (
	"reflect"
	"testing"
	"time"

	"sundry/core/webhook"
)

func TestEndpointFile_SetsWhatItShows(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)
	from := webhook.EndpointState{
		URL: "https://shop.example/hook", Events: []string{"invoice.*"}, Enabled: true, MaxInFlight: 7, MaxPerSecond: 1,
	}
	with := func(change func(*webhook.EndpointState)) webhook.EndpointState {
		s := from
		change(&s)
		return s
	}
	for name, c := range map[string]struct {
		from    webhook.EndpointState
		enabled bool
	}{
		"enabled":   {from, true},
		"unlimited": {with(func(s *webhook.EndpointState) { s.MaxPerSecond = 0 }), true},
		"disabled by its owner": {with(func(s *webhook.EndpointState) {
			s.Enabled, s.DisabledReason = false, webhook.DisabledByOwner
		}), false},
		"disabled by the service": {with(func(s *webhook.EndpointState) {
			s.Enabled, s.DisabledReason = false, webhook.DisabledByGone
		}), true},
	} {
		file := webhook.NewEndpointFile(c.from)
		to := webhook.RestoreEndpoint(webhook.EndpointState{
			URL: "https://old.example", Events: []string{"*"}, Enabled: !c.enabled, MaxInFlight: 32, MaxPerSecond: 9,
		})
		to.Edit(file.Edit(), now)
		got := to.State()
		if got.URL != c.from.URL || !reflect.DeepEqual(got.Events, c.from.Events) || got.Enabled != c.enabled ||
			got.MaxInFlight != c.from.MaxInFlight || got.MaxPerSecond != c.from.MaxPerSecond {
			t.Errorf("%s: %+v of %+v, want %+v", name, got, file, c.from)
		}
		if limited := file.MaxPerSecond != nil; limited != (c.from.MaxPerSecond != 0) {
			t.Errorf("%s: the file has a limit %v of %d", name, limited, c.from.MaxPerSecond)
		}
		if again := webhook.NewEndpointFile(got); !reflect.DeepEqual(again, file) {
			t.Errorf("%s: the file of it is %+v, want %+v", name, again, file)
		}
	}
	file := webhook.NewEndpointFile(from)
	file.MaxInFlight = 0 // as in a file that leaves it out
	if edit := file.Edit(); edit.MaxInFlight != nil {
		t.Errorf("a file without a limit sets %d", *edit.MaxInFlight)
	}
	if file.MaxInFlight = 1; *file.Edit().MaxInFlight != 1 {
		t.Error("a file with a limit of one sets another")
	}
}
