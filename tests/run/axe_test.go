package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func archiveOf(t *testing.T, name, content string) []byte {
	t.Helper()
	var buf bytes.Buffer
	zipped := gzip.NewWriter(&buf)
	files := tar.NewWriter(zipped)
	err := files.WriteHeader(&tar.Header{Name: name, Size: int64(len(content)), Mode: 0o644})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(files, content); err != nil {
		t.Fatal(err)
	}
	if err := files.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestMemberFindsOneFileOfAnArchive(t *testing.T) {
	t.Parallel()
	packed := archiveOf(t, axeMember, "axe()")
	if got, err := member(packed, axeMember); err != nil || string(got) != "axe()" {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := member(packed, "package/other.js"); err == nil {
		t.Error("found a file that is not there")
	}
}

func TestAnArchiveWithAnotherHashIsNotUnpacked(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "axe.tgz")
	if err := os.WriteFile(path, archiveOf(t, axeMember, "steal()"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := &bench{out: io.Discard}
	t.Cleanup(b.close)
	if _, err := unpackAxe(path, b); err == nil || !strings.Contains(err.Error(), "hash") {
		t.Errorf("got %v, want an error about the hash", err)
	}
	if len(b.cleanups) != 0 {
		t.Error("something was unpacked")
	}
}
