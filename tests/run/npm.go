package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
)

// npmFiles list which packages the tests need, every one with its version and hash.
var npmFiles = []string{"package.json", "package-lock.json"}

// certificateBundles lists the files in which Debian, Fedora and Alpine keep the trusted certificates.
var certificateBundles = []string{"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
	"/etc/ssl/cert.pem"}

// trustTheMachinesCertificates lets Node.js trust what Go and curl trust here: by itself it knows its own list only,
// and refuses the registry behind a company's proxy.
func trustTheMachinesCertificates() error {
	const name = "NODE_EXTRA_CA_CERTS"
	if os.Getenv(name) != "" {
		return nil
	}
	for _, path := range certificateBundles {
		if _, err := os.Stat(path); err == nil {
			return os.Setenv(name, path)
		}
	}
	return nil
}

// findPackages returns the folder with the npm packages of tests/npm, and how it was had. A folder belongs to one lock
// file, so an earlier run's is as good as a new one.
func findPackages(ctx context.Context, _ *bench) (path, how string, err error) {
	if given := os.Getenv("TEST_NPM"); given != "" {
		_, err := os.Stat(filepath.Join(given, "node_modules"))
		return given, "TEST_NPM", err
	}
	cache, err := cacheDir()
	if err != nil {
		return "", "", err
	}
	files := map[string][]byte{}
	sum := sha256.New()
	for _, name := range npmFiles {
		text, err := os.ReadFile(filepath.Join("tests", "npm", name))
		if err != nil {
			return "", "", err
		}
		files[name] = text
		sum.Write(text)
	}
	path = filepath.Join(cache, "npm-"+hex.EncodeToString(sum.Sum(nil))[:12])
	if _, err := os.Stat(filepath.Join(path, "complete")); err == nil {
		return path, "kept from an earlier run", nil
	}
	npm, err := nodeProgram(ctx, "npm")
	if err != nil {
		return "", "", err
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return "", "", err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(path, name), text, 0o600); err != nil {
			return "", "", err
		}
	}
	if _, err := command(ctx, npm, "ci", "--prefix", path, "--ignore-scripts", "--no-audit", "--no-fund"); err != nil {
		return "", "", fmt.Errorf("install the npm packages: %w", err)
	}
	return path, "npm ci", os.WriteFile(filepath.Join(path, "complete"), nil, 0o600)
}
