package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"sundry/config"
)

// bench is the workbench of one run: the variables that the tests get, and how to put away what was started.
type bench struct {
	out io.Writer
	// env holds the variables for the tests; an empty value removes the variable.
	env map[string]string

	mu       sync.Mutex
	cleanups []func() error
}

// environ is the environment of the go commands: the caller's, with ours, and without the variables that configure
// Sundry itself. A developer's shell may have some for `go run .`, and the tests would test another configuration than
// CI does.
func (b *bench) environ() []string {
	var env []string
	settings := config.Variables()
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if _, ours := b.env[name]; !ours && name != "GOFLAGS" && !slices.Contains(settings, name) {
			env = append(env, pair)
		}
	}
	if os.Getenv("GOGC") == "" {
		env = append(env, "GOGC=200") // compiling and testing are bound by the processor, not by memory
	}
	// Programs that tests build are compiled from what the tests themselves are.
	env = append(env, "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -trimpath"))
	for name, value := range b.env {
		if value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// step prints what is being done, and then how it went and how long it took.
func (b *bench) step(name string, do func() (string, error)) error {
	fmt.Fprintf(b.out, "== %-14s ", name)
	started := time.Now()
	result, err := do()
	took := round(time.Since(started))
	if err != nil {
		fmt.Fprintf(b.out, "failed (%s)\n", took)
		return fmt.Errorf("%s: %w", name, err)
	}
	fmt.Fprintf(b.out, "%s (%s)\n", result, took)
	return nil
}

// later keeps what puts something away again; the last one added runs first.
func (b *bench) later(cleanup func() error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cleanups = append(b.cleanups, cleanup)
}

// close puts everything away. Calling it again does nothing.
func (b *bench) close() {
	b.mu.Lock()
	cleanups := b.cleanups
	b.cleanups = nil
	b.mu.Unlock()
	for _, cleanup := range slices.Backward(cleanups) {
		if err := cleanup(); err != nil {
			fmt.Fprintln(b.out, "tests/run: putting away:", err)
		}
	}
}

// tempDir makes a folder that is removed at the end of the run.
func (b *bench) tempDir(name string) (string, error) { return b.tempDirIn("", name) }

// tempDirIn is tempDir below another folder than the system's; an empty name means that one.
func (b *bench) tempDirIn(parent, name string) (string, error) {
	dir, err := os.MkdirTemp(parent, "sundry-"+name+"-")
	if err != nil {
		return "", err
	}
	b.later(func() error { return os.RemoveAll(dir) })
	return dir, nil
}

// cacheDir is the folder for downloads that later runs, in any clone, use again.
func cacheDir() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		// No HOME, as in some containers: keep it in the clone, where git ignores it.
		if base, err = filepath.Abs(filepath.Join("tests", ".cache")); err != nil {
			return "", err
		}
	}
	dir := filepath.Join(base, "sundry-tests")
	return dir, os.MkdirAll(dir, 0o755)
}

// way is one way to get something: try returns its address or path, or why this way does not exist here.
type way struct {
	name string
	try  func(ctx context.Context) (string, error)
}

// firstOf tries the ways in order and returns the first value and the name of its way. When all fail, the error
// holds one line for each, so that a reader sees at once which is the easiest to fix.
func firstOf(ctx context.Context, ways []way) (value, how string, err error) {
	var failures []error
	for _, w := range ways {
		value, err := w.try(ctx)
		if err == nil {
			return value, w.name, nil
		}
		if ctx.Err() != nil {
			return "", "", ctx.Err()
		}
		failures = append(failures, fmt.Errorf("  %s: %w", w.name, oneLine(err)))
	}
	return "", "", fmt.Errorf("not to be had; tried\n%w", errors.Join(failures...))
}

// oneLine folds an error's text into one line and keeps its end, where commands report what went wrong.
func oneLine(err error) error {
	text := strings.Join(strings.Fields(err.Error()), " ")
	const longest = 400
	if len(text) > longest {
		text = "… " + text[len(text)-longest:]
	}
	return errors.New(text)
}

func round(d time.Duration) time.Duration {
	if d < time.Second {
		return d.Round(time.Millisecond)
	}
	return d.Round(100 * time.Millisecond)
}
