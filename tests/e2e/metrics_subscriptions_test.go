package e2e_test

import (
	"strings"
	"testing"

	"sundry/tests/harness"
)

// recurring is the response of GET /v1/metrics/subscriptions in one currency.
type recurring struct {
	Currency                   string
	Opening, Closing           struct{ MRRInCents, Subscriptions int64 }
	Movements                  map[string]int64
	ChurnRate, TrialConversion *float64
	Days                       []struct {
		Day                       string
		MRRInCents, Subscriptions int64
	}
}

func recurringOf(t *testing.T, a *harness.Account, query string) (all []recurring) {
	t.Helper()
	var got struct{ Data []recurring }
	a.AsBackend(t, get, "/v1/metrics/subscriptions"+query, nil).Want(t, 200).Into(t, &got)
	return got.Data
}

func TestRecurringRevenueFollowsSubscriptions(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		listing := plans(t, a, 7)
		if got := recurringOf(t, a, ""); len(got) != 0 {
			t.Fatalf("of an account without subscriptions: %+v", got)
		}
		var ids []string
		for range 3 {
			session := a.NewSession(t, listing, "basic", harness.Unique("user"), nil)
			a.Pay(t, session, harness.CardSucceeds).Want(t, 200)
			ids = append(ids, text(t, a.Receipt(t, session)["subscriptionId"]))
		}
		if got := recurringOf(t, a, ""); len(got) != 1 || got[0].Closing.MRRInCents != 0 ||
			got[0].Movements["trialsStarted"] != 3 || got[0].TrialConversion != nil {
			t.Fatalf("on trial: %+v", got)
		}
		a.AsBackend(t, post, "/v1/subscriptions/"+ids[2]+"/cancel", JSON{"atPeriodEnd": false}).Want(t, 200)
		a.AsBackend(t, post, "/v1/sandbox/clock/advance", JSON{"seconds": 8 * 86400}).Want(t, 200)
		var sold struct{ AmountInCents int64 }
		a.AsBackend(t, get, "/v1/subscriptions/"+ids[0], nil).Want(t, 200).Into(t, &sold)
		one := sold.AmountInCents
		got := recurringOf(t, a, "")[0]
		if got.Closing.MRRInCents != 2*one || got.Closing.Subscriptions != 2 || got.Movements["newInCents"] != 2*one ||
			got.Movements["trialsLost"] != 1 || got.TrialConversion == nil || *got.TrialConversion < 0.66 ||
			*got.TrialConversion > 0.67 || got.ChurnRate != nil || len(got.Days) != 2 {
			t.Errorf("after the trials: %+v", got)
		}
		a.AsBackend(t, post, "/v1/sandbox/clock/advance", JSON{"seconds": 40 * 86400}).Want(t, 200)
		if month := recurringOf(t, a, "")[0]; month.Closing.MRRInCents != 2*one || len(month.Days) != 0 {
			t.Errorf("a renewal moved something: %+v", month)
		}
		a.AsBackend(t, post, "/v1/subscriptions/"+ids[0]+"/pause", nil).Want(t, 200)
		a.AsBackend(t, post, "/v1/subscriptions/"+ids[1]+"/cancel", JSON{"atPeriodEnd": false}).Want(t, 200)
		a.AsBackend(t, post, "/v1/subscriptions/"+ids[0]+"/resume", nil).Want(t, 200)
		got = recurringOf(t, a, "")[0]
		if got.Opening.MRRInCents != 2*one || got.Closing.MRRInCents != one || got.Movements["churnInCents"] != 2*one ||
			got.Movements["churned"] != 2 || got.Movements["reactivationInCents"] != one || got.ChurnRate == nil ||
			*got.ChurnRate != 1 {
			t.Errorf("after a pause and a cancellation: %+v", got)
		}
		for _, query := range []string{"?from=x", "?from=2026-03-02&to=2026-03-01", "?from=2020-01-01"} {
			a.AsBackend(t, get, "/v1/metrics/subscriptions"+query, nil).Want(t, 400)
		}
		v := a.Visit(t)
		for _, query := range []string{"", "?days=7", "?days=12m&currency=eur"} {
			page := v.Open(t, "/dashboard/subscriptions/revenue"+query)
			for _, words := range []string{"Monthly recurring revenue", "Churn rate", "Trial conversion", "Reactivation"} {
				if !strings.Contains(page.Body, words) {
					t.Errorf("%q lacks %s: %s", query, words, page.Body)
				}
			}
		}
		if page := app.NewAccount(t).Visit(t).Open(t, "/dashboard/subscriptions/revenue"); !strings.Contains(page.Body,
			"No recurring revenue yet") {
			t.Errorf("of another account: %s", page.Body)
		}
	})
}
