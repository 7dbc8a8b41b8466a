package deploy

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// Each alert asks for metrics of the table in docs/operations.md, which a test holds to a scrape, and names a heading
// there.
func TestAlertsNameTheirPage(t *testing.T) {
	t.Parallel()
	var file struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	content, err := os.ReadFile("prometheus/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	strict := yaml.NewDecoder(bytes.NewReader(content))
	strict.KnownFields(true)
	if err := strict.Decode(&file); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]bool{}
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(string(page), -1) {
		pages["docs/operations.md#"+strings.ReplaceAll(strings.ToLower(heading[1]), " ", "-")] = true
	}
	metric := regexp.MustCompile(`sundry_\w+`)
	for _, rule := range file.Groups[0].Rules {
		if !pages[rule.Annotations["runbook_url"]] || rule.Annotations["summary"] == "" || rule.Labels["severity"] == "" {
			t.Errorf("%s has labels %q and annotations %q: it needs a heading, a summary and a severity", rule.Alert,
				rule.Labels, rule.Annotations)
		}
		asked := metric.FindAllString(rule.Expr, -1)
		if len(asked) == 0 {
			t.Errorf("%s asks for no metric: %s", rule.Alert, rule.Expr)
		}
		for _, name := range asked {
			if !bytes.Contains(page, []byte("\n| `"+name+"` |")) {
				t.Errorf("%s asks for %s, which is not in the table of docs/operations.md", rule.Alert, name)
			}
		}
	}
}

// Prometheus' engine evaluates the rules over the series of alerts_test.yaml, in which each alert fires and does not.
func TestAlertsFireWhenTheyShould(t *testing.T) {
	t.Parallel()
	run := exec.CommandContext(t.Context(), "go", "run", "-C", "prometheus/validate", ".", "-test", "../alerts_test.yaml")
	if out, err := run.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
