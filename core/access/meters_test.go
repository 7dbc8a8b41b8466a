package access_test

import (
	"strings"
	"testing"
	"time"

	"sundry/core/access"
	"sundry/core/usage"
)

func TestMetersMoveTheTagButNotTheVersion(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	used, err := usage.ParseQuantity("12.5")
	if err != nil {
		t.Fatal(err)
	}
	empty := access.Empty("crt_1", "ada <&>", false)
	meter := access.Meter{Key: "calls", MeterID: "mtr_1", SubscriptionID: "sub_1", Used: used, Included: 100,
		PeriodStart: at, PeriodEnd: at.AddDate(0, 1, 0)}
	next, changed, err := empty.WithMeters([]access.Meter{meter})
	if err != nil || !changed || next.ETag == empty.ETag || next.Version != empty.Version {
		t.Fatalf("%v, changed %v, %s after %s", err, changed, next.ETag, empty.ETag)
	}
	want := `"meters":[{"key":"calls","meterId":"mtr_1","subscriptionId":"sub_1","used":12.5,"included":100,` +
		`"periodStart":"2026-01-01T00:00:00.000Z","periodEnd":"2026-02-01T00:00:00.000Z","asOf":null}]`
	if !strings.Contains(string(next.Body), want) || !strings.Contains(string(next.Body), `"ada <&>"`) {
		t.Errorf("body %s", next.Body)
	}
	if same, changed, err := next.WithMeters([]access.Meter{meter}); err != nil || changed || same.ETag != next.ETag {
		t.Errorf("the same meters again: %v, changed %v", err, changed)
	}
	if !next.Matches(access.Fold(nil), false) {
		t.Error("a document with meters is not the fold of its grants")
	}
	if back, changed, err := next.WithMeters(nil); err != nil || !changed || back.ETag != empty.ETag {
		t.Errorf("without meters: %v, changed %v, %s", err, changed, back.Body)
	}
}
