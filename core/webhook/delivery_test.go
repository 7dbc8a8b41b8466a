package webhook_test

import (
	"testing"
	"time"

	"sundry/core/webhook"
)

var start = time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)

func TestADeliveryIsTriedTenTimesOnTheContractsSchedule(t *testing.T) {
	t.Parallel()
	waits := []time.Duration{
		5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour,
		20 * time.Hour, 24 * time.Hour,
	}
	for _, jitter := range []float64{0, 0.5, 0.999999} {
		now := start
		d := webhook.NewDelivery(webhook.DeliveryState{ID: "dlv_1"}, now)
		if s := d.State(); !s.NextAttemptAt.Equal(start) || !s.CreatedAt.Equal(start) {
			t.Fatalf("the first attempt is due at %s, want at once; created at %s", s.NextAttemptAt, s.CreatedAt)
		}
		for i, wait := range waits {
			d.Record(webhook.Attempt{At: now, StatusCode: 500}, 0, jitter)
			s := d.State()
			got := s.NextAttemptAt.Sub(now)
			if s.Status != webhook.Pending || s.AttemptCount != i+1 || got < wait || got > wait+wait/10 {
				t.Fatalf("after attempt %d (jitter %v): %s, %d attempts, next in %s; want pending, next in %s to %s", i+1, jitter,
					s.Status, s.AttemptCount, got, wait, wait+wait/10)
			}
			if exact := wait + time.Duration(float64(wait)*0.1*jitter); got != exact {
				t.Errorf("with jitter %v the wait is %s, want %s", jitter, got, exact)
			}
			if s.Revision != int64(i)+2 {
				t.Errorf("revision %d after attempt %d", s.Revision, i+1)
			}
			now = s.NextAttemptAt
		}
		if d.Record(webhook.Attempt{At: now, StatusCode: 500}, time.Minute, jitter) {
			t.Error("the last failure is reported as a success")
		}
		if s := d.State(); s.Status != webhook.Failed || s.AttemptCount != 10 || !s.NextAttemptAt.IsZero() {
			t.Errorf("after the last attempt: %+v", s)
		}
		d.Requeue(now)
		if s := d.State(); s.Revision != 12 || s.Status != webhook.Pending || s.AttemptCount != 10 ||
			!s.NextAttemptAt.Equal(now) {
			t.Errorf("made due again: %+v", s)
		}
		d.Record(webhook.Attempt{At: now, Duration: 15 * time.Second, StatusCode: 0}, 0, 0)
		if s := d.State(); s.Status != webhook.Pending || s.AttemptCount != 11 ||
			!s.NextAttemptAt.Equal(now.Add(20*time.Second)) {
			t.Errorf("after the first attempt of a new round, which took 15 s: %+v", s)
		}
	}
}

func TestADeliveredMessageIsDueNoMore(t *testing.T) {
	t.Parallel()
	d := webhook.RestoreDelivery(webhook.NewDelivery(webhook.DeliveryState{ID: "dlv_1"}, start).State())
	d.Record(webhook.Attempt{At: start, StatusCode: 200}, time.Hour, 0)
	if s := d.State(); s.ID != "dlv_1" || !s.NextAttemptAt.IsZero() {
		t.Errorf("%s is due at %v again", s.ID, s.NextAttemptAt)
	}
}

func TestOnlyA2xxIsASuccess(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]bool{0: false, 199: false, 200: true, 204: true, 299: true, 300: false, 301: false,
		302: false, 307: false, 404: false, 410: false, 429: false, 503: false} {
		d := webhook.NewDelivery(webhook.DeliveryState{}, start)
		if got := d.Record(webhook.Attempt{At: start, StatusCode: code}, 0, 0); got != want ||
			(d.State().Status == webhook.Delivered) != want {
			t.Errorf("%d: success %v, status %s, want %v", code, got, d.State().Status, want)
		}
	}
}

func TestRetryAfterAppliesUpToADay(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]time.Duration{
		"":                               0,
		"0":                              0,
		"120":                            2 * time.Minute,
		"-5":                             0,
		"315360000":                      24 * time.Hour, // ten years
		"9223372036854775807":            24 * time.Hour,
		"99999999999999999999999999":     24 * time.Hour, // more than any integer
		"-99999999999999999999999999":    0,
		"Sun, 08 Mar 2026 12:10:00 GMT":  10 * time.Minute,
		"Sunday, 08-Mar-26 12:10:00 GMT": 10 * time.Minute,
		"Sun Mar  8 12:10:00 2026":       10 * time.Minute,
		"Sun, 08 Mar 2026 11:00:00 GMT":  0,
		"Sun, 08 Mar 2036 12:00:00 GMT":  24 * time.Hour,
		"Fri, 31 Dec 9999 23:59:59 GMT":  24 * time.Hour,
		"soon":                           0,
		"12 minutes":                     0,
		"1.5":                            0,
		"\x00":                           0,
	} {
		if got := webhook.RetryAfter(header, start); got != want {
			t.Errorf("RetryAfter(%q) = %s, want %s", header, got, want)
		}
	}
}

func TestRetryAfterNeverHurriesAnAttempt(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]time.Duration{"1": 5 * time.Second, "60": time.Minute,
		"315360000": 24 * time.Hour, "garbage": 5 * time.Second} {
		d := webhook.NewDelivery(webhook.DeliveryState{}, start)
		d.Record(webhook.Attempt{At: start, StatusCode: 429}, webhook.RetryAfter(header, start), 0)
		if got := d.State().NextAttemptAt.Sub(start); got != want {
			t.Errorf("Retry-After %s: next in %s, want %s", header, got, want)
		}
	}
}

func TestOnlyA410IsGone(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]bool{409: false, 410: true, 411: false, 404: false, 0: false} {
		if got := (webhook.Attempt{StatusCode: code}).Gone(); got != want {
			t.Errorf("%d: %v", code, got)
		}
	}
}

func TestLog_CountsAnAttemptAndDecidesNothing(t *testing.T) {
	t.Parallel()
	d := webhook.NewDelivery(webhook.DeliveryState{ID: "dlv_1"}, start)
	before := d.State()
	d.Log()
	after := d.State()
	if after.AttemptCount != 1 || after.Revision != before.Revision+1 {
		t.Errorf("logged %+v", after)
	}
	after.AttemptCount, after.Revision = before.AttemptCount, before.Revision
	if after != before {
		t.Errorf("logged %+v, before %+v", after, before)
	}
}
