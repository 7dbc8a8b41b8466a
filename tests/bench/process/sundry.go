package process

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sundry/tests/loopback"
)

// Build builds the program as a release does, into a folder; with the tag "profile", so that profiles can be taken.
func Build(ctx context.Context, folder string, tags ...string) (binary string, err error) {
	binary = filepath.Join(folder, "sundry")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", //nolint:gosec // of the benches
		"-tags", strings.Join(tags, ","), "-o", binary, "sundry")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w: %s", err, out)
	}
	return binary, nil
}

// Sundry is the program as it is measured.
type Sundry struct {
	*Process

	// URL is the program's origin, and Folder its DATA_DIR.
	URL, Folder string
}

// secretKey is the demo creator's in what a first start prints.
var secretKey = regexp.MustCompile(`sk_test_\w+`)

// SecretKey is the demo creator's key, on a first start.
func (s *Sundry) SecretKey(ctx context.Context) (string, error) { return s.Find(ctx, secretKey) }

// StartSundry starts a command of the program, "" for all roles, in an empty folder.
func StartSundry(ctx context.Context, binary, command string, vars ...string) (*Sundry, error) {
	folder, err := os.MkdirTemp("", "sundry-bench-")
	if err != nil {
		return nil, err
	}
	addr, err := loopback.FreeAddress(ctx)
	if err != nil {
		return nil, err
	}
	listen := "ADDR=" + addr
	if command == "worker" { // which listens there only
		listen = "METRICS_ADDR=" + addr
	}
	s := &Sundry{URL: "http://" + addr, Folder: folder}
	s.Process, err = Start(ctx, Config{
		Args:  append([]string{binary}, strings.Fields(command)...),
		Env:   slices.Concat(vars, []string{listen, "DATA_DIR=" + folder, "LOG_LEVEL=warn"}),
		Ready: s.URL + "/readyz",
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// End stops it and removes its folder.
func (s *Sundry) End() {
	s.Process.End()
	_ = os.RemoveAll(s.Folder)
}
