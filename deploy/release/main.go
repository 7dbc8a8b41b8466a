// Command release builds the files of a release: static binaries of every platform, their checksums, a bill of
// materials for each (CycloneDX) and the licenses of what they contain. Two runs over one commit with one version of Go
// write the same bytes, whatever folder they run in.
//
//	go run ./deploy/release [-out dist] [-targets linux/amd64,darwin/arm64]
//
// The version is the newest of CHANGELOG.md. While something is listed as unreleased, it is the pseudo-version that Go
// gives a commit after that.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
)

// targets are the platforms of a release.
var targets = []string{
	"darwin/amd64", "darwin/arm64", "linux/amd64", "linux/arm64", "windows/amd64", "windows/arm64",
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	folder := flags.String("out", "dist", "the folder to write, which must be empty or absent")
	chosen := flags.String("targets", strings.Join(targets, ","), "the platforms")
	dirty := flags.Bool("dirty", false, "build files that are not committed, too")
	if err := flags.Parse(args); err != nil {
		return err
	}
	root, err := moduleRoot(ctx)
	if err != nil {
		return err
	}
	stamp, err := stampOf(ctx, root, *dirty)
	if err != nil {
		return err
	}
	r := release{root: root, folder: *folder, stamp: stamp, targets: strings.Split(*chosen, ","), out: out}
	return r.write(ctx)
}

// release describes the files that one run makes.
type release struct {
	root, folder string
	stamp        stamp
	targets      []string
	out          io.Writer
}

func (r release) write(ctx context.Context) error {
	if left, err := os.ReadDir(r.folder); err == nil && len(left) > 0 {
		return fmt.Errorf("%s is not empty", r.folder)
	}
	if err := os.MkdirAll(r.folder, 0o755); err != nil {
		return err
	}
	shipped, err := dependencies(ctx, r.root, r.targets)
	if err != nil {
		return err
	}
	notices, err := noticesOf(r.root, shipped)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.folder, "LICENSES.txt"), []byte(notices), 0o644); err != nil {
		return err
	}
	for _, target := range r.targets {
		if err := r.writeTarget(ctx, target, shipped); err != nil {
			return fmt.Errorf("%s: %w", target, err)
		}
	}
	return r.writeChecksums()
}

// writeTarget builds the binary of a platform and lists what it contains.
func (r release) writeTarget(ctx context.Context, target string, shipped []dependency) error {
	system, architecture, ok := strings.Cut(target, "/")
	if !ok {
		return errors.New("a platform is GOOS/GOARCH")
	}
	name := "sundry_" + r.stamp.version + "_" + system + "_" + architecture
	file := filepath.Join(r.folder, name)
	if system == "windows" {
		file += ".exe"
	}
	if err := build(ctx, r.root, ".", file, system, architecture, r.stamp); err != nil {
		return err
	}
	bill, err := billOf(file, r.stamp, shipped)
	if err != nil {
		return err
	}
	fmt.Fprintln(r.out, file)
	return os.WriteFile(filepath.Join(r.folder, name+".cdx.json"), bill, 0o644)
}

// writeChecksums writes what sha256sum --check reads.
func (r release) writeChecksums() error {
	entries, err := os.ReadDir(r.folder)
	if err != nil {
		return err
	}
	var lines []string
	for _, entry := range entries {
		sum, err := checksum(filepath.Join(r.folder, entry.Name()))
		if err != nil {
			return err
		}
		lines = append(lines, sum+"  "+entry.Name()+"\n")
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[64:], b[64:]) })
	return os.WriteFile(filepath.Join(r.folder, "SHA256SUMS"), []byte(strings.Join(lines, "")), 0o644)
}

func checksum(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	_, err = io.Copy(sum, file)
	return hex.EncodeToString(sum.Sum(nil)), errors.Join(err, file.Close())
}
