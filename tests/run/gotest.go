package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// notQuick are the folders whose tests need a service or a browser, or take their time.
var notQuick = []string{"sundry/tests/browser", "sundry/tests/faults", "sundry/tests/bench", "sundry/tests/clients"}

// notLight are the folders that never run under the race detector, whatever they import: they start the built binary
// or a browser, so that the detector would watch the wrong process.
var notLight = append([]string{"sundry/tests/e2e"}, notQuick...)

// heavyImports are too slow under the race detector: SQLite is C turned into Go, and takes minutes to build and
// ten times as long to run.
var heavyImports = []string{"modernc.org/sqlite", "github.com/glebarez/go-sqlite"}

// testArguments are the arguments of go test: ours first, so that the caller's win, and every package unless the
// caller names some.
func testArguments(given []string) []string {
	// Vet has run on its own, whole. Package processes share the servers and the cores: more than four do not help.
	args := []string{"test", "-json", "-vet=off", "-count=1", "-timeout=20m", "-p=" + strconv.Itoa(min(4, runtime.NumCPU()))}
	own := given
	if i := slices.Index(given, "-args"); i >= 0 {
		own = given[:i]
	}
	args = append(args, own...)
	if !slices.ContainsFunc(own, isPackage) {
		args = append(args, "./...")
	}
	return append(args, given[len(own):]...)
}

func isPackage(argument string) bool {
	return argument == "." || strings.HasPrefix(argument, "./") || argument == "sundry" || strings.HasPrefix(argument, "sundry/")
}

// vet runs go vet over everything.
func vet(ctx context.Context, b *bench) error {
	_, err := goCommand(ctx, b, "vet", "./...")
	return err
}

func goCommand(ctx context.Context, b *bench, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	var stdout, stderr lockedBuffer
	cmd.Stdout, cmd.Stderr, cmd.Env = &stdout, &stderr, b.environ()
	isolate(cmd, nil)
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", args[0], err, strings.TrimSpace(stderr.String()+stdout.String()))
	}
	return strings.TrimSpace(stdout.String()), nil
}

// goTest runs go test with the arguments and feeds the report line by line.
func goTest(ctx context.Context, b *bench, tests *report, args []string) error {
	fmt.Fprintf(b.out, "== go %s\n", strings.Join(shown(args), " "))
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = b.environ()
	cmd.Stderr = b.out
	isolate(cmd, nil)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	lines := make(chan []byte)
	go func() {
		defer close(lines)
		// Not a Scanner: a test may print a line of any length.
		for reader := bufio.NewReader(stdout); ; {
			line, err := reader.ReadBytes('\n')
			if len(line) > 0 {
				lines <- line
			}
			if err != nil {
				return
			}
		}
	}()
	follow(lines, tests)
	err = cmd.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		tests.ended(exit)
		return nil
	}
	return err
}

// follow feeds the report until the lines end, and says every half minute what is running.
func follow(lines <-chan []byte, tests *report) {
	alive := time.NewTicker(30 * time.Second)
	defer alive.Stop()
	for {
		select {
		case line, more := <-lines:
			if !more {
				return
			}
			var e event
			if json.Unmarshal(line, &e) != nil {
				tests.plain(line)
				continue
			}
			tests.handle(e)
		case <-alive.C:
			tests.stillRunning()
		}
	}
}

// shown shortens a long list of packages.
func shown(args []string) []string {
	const most = 12
	if len(args) <= most {
		return args
	}
	return append(slices.Clone(args[:most]), fmt.Sprintf("… (%d more)", len(args)-most))
}

// quickPackages are the packages with tests that need no service.
func quickPackages(ctx context.Context, b *bench) ([]string, error) {
	listed, err := goCommand(ctx, b, "list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}", "./...")
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(strings.Fields(listed), func(name string) bool { return under(name, notQuick) }), nil
}

// errNoCompiler says why nothing was run: a pass without the race detector would say too much.
var errNoCompiler = errors.New("no C compiler: the race detector needs one. Install gcc or clang, or name one with CC, and leave CGO_ENABLED unset")

// raceTest runs the packages that pick chooses under the race detector.
func raceTest(ctx context.Context, b *bench, tests *report, pick func(listed string) []string) error {
	listed, err := goCommand(ctx, b, "list", "-test", "-f", `{{.ImportPath}} {{join .Deps " "}}`, "./...")
	if err != nil {
		return err
	}
	packages := pick(listed)
	if len(packages) == 0 {
		return nil
	}
	b.env["CGO_ENABLED"] = "1"
	return goTest(ctx, b, tests, testArguments(append([]string{"-race"}, packages...)))
}

func canRace() bool {
	if os.Getenv("CGO_ENABLED") == "0" {
		return false
	}
	for _, compiler := range []string{os.Getenv("CC"), "gcc", "clang"} {
		if compiler == "" {
			continue
		}
		if _, err := exec.LookPath(compiler); err == nil {
			return true
		}
	}
	return false
}

// lightPackages picks from `go list -test` (each line an import path and all it depends on) the packages whose test
// binary holds none of the heavy imports.
func lightPackages(listed string) []string {
	var light []string
	for line := range strings.Lines(listed) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		name, isTest := strings.CutSuffix(fields[0], ".test")
		heavy := slices.ContainsFunc(fields[1:], func(dep string) bool { return slices.Contains(heavyImports, dep) })
		if isTest && !heavy && !under(name, notLight) {
			light = append(light, name)
		}
	}
	return light
}

// watchablePackages picks every package whose tests run what they test in their own process.
func watchablePackages(listed string) []string {
	var watchable []string
	for line := range strings.Lines(listed) {
		if fields := strings.Fields(line); len(fields) > 0 {
			if name, isTest := strings.CutSuffix(fields[0], ".test"); isTest && !under(name, notLight) {
				watchable = append(watchable, name)
			}
		}
	}
	return watchable
}

func under(name string, folders []string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool {
		return name == folder || strings.HasPrefix(name, folder+"/")
	})
}
