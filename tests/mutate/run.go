package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Verdict is the outcome of testing a mutation.
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
			// such as faulttest, which only tests use
			if entry.Name() == "testdata" || strings.HasSuffix(entry.Name(), "test") {
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

// buildAttempts bounds how often a package is built to find the mutations that do not compile.
const buildAttempts = 5

// Build is the test binary of a package with every mutation of its functions in it.
type Build struct {
	p      *Package
	folder string
	// sources are the unchanged files of the package.
	sources map[string][]byte
	// apart are the mutations that need a build of their own, invalid those that do not compile.
	apart   map[int]numbered
	invalid map[int]bool
	// timeout is for one run of the tests, from how long they take unchanged.
	timeout time.Duration
}

// build compiles the tests once with all mutations, leaving out those that do not compile, and runs them unchanged.
func (p *Package) build(ctx context.Context, mutations []Mutation) (_ *Build, err error) {
	b := &Build{p: p, sources: map[string][]byte{}, apart: map[int]numbered{}, invalid: map[int]bool{}}
	if b.folder, err = os.MkdirTemp("", "sundry-mutate-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	for _, file := range p.Files {
		if b.sources[file], err = os.ReadFile(filepath.Join(p.root, file)); err != nil {
			return nil, err
		}
	}
	for range buildAttempts {
		done, err := b.compile(ctx, mutations)
		if err != nil {
			return nil, err
		}
		if done {
			err = b.measure(ctx)
			return b, err
		}
	}
	return nil, fmt.Errorf("%s: mutations still do not compile after %d builds", p.Dir, buildAttempts)
}

func (b *Build) close() { _ = os.RemoveAll(b.folder) }

// compile builds once and reports whether it went well; mutations at fault are marked and left out of the next build.
func (b *Build) compile(ctx context.Context, mutations []Mutation) (bool, error) {
	files := map[string]rewritten{}
	replaced := map[string][]byte{}
	for _, file := range b.p.Files {
		var own []numbered
		for i, m := range mutations {
			if m.File == file && !b.invalid[i+1] {
				own = append(own, numbered{m, i + 1})
			}
		}
		r, err := rewrite(file, b.sources[file], own)
		if err != nil {
			return false, err
		}
		for _, m := range r.left {
			b.apart[m.number] = m
		}
		files[file], replaced[file] = r, r.source
	}
	name, err := packageName(b.sources[b.p.Files[0]])
	if err != nil {
		return false, err
	}
	replaced[b.p.Dir+"/zz_selected_mutation.go"] = fmt.Appendf(nil, selected, name)
	output, err := b.goTestC(ctx, b.binary(), replaced)
	if err == nil {
		return true, nil
	}
	found := false
	for _, m := range compileError.FindAllSubmatch(output, -1) {
		line, _ := strconv.Atoi(string(m[2])) // digits, by the pattern
		for file, r := range files {
			if number := r.at(line); number > 0 && filepath.Base(file) == filepath.Base(string(m[1])) {
				b.invalid[number], found = true, true
			}
		}
	}
	if !found {
		return false, fmt.Errorf("%s: %w\n%s", b.p.Dir, err, output)
	}
	return false, ctx.Err()
}

// compileError is a line of the compiler's: file, line and column.
var compileError = regexp.MustCompile(`(?m)^(\S+\.go):(\d+):\d+: `)

func packageName(source []byte) (string, error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), "", source, parser.PackageClauseOnly)
	if err != nil {
		return "", err
	}
	return parsed.Name.Name, nil
}

func (b *Build) binary() string { return filepath.Join(b.folder, "package.test") }

// goTestC builds the package's tests with some of its files replaced, without touching its folder.
func (b *Build) goTestC(ctx context.Context, binary string, replaced map[string][]byte) ([]byte, error) {
	folder, err := os.MkdirTemp(b.folder, "overlay-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	root, err := filepath.Abs(b.p.root)
	if err != nil {
		return nil, err
	}
	paths := map[string]string{}
	for file, source := range replaced {
		changed := filepath.Join(folder, filepath.Base(file))
		if err := os.WriteFile(changed, source, 0o600); err != nil {
			return nil, err
		}
		paths[filepath.Join(root, filepath.FromSlash(file))] = changed
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": paths})
	if err != nil {
		return nil, err
	}
	overlay := filepath.Join(folder, "overlay.json")
	if err := os.WriteFile(overlay, list, 0o600); err != nil {
		return nil, err
	}
	// -e: every error of the compiler, not the first ten.
	command := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-gcflags=-e", "-overlay", overlay, "-o", binary,
		"./"+b.p.Dir) //nolint:gosec // the arguments are this tool's own
	command.Dir = b.p.root
	return command.CombinedOutput()
}

// measure runs the tests unchanged: they must pass, and how long they take bounds how long they may with a mutation.
func (b *Build) measure(ctx context.Context) error {
	b.timeout = 5 * time.Minute
	started := time.Now()
	if output, err := b.run(ctx, b.binary(), 0); err != nil {
		return fmt.Errorf("%s: the tests do not pass as they are: %w\n%s", b.p.Dir, err, output)
	}
	b.timeout = max(4*time.Second, 10*time.Since(started))
	return nil
}

// Test runs the tests against the mutation with a number.
func (b *Build) Test(ctx context.Context, number int) (Verdict, error) {
	if b.invalid[number] {
		return Invalid, nil
	}
	binary := b.binary()
	if m, ok := b.apart[number]; ok {
		binary = filepath.Join(b.folder, strconv.Itoa(number)+".test")
		defer func() { _ = os.Remove(binary) }()
		output, err := b.goTestC(ctx, binary, map[string][]byte{m.File: m.Apply(b.sources[m.File])})
		switch {
		case err != nil && compileError.Match(output):
			return Invalid, ctx.Err()
		case err != nil:
			return Killed, fmt.Errorf("%s: %w\n%s", b.p.Dir, err, output)
		}
	}
	_, err := b.run(ctx, binary, number)
	var exit *exec.ExitError
	switch {
	case err == nil:
		return Survived, nil
	case errors.As(err, &exit):
		return Killed, ctx.Err()
	}
	return Killed, err
}

// run runs a test binary in the folder of its package.
func (b *Build) run(ctx context.Context, binary string, number int) ([]byte, error) {
	arguments := append([]string{"-test.failfast", "-test.timeout", b.timeout.String()}, b.p.flags...)
	command := exec.CommandContext(ctx, binary, arguments...) //nolint:gosec // the arguments are this tool's own
	command.Dir = filepath.Join(b.p.root, filepath.FromSlash(b.p.Dir))
	command.Env = slices.Concat(os.Environ(), []string{selector + "=" + strconv.Itoa(number)})
	command.WaitDelay = time.Second
	return command.CombinedOutput()
}
