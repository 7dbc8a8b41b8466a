// Command run sets up whatever the tests need and runs them all.
//
//	go run ./tests/run [-race] [go test arguments]
//
// Needed are PostgreSQL, PgBouncer, HAProxy, pgBackRest, Redis, Chromium, axe-core, Node.js, the npm packages of
// tests/npm and stripe-mock. Each is taken from the environment, found on the machine, or installed and started for
// this run only; what was started is stopped at the end, interrupted or not. A skipped test counts as a failure, because
// a skip is how a missing service hides. A plain go test runs what needs none of them and skips the rest.
//
// The race detector needs a C compiler. Without one the command fails before it runs anything.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"sundry/tests/testenv"
)

const usage = `go run ./tests/run [-race] [go test arguments]

  -race    only what runs under the race detector

Without arguments every test runs once, on both databases: what shares memory between goroutines under the race
detector, which needs a C compiler; beside it, without the detector, what starts the built program or a browser, and rules.
With arguments, such as -run TestName ./core/..., go test gets them as they are.`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		if !errors.Is(err, errTests) {
			fmt.Fprintln(os.Stderr, "tests/run:", err)
		}
		os.Exit(1)
	}
}

// announcement is printed before anything is installed.
const announcement = `The tests need PostgreSQL, PgBouncer, HAProxy, pgBackRest, Redis, Chromium, axe-core, Node.js, the npm
packages of tests/npm and stripe-mock. Each is, in this order: taken from its TEST_* variable, found on this machine,
or installed, with apt-get (as root or by sudo without a password), Docker, Homebrew, npm or go.
Servers that are started here listen on 127.0.0.1, keep their data in a temporary directory and stop at the end.
Nothing is installed by: go test ./...
`

// errTests reports that the tests ran and did not all pass. Their own report contains the rest.
var errTests = errors.New("not all tests passed")

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	race := false
	if len(args) > 0 {
		// Only the first argument can be ours; the rest belongs to go test, which reports best what is wrong with it.
		switch args[0] {
		case "-race", "--race":
			race, args = true, args[1:]
		case "-h", "-help", "--help":
			fmt.Fprintln(out, usage)
			return nil
		}
	}

	b := &bench{out: out, env: map[string]string{testenv.Run: rand.Text()}}
	defer b.close()

	tests := newReport(out)
	started := time.Now()
	switch {
	case race:
		err = runRace(ctx, b, tests)
	default:
		err = runAll(ctx, b, tests, args)
	}
	b.close()
	if ctx.Err() != nil {
		return errors.New("interrupted")
	}
	if err != nil {
		return err
	}
	if len(args) == 0 {
		tests.printSlowest(25)
	}
	fmt.Fprintf(out, "\ndone in %s\n", round(time.Since(started)))
	totals := tests.totals()
	fmt.Fprintln(out, totals)
	if totals.failed > 0 || totals.passed == 0 || totals.skipped > 0 {
		return errTests
	}
	return nil
}

// runAll sets everything up and runs every test; with arguments of the caller's, only what they name.
func runAll(ctx context.Context, b *bench, tests *report, args []string) error {
	if len(args) == 0 && !canRace() {
		return errNoCompiler
	}
	if err := setUp(ctx, b); err != nil {
		return err
	}
	if len(args) > 0 {
		return goTest(ctx, b, tests, testArguments(args))
	}
	watched, others, err := testedPackages(ctx, b)
	if err != nil {
		return err
	}
	// Each half waits for what leaves the processor idle: browsers, leases and commits on one side, the linker, which has
	// one core's work at its end, on the other.
	var raceErr error
	racing := newReport(b.out)
	var wg sync.WaitGroup
	wg.Go(func() { raceErr = raceTest(ctx, b, racing, watched) })
	err = goTest(ctx, b, tests, testArguments(others))
	wg.Wait()
	tests.add(racing)
	return errors.Join(err, raceErr)
}

// runRace runs everything that the race detector can watch.
func runRace(ctx context.Context, b *bench, tests *report) error {
	if !canRace() {
		return errNoCompiler
	}
	if err := setUp(ctx, b); err != nil {
		return err
	}
	watched, _, err := testedPackages(ctx, b)
	if err != nil {
		return err
	}
	return raceTest(ctx, b, tests, watched)
}

// setUp finds or starts what the tests need.
func setUp(ctx context.Context, b *bench) error {
	fmt.Fprint(b.out, announcement)
	if err := trustTheMachinesCertificates(); err != nil {
		return err
	}
	for _, s := range []struct {
		name, variable string
		find           func(context.Context, *bench) (string, string, error)
	}{
		{"PostgreSQL", testenv.Database, findPostgres},
		{"Citus", testenv.Citus, findCitus},
		{"PgBouncer", testenv.PgBouncer, findPgBouncer},
		{"HAProxy", testenv.HAProxy, findHAProxy},
		{"pgBackRest", testenv.PgBackRest, findPgBackRest},
		{"Redis", testenv.Redis, findRedis},
		{"Chromium", testenv.Chromium, findChromium},
		{"axe-core", testenv.Axe, findAxe},
		{"Node.js", testenv.Node, findNode},
		{"npm packages", testenv.Packages, findPackages},
		{"stripe-mock", testenv.StripeMock, findStripeMock},
	} {
		err := b.step(s.name, func() (string, error) {
			value, how, err := s.find(ctx, b)
			b.env[s.variable] = value
			return how, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
