package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// event is one line of `go test -json` (go doc test2json), build output included.
type event struct {
	Action      string  `json:"Action"`
	Package     string  `json:"Package"`
	ImportPath  string  `json:"ImportPath"` // on build-output and build-fail
	Test        string  `json:"Test"`
	Elapsed     float64 `json:"Elapsed"` // seconds
	Output      string  `json:"Output"`
	FailedBuild string  `json:"FailedBuild"` // on a package's fail: the ImportPath that did not build
}

// totals counts tests. A test with subtests is not counted beside them, unless it failed or skipped on its own account.
type totals struct{ passed, failed, skipped int }

func (t totals) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", t.passed, t.failed, t.skipped)
}

func (t *totals) add(o outcome) {
	switch o {
	case passed:
		t.passed++
	case failed:
		t.failed++
	case skipped:
		t.skipped++
	case running:
		// Not over, so nothing to count.
	}
}

type outcome int

// The outcomes in rising order of trouble: of a test that ran twice, the greater one counts.
const (
	running outcome = iota
	passed
	skipped
	failed
)

type testState struct {
	outcome  outcome
	children bool
	elapsed  float64 // seconds
	output   []string
}

type packageState struct {
	tests   map[string]*testState
	order   []string
	output  []string
	started time.Time
}

type testName struct{ pkg, test string }

// report turns the events of go test commands, one after the other, into compact lines, and counts.
type report struct {
	out      io.Writer
	packages map[string]*packageState // those not finished yet
	builds   map[string][]string      // compiler output by import path
	outcomes map[testName]outcome     // over all commands
	seconds  map[testName]float64     // of whole tests, their subtests added up
}

func newReport(out io.Writer) *report {
	return &report{
		out: out, packages: map[string]*packageState{}, builds: map[string][]string{}, outcomes: map[testName]outcome{},
		seconds: map[testName]float64{},
	}
}

// plain passes on a line that is no event, such as an error of the go command itself.
func (r *report) plain(line []byte) { _, _ = r.out.Write(line) }

func (r *report) handle(e event) {
	switch {
	case e.Action == "build-output":
		r.builds[e.ImportPath] = append(r.builds[e.ImportPath], e.Output)
	case e.Package == "":
		// build-fail and whatever later versions of Go may add: the package's own fail follows.
	case e.Test != "":
		r.handleTest(r.of(e.Package), e)
	default:
		r.handlePackage(e)
	}
}

func (r *report) of(name string) *packageState {
	p := r.packages[name]
	if p == nil {
		p = &packageState{tests: map[string]*testState{}, started: time.Now()}
		r.packages[name] = p
	}
	return p
}

func (r *report) handleTest(p *packageState, e event) {
	t := p.tests[e.Test]
	if t == nil {
		t = &testState{}
		p.tests[e.Test] = t
		p.order = append(p.order, e.Test)
		if parent := p.tests[parentOf(e.Test)]; parent != nil {
			parent.children = true
		}
	}
	t.elapsed = max(t.elapsed, e.Elapsed)
	switch e.Action {
	case "output":
		t.output = append(t.output, e.Output)
	case "pass":
		p.output = append(p.output, t.afterwards(e.Test)...)
		t.outcome, t.output = passed, nil
	case "skip":
		t.outcome = skipped
	case "fail":
		t.outcome = failed
	}
}

// afterwards returns what follows the mark of a test's end: go test takes for the last one's what the process prints
// when it runs into the time-out.
func (t *testState) afterwards(name string) []string {
	for i, line := range t.output {
		if strings.HasPrefix(strings.TrimSpace(line), "--- PASS: "+name+" ") {
			return t.output[i+1:]
		}
	}
	return nil
}

// parentOf returns the name of the test that started this one; empty for a test of its own.
func parentOf(name string) string {
	i := strings.LastIndex(name, "/")
	return name[:max(i, 0)]
}

func (r *report) handlePackage(e event) {
	switch e.Action {
	case "output":
		r.of(e.Package).output = append(r.of(e.Package).output, e.Output)
	case "pass", "fail", "skip":
		r.finish(e)
	default:
		r.of(e.Package)
	}
}

