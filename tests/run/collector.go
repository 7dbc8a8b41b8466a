package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
)

// collectorFiles are what the collector is built from.
var collectorFiles = []string{"go.mod", "go.sum", "main.go"}

// findCollector returns the path of the OpenTelemetry Collector of tests/collector, and how it was had. A program
// belongs to what it was built from, so an earlier run's is as good as a new one.
func findCollector(ctx context.Context, _ *bench) (path, how string, err error) {
	if given := os.Getenv("TEST_COLLECTOR"); given != "" {
		_, err := os.Stat(given)
		return given, "TEST_COLLECTOR", err
	}
	cache, err := cacheDir()
	if err != nil {
		return "", "", err
	}
	source := filepath.Join("tests", "collector")
	sum := sha256.New()
	for _, name := range collectorFiles {
		text, err := os.ReadFile(filepath.Join(source, name))
		if err != nil {
			return "", "", err
		}
		sum.Write(text)
	}
	path = filepath.Join(cache, "collector-"+hex.EncodeToString(sum.Sum(nil))[:12])
	if _, err := os.Stat(path); err == nil {
		return path, "kept from an earlier run", nil
	}
	_, err = command(ctx, "go", "build", "-C", source, "-trimpath", "-o", path, ".")
	return path, "go build", err
}
