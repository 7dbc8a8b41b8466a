package usage_test

import (
	"strings"
	"testing"
	"time"

	"sundry/core/fault"
	core "sundry/core/usage"
	"sundry/modules/usage"
	"sundry/ports"
)

// reported lists reports as "key quantity status".
func (f *fixture) reported(q usage.ReportQuery) string {
	f.t.Helper()
	found, err := f.Reports(f.t.Context(), creator, q, ports.Page{Limit: 100})
	f.must(err)
	var all []string
	for _, r := range found.Items {
		if r.Stream.EventName != "calls" || r.Stream.SubscriptionID != "sub_1" {
			f.t.Errorf("a report of %+v", r.Stream)
		}
		all = append(all, r.Key+" "+r.Quantity.String()+" "+string(r.Status()))
	}
	return strings.Join(all, ", ")
}

func TestReports_SayWhatBecameOfThem(t *testing.T) {
	t.Parallel()
	forEachEngine(t, core.Sum, func(t *testing.T, f *fixture) {
		day, of := f.billingPlan().Current.Start, usage.ReportQuery{SubscriptionID: "sub_1"}
		want := func(q usage.ReportQuery, want string) {
			t.Helper()
			if got := f.reported(q); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		}
		want(of, "")
		f.report(draft("a", "0.000000000001", time.Time{}))
		f.report(draft("b", "-2", time.Time{}))
		_, err := f.Void(t.Context(), creator, "b")
		f.must(err)
		want(of, "b -2 voided, a 0.000000000001 open")
		f.nextDay(0)
		f.clock.Advance(time.Minute)
		f.report(draft("late", "3", day))
		f.report(units("c", 4))
		want(of, "c 4 open, late 3 late, b -2 voided, a 0.000000000001 invoiced")
		f.nextDay(4, 3)
		const all = "c 4 invoiced, late 3 invoiced, b -2 voided, a 0.000000000001 invoiced"
		want(usage.ReportQuery{ExternalCustomerID: "ada", EventName: "calls"}, all)
		want(usage.ReportQuery{ExternalCustomerID: "ada", From: day}, all)
		want(usage.ReportQuery{CustomerID: f.billingPlan().CustomerID}, all)
		want(usage.ReportQuery{}, all)
		want(usage.ReportQuery{EventName: "calls", From: day.Add(time.Hour)}, "c 4 invoiced")
		want(usage.ReportQuery{EventName: "seats"}, "")
		want(usage.ReportQuery{SubscriptionID: "sub_1", From: day.Add(time.Hour)}, "c 4 invoiced")
		want(usage.ReportQuery{SubscriptionID: "sub_1", To: day.Add(time.Millisecond), EventName: "calls"},
			"late 3 invoiced, b -2 voided, a 0.000000000001 invoiced")
		want(usage.ReportQuery{SubscriptionID: "sub_1", EventName: "seats"}, "")
		want(usage.ReportQuery{ExternalCustomerID: "bob"}, "")
		f.cancel()
		f.nextDay(0)
		want(usage.ReportQuery{ExternalCustomerID: "ada"}, all)
		for _, account := range []string{creator, "crt_2"} {
			_, err := f.Reports(t.Context(), account, usage.ReportQuery{SubscriptionID: map[string]string{
				creator: "sub_2", "crt_2": "sub_1",
			}[account]}, ports.Page{Limit: 1})
			f.wantFault(err, fault.NotFoundCode)
		}
	})
}
