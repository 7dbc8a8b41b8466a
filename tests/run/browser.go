package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// playwright is the version of the npm package that fetches a Chromium where no package manager has one.
const playwright = "playwright@1.65.1"

// shells are the names of the headless shell: the same engine without the window, extensions and profile services of a
// browser. The tests take half the processor's time in it.
var shells = []string{"chromium-headless-shell", "chrome-headless-shell"}

// browsers are the names that Chromium and Chrome go by, and where macOS keeps them.
var browsers = []string{
	"chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome",
	"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
	"/Applications/Chromium.app/Contents/MacOS/Chromium",
}

// findChromium returns the path of a Chromium or Chrome that starts, and how it was had.
func findChromium(ctx context.Context, _ *bench) (path, how string, err error) {
	if given := os.Getenv("TEST_CHROMIUM"); given != "" {
		return given, "TEST_CHROMIUM", checkBrowser(ctx, given)
	}
	installed := func(names []string, install func(context.Context) error) func(context.Context) (string, error) {
		return func(ctx context.Context) (string, error) {
			if err := install(ctx); err != nil {
				return "", err
			}
			return installedBrowser(ctx, names)
		}
	}
	already := func(context.Context) error { return nil }
	apt := func(name string) func(context.Context) error {
		return func(ctx context.Context) error { return aptInstall(ctx, name) }
	}
	return firstOf(ctx, []way{
		{"the installed headless shell", installed(shells, already)},
		{"the installed one", installed(browsers, already)},
		{"apt-get install chromium-headless-shell", installed(shells, apt("chromium-headless-shell"))},
		{"apt-get install chromium", installed(browsers, apt("chromium"))},
		{"apt-get install chromium-browser", installed(browsers, apt("chromium-browser"))}, // Ubuntu's name, a snap
		{"brew install --cask chromium", installed(browsers, func(ctx context.Context) error {
			return brewInstall(ctx, "--cask", "chromium")
		})},
		{"npm, " + playwright, playwrightBrowser},
	})
}

func installedBrowser(ctx context.Context, names []string) (string, error) {
	failure := fmt.Errorf("none of %s is installed", strings.Join(names, ", "))
	for _, name := range names {
		path, err := program(name)
		if err != nil {
			continue
		}
		if err := checkBrowser(ctx, path); err != nil {
			failure = err
			continue
		}
		return path, nil
	}
	return "", failure
}

// checkBrowser starts the browser far enough to know that nothing of it is missing: for example Ubuntu's
// chromium-browser can be a script that only points at a snap.
func checkBrowser(ctx context.Context, path string) error {
	_, err := command(ctx, path, "--version")
	return err
}

// playwrightBrowser lets the npm package fetch its Chromium and, where it knows how, the libraries that it needs.
func playwrightBrowser(ctx context.Context) (string, error) {
	npx, err := nodeProgram(ctx, "npx")
	if err != nil {
		return "", err
	}
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "browsers")
	args := []string{"PLAYWRIGHT_BROWSERS_PATH=" + dir, npx, "--yes", playwright, "install"}
	if os.Geteuid() == 0 {
		args = append(args, "--with-deps")
	}
	if _, err := command(ctx, "env", append(args, "chromium")...); err != nil {
		return "", err
	}
	path, err := program("Chromium of playwright",
		filepath.Join(dir, "chromium-*", "chrome-linux*", "chrome"),
		filepath.Join(dir, "chromium-*", "chrome-mac*", "*.app", "Contents", "MacOS", "*"))
	if err != nil {
		return "", fmt.Errorf("%s fetched no browser that is known here", playwright)
	}
	return path, checkBrowser(ctx, path)
}
