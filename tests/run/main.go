// Command run sets up whatever the tests need and runs them all.
//
//	go run ./tests/run [-quick] [go test arguments]
//
// Needed are PostgreSQL, Redis, Chromium, axe-core, Node.js, the npm packages of tests/npm and stripe-mock. Each is taken
// from the environment, found on the machine, or installed and started for this run only; what was started is stopped at
// the end, interrupted or not. A skipped test counts as a failure, because a skip is how a missing service hides.
//
// The race detector needs a C compiler. Without one the command fails before it runs anything.
//
// -quick sets nothing up: the rules, the use cases, the architecture and the embedded database, in less than a minute.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

const usage = `go run ./tests/run [-quick | -race] [go test arguments]

  -quick   no services: rules, use cases, architecture and the embedded database
  -race    only what runs under the race detector

Without arguments every test runs once: what runs in the test process, on both databases, under the race detector, which needs
a C compiler; then what starts the built program or a browser, without it.
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
const announcement = `The tests need PostgreSQL, PgBouncer, Redis, Chromium, axe-core, Node.js, the npm packages of tests/npm and stripe-mock. Each is, in this order:
taken from its TEST_* variable, found on this machine, or installed, with apt-get (as root or by sudo without a password),
Docker, Homebrew, npm or go.
Servers that are started here listen on 127.0.0.1, keep their data in a temporary directory and stop at the end.
Nothing is installed with: go run ./tests/run -quick
`

// errTests reports that the tests ran and did not all pass. Their own report contains the rest.
var errTests = errors.New("not all tests passed")

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	quick, race := false, false
	if len(args) > 0 {
		// Only the first argument can be ours; the rest belongs to go test, which reports best what is wrong with it.
		switch args[0] {
		case "-quick", "--quick":
			quick, args = true, args[1:]
		case "-race", "--race":
			race, args = true, args[1:]
		case "-h", "-help", "--help":
			fmt.Fprintln(out, usage)
			return nil
		}
	}

	b := &bench{out: out, env: map[string]string{}}
	defer b.close()

	tests := newReport(out)
	started := time.Now()
	switch {
	case quick:
		err = runQuick(ctx, b, tests, args)
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
	if totals.failed > 0 || totals.passed == 0 || (totals.skipped > 0 && !quick) {
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
	if err := b.step("go vet ./...", func() (string, error) { return "clean", vet(ctx, b) }); err != nil {
		return err
	}
	if len(args) > 0 {
		return goTest(ctx, b, tests, testArguments(args))
	}
	inProcess, others, err := testedPackages(ctx, b)
	if err != nil {
		return err
	}
	if err := raceTest(ctx, b, tests, inProcess); err != nil {
		return err
	}
	return goTest(ctx, b, tests, testArguments(others))
}

// runRace runs everything that the race detector can watch.
func runRace(ctx context.Context, b *bench, tests *report) error {
	if !canRace() {
		return errNoCompiler
	}
	if err := setUp(ctx, b); err != nil {
		return err
	}
	inProcess, _, err := testedPackages(ctx, b)
	if err != nil {
		return err
	}
	return raceTest(ctx, b, tests, inProcess)
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
		{"PostgreSQL", "TEST_DATABASE_URL", findPostgres},
		{"PgBouncer", "TEST_PGBOUNCER", findPgBouncer},
		{"Redis", "TEST_REDIS_URL", findRedis},
		{"Chromium", "TEST_CHROMIUM", findChromium},
		{"axe-core", "TEST_AXE_PATH", findAxe},
		{"Node.js", "TEST_NODE", findNode},
		{"npm packages", "TEST_NPM", findPackages},
		{"stripe-mock", "TEST_STRIPE_MOCK", findStripeMock},
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

// runQuick runs what needs no service, and hides those that the caller's environment may name.
func runQuick(ctx context.Context, b *bench, tests *report, args []string) error {
	for _, name := range []string{"TEST_DATABASE_URL", "TEST_PGBOUNCER", "TEST_REDIS_URL", "TEST_CHROMIUM", "TEST_AXE_PATH", "TEST_NODE", "TEST_NPM", "TEST_STRIPE_MOCK"} {
		b.env[name] = ""
	}
	b.env["TEST_QUICK"] = "1"
	if len(args) == 0 {
		packages, err := quickPackages(ctx, b)
		if err != nil {
			return err
		}
		args = packages
	}
	return goTest(ctx, b, tests, testArguments(args))
}
