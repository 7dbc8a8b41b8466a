// Package scripts_test holds the scripts of the pages, and the programs of the examples, to the type checker and the
// linter, and runs the tests of their pure parts (*.test.js), which are written beside this file.
package scripts_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sundry/tests/testenv"
)

// gathered puts all scripts into one folder, as the server serves them: their names are different, and modules import
// those of other sites.
func gathered(t *testing.T) string {
	t.Helper()
	npm, folder := testenv.Need(t, testenv.Packages), t.TempDir()
	collect(t, filepath.Join(folder, "pages"), "../../adapters/web/*/static/*.js", "../../adapters/web/*/static/js/*.?s",
		"*.test.js")
	collect(t, filepath.Join(folder, "programs"), "../../examples/*/*.js", "../../adapters/web/docs/examples/*/*.mjs")
	collect(t, filepath.Join(folder, "sundry-sdk"), "../../sdk/typescript/src/*.ts")
	collect(t, folder, "*.json", "*.mjs")
	if err := os.Symlink(filepath.Join(npm, "node_modules"), filepath.Join(folder, "node_modules")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "package.json"), []byte(`{"type":"module"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

// collect copies the files of the patterns into a folder. A pattern without files, or two files of one name, is a
// mistake.
func collect(t *testing.T, into string, patterns ...string) {
	t.Helper()
	if err := os.MkdirAll(into, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, from := range files {
			to := filepath.Join(into, filepath.Base(from))
			if _, err := os.Stat(to); err == nil {
				t.Fatalf("two scripts are called %s", filepath.Base(from))
			}
			text, err := os.ReadFile(from)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(to, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// node runs a program under Node.js and fails the test with what it printed.
func node(t *testing.T, folder string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), testenv.Need(t, testenv.Node), args...)
	cmd.Dir = folder
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}

func TestTheTypeCheckerFindsNothing(t *testing.T) {
	t.Parallel()
	folder := gathered(t)
	for project, scripts := range map[string][]string{
		"pages.tsconfig.json": {"checkout.js", "calendar.js", "dashboard.js", "docs.js", "sundry.js", "card-page.js",
			"receipt.js"},
		"checks.tsconfig.json":   {"zones.test.js"},
		"programs.tsconfig.json": {"shop.js"},
	} {
		listed := node(t, folder, "node_modules/typescript/bin/tsc", "--project", project, "--listFiles")
		for _, name := range scripts {
			if !strings.Contains(listed, "/"+name) {
				t.Errorf("%s does not check %s", project, name)
			}
		}
	}
}

func TestTheLinterFindsNothing(t *testing.T) {
	t.Parallel()
	node(t, gathered(t), "node_modules/eslint/bin/eslint.js", "--max-warnings", "0", "pages", "programs")
}

func TestThePureParts(t *testing.T) {
	t.Parallel()
	folder := gathered(t)
	out := node(t, filepath.Join(folder, "pages"), "--test", "--test-reporter", "tap")
	if !strings.Contains(out, "# fail 0") || strings.Contains(out, "# pass 0\n") ||
		!strings.Contains(out, "# skipped 0") || !strings.Contains(out, "# todo 0") {
		t.Errorf("the tests did not all run:\n%s", out)
	}
}
