package e2e_test

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"sundry/tests/testdb"
)

// Prometheus' parser reads every expression of the alert rules and the dashboards, and a scrape has every metric that
// they ask for, with the labels that they select it by.
func TestDashboards_AskForMetricsThatExist(t *testing.T) {
	t.Parallel()
	validate := exec.CommandContext(t.Context(), "go", "run", "-C", "../../deploy/prometheus/validate", ".",
		"../alerts.yaml", "../../grafana/business.json", "../../grafana/operations.json")
	var faults strings.Builder
	validate.Stderr = &faults
	asked, err := validate.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, faults.String())
	}
	shown := scrapeOfEverything(t, testdb.SQLite) + scrapeOfSubscriptions(t)
	lines := 0
	for line := range strings.Lines(string(asked)) {
		lines++
		words := strings.Fields(line)
		series := regexp.MustCompile(`(?m)^` + words[0] + `(?:\{(.*)\})? `).FindStringSubmatch(shown)
		if series == nil {
			t.Errorf("no scrape has %s", words[0])
			continue
		}
		for _, label := range words[1:] {
			if !strings.Contains(","+series[1], ","+label+`="`) {
				t.Errorf("%s has no label %s: %s", words[0], label, series[1])
			}
		}
	}
	if lines < 20 {
		t.Errorf("alerts and dashboards ask for %d metrics, want at least 20", lines)
	}
}
