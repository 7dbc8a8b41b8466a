package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// stamp identifies a release in its binaries and files. Its date is the commit's, as the time of the build is
// different each time.
type stamp struct{ version, commit, date string }

// output runs a command in a folder and returns what it printed, without the last line break.
func output(ctx context.Context, folder, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var stderr bytes.Buffer
	cmd.Dir, cmd.Stderr = folder, &stderr
	text, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, args[0], err, stderr.String())
	}
	return strings.TrimSuffix(string(text), "\n"), nil
}

// moduleRoot is the folder of go.mod.
func moduleRoot(ctx context.Context) (string, error) {
	file, err := output(ctx, ".", "go", "env", "GOMOD")
	if err != nil {
		return "", err
	}
	if file == "" || file == os.DevNull {
		return "", errors.New("not inside the module")
	}
	return filepath.Dir(file), nil
}

// stampOf reads the version from CHANGELOG.md, and commit and date from the history. Files that are not committed are
// refused unless dirty.
func stampOf(ctx context.Context, root string, dirty bool) (stamp, error) {
	changed, err := output(ctx, root, "git", "status", "--porcelain")
	if err != nil {
		return stamp{}, err
	}
	if changed != "" && !dirty {
		return stamp{}, errors.New("there are files that are not committed")
	}
	commit, err := output(ctx, root, "git", "rev-parse", "HEAD")
	if err != nil {
		return stamp{}, err
	}
	seconds, err := output(ctx, root, "git", "show", "--no-patch", "--format=%ct", "HEAD")
	if err != nil {
		return stamp{}, err
	}
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return stamp{}, fmt.Errorf("the date of the commit: %w", err)
	}
	at := time.Unix(unix, 0).UTC()
	changelog, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if err != nil {
		return stamp{}, err
	}
	version, err := versionIn(string(changelog), commit, at)
	if changed != "" {
		commit += "+changed"
	}
	return stamp{version: version, commit: commit, date: at.Format(time.RFC3339)}, err
}

var (
	heading    = regexp.MustCompile(`(?m)^## \[(.+?)\].*$`)
	threeParts = regexp.MustCompile(`^(\d+)\.(\d+)\.(\d+)$`)
)

// versionIn is the newest version of a changelog or, while something is listed as unreleased, the pseudo-version of the
// commit after it.
func versionIn(changelog, commit string, at time.Time) (string, error) {
	sections := heading.FindAllStringSubmatchIndex(changelog, -1)
	unreleased := false
	for i, section := range sections {
		name := changelog[section[2]:section[3]]
		end := len(changelog)
		if i+1 < len(sections) {
			end = sections[i+1][0]
		}
		if name == "Unreleased" {
			unreleased = strings.TrimSpace(changelog[section[1]:end]) != ""
			continue
		}
		parts := threeParts.FindStringSubmatch(name)
		if parts == nil {
			return "", fmt.Errorf("CHANGELOG.md: %q is no version", name)
		}
		if !unreleased {
			return name, nil
		}
		patch, err := strconv.Atoi(parts[3])
		if err != nil {
			return "", fmt.Errorf("CHANGELOG.md: %q: %w", name, err)
		}
		return fmt.Sprintf("%s.%s.%d-0.%s-%s", parts[1], parts[2], patch+1, at.UTC().Format("20060102150405"),
			commit[:12]), nil
	}
	return "", errors.New("CHANGELOG.md has no version")
}

// build compiles a package of the module at root for a platform, so that the same sources give the same bytes: without
// paths, the linker's own id, what a checkout records and a C compiler. Nothing of the caller's environment that
// changes the program is passed on.
func build(ctx context.Context, root, pkg, file, system, architecture string, s stamp) error {
	absolute, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	const settings = "sundry/bootstrap."
	flags := "-s -w -buildid= -X " + settings + "version=" + s.version + " -X " + settings + "commit=" + s.commit +
		" -X " + settings + "date=" + s.date
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-mod=readonly", "-ldflags="+flags,
		"-o", absolute, pkg)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+architecture, "GOFLAGS=", "GOAMD64=v1",
		"GOARM64=v8.0", "GOEXPERIMENT=", "GOWORK=off")
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, text)
	}
	return nil
}
