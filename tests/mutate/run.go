package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Verdict is what became of a mutation.
type Verdict int

// The verdicts.
const (
	Killed   Verdict = iota // a test failed, or ran out of time
	Survived                // every test passed
	Invalid                 // it does not compile
)

// Package is one package with its tests.
type Package struct {
	// root is the folder of the module.
	root string
	// Dir is relative to the root of the module: core/money.
	Dir   string
	Files []string
	// flags quieten libraries that write files when a test fails.
	flags []string
	// timeout is for one run of the tests, from how long they take unchanged.
	timeout time.Duration
}

// packages finds the packages below the given folders of a module.
func packages(root string, folders []string) ([]Package, error) {
	var all []Package
	for _, folder := range folders {
		folder = strings.TrimSuffix(strings.TrimPrefix(folder, "./"), "/...")
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry os.DirEntry, err error) error {
			if err != nil || !entry.IsDir() {
				return err
			}
			if entry.Name() == "testdata" {
				return filepath.SkipDir
			}
			p, err := readPackage(root, path)
			if err == nil && len(p.Files) > 0 {
				all = append(all, p)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

func readPackage(root, folder string) (Package, error) {
	p := Package{root: root}
	dir, err := filepath.Rel(root, folder)
	if err != nil {
		return p, err
	}
	p.Dir = filepath.ToSlash(dir)
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return p, err
	}
	for _, name := range names {
		if !strings.HasSuffix(name, "_test.go") {
			p.Files = append(p.Files, p.Dir+"/"+filepath.Base(name))
			continue
		}
		source, err := os.ReadFile(name)
		if err != nil {
			return p, err
		}
		if bytes.Contains(source, []byte(`"pgregory.net/rapid"`)) && p.flags == nil {
			p.flags = []string{"-rapid.nofailfile", "-rapid.shrinktime=0s"}
		}
	}
	return p, nil
}

// measure runs the tests unchanged: they must pass, and how long they take bounds how long they may with a mutation.
func (p *Package) measure(ctx context.Context) error {
	p.timeout = 5 * time.Minute
	started := time.Now()
	if verdict, output := p.test(ctx, nil, nil); verdict != Survived {
		return fmt.Errorf("%s: the tests do not pass as they are:\n%s", p.Dir, output)
	}
	p.timeout = max(20*time.Second, 5*time.Since(started))
	return nil
}

// Test judges one mutation.
func (p *Package) Test(ctx context.Context, m Mutation) (Verdict, error) {
	source, err := os.ReadFile(filepath.Join(p.root, m.File))
	if err != nil {
		return Killed, err
	}
	verdict, _ := p.test(ctx, &m, m.Apply(source))
	return verdict, ctx.Err()
}

// test runs the package's tests with one file replaced, which go build does without touching the folder.
func (p *Package) test(ctx context.Context, m *Mutation, source []byte) (Verdict, string) {
	arguments := []string{"test", "-count=1", "-failfast", "-vet=off", "-timeout", p.timeout.String()}
	if m != nil {
		overlay, remove, err := overlayOf(filepath.Join(p.root, m.File), source)
		if err != nil {
			return Killed, err.Error()
		}
		defer remove()
		arguments = append(arguments, "-overlay", overlay)
	}
	arguments = append(append(arguments, "./"+p.Dir), p.flags...)
	command := exec.CommandContext(ctx, "go", arguments...) //nolint:gosec // the arguments are this tool's own
	command.Dir = p.root
	command.Env = append(os.Environ(), "GOMAXPROCS=2")
	command.WaitDelay = time.Second
	output, err := command.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return Survived, string(output)
	case errors.As(err, &exit) && bytes.Contains(output, []byte("[build failed]")):
		return Invalid, string(output)
	}
	return Killed, string(output)
}

// overlayOf writes the file that tells go build to read source in place of a file.
func overlayOf(file string, source []byte) (overlay string, remove func(), err error) {
	folder, err := os.MkdirTemp("", "sundry-mutate-")
	if err != nil {
		return "", nil, err
	}
	remove = func() { _ = os.RemoveAll(folder) }
	changed, overlay := filepath.Join(folder, "changed.go"), filepath.Join(folder, "overlay.json")
	original, err := filepath.Abs(file)
	if err == nil {
		var list []byte
		list, err = json.Marshal(map[string]map[string]string{"Replace": {original: changed}})
		err = errors.Join(err, os.WriteFile(changed, source, 0o600), os.WriteFile(overlay, list, 0o600))
	}
	if err != nil {
		remove()
	}
	return overlay, remove, err
}
