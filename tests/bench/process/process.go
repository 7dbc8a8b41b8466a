// Package process starts the programs that are measured, and reads what they use.
package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"time"
)

const (
	// readyWithin is the time within which a program has to be ready: a Node.js shop takes half a minute.
	readyWithin = 3 * time.Minute
	// endWithin is the time within which it has to stop when asked to.
	endWithin = 5 * time.Second
)

// Config says what to start.
type Config struct {
	// Args are the program and its arguments.
	Args []string
	// Dir is its folder; "" for this process's.
	Dir string
	// Env are its variables. It gets no others but PATH and HOME.
	Env []string
	// Ready is the address that responds 200 once it is ready.
	Ready string
}

// Process is a program that runs.
type Process struct {
	// Took is the time from exec to ready.
	Took time.Duration

	cmd     *exec.Cmd
	input   io.WriteCloser
	printed printed
}

// Start starts a program and waits until it is ready.
func Start(ctx context.Context, c Config) (_ *Process, err error) {
	p := &Process{cmd: exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)} //nolint:gosec // of the benches
	p.cmd.Dir = c.Dir
	p.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}, c.Env...)
	p.cmd.Stdout, p.cmd.Stderr = &p.printed, &p.printed
	if p.input, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	begin := time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	if err := await(ctx, c.Ready); err != nil {
		p.End()
		return nil, fmt.Errorf("%w; it printed:\n%s", err, p.printed.String())
	}
	p.Took = time.Since(begin)
	return p, nil
}

// Find returns what the pattern finds in what the program prints, waiting for it.
func (p *Process) Find(ctx context.Context, pattern *regexp.Regexp) (string, error) {
	for range 400 {
		if found := pattern.FindString(p.printed.String()); found != "" || ctx.Err() != nil {
			return found, ctx.Err()
		}
		time.Sleep(5 * time.Millisecond)
	}
	return "", fmt.Errorf("the program never printed %s", pattern)
}

// Profile has a program that was built with profiles write one until stop is called.
func (p *Process) Profile() (stop func(), err error) {
	_, err = io.WriteString(p.input, "begin\n")
	return func() {
		_ = p.input.Close()
		time.Sleep(time.Second) // in which it writes the file
	}, err
}

// End asks the program to stop, and kills it when it does not.
func (p *Process) End() {
	_ = p.cmd.Process.Signal(os.Interrupt)
	ended := time.AfterFunc(endWithin, func() { _ = p.cmd.Process.Kill() })
	_ = p.cmd.Wait()
	ended.Stop()
}

// await asks until the address responds 200.
func await(ctx context.Context, url string) error {
	for end := time.Now().Add(readyWithin); time.Now().Before(end) && ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			continue
		}
		_ = res.Body.Close()
		if res.StatusCode == http.StatusOK {
			return nil
		}
	}
	return errors.Join(fmt.Errorf("%s never responded", url), ctx.Err())
}

// printed collects what a process prints.
type printed struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements io.Writer.
func (p *printed) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

// String returns all of it.
func (p *printed) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}
