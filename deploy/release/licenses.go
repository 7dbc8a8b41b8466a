package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// dependency is a module of others, or a file of theirs in ours, that binaries contain.
type dependency struct {
	// path and version of a module; the name of what a file is from.
	path, version string
	// folder has its license.
	folder string
	// licenses are SPDX identifiers.
	licenses []string
	text     string
}

// Licenses permit to pass the program on under its own license when their texts go with it. Every other one is refused.
var permissive = []string{
	"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "Bitstream-Vera", "ISC", "MIT", "OFL-1.1", "blessing",
}

// dependencies lists what the binaries of the platforms contain, each once, with its licenses.
func dependencies(ctx context.Context, root string, targets []string) ([]dependency, error) {
	found := map[string]dependency{}
	for _, target := range targets {
		system, architecture, _ := strings.Cut(target, "/")
		cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-f",
			"{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}", ".")
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+architecture)
		text, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("go list for %s: %w", target, err)
		}
		for line := range strings.Lines(string(text)) {
			fields := strings.Split(strings.TrimSpace(line), "\t")
			if len(fields) == 3 {
				found[fields[0]] = dependency{path: fields[0], version: fields[1], folder: fields[2]}
			}
		}
	}
	toolchain, err := output(ctx, root, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	found["Go's standard library"] = dependency{path: "Go's standard library", folder: toolchain}
	var all []dependency
	for _, d := range found {
		all = append(all, d)
	}
	fonts := filepath.Join(root, "adapters", "pdf", "fonts")
	for i := range all {
		if err := all[i].read(); err != nil {
			return nil, fmt.Errorf("%s: %w", all[i].path, err)
		}
	}
	for _, font := range []struct{ name, file string }{
		{"DejaVu fonts", "LICENSE"}, {"Noto Emoji font", "LICENSE-NotoEmoji"},
	} {
		text, err := os.ReadFile(filepath.Join(fonts, font.file))
		if err != nil {
			return nil, err
		}
		licenses, err := licensesIn(string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", font.name, err)
		}
		all = append(all, dependency{path: font.name, licenses: licenses, text: string(text)})
	}
	slices.SortFunc(all, func(a, b dependency) int { return strings.Compare(a.path, b.path) })
	return all, nil
}

// licenseFile matches the files that say under what a work may be used.
var licenseFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|unlicense)([-.].*)?$`)

// surveys are license files that list what a module's own tests and tools use, too, which no binary of ours contains.
var surveys = map[string]string{"modernc.org/sqlite": "LICENSE-3RD-PARTY.md"}

// read finds the license files of a module and the licenses in them.
func (d *dependency) read() error {
	files, err := licenseFiles(d.folder)
	if err != nil {
		return err
	}
	var all, binding []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		all = append(all, files[name])
		if name != surveys[d.path] {
			binding = append(binding, files[name])
		}
	}
	d.text = strings.Join(all, "\n\n")
	d.licenses, err = licensesIn(strings.Join(binding, "\n\n"))
	return err
}

// licenseFiles returns the texts of a folder's license files by their names.
func licenseFiles(folder string) (map[string]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for _, entry := range entries {
		if !licenseFile.MatchString(entry.Name()) || !entry.Type().IsRegular() {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			return nil, err
		}
		files[entry.Name()] = strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n"))
	}
	return files, nil
}

// known are words that only the text of one license has.
var known = []struct{ id, words string }{
	{"Apache-2.0", "apache license version 2.0, january 2004"},
	{"Apache-2.0", "licensed under the apache license, version 2.0"},
	{"Bitstream-Vera", "reproduce and distribute the font software"},
	{"ISC", "permission to use, copy, modify, and distribute this software for any purpose with or without fee is hereby"},
	{"ISC", "permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby"},
	{"MIT", "permission is hereby granted, free of charge, to any person obtaining a copy of this software"},
	{"OFL-1.1", "sil open font license version 1.1"},
	{"blessing", "code and documentation in sqlite has been dedicated to the public domain"},
	// Refused: a binary that contains them has obligations that ours does not meet.
	{"GPL", "gnu general public license"},
	{"LGPL", "gnu lesser general public license"},
	{"AGPL", "gnu affero general public license"},
	{"MPL-2.0", "mozilla public license"},
	{"EPL", "eclipse public license"},
	{"CDDL", "common development and distribution license"},
	{"BUSL", "business source license"},
	{"SSPL", "server side public license"},
	{"Elastic", "elastic license"},
	{"CC-BY-SA", "attribution-sharealike"},
	{"CC-BY-NC", "attribution-noncommercial"},
}

const (
	bsd      = "redistribution and use in source and binary forms, with or without modification, are permitted provided"
	bsdThird = "endorse or promote products derived from this software without"
)

// licensesIn recognizes the licenses in a text. One that is not permissive, or none, is an error.
func licensesIn(text string) ([]string, error) {
	// Texts differ in line breaks, case and the signs that frame them.
	plain := strings.ToLower(strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return strings.ContainsRune(" \n\t\r*#>", r)
	}), " "))
	var all []string
	for _, k := range known {
		if strings.Contains(plain, k.words) && !slices.Contains(all, k.id) {
			all = append(all, k.id)
		}
	}
	if strings.Contains(plain, bsd) {
		if strings.Contains(plain, bsdThird) {
			all = append(all, "BSD-3-Clause")
		} else {
			all = append(all, "BSD-2-Clause")
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("the license is not known: %.60q", plain)
	}
	for _, id := range all {
		if !slices.Contains(permissive, id) {
			return nil, fmt.Errorf("the license is not permissive: %s", id)
		}
	}
	slices.Sort(all)
	return all, nil
}

// noticesOf is the text of our license and every other one.
func noticesOf(root string, all []dependency) (string, error) {
	ours, err := os.ReadFile(filepath.Join(root, "LICENSE"))
	if err != nil {
		return "", err
	}
	var text strings.Builder
	rule := strings.Repeat("=", 80) + "\n"
	text.WriteString("Sundry is licensed as follows.\n\n" + strings.TrimSpace(string(ours)) + "\n\n" + rule +
		"It contains the following works of others, with their licenses.\n")
	for _, d := range all {
		text.WriteString(rule + d.path)
		if d.version != "" {
			text.WriteString(" " + d.version)
		}
		text.WriteString(" (" + strings.Join(d.licenses, " and ") + ")\n\n" + strings.TrimSpace(d.text) + "\n")
	}
	return text.String(), nil
}

// licenseTable is docs/licenses.md.
func licenseTable(all []dependency) string {
	var text strings.Builder
	text.WriteString("# Licenses\n\n" +
		"What the binaries contain of others, with the SPDX identifiers of its licenses. All permit to pass the program on\n" +
		"under its own; their texts are in a file of each release. `go test ./deploy/release -update` writes this\n" +
		"table, and the test beside it fails on a license that is missing, unknown or not permissive.\n\n" +
		"| work | licenses |\n|---|---|\n")
	for _, d := range all {
		text.WriteString("| " + d.path + " | " + strings.Join(d.licenses, ", ") + " |\n")
	}
	return text.String()
}
