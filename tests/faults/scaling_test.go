//go:build unix

package faults

import (
	"crypto/rand"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"sundry/tests/harness"
	"sundry/tests/loopback"
	"sundry/tests/testdb"
	"sundry/tests/testenv"
	"sundry/tests/testredis"
)

// TestTwoCellsStartAsDocumented runs the commands of docs/scaling.md, on ports that are free here, and lets both cells,
// schemas of one PostgreSQL with one Redis, work at once.
func TestTwoCellsStartAsDocumented(t *testing.T) {
	t.Parallel()
	router := testenv.Need(t, testenv.HAProxy)
	commands, base := scalingCommands(t)
	folder, database := t.TempDir(), testdb.Postgres.EmptyURL(t)
	for name, program := range map[string]string{"sundry": newDeployment(t).path(t), "haproxy": router} {
		if err := os.Symlink(program, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	var log lockedBuffer
	shell := exec.CommandContext(t.Context(), "sh", "-euc", commands)
	shell.Dir, shell.Stdout, shell.Stderr = "../..", &log, &log
	shell.Env = []string{
		"PATH=" + folder + ":" + os.Getenv("PATH"), "HOME=" + folder, "DATA_DIR=" + folder,
		"DATABASE_URL=" + fewConnections(t, database), "REDIS_URL=" + testredis.URL(t, testredis.Shared),
		"APP_SECRET=" + rand.Text() + rand.Text(),
	}
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	shell.Cancel = func() error { return syscall.Kill(-shell.Process.Pid, syscall.SIGKILL) }
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = shell.Cancel()
		_ = shell.Wait()
		if t.Failed() {
			t.Logf("what they printed:\n%s", log.String())
		}
	})
	awaitListening(t, base)
	app := &harness.App{URL: base, Log: &harness.Log{}}
	for cell := range 2 {
		prefix := fmt.Sprintf("/cell/%d", cell)
		harness.Eventually(t, fmt.Sprint("cell is ready: ", cell), func() bool {
			ready := harness.Request{Method: http.MethodGet, Path: prefix + "/readyz"}
			return app.AskUnjudged(t, ready).Status == http.StatusOK
		})
	}
	var trading sync.WaitGroup
	for cell := range 2 {
		d := newDeployment(t)
		d.DatabaseURL = withParameter(t, database, "search_path", fmt.Sprint("cell_", cell))
		process := &harness.App{URL: fmt.Sprintf("%s%d1", strings.TrimSuffix(base, "00"), cell), Log: &harness.Log{}}
		awaitListening(t, process.URL)
		account := newAccountOf(t, cell, process, app)
		trading.Go(func() { trade(t, d, account) })
		if cell == 1 {
			d.wantLeaders(t, 2)
		}
	}
	trading.Wait()
}

// awaitListening waits until somebody takes connections at the host of an address.
func awaitListening(t *testing.T, address string) {
	t.Helper()
	harness.Eventually(t, "somebody listens at "+address, func() bool {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(address, "http://"))
		return err == nil && conn.Close() == nil
	})
}

// scalingCommands are the commands that start two cells, without the addresses of the reader's services, and the address
// that the proxy gets.
func scalingCommands(t *testing.T) (commands, base string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/scaling.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n### Two cells on one machine\n")
	section, _, _ = strings.Cut(section, "\n### ")
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(section, -1)
	if len(blocks) != 2 {
		t.Fatalf("the section of docs/scaling.md has %d blocks of commands, want the services' addresses and the start",
			len(blocks))
	}
	begin, err := loopback.FreePorts(t.Context(), 0, 1, 2, 3, 11, 12, 13)
	if err != nil {
		t.Fatal(err)
	}
	begun := fmt.Sprintf("127.0.0.1:%d", begin/100)
	return strings.ReplaceAll(blocks[1][1], "127.0.0.1:80", begun), "http://" + begun + "00"
}
