package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write docs/licenses.md")

const root = "../.."

func TestLicensesAreListed(t *testing.T) {
	t.Parallel()
	all, err := dependencies(t.Context(), root, []string{"linux/amd64", "darwin/arm64", "windows/amd64"})
	if err != nil {
		t.Fatal(err)
	}
	want, path := licenseTable(all), filepath.Join(root, "docs", "licenses.md")
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want || len(all) < 40 {
		t.Errorf("docs/licenses.md is not true any more (%d works): go test ./deploy/release -update", len(all))
	}
}

func TestLicensesIn(t *testing.T) {
	t.Parallel()
	const mit = "MIT License\n\nPermission is hereby granted, free of\ncharge, to any person obtaining a copy of this software"
	const redistribution = "Redistribution and use in source and binary forms, with or without modification, are permitted provided"
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"MIT":            {mit, []string{"MIT"}},
		"two":            {mit + "\n# Apache License\nVersion 2.0, January 2004", []string{"Apache-2.0", "MIT"}},
		"BSD":            {redistribution, []string{"BSD-2-Clause"}},
		"BSD with names": {redistribution + " " + bsdThird, []string{"BSD-3-Clause"}},
		"copyleft":       {mit + "\nGNU GENERAL PUBLIC LICENSE", nil},
		"weak copyleft":  {"Mozilla Public License, version 2.0", nil},
		"unknown":        {"You may look at this.", nil},
		"empty":          {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := licensesIn(c.text)
			if !slices.Equal(got, c.want) || (err == nil) != (c.want != nil) {
				t.Errorf("got %v, %v; want %v", got, err, c.want)
			}
		})
	}
}

func TestVersionIn(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 23, 12, 30, 5, 0, time.UTC)
	for changelog, want := range map[string]string{
		"# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-12-01\n\n- x\n\n## [0.1.0]\n": "0.2.0",
		"## [Unreleased]\n\n- y\n\n## [0.2.9] - 2026-12-01\n":                              "0.2.10-0.20261123123005-abcdef012345",
		"## [0.1.0]": "0.1.0",
		"## [soon]":  "",
		"# Changes":  "",
	} {
		got, err := versionIn(changelog, "abcdef0123456789", at)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v; want %q", changelog, got, err, want)
		}
	}
}

// Two builds of this command, from two folders, with the very function that builds a release. The task release:check
// compares all files of two releases of the program in the same way.
func TestBuildsAreReproducible(t *testing.T) {
	t.Parallel()
	elsewhere := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum"} {
		copyFile(t, filepath.Join(root, name), filepath.Join(elsewhere, name))
	}
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range sources {
		copyFile(t, name, filepath.Join(elsewhere, "deploy", "release", name))
	}
	s := stamp{version: "0.1.0", commit: strings.Repeat("a", 40), date: "2026-11-23T12:00:00Z"}
	var files [2][]byte
	for i, folder := range []string{root, elsewhere} {
		file := filepath.Join(t.TempDir(), "release")
		if err := build(t.Context(), folder, "./deploy/release", file, runtime.GOOS, runtime.GOARCH, s); err != nil {
			t.Fatal(err)
		}
		if files[i], err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("two builds of the same sources differ")
	}
	if bytes.Contains(files[1], []byte(elsewhere)) {
		t.Errorf("the binary names the folder %s", elsewhere)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// The binary of this test has modules, too.
func TestBillOf(t *testing.T) {
	t.Parallel()
	file, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := billOf(file, stamp{"0.1.0", "abc", "2026-11-23T12:00:00Z"}, []dependency{
		{path: "Go's standard library", licenses: []string{"BSD-3-Clause"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	again, err := billOf(file, stamp{"0.1.0", "abc", "2026-11-23T12:00:00Z"}, nil)
	if err != nil || len(again) == 0 {
		t.Fatal(err)
	}
	var got struct {
		BOMFormat, SpecVersion, SerialNumber string
		Metadata                             struct{ Component component }
		Components                           []component
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	sum, err := checksum(file)
	if err != nil {
		t.Fatal(err)
	}
	if got.BOMFormat != "CycloneDX" || got.SpecVersion != "1.6" || len(got.SerialNumber) != len("urn:uuid:")+36 ||
		got.Metadata.Component.Hashes[0].Content != sum {
		t.Errorf("got %s", text)
	}
	if len(got.Components) == 0 || got.Components[0].Name != "std" ||
		"go"+got.Components[0].Version != runtime.Version() {
		t.Errorf("got %+v, want Go's standard library first", got.Components)
	}
}

// A version without it would leave operators to guess.
func TestEveryVersionSaysHowToUpgrade(t *testing.T) {
	t.Parallel()
	changelog, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if err != nil {
		t.Fatal(err)
	}
	sections := strings.Split(string(changelog), "\n## [")[1:]
	if len(sections) < 2 {
		t.Fatalf("%d versions", len(sections))
	}
	for _, section := range sections {
		name, _, _ := strings.Cut(section, "]")
		if !strings.Contains(section, "\n### Upgrading\n") {
			t.Errorf("%s has no paragraph Upgrading", name)
		}
	}
}
