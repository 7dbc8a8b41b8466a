package filestore_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sundry/adapters/filestore"
	"sundry/ports"
	"sundry/tests/contract"
	"sundry/tests/testenv"
)

func TestFolderKeepsTheContract(t *testing.T) {
	t.Parallel()
	contract.FileStorage(t, filestore.NewFolder(filepath.Join(t.TempDir(), "files")))
}

func TestFolderLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	storage := filestore.NewFolder(dir)
	for _, key := range []string{"a/1", "a/2"} {
		if err := storage.Put(t.Context(), key, []byte(key)); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range []string{"a/1", "a/2"} {
		if err := storage.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestFolderShowsWholeParts(t *testing.T) {
	t.Parallel()
	storage := filestore.NewFolder(t.TempDir())
	parts := [][]byte{bytes.Repeat([]byte("a"), 300_000), bytes.Repeat([]byte("b"), 300_000)}
	if err := storage.Put(t.Context(), "a/1", parts[0]); err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	for n := range 8 {
		writers.Go(func() {
			if err := storage.Put(t.Context(), "a/1", parts[n%2]); err != nil {
				t.Error(err)
			}
		})
	}
	for range 50 {
		got, err := storage.Get(t.Context(), "a/1")
		if err != nil || !bytes.Equal(got, parts[0]) && !bytes.Equal(got, parts[1]) {
			t.Errorf("read %d bytes, %v", len(got), err)
		}
	}
	writers.Wait()
}

// s3 starts a server that speaks S3, and returns a bucket of it. The server knows keys, but does not check signatures.
func s3(t *testing.T) filestore.BucketConfig {
	t.Helper()
	free, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert,errcheck // it listens on TCP
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(testenv.Need(t, testenv.Packages), "node_modules", "s3rver", "bin", "s3rver.js")
	ctx, stop := context.WithCancel(t.Context())
	server := exec.CommandContext(ctx, testenv.Need(t, testenv.Node), script, "--directory", t.TempDir(), //nolint:gosec // ours
		"--address", "127.0.0.1", "--port", strconv.Itoa(port), "--configure-bucket", "files", "--silent")
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		_ = server.Wait() // it was killed
	})
	cfg := filestore.BucketConfig{
		Endpoint: "http://127.0.0.1:" + strconv.Itoa(port), Region: "us-east-1", Bucket: "files", AccessKeyID: "S3RVER",
		SecretAccess: "S3RVER",
	}
	for end := time.Now().Add(time.Minute); ; {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", "127.0.0.1:"+strconv.Itoa(port))
		if err == nil {
			_ = c.Close() // it was only to see that it listens
			return cfg
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func open(t *testing.T, cfg filestore.BucketConfig) *filestore.Bucket {
	t.Helper()
	bucket, err := filestore.NewBucket(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return bucket
}

func TestBucketKeepsTheContract(t *testing.T) {
	t.Parallel()
	cfg := s3(t)
	contract.FileStorage(t, open(t, cfg))
	t.Run("an unknown key is refused", func(t *testing.T) {
		t.Parallel()
		wrong := cfg
		wrong.AccessKeyID = "another"
		err := open(t, wrong).Put(t.Context(), "a/1", []byte("x"))
		if err == nil || !strings.Contains(err.Error(), "403") {
			t.Errorf("got %v", err)
		}
		if _, err := open(t, cfg).Get(t.Context(), "a/1"); !errors.Is(err, ports.ErrNotFound) {
			t.Errorf("the part is there: %v", err)
		}
	})
}

func TestBucketTriesAgainWhenItHelps(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status    int // of every response but the third
		asked     int32
		succeeded bool
	}{
		"a server that is busy for a moment": {http.StatusServiceUnavailable, 3, true},
		"a refusal":                          {http.StatusForbidden, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if asked.Add(1) < 3 {
					w.WriteHeader(c.status)
				}
			}))
			defer server.Close()
			err := open(t, filestore.BucketConfig{Endpoint: server.URL, Bucket: "b", AccessKeyID: "k", SecretAccess: "s"}).
				Put(t.Context(), "a/1", []byte("x"))
			if (err == nil) != c.succeeded || asked.Load() != c.asked {
				t.Errorf("%v after %d requests, want %d", err, asked.Load(), c.asked)
			}
		})
	}
}
