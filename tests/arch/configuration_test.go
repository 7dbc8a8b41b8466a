package arch

import (
	"flag"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sundry/config"
)

var update = flag.Bool("update", false, "write docs/configuration.md and docs/roles.md")

func TestConfigurationDocument(t *testing.T) {
	t.Parallel()
	const file = "../../docs/configuration.md"
	parsed, err := parser.ParseFile(token.NewFileSet(), "../../config/config.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	settings := settingsOf(parsed)
	if len(settings) < 40 {
		t.Fatalf("found %d settings, expected at least 40", len(settings))
	}
	for _, f := range settings {
		if f.section == "" || !strings.HasPrefix(f.text, f.field+" ") {
			t.Errorf("%s is in section %q and its comment is %q, want a section and a comment that begins with its name",
				f.field, f.section, f.text)
		}
	}
	required := requiredInLive(t)
	want := configurationDocument(settings, required)
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil || string(got) != want {
		t.Errorf("docs/configuration.md is stale (%v): run go test ./tests/arch -update", err)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, variable := range required {
		if !strings.Contains(string(readme), "`"+variable+"`") {
			t.Errorf("README.md does not name %s, which live needs", variable)
		}
	}
}

func TestComposePassesEverySetting(t *testing.T) {
	t.Parallel()
	parsed, err := parser.ParseFile(token.NewFileSet(), "../../config/config.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	compose, err := os.ReadFile("../../compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	image, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	none := map[string]string{}
	for _, s := range settingsOf(parsed) {
		passed := regexp.MustCompile(`(?m)^    ` + s.variable + `: `).Match(compose)
		if inImage := regexp.MustCompile(`\b` + s.variable + `=`).Match(image); !passed && !inImage {
			t.Errorf("compose.yaml passes no %s", s.variable)
		}
		none[s.variable] = ""
	}
	empty, err := config.FromMap(none)
	absent, want := config.FromMap(map[string]string{})
	if err != nil || want != nil || !reflect.DeepEqual(empty, absent) {
		t.Errorf("empty settings are %+v, %v; want those of absent ones, %+v", empty, err, absent)
	}
}

// requiredInLive returns the variables that the start demands in live when nothing is set.
func requiredInLive(t *testing.T) []string {
	t.Helper()
	_, err := config.FromMap(map[string]string{"ENVIRONMENT": "live"})
	if err == nil {
		t.Fatal("live starts with nothing set")
	}
	var all []string
	for _, found := range regexp.MustCompile(`([A-Z_]+) is required`).FindAllStringSubmatch(err.Error(), -1) {
		all = append(all, found[1])
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func TestConfigurationDocument_Sample(t *testing.T) {
	t.Parallel()
	parsed, err := parser.ParseFile(token.NewFileSet(), "x.go", "package config\n"+
		"type Config struct {\n"+
		"// Shop\n\n"+
		"// Name is the shop's\n// name. Default: the host of URL.\nName string `env:\"SHOP_NAME,unset\"`\n"+
		"// URL leads to it.\nURL string `env:\"SHOP_URL\" envDefault:\"http://localhost\"`\n"+
		"// Wait is no setting.\nWait int `env:\"-\"`\n}", parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	want := configurationHead + "\n## Shop\n\n| variable | default | |\n|---|---|---|\n" +
		"| `SHOP_NAME` | *required* | The shop's name. Default: the host of `SHOP_URL`. " +
		"Removed from the environment once it is read. |\n" +
		"| `SHOP_URL` | `http://localhost` | Leads to it. |\n"
	if got := configurationDocument(settingsOf(parsed), []string{"SHOP_NAME"}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
