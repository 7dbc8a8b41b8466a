package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// stripeMock is Stripe's own stand-in for its API: it knows the shape of every request and forgets them all.
const stripeMock = "github.com/stripe/stripe-mock@v0.183.0"

// findStripeMock returns the path of stripe-mock, and how it was had.
func findStripeMock(ctx context.Context, _ *bench) (path, how string, err error) {
	if given := os.Getenv("TEST_STRIPE_MOCK"); given != "" {
		_, err := os.Stat(given)
		return given, "TEST_STRIPE_MOCK", err
	}
	cache, err := cacheDir()
	if err != nil {
		return "", "", err
	}
	folder := filepath.Join(cache, "stripe-mock-v0.183.0")
	path = filepath.Join(folder, "stripe-mock")
	if _, err := os.Stat(path); err == nil {
		return path, "kept from an earlier run", nil
	}
	cmd := exec.CommandContext(ctx, "go", "install", stripeMock)
	cmd.Env = append(os.Environ(), "GOBIN="+folder)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", "", fmt.Errorf("install stripe-mock: %w\n%s", err, out)
	}
	return path, "go install", nil
}