// finish prints the package's line, and all that its failed and skipped tests have printed.
func (r *report) finish(e event) {
	p := r.of(e.Package)
	delete(r.packages, e.Package)
	var out bytes.Buffer // written at once, because two commands may report at a time
	defer func() { _, _ = out.WriteTo(r.out) }()

	results := p.results(e.Action == "fail")
	var count totals
	for test, o := range results {
		count.add(o)
		name := testName{e.Package, test}
		r.outcomes[name] = max(r.outcomes[name], o)
	}
	for test, t := range p.tests {
		if whole, _, _ := strings.Cut(test, "/"); !t.children {
			r.seconds[testName{e.Package, whole}] += t.elapsed
		}
	}
	switch {
	case e.Action == "skip" && len(results) == 0:
		return // no test files
	case e.Action == "fail":
		fmt.Fprintf(&out, "FAIL  %7.2fs  %s  %s\n", e.Elapsed, e.Package, count)
	case count.passed+count.skipped == 0:
		return // test files for another system, or none that -run names
	case count.skipped > 0:
		fmt.Fprintf(&out, "skip  %7.2fs  %s  %s\n", e.Elapsed, e.Package, count)
	default:
		fmt.Fprintf(&out, "ok    %7.2fs  %s  %d tests\n", e.Elapsed, e.Package, count.passed)
	}
	for _, line := range r.builds[e.FailedBuild] {
		fmt.Fprint(&out, "      ", line)
	}
	p.explain(&out, e.Action == "fail")
}

// results returns what is to be counted, by test. A package that failed though none of its tests did (it did not
// build, its TestMain gave up, it ran into the time-out) counts as one failed test with an empty name.
func (p *packageState) results(packageFailed bool) map[string]outcome {
	results := map[string]outcome{}
	anyFailed := false
	for name, t := range p.tests {
		o := t.outcome
		if o == running {
			// The process ended under it.
			o, t.outcome = failed, failed
		}
		anyFailed = anyFailed || o == failed
		if !t.children || o == skipped {
			results[name] = o
		}
	}
	for name, t := range p.tests {
		if t.children && t.outcome == failed && !p.failedBelow(name) {
			results[name] = failed
		}
	}
	if packageFailed && !anyFailed {
		results[""] = failed
	}
	return results
}

func (p *packageState) failedBelow(name string) bool {
	for other, t := range p.tests {
		if strings.HasPrefix(other, name+"/") && t.outcome == failed {
			return true
		}
	}
	return false
}

// explain prints the output of the tests that failed or skipped, and of a package that failed its own.
func (p *packageState) explain(out io.Writer, packageFailed bool) {
	for _, name := range p.order {
		if t := p.tests[name]; t.outcome == failed || t.outcome == skipped {
			indent(out, t.output)
		}
	}
	if packageFailed {
		indent(out, p.output)
	}
}

// printSlowest lists the tests that take most of a run's time: where there is something to gain.
func (r *report) printSlowest(n int) {
	slowest := slices.SortedFunc(maps.Keys(r.seconds), func(a, b testName) int {
		return cmp.Or(cmp.Compare(r.seconds[b], r.seconds[a]), cmp.Compare(a.pkg+a.test, b.pkg+b.test))
	})
	fmt.Fprintln(r.out, "\nthe slowest tests, their subtests added up:")
	for _, name := range slowest[:min(n, len(slowest))] {
		fmt.Fprintf(r.out, "%7.1fs  %s  %s\n", r.seconds[name], name.pkg, name.test)
	}
}

// indent prints what tests printed, without go test's own marks of which test is speaking.
func indent(out io.Writer, lines []string) {
	for line := range strings.Lines(strings.Join(lines, "")) {
		if strings.HasPrefix(line, "=== ") {
			continue
		}
		fmt.Fprint(out, "      ", strings.TrimSuffix(line, "\n"), "\n")
	}
}

// stillRunning names the packages at work, so that a long silence is no riddle.
func (r *report) stillRunning() {
	for _, name := range slices.Sorted(maps.Keys(r.packages)) {
		p := r.packages[name]
		current := "building or starting"
		for _, test := range p.order {
			if p.tests[test].outcome == running {
				current = test
			}
		}
		fmt.Fprintf(r.out, "...   %6.0fs   %s  %s\n", time.Since(p.started).Seconds(), name, current)
	}
}

// ended is called when go test failed as a command. Packages that it never finished have failed; and if nothing at
// all has, the command itself is the failure.
func (r *report) ended(err error) {
	for _, name := range slices.Sorted(maps.Keys(r.packages)) {
		r.finish(event{Action: "fail", Package: name})
	}
	if r.totals().failed == 0 {
		fmt.Fprintln(r.out, "FAIL  go test:", err)
		r.outcomes[testName{}] = failed
	}
}

// add joins what another report has counted.
func (r *report) add(other *report) {
	for name, o := range other.outcomes {
		r.outcomes[name] = max(r.outcomes[name], o)
	}
	for name, seconds := range other.seconds {
		r.seconds[name] += seconds
	}
}

// totals counts every test once, however often it ran.
func (r *report) totals() totals {
	var t totals
	for _, o := range r.outcomes {
		t.add(o)
	}
	return t
}
