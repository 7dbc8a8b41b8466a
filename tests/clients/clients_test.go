// Package clients_test holds the API document to what others make of it: two linters, and the clients that
// openapi-typescript and oapi-codegen generate, which run the main flow of an integration. What five generators make of
// the document for clients compiles.
package clients_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"sundry/tests/harness"
	"sundry/tests/testdb"
	"sundry/tests/testenv"
)

const oapiCodegen = "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2"

func TestMain(m *testing.M) { harness.Main(m) }

// document writes the served document into a new folder and returns both.
func document(t *testing.T, app *harness.App) (folder, path string) {
	t.Helper()
	folder = t.TempDir()
	path = filepath.Join(folder, "openapi.yaml")
	served := app.Ask(t, harness.Request{Method: http.MethodGet, Path: "/openapi.yaml"}).Want(t, http.StatusOK)
	if err := os.WriteFile(path, served.Body, 0o600); err != nil {
		t.Fatal(err)
	}
	return folder, path
}

// runIn runs a command in a folder and returns what it printed to standard output.
func runIn(t *testing.T, folder string, env []string, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), env...)
	out, err := cmd.Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			out = append(out, exit.Stderr...)
		}
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return out
}

// script runs the program of an npm package under Node.js.
func script(t *testing.T, folder, program string, args ...string) {
	t.Helper()
	path := filepath.Join(testenv.Need(t, testenv.Packages), "node_modules", program)
	runIn(t, folder, nil, testenv.Need(t, testenv.Node), append([]string{path}, args...)...)
}

// config is the absolute path of a file of this package.
func config(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func copied(t *testing.T, from, into string) {
	t.Helper()
	if err := os.CopyFS(into, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// goFlags have go's cache find what was compiled of the same document before, in another temporary folder.
const goFlags = "GOFLAGS=-mod=mod -trimpath"

// credentials are the environment of a client: a new account's.
func credentials(t *testing.T, app *harness.App) []string {
	t.Helper()
	account := app.NewAccount(t)
	return []string{
		"BASE_URL=" + app.URL, "ACCESS_TOKEN=" + account.Token, "SECRET_KEY=" + account.Key,
		"SLUG=" + harness.Unique("item"), goFlags,
	}
}

// wantFlow holds what a client has printed to what every client must see.
func wantFlow(t *testing.T, printed []byte, slug string) {
	t.Helper()
	var got struct {
		Status, Receipt, Refused string
		Plans                    []string
	}
	if err := json.Unmarshal(printed, &got); err != nil {
		t.Fatalf("%v: %s", err, printed)
	}
	if got.Status != "paid" || got.Receipt != "paid" || len(got.Plans) != 1 || "SLUG="+got.Plans[0] != slug ||
		got.Refused == "" {
		t.Errorf("the client saw %+v", got)
	}
}

func TestTheLintersFindNothing(t *testing.T) {
	t.Parallel()
	testenv.Need(t, testenv.Packages)
	folder, path := document(t, harness.New(t, testdb.SQLite, nil))
	script(
		t, folder, "@redocly/cli/bin/cli.js", "lint", path, "--config", config(t, "redocly.yaml"), "--max-problems",
		"20",
	)
	script(
		t, folder, "@stoplight/spectral-cli/dist/index.js", "lint", path, "--ruleset", config(t, "spectral.yaml"),
		"--fail-severity", "hint",
	)
}

func TestTheTypeScriptClientRunsTheMainFlow(t *testing.T) {
	t.Parallel()
	npm := testenv.Need(t, testenv.Packages)
	app := harness.New(t, testdb.SQLite, nil)
	folder, path := document(t, app)
	copied(t, "testdata/typescript", folder)
	for _, name := range []string{"node_modules", "package.json"} {
		if err := os.Symlink(filepath.Join(npm, name), filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	script(t, folder, "openapi-typescript/bin/cli.js", path, "-o", filepath.Join(folder, "schema.d.ts"))
	script(t, folder, "typescript/bin/tsc", "-p", folder)
	env := credentials(t, app)
	wantFlow(t, runIn(t, folder, env, testenv.Need(t, testenv.Node), "out/flow.mjs"), env[3])
}

func TestTheGoClientRunsTheMainFlow(t *testing.T) {
	t.Parallel()
	testenv.Need(t, testenv.Packages)
	app := harness.New(t, testdb.SQLite, nil)
	folder, path := document(t, app)
	copied(t, "testdata/go", folder)
	env := credentials(t, app)
	runIn(
		t, folder, env, "go", "run", oapiCodegen, "-generate", "types,client", "-package", "main", "-o",
		"client.gen.go", path,
	)
	wantFlow(t, runIn(t, folder, env, "go", "run", "."), env[3])
}
