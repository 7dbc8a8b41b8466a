package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"sundry/tests/loopback"
)

// command runs a program to its end and returns what it printed on standard output. On failure the error holds
// what it printed on both.
func command(ctx context.Context, name string, args ...string) (string, error) {
	return commandAs(ctx, nil, name, args...)
}

func commandAs(ctx context.Context, as *account, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var stdout, both lockedBuffer
	cmd.Stdout, cmd.Stderr = writers{&stdout, &both}, &both
	isolate(cmd, as)
	if as != nil {
		cmd.Dir = as.dir
	}
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(both.String()))
	}
	return strings.TrimSpace(stdout.String()), nil
}

// writers copies to several buffers, which never fail.
type writers []*lockedBuffer

func (w writers) Write(p []byte) (int, error) {
	for _, b := range w {
		_, _ = b.Write(p)
	}
	return len(p), nil
}

// lockedBuffer is written by the goroutines of os/exec while the run reads it.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// account is a user of the system other than the caller, for programs that refuse to run as root.
type account struct {
	uid, gid uint32
	dir      string // a folder that the account may read
}

// service is a server started for this run.
type service struct {
	cmd    *exec.Cmd
	output lockedBuffer
	done   chan struct{}
	err    error // valid once done is closed
}

// startService starts a server in a process group of its own: a Ctrl-C in the terminal reaches the run, which stops
// the tests first and the server after them. The server is stopped when the bench closes.
func startService(b *bench, as *account, stop os.Signal, name string, args ...string) (*service, error) {
	// Not tied to a context: the bench stops it, in order, also after an interruption.
	s := &service{cmd: exec.Command(name, args...), done: make(chan struct{})} //nolint:noctx // see above
	s.cmd.Stdout, s.cmd.Stderr = &s.output, &s.output
	isolate(s.cmd, as)
	if as != nil {
		s.cmd.Dir = as.dir
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		s.err = s.cmd.Wait()
		close(s.done)
	}()
	b.later(func() error { return s.stop(stop) })
	return s, nil
}

func (s *service) stop(how os.Signal) error {
	_ = s.cmd.Process.Signal(how) // it may have ended by itself
	select {
	case <-s.done:
		return nil
	case <-time.After(10 * time.Second):
	}
	killGroup(s.cmd)
	<-s.done
	return fmt.Errorf("%s did not stop within 10 s and was killed", s.cmd.Path)
}

// ready waits until check succeeds, and fails early when the server ends before that.
func (s *service) ready(ctx context.Context, check func(context.Context) error) error {
	return await(ctx, 60*time.Second, s.done, func() error {
		if s.err != nil {
			return fmt.Errorf("ended at once: %w: %s", s.err, strings.TrimSpace(s.output.String()))
		}
		return fmt.Errorf("ended at once: %s", strings.TrimSpace(s.output.String()))
	}, check)
}

// await calls check every 100 ms until it succeeds, the time is over, or gone is closed.
func await(ctx context.Context, atMost time.Duration, gone <-chan struct{}, whyGone func() error,
	check func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, atMost)
	defer cancel()
	last := errors.New("not asked yet")
	for {
		attempt, done := context.WithTimeout(ctx, atMost/4)
		err := check(attempt)
		done()
		if err == nil {
			return nil
		}
		if ctx.Err() == nil {
			last = err
		}
		select {
		case <-gone:
			return whyGone()
		case <-ctx.Done():
			return fmt.Errorf("not ready within %s: %w", atMost, last)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// freePort returns a TCP port of the loopback address that nobody listens on at this moment.
func freePort(ctx context.Context) (string, error) {
	addr, err := loopback.FreeAddress(ctx)
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(addr)
	return port, err
}
