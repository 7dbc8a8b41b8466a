package e2e_test

import (
	"strings"
	"testing"

	"sundry/tests/harness"
)

func TestRevenueIsTheSameInApiAndDashboard(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app).startOver(t)
		book := w.book(t, 2900)
		_, first := w.sell(t, book, harness.CardSucceeds, nil)
		w.sell(t, book, harness.CardSucceeds, nil)
		w.advance(t, week)
		w.refund(t, text(t, first["paymentId"]), 900).Want(t, 201)
		type figures struct{ Sales, GrossInCents, RefundsInCents, DisputesInCents, TaxInCents, FeesInCents, NetInCents int64 }
		var got struct {
			From, To, CompleteThrough string
			Data                      []struct {
				Currency string
				Total    figures
				Days     []struct {
					Day string
					figures
				}
			}
		}
		w.AsBackend(t, get, "/v1/metrics/revenue", nil).Want(t, 200).Into(t, &got)
		if len(got.Data) != 1 || got.Data[0].Currency != "eur" || len(got.Data[0].Days) != 2 {
			t.Fatalf("got %+v, want two days in euros", got)
		}
		total := got.Data[0].Total
		if total.Sales != 2 || total.GrossInCents != 5800 || total.RefundsInCents != 900 || total.NetInCents !=
			5800-900-total.TaxInCents-total.FeesInCents || total.FeesInCents == 0 {
			t.Errorf("the total is %+v", total)
		}
		var balances struct {
			Data []struct{ PendingInCents, AvailableInCents int64 }
		}
		w.AsBackend(t, get, "/v1/balance", nil).Want(t, 200).Into(t, &balances)
		if sum := balances.Data[0].PendingInCents + balances.Data[0].AvailableInCents; sum != total.NetInCents {
			t.Errorf("a net of %d, a balance of %d", total.NetInCents, sum)
		}
		w.AsBackend(t, get, "/v1/metrics/revenue?from="+got.Data[0].Days[1].Day, nil).Want(t, 200).Into(t, &got)
		if last := got.Data[0].Total; last.Sales != 0 || last.NetInCents >= 0 || last.RefundsInCents != 900 {
			t.Errorf("the day of the refund is %+v", last)
		}
		for _, query := range []string{"from=x", "to=2026-02-30", "from=2026-03-02&to=2026-03-01", "from=2020-01-01"} {
			w.AsBackend(t, get, "/v1/metrics/revenue?"+query, nil).Want(t, 400)
		}
		v := w.Visit(t)
		for path, want := range map[string][]string{
			"":                            {"Gross by day", "€58.00", "Gross, last 30 days", "The 30 days before"},
			"?days=7&figure=refunds":      {"Refunds by day", "€9.00", "Gross, last 7 days"},
			"?days=12m&figure=net":        {"Net by month", "Net, last 12 months", "€58.00"},
			"?days=x&figure=y&currency=z": {"Gross by day", "€58.00"},
		} {
			page := v.Open(t, "/dashboard"+path)
			for _, words := range want {
				if !strings.Contains(page.Body, words) {
					t.Errorf("%q lacks %q:\n%s", path, words, page.Body)
				}
			}
		}
	})
}
