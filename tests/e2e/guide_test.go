package e2e_test

import (
	"html"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sundry/tests/harness"
	"sundry/tests/testdb"
	"sundry/tests/testenv"
)

var (
	pasted    = regexp.MustCompile(`(?s)<pre class="paste"[^>]*><code>(.*?)</code>`)
	nodeShown = regexp.MustCompile(`(?s)<pre tabindex="0" data-in="node"><code>(.*?)</code>`)
)

// blocksOf are the texts that a pattern finds in a page, as a reader copies them.
func blocksOf(page []byte, pattern *regexp.Regexp) []string {
	var out []string
	for _, found := range pattern.FindAllSubmatch(page, -1) {
		out = append(out, html.UnescapeString(string(found[1])))
	}
	return out
}

// curlThatCounts puts a curl in front of the real one that adds the status of each response to a file.
func curlThatCounts(t *testing.T, folder string) {
	t.Helper()
	program, err := exec.LookPath("curl")
	if err != nil {
		t.Fatalf("the guide is written for curl: %v", err)
	}
	script := "#!/bin/sh\nexec '" + program + "' --silent --write-out '%{stderr}%{http_code}\\n' \"$@\" 2>>'" +
		filepath.Join(folder, "statuses") + "'\n"
	if err := os.WriteFile(filepath.Join(folder, "curl"), []byte(script), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
}

func TestEveryLineOfTheGuideWorksAsPasted(t *testing.T) {
	t.Parallel()
	app := harness.New(t, testdb.SQLite, nil)
	demo, err := app.Program.SeedIfEmpty(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	page := app.Ask(t, harness.Request{Method: http.MethodGet, Path: "/docs"}).Want(t, http.StatusOK).Body
	blocks := blocksOf(page, pasted)
	folder := t.TempDir()
	curlThatCounts(t, folder)
	shell := exec.CommandContext(t.Context(), "sh", "-eu")
	shell.Dir = folder
	shell.Env = append(
		os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"), "SUNDRY_URL="+app.URL, "SUNDRY_KEY="+demo.SecretKey,
		"SUNDRY_EMAIL="+demo.Email, "SUNDRY_PASSWORD="+demo.Password,
	)
	shell.Stdin = strings.NewReader(strings.Join(blocks, "\n"))
	out, err := shell.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	raw, err := os.ReadFile(filepath.Join(folder, "statuses"))
	if err != nil {
		t.Fatal(err)
	}
	statuses, calls := strings.Fields(string(raw)), strings.Count(strings.Join(blocks, "\n"), "curl ")
	for i, status := range statuses {
		if !strings.HasPrefix(status, "2") {
			t.Errorf("request %d: %s", i+1, status)
		}
	}
	if len(statuses) != calls || calls < 14 || t.Failed() {
		t.Errorf("%d of %d requests got a response: %v\n%s", len(statuses), calls, statuses, out)
	}
}

func TestEverySampleForNodeIsAProgram(t *testing.T) {
	t.Parallel()
	node := testenv.Need(t, testenv.Node)
	app := harness.New(t, testdb.SQLite, nil)
	page := app.Ask(t, harness.Request{Method: http.MethodGet, Path: "/docs"}).Want(t, http.StatusOK).Body
	samples := blocksOf(page, nodeShown)
	if len(samples) < 100 {
		t.Fatalf("%d samples", len(samples))
	}
	path := filepath.Join(t.TempDir(), "samples.mjs")
	if err := os.WriteFile(path, []byte("{\n"+strings.Join(samples, "\n}\n{\n")+"\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), node, "--check", path).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
