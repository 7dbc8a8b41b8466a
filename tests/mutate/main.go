// Command mutate changes the rules in core, and the use cases that book money, one small step at a time (a condition
// decided one way, a boundary shifted, a statement left out) and runs the package's own tests against each change. A
// change that every test passes is a rule that nobody holds: it is printed, and the command fails unless explained.txt
// explains why no test can notice it.
//
// Every mutation of a function is compiled into one binary of the package's tests, which an environment variable
// selects; only changes of package variables and constants need a build each.
//
//	go run ./tests/mutate                      every package of core, treasury and invoicing
//	go run ./tests/mutate core/money core/plan these
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	parallel := flag.Int("parallel", 2, "how many mutations are tested at a time")
	list := flag.Bool("list", false, "print the mutations and test none")
	match := flag.String("match", "", "test only the mutations whose id contains this")
	flag.Parse()
	folders := flag.Args()
	if len(folders) == 0 {
		folders = []string{"core", "modules/treasury", "modules/invoicing"}
	}
	err := run(ctx, os.Stdout, folders, options{*parallel, *list, *match})
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	parallel int
	list     bool
	match    string
}

func run(ctx context.Context, out io.Writer, folders []string, o options) error {
	explained, err := readExplained(explainedFile)
	if err != nil {
		return err
	}
	all, err := packages(".", folders)
	if err != nil {
		return err
	}
	var unexplained int
	survivors := map[string]bool{}
	for i := range all {
		mutations, err := mutationsOf(all[i])
		if err != nil {
			return err
		}
		mutations = slices.DeleteFunc(mutations, func(m Mutation) bool { return !strings.Contains(m.ID(), o.match) })
		if o.list {
			for _, m := range mutations {
				fmt.Fprintf(out, "%s:%d: %s\n", m.File, m.Line, m.Change)
			}
			continue
		}
		survived, err := testPackage(ctx, out, &all[i], mutations, o.parallel)
		if err != nil {
			return err
		}
		for _, m := range survived {
			survivors[m.ID()] = true
			if !explained.has(m.ID()) {
				unexplained++
				fmt.Fprintf(out, "  line %d: %s\n", m.Line, m.ID())
			}
		}
	}
	if o.list {
		return nil
	}
	if o.match != "" { // what was not tested may need its explanation
		return summary(out, unexplained, nil)
	}
	return summary(out, unexplained, explained.stale(all, survivors))
}

func summary(out io.Writer, unexplained int, stale []string) error {
	slices.Sort(stale)
	for _, id := range stale {
		fmt.Fprintf(out, "not needed in %s: %s\n", explainedFile, id)
	}
	if unexplained > 0 || len(stale) > 0 {
		return fmt.Errorf("%d mutations survive without an explanation, %d explanations are not needed", unexplained,
			len(stale))
	}
	fmt.Fprintln(out, "every mutation is killed or explained")
	return nil
}

func mutationsOf(p Package) ([]Mutation, error) {
	var all []Mutation
	for _, file := range p.Files {
		source, err := os.ReadFile(filepath.Join(p.root, file))
		if err != nil {
			return nil, err
		}
		found, err := Find(file, source)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// testPackage tests the mutations of a package and returns those that survived, in the order of the source.
func testPackage(ctx context.Context, out io.Writer, p *Package, mutations []Mutation, parallel int) ([]Mutation,
	error) {
	if len(mutations) == 0 {
		return nil, nil
	}
	started := time.Now()
	build, err := p.build(ctx, mutations)
	if err != nil {
		return nil, err
	}
	defer build.close()
	verdicts, failures := make([]Verdict, len(mutations)), make([]error, len(mutations))
	next := make(chan int)
	var workers sync.WaitGroup
	for range parallel {
		workers.Go(func() {
			for i := range next {
				verdicts[i], failures[i] = build.Test(ctx, i+1)
			}
		})
	}
	for i := range mutations {
		if i%100 == 99 {
			fmt.Fprintf(os.Stderr, "%s: %d of %d\n", p.Dir, i+1, len(mutations))
		}
		next <- i
	}
	close(next)
	workers.Wait()
	counts := map[Verdict]int{}
	var survived []Mutation
	for i, verdict := range verdicts {
		if failures[i] != nil {
			return nil, failures[i]
		}
		counts[verdict]++
		if verdict == Survived {
			survived = append(survived, mutations[i])
		}
	}
	fmt.Fprintf(out, "%-24s %4d killed %3d survived %4d not valid  %s\n", strings.TrimPrefix(p.Dir, "./"),
		counts[Killed], counts[Survived], counts[Invalid], time.Since(started).Round(time.Second))
	return survived, nil
}
