// Package fuzz runs every fuzz target of this repository for a bounded number of inputs.
package fuzz

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../.."

// inputs are those that each target gets beside its corpus. They are changed at random: to have the compiler watch which
// code each one reaches, as the task fuzz does at night, it has to compile most of the program again.
const inputs = "2000x"

var target = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)

// TestFuzz_EveryTarget finds nothing in changed inputs of the kept corpus, testdata/fuzz beside each target, which the
// target's package runs as it is.
func TestFuzz_EveryTarget(t *testing.T) {
	t.Parallel()
	folders := targets(t)
	count := 0
	for folder, names := range folders {
		count += len(names)
		t.Run(filepath.ToSlash(folder), func(t *testing.T) {
			t.Parallel()
			program, cache := filepath.Join(t.TempDir(), "fuzz.test"), t.TempDir()
			run(t, root, "go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-o", program, "./"+filepath.ToSlash(folder))
			for _, name := range names {
				folder := filepath.Join(root, folder)
				kept, err := os.ReadDir(filepath.Join(folder, "testdata", "fuzz", name))
				if err != nil || len(kept) == 0 {
					t.Errorf("%s has no corpus: run the tasks fuzz and fuzz:keep (%v)", name, err)
				}
				run(t, folder, program, "-test.run=^$", "-test.fuzz=^"+name+"$", "-test.fuzztime="+inputs,
					"-test.fuzzcachedir="+cache, "-test.parallel=1", "-test.timeout=5m")
			}
		})
	}
	if count < 20 {
		t.Errorf("%d targets are found, want at least 20", count)
	}
}

// targets returns the fuzz targets of each folder. It reads every source file, so that go test does not take the result
// of another source from its cache.
func targets(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && path != root && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules") {
			return fs.SkipDir
		}
		if entry.IsDir() || filepath.Ext(path) != ".go" {
			return nil
		}
		content, err := os.ReadFile(path) //nolint:gosec // of this repository
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		for _, match := range target.FindAllSubmatch(content, -1) {
			found[folder] = append(found[folder], string(match[1]))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func run(t *testing.T, folder, program string, args ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, args...)
	command.Dir = folder
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("%s %s: %v\n%s", filepath.Base(program), strings.Join(args, " "), err, out)
	}
}
