package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// program finds a program on PATH or in one of the places (patterns) where installers put it; of several matches the
// last in order, which is the newest version.
func program(name string, places ...string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	for _, pattern := range places {
		matches, err := filepath.Glob(pattern)
		if err != nil {
			return "", err
		}
		for _, match := range slices.Backward(matches) {
			if info, err := os.Stat(match); err == nil && !info.IsDir() {
				return match, nil
			}
		}
	}
	return "", fmt.Errorf("%s is not installed", name)
}

// aptUpdate refreshes Debian's package lists once for the whole run.
var aptUpdate = sync.OnceValue(func() error {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	return apt(ctx, "update", "-q")
})

// aptInstall installs Debian packages, as root or by a sudo that asks for no password.
func aptInstall(ctx context.Context, packages ...string) error {
	if _, err := exec.LookPath("apt-get"); err != nil {
		return errors.New("this is not Debian or Ubuntu (no apt-get)")
	}
	if err := aptUpdate(); err != nil {
		return err
	}
	return apt(ctx, append([]string{"install", "-y", "-q", "--no-install-recommends"}, packages...)...)
}

func apt(ctx context.Context, args ...string) error {
	// Another installer may hold the lock for a while, as unattended upgrades do.
	line := append([]string{"env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-o", "DPkg::Lock::Timeout=120"}, args...)
	if os.Geteuid() != 0 {
		if _, err := command(ctx, "sudo", "-n", "true"); err != nil {
			return errors.New("apt-get needs root, and sudo is missing or asks for a password")
		}
		line = append([]string{"sudo", "-n"}, line...)
	}
	_, err := command(ctx, line[0], line[1:]...)
	return err
}

// brewInstall installs Homebrew formulas or, with --cask first, casks.
func brewInstall(ctx context.Context, names ...string) error {
	brew, err := program("brew", "/opt/homebrew/bin/brew", "/usr/local/bin/brew", "/home/linuxbrew/.linuxbrew/bin/brew")
	if err != nil {
		return errors.New("no Homebrew")
	}
	_, err = command(ctx, brew, append([]string{"install"}, names...)...)
	return err
}

// brewPlaces are the patterns under which Homebrew keeps a formula's program.
func brewPlaces(formula, name string) []string {
	var places []string
	for _, prefix := range []string{"/opt/homebrew", "/usr/local", "/home/linuxbrew/.linuxbrew"} {
		places = append(places, filepath.Join(prefix, "opt", formula, "bin", name), filepath.Join(prefix, "bin", name))
	}
	return places
}

// dockerRun starts a container that ends with the run, and returns the loopback address of its port.
func dockerRun(ctx context.Context, b *bench, name, port string, args ...string) (string, error) {
	docker, err := dockerEngine(ctx)
	if err != nil {
		return "", err
	}
	name = fmt.Sprintf("sundry-tests-%s-%d", name, os.Getpid())
	b.later(func() error {
		// Its own time: an interrupted run still has to remove it.
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		_, err := command(ctx, docker, "rm", "--force", "--volumes", name)
		return err
	})
	line := append([]string{"run", "--detach", "--name", name, "--publish", "127.0.0.1::" + port}, args...)
	if _, err := command(ctx, docker, line...); err != nil {
		return "", err
	}
	addresses, err := command(ctx, docker, "port", name, port+"/tcp")
	if err != nil {
		return "", err
	}
	address, _, _ := strings.Cut(addresses, "\n")
	return strings.TrimSpace(address), nil
}

// dockerEngine returns the client's path when an engine responds to it.
func dockerEngine(ctx context.Context) (string, error) {
	docker, err := program("docker")
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if _, err := command(ctx, docker, "info", "--format", "{{.ServerVersion}}"); err != nil {
		return "", fmt.Errorf("no Docker engine responds: %w", err)
	}
	return docker, nil
}
