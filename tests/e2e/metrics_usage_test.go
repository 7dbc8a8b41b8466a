package e2e_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"sundry/tests/harness"
)

// meterUse is the response of GET /v1/metrics/usage about one meter.
type meterUse struct {
	MeterID, Key, Name, Aggregation string
	Total                           struct {
		Quantity json.Number
		Reports  int64
	}
	Days []struct {
		Day      string
		Quantity json.Number
		Reports  int64
	}
}

func (m *metered) figures(t *testing.T, query string) []meterUse {
	t.Helper()
	var got struct{ Data []meterUse }
	m.AsBackend(t, get, "/v1/metrics/usage"+query, nil).Want(t, 200).Into(t, &got)
	return got.Data
}

func TestUseByDayIsTheSameInApiAndDashboard(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app).startOver(t)
		m := w.metered(t, harness.CardSucceeds)
		first := w.now(t)
		m.report(t, "12.5")
		voided := m.report(t, "100")
		m.AsBackend(t, post, "/v1/usage/events/"+voided+"/void", nil).Want(t, 200)
		w.advance(t, 3*86400)
		last := w.now(t)
		m.report(t, "7")
		m.report(t, "0.25")
		check := func(when string) {
			t.Helper()
			got := m.figures(t, "")
			if len(got) != 1 || got[0].MeterID != m.meterID || got[0].Key != m.event || got[0].Aggregation != "SUM" {
				t.Fatalf("%s: got %+v, want one meter", when, got)
			}
			text := fmt.Sprint(got[0].Days, got[0].Total)
			if want := fmt.Sprintf("[{%s 12.5 1} {%s 7.25 2}] {19.75 3}", first.Format(time.DateOnly),
				last.Format(time.DateOnly)); text != want {
				t.Errorf("%s: got %s, want %s", when, text, want)
			}
		}
		check("before they are counted")
		w.advance(t, 86400) // which closes a period, and counts before
		check("counted")
		if got := m.figures(t, "?meterId="+m.meterID+"&from="+last.Format(time.DateOnly)); len(got) != 1 ||
			got[0].Total.Quantity != "7.25" {
			t.Errorf("the last day: %+v", got)
		}
		if got := m.figures(t, "?to="+first.AddDate(0, 0, -1).Format(time.DateOnly)); len(got) != 0 {
			t.Errorf("before the first report: %+v", got)
		}
		for _, query := range []string{"from=x", "to=2026-02-30", "from=2026-03-02&to=2026-03-01", "from=2020-01-01"} {
			m.AsBackend(t, get, "/v1/metrics/usage?"+query, nil).Want(t, 400)
		}
		app.NewAccount(t).AsBackend(t, get, "/v1/metrics/usage?meterId="+m.meterID, nil).Want(t, 404)
		v := w.Visit(t)
		for query, want := range map[string][]string{
			"":                                   {"by day", "19.75", "Use, last 30 days", "The 30 days before", "12.5"},
			"?days=12m&meter=" + m.meterID:       {"by month", "Use, last 12 months", "19.75"},
			"?days=7":                            {"Use, last 7 days"},
			"?days=x&meter=mtr_unknown&figure=y": {"by day", "19.75"},
		} {
			page := v.Open(t, "/dashboard/usage/figures"+query).Body
			for _, words := range want {
				if !strings.Contains(page, words) {
					t.Errorf("/usage/figures%s lacks %q: %s", query, words, page)
				}
			}
		}
		empty := app.NewAccount(t).Visit(t).Open(t, "/dashboard/usage/figures")
		if !strings.Contains(empty.Body, "No use yet") {
			t.Errorf("without use: %s", empty.Body)
		}
	})
}
