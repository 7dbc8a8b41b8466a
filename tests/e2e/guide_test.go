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
	pasted      = regexp.MustCompile(`(?s)<pre class="paste"[^>]*><code>(.*?)</code>`)
	nodeShown   = regexp.MustCompile(`(?s)<pre tabindex="0" data-in="node"><code>(.*?)</code>`)
	pythonShown = regexp.MustCompile(`(?s)<pre tabindex="0" data-in="python"><code>(.*?)</code>`)

	listedPage      = regexp.MustCompile(`<h2 id="[^"]*"><a href="(/docs/[a-z-]+)">`)
	listedOperation = regexp.MustCompile(`<li><a href="/docs/[a-z-]+#[a-z0-9-]+">`)
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

// samplesOf are the samples of every operation in a language, from all pages of the reference.
func samplesOf(t *testing.T, app *harness.App, pattern *regexp.Regexp) (samples []string) {
	t.Helper()
	read := func(path string) []byte {
		return app.Ask(t, harness.Request{Method: http.MethodGet, Path: path}).Want(t, http.StatusOK).Body
	}
	list := read("/docs/reference")
	operations := len(listedOperation.FindAll(list, -1))
	for _, page := range listedPage.FindAllSubmatch(list, -1) {
		samples = append(samples, blocksOf(read(string(page[1])), pattern)...)
	}
	if len(samples) != operations || operations < 100 {
		t.Errorf("%d samples of %d operations", len(samples), operations)
	}
	return samples
}

func TestEverySampleForNodeIsAProgram(t *testing.T) {
	t.Parallel()
	node := testenv.Need(t, testenv.Node)
	samples := samplesOf(t, harness.New(t, testdb.SQLite, nil), nodeShown)
	path := filepath.Join(t.TempDir(), "samples.mjs")
	if err := os.WriteFile(path, []byte("{\n"+strings.Join(samples, "\n}\n{\n")+"\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), node, "--check", path).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// The samples are parsed by the grammar of an editor, so that no Python need be installed.
func TestEverySampleForPythonIsAProgram(t *testing.T) {
	t.Parallel()
	node, packages := testenv.Need(t, testenv.Node), testenv.Need(t, testenv.Packages)
	samples := samplesOf(t, harness.New(t, testdb.SQLite, nil), pythonShown)
	folder := t.TempDir()
	if err := os.Symlink(filepath.Join(packages, "node_modules"), filepath.Join(folder, "node_modules")); err != nil {
		t.Fatal(err)
	}
	const check = `import { parser } from "@lezer/python";
import { readFileSync } from "node:fs";
const source = readFileSync(0, "utf8");
parser.parse(source).iterate({ enter(node) {
  if (!node.type.isError) return;
  console.error(source.slice(Math.max(0, node.from - 200), node.from + 200));
  process.exit(1);
} });`
	program := filepath.Join(folder, "check.mjs")
	if err := os.WriteFile(program, []byte(check), 0o600); err != nil {
		t.Fatal(err)
	}
	parse := func(source string) ([]byte, error) {
		command := exec.CommandContext(t.Context(), node, program)
		command.Stdin = strings.NewReader(source)
		return command.CombinedOutput()
	}
	if out, err := parse(strings.Join(samples, "\n\n") + "\n"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err := parse("with open(:\n"); err == nil {
		t.Error("what is no Python passes")
	}
}
