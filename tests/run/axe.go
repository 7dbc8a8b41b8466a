package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// The accessibility checker, pinned by version and by the hash that the registry signs for it.
const (
	axeVersion   = "4.14.1"
	axeIntegrity = "FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ=="
	axeMember    = "package/axe.min.js"
	axeLargest   = 16 << 20
)

// findAxe returns the path of axe.min.js, and how it was had.
func findAxe(ctx context.Context, b *bench) (path, how string, err error) {
	if given := os.Getenv("TEST_AXE_PATH"); given != "" {
		_, err := os.Stat(given)
		return given, "TEST_AXE_PATH", err
	}
	cache, err := cacheDir()
	if err != nil {
		return "", "", err
	}
	archive := filepath.Join(cache, "axe-core-"+axeVersion+".tgz")
	return firstOf(ctx, []way{
		{"kept from an earlier run, " + axeVersion, func(context.Context) (string, error) { return unpackAxe(archive, b) }},
		{"npm, axe-core@" + axeVersion, func(ctx context.Context) (string, error) {
			npm, err := nodeProgram(ctx, "npm")
			if err != nil {
				return "", err
			}
			if _, err := command(ctx, npm, "pack", "axe-core@"+axeVersion, "--pack-destination", cache); err != nil {
				return "", err
			}
			return unpackAxe(archive, b)
		}},
	})
}

// unpackAxe checks the archive's hash, on every run, and unpacks the one file of it that is needed.
func unpackAxe(archive string, b *bench) (string, error) {
	packed, err := os.ReadFile(archive)
	if err != nil {
		return "", err
	}
	sum := sha512.Sum512(packed)
	if got := base64.StdEncoding.EncodeToString(sum[:]); got != axeIntegrity {
		return "", fmt.Errorf("%s has the hash sha512-%s, not sha512-%s", archive, got, axeIntegrity)
	}
	script, err := member(packed, axeMember)
	if err != nil {
		return "", err
	}
	dir, err := b.tempDir("axe")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "axe.min.js")
	return path, os.WriteFile(path, script, 0o600)
}

// member returns one file of a gzipped tar archive.
func member(packed []byte, name string) ([]byte, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	files := tar.NewReader(unzipped)
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("the archive holds no %s", name)
		}
		if err != nil {
			return nil, err
		}
		if header.Name == name {
			return io.ReadAll(io.LimitReader(files, axeLargest))
		}
	}
}

// findNode returns the path of a Node.js that starts, with npm beside it, and how it was had.
func findNode(ctx context.Context, _ *bench) (path, how string, err error) {
	how = "TEST_NODE"
	if path = os.Getenv(how); path == "" {
		how = "on PATH, or installed with npm"
		if _, err := nodeProgram(ctx, "npm"); err != nil {
			return "", "", err
		}
		if path, err = nodeProgram(ctx, "node"); err != nil {
			return "", "", err
		}
	}
	_, err = command(ctx, path, "--version")
	return path, how, err
}

// nodeProgram finds node, npm or npx, or installs them.
func nodeProgram(ctx context.Context, name string) (string, error) {
	places := brewPlaces("node", name)
	if path, err := program(name, places...); err == nil {
		return path, nil
	}
	aptErr := aptInstall(ctx, "npm")
	if aptErr == nil {
		return program(name)
	}
	if brewErr := brewInstall(ctx, "node"); brewErr != nil {
		return "", fmt.Errorf("%s is not installed; apt-get: %w; brew: %w", name, aptErr, brewErr)
	}
	return program(name, places...)
}
