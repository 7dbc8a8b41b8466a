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

// unwatched are the folders that the race detector leaves out, in the order in which they are run: the longest first,
// so that none is alone at the end. Most watch another process than their own, the built binary or a browser. e2e does
// not, but every package that it goes through runs under the detector with tests of its own, and the whole over HTTP
// would take twice as long again; so it is with bootstrap, which puts the packages together. Rules start no goroutine,
// and arch and fuzz compute; they take up to ten times as long under the detector. The statements that roundtrips
// counts are quiet at the end of the run.
var unwatched = []string{"sundry/tests/e2e", "sundry/tests/browser", "sundry/tests/faults", "sundry/tests/clients",
	"sundry/tests/bench", "sundry/bootstrap", "sundry/tests/arch", "sundry/tests/fuzz", "sundry/core",
	"sundry/tests/roundtrips"}

// uninstrumented leaves SQLite, which is C turned into Go, out of the race detector: with it the compiler takes minutes
// for the package, and its tests ten times as long. What calls it is watched as ever.
const uninstrumented = "-gcflags=modernc.org/...=-race=false"

// testArguments are the arguments of go test: ours first, so that the caller's win, and every package unless the
// caller names some.
func testArguments(given []string) []string {
	// The linter runs vet, with more of its checks than go test does. Package processes share the servers and the cores:
	// more than four do not help.
	// What is compiled is found again from another clone: -trimpath leaves the folder out of it. Only tests that read no
	// TEST_* variable are taken from go's cache (testenv.Run).
	args := []string{"test", "-json", "-vet=off", "-trimpath", "-timeout=60m",
		"-p=" + strconv.Itoa(min(4, runtime.NumCPU()))}
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
	return argument == "." || strings.HasPrefix(argument, "./") || argument == "sundry" ||
		strings.HasPrefix(argument, "sundry/")
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

// goTest runs go test with the arguments, and variables beside those of the run, and feeds the report line by line.
func goTest(ctx context.Context, b *bench, tests *report, args []string, variables ...string) error {
	line, started := "go "+strings.Join(shown(args), " "), time.Now()
	fmt.Fprintf(b.out, "== %s\n", line)
	defer func() { fmt.Fprintf(b.out, "== took %s: %s\n", round(time.Since(started)), line) }()
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(b.environ(), variables...)
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

// follow feeds the report until the lines end, and prints every half minute what is running.
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

// errNoCompiler: without a C compiler nothing was run, since a pass without the race detector would claim too much.
var errNoCompiler = errors.New("no C compiler: the race detector needs one. Install gcc or clang, or name one with CC, and leave CGO_ENABLED unset")

// raceTest runs packages under the race detector.
func raceTest(ctx context.Context, b *bench, tests *report, packages []string) error {
	// Without atexit_sleep_ms the detector waits for a second at the end of each of a hundred packages.
	return goTest(ctx, b, tests, testArguments(append([]string{"-race", uninstrumented}, packages...)),
		"CGO_ENABLED=1", "GORACE=atexit_sleep_ms=50")
}

// testedPackages are the packages with tests: those that the race detector watches, and the others.
func testedPackages(ctx context.Context, b *bench) (watched, others []string, err error) {
	listed, err := goCommand(ctx, b, "list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}", "./...")
	if err != nil {
		return nil, nil, err
	}
	watched, others = byDetector(strings.Fields(listed))
	return watched, others, nil
}

// byDetector returns the packages that the race detector watches, and those of the unwatched folders in their order.
func byDetector(packages []string) (watched, others []string) {
	place := func(name string) int {
		return slices.IndexFunc(unwatched, func(folder string) bool {
			return name == folder || strings.HasPrefix(name, folder+"/")
		})
	}
	for _, name := range packages {
		if place(name) >= 0 {
			others = append(others, name)
		} else {
			watched = append(watched, name)
		}
	}
	slices.SortStableFunc(others, func(a, b string) int { return place(a) - place(b) })
	return watched, others
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
