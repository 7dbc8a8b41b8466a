package clients_test

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sundry/tests/harness"
	"sundry/tests/testdb"
	"sundry/tests/testenv"
)

// usualScopes are the scopes of a program that sells, bills, refunds and receives events.
const usualScopes = "checkout,customers,access,subscriptions,invoices,refunds,webhooks"

// maxGeneratedLines bounds what oapi-codegen makes for the usual scopes. All of /openapi.yaml gives over 100,000.
const maxGeneratedLines = 25_000

// clientDocument writes the served document for clients into a folder and returns its path.
func clientDocument(t *testing.T, app *harness.App, folder, query string) string {
	t.Helper()
	path := filepath.Join(folder, "openapi-client.json")
	served := app.Ask(t, harness.Request{Method: http.MethodGet, Path: "/openapi-client.json" + query})
	if err := os.WriteFile(path, served.Want(t, http.StatusOK).Body, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestClientDocument_Go(t *testing.T) {
	t.Parallel()
	testenv.Need(t, testenv.Packages)
	app := harness.New(t, testdb.SQLite, nil)
	folder := t.TempDir()
	copied(t, "testdata/goclient", folder)
	env := credentials(t, app)
	generate := func(query string) []byte {
		path := clientDocument(t, app, folder, query)
		runIn(
			t, folder, env, "go", "run", oapiCodegen, "-generate", "types,client", "-package", "main", "-o",
			"client.gen.go", path,
		)
		written, err := os.ReadFile(filepath.Join(folder, "client.gen.go"))
		if err != nil {
			t.Fatal(err)
		}
		return written
	}
	lines := bytes.Count(generate("?scopes="+usualScopes), []byte("\n"))
	t.Logf("%d lines for %s", lines, usualScopes)
	if lines >= maxGeneratedLines {
		t.Errorf("the client for %s has %d lines, want fewer than %d", usualScopes, lines, maxGeneratedLines)
	}
	generate("")
	runIn(t, folder, env, "go", "vet", ".")
	printed := string(runIn(t, folder, env, "go", "run", "."))
	if want := "NOT_FOUND 0\n"; printed != want {
		t.Errorf("the client printed %q, want %q", printed, want)
	}
}

// TestClientDocument_TypeScript compiles strictly what four generators make of the document.
func TestClientDocument_TypeScript(t *testing.T) {
	t.Parallel()
	npm := testenv.Need(t, testenv.Packages)
	path := clientDocument(t, harness.New(t, testdb.SQLite, nil), t.TempDir(), "")
	for program, args := range map[string][]string{
		"openapi-typescript/bin/cli.js":  {path, "-o", "client/schema.d.ts"},
		"@hey-api/openapi-ts/bin/run.js": {"-i", path, "-o", "client", "--client", "@hey-api/client-fetch"},
		"orval/dist/bin/orval.js":        {"--input", path, "--output", "client/client.ts", "--client", "fetch"},
		"@kubb/cli/bin/kubb.cjs":         {"generate", path, "--config", "kubb.config.mjs", "--silent"},
	} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			copied(t, "testdata/generated", folder)
			if err := os.Symlink(filepath.Join(npm, "node_modules"), filepath.Join(folder, "node_modules")); err != nil {
				t.Fatal(err)
			}
			script(t, folder, program, args...)
			script(t, folder, "typescript/bin/tsc", "-p", folder)
			if !mentions(t, filepath.Join(folder, "client"), "createcheckoutsession") {
				t.Error("the client has no operation that creates a checkout session")
			}
		})
	}
}

// mentions reports whether a file in the folder has a word, in any case.
func mentions(t *testing.T, folder, word string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.ts"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(strings.ToLower(string(text)), word) {
			return true
		}
	}
	return false
}
