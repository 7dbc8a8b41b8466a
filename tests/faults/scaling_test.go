//go:build unix

package faults

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"sundry/core/id"
	"sundry/tests/harness"
	"sundry/tests/loopback"
	"sundry/tests/testdb"
	"sundry/tests/testenv"
	"sundry/tests/testredis"
)

// TestTwoCellsStartAsDocumented runs the commands of docs/scaling.md, on ports that are free here.
func TestTwoCellsStartAsDocumented(t *testing.T) {
	t.Parallel()
	router := testenv.Need(t, testenv.HAProxy)
	commands, base := scalingCommands(t)
	folder := t.TempDir()
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
		"DATABASE_URL=" + fewConnections(t, testdb.Postgres.EmptyURL(t)), "REDIS_URL=" + testredis.URL(t, testredis.Shared),
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
	harness.Eventually(t, "the proxy listens", func() bool {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(base, "http://"))
		return err == nil && conn.Close() == nil
	})
	app := &harness.App{URL: base, Log: &harness.Log{}}
	for cell := range 2 {
		prefix := fmt.Sprintf("/cell/%d", cell)
		harness.Eventually(t, fmt.Sprint("cell is ready: ", cell), func() bool {
			ready := harness.Request{Method: http.MethodGet, Path: prefix + "/readyz"}
			return app.AskUnjudged(t, ready).Status == http.StatusOK
		})
		made := app.AskUnjudged(t, harness.Request{
			Method: http.MethodPost, Path: prefix + "/v1/auth/sign-up", Body: harness.JSON{
				"email":    harness.Unique("shop") + "@shop.example",
				"password": harness.Unique("password"), "displayName": "Shop",
			},
		})
		if made.Status != http.StatusCreated {
			t.Fatalf("an account of cell %d: %d %s", cell, made.Status, made.Body)
		}
		var account struct {
			AccessToken string
			Creator     struct{ ID string }
		}
		if err := json.Unmarshal(made.Body, &account); err != nil {
			t.Fatal(err)
		}
		if of, ok := id.CellOf(account.Creator.ID); !ok || int(of) != cell {
			t.Errorf("%s is not of cell %d", account.Creator.ID, cell)
		}
		found := app.AskUnjudged(t, harness.Request{Method: http.MethodGet, Path: "/v1/creator", Bearer: account.AccessToken})
		if found.Status != http.StatusOK || !strings.Contains(string(found.Body), account.Creator.ID) {
			t.Errorf("the proxy does not lead to cell %d: %d %s", cell, found.Status, found.Body)
		}
	}
}

// scalingCommands are the commands that start two cells, without the addresses of the reader's services, and the address
// that the proxy gets.
func scalingCommands(t *testing.T) (commands, base string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/scaling.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(blocks) != 2 {
		t.Fatalf("docs/scaling.md has %d blocks of commands, want the services' addresses and the start", len(blocks))
	}
	begin, err := loopback.FreePorts(t.Context(), 0, 1, 2, 3, 11, 12, 13)
	if err != nil {
		t.Fatal(err)
	}
	begun := fmt.Sprintf("127.0.0.1:%d", begin/100)
	return strings.ReplaceAll(blocks[1][1], "127.0.0.1:80", begun), "http://" + begun + "00"
}
