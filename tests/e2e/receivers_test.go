package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"html"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sundry/tests/harness"
	"sundry/tests/loopback"
	"sundry/tests/testdb"
	"sundry/tests/testenv"
)

// nodeLibrary is the public verifier that the Node.js receiver uses.
const nodeLibrary = "standardwebhooks@1.1.1"

// printed collects the output of a receiver.
type printed struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

// Write implements io.Writer.
func (p *printed) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.buffer.Write(b)
}

func (p *printed) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.buffer.String()
}

// goReceiver builds the example and returns its command line.
func goReceiver(t *testing.T) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "receiver")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", path,
		"sundry/adapters/web/docs/examples/receiver-go").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return []string{path}
}

// nodeReceiver installs the example's library beside it and returns its command line.
func nodeReceiver(t *testing.T) []string {
	t.Helper()
	node := testenv.Need(t, testenv.Node)
	source, err := os.ReadFile("../../adapters/web/docs/examples/receiver-node/receiver.mjs")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	script := filepath.Join(folder, "receiver.mjs")
	if err := os.WriteFile(script, source, 0o600); err != nil {
		t.Fatal(err)
	}
	npm := filepath.Join(filepath.Dir(node), "npm")
	if _, err := os.Stat(npm); err != nil {
		npm = "npm"
	}
	install := exec.CommandContext(
		t.Context(), npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", nodeLibrary,
	)
	install.Dir = folder
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("npm install %s: %v\n%s", nodeLibrary, err, out)
	}
	return []string{node, script}
}

// run starts a receiver and waits until it listens.
func runReceiver(t *testing.T, command []string, addr string, env ...string) *printed {
	t.Helper()
	var out printed
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append(os.Environ(), append(env, "ADDR="+addr)...)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); _ = cmd.Wait() })
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
		if err == nil {
			_ = conn.Close()
			return &out
		}
		if time.Now().After(end) {
			t.Fatalf("the receiver does not listen: %s", out.String())
		}
	}
}

// TestTheReceiversOfTheGuideWork runs both examples as their readers would: on what a buyer does, they print the
// snapshot that gives the plan; what is not signed by the endpoint's secret, they refuse. The guide shows these very
// files.
func TestTheReceiversOfTheGuideWork(t *testing.T) {
	t.Parallel()
	app := harness.New(t, testdb.SQLite, map[string]string{"WEBHOOK_ALLOW_PRIVATE": "true"})
	guide := html.UnescapeString(
		string(app.Ask(t, harness.Request{Method: http.MethodGet, Path: "/docs"}).Want(t, 200).Body),
	)
	for _, c := range []struct {
		name, file string
		command    func(t *testing.T) []string
	}{
		{"Go", "../../adapters/web/docs/examples/receiver-go/main.go", goReceiver},
		{"Node.js", "../../adapters/web/docs/examples/receiver-node/receiver.mjs", nodeReceiver},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			source, err := os.ReadFile(c.file)
			if err != nil {
				t.Fatal(err)
			}
			if lines := strings.Count(string(source), "\n"); lines >= 45 {
				t.Errorf("%s has %d lines, want fewer than 45", c.file, lines)
			}
			if !strings.Contains(guide, strings.TrimSpace(string(source))) {
				t.Errorf("the guide does not show %s as it is", c.file)
			}
			command := c.command(t)
			a := app.NewAccount(t)
			addr := receiverAddress(t)
			var made hookEndpoint
			a.AsBackend(t, http.MethodPost, endpointsPath,
				JSON{"url": "http://" + addr + "/webhooks/sundry", "events": []string{"customer.access_changed"}}).
				Want(t, 201).Into(t, &made)
			out := runReceiver(
				t, command, addr, "SUNDRY_URL="+app.URL, "SUNDRY_KEY="+a.Key, "SUNDRY_WEBHOOK_SECRET="+made.Secret,
			)

			forged, err := http.Post(
				"http://"+addr+"/webhooks/sundry", "application/json",
				strings.NewReader(`{"type":"customer.access_changed","data":{"externalCustomerId":"mallory"}}`),
			)
			if err != nil {
				t.Fatal(err)
			}
			_ = forged.Body.Close()
			if forged.StatusCode != http.StatusUnauthorized || out.String() != "" {
				t.Errorf("a forged message gets %d; printed %q", forged.StatusCode, out.String())
			}

			a.AsBackend(t, http.MethodPost, endpointsPath+"/"+made.ID+"/test", nil).Want(t, 202)
			var sent struct{ Data []struct{ Status string } }
			for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
				a.AsBackend(t, http.MethodGet, endpointsPath+"/"+made.ID+"/deliveries?status=delivered", nil).
					Want(t, 200).Into(t, &sent)
				if len(sent.Data) == 1 {
					break
				}
				if time.Now().After(end) {
					t.Fatalf("the test message is not taken; printed %q", out.String())
				}
			}

			customer := harness.Unique("user")
			a.Pay(t, a.NewSession(t, proPlan(t, a), "pro", customer, nil), harness.CardSucceeds).Want(t, 200)
			var snapshot struct {
				ExternalCustomerID string
				ActivePlans        []struct{ Key string }
			}
			for end := time.Now().Add(30 * time.Second); json.NewDecoder(strings.NewReader(out.String())).Decode(&snapshot) != nil; time.Sleep(20 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("nothing came; printed %q", out.String())
				}
			}
			if snapshot.ExternalCustomerID != customer || len(snapshot.ActivePlans) != 1 ||
				snapshot.ActivePlans[0].Key != "pro" {
				t.Errorf("printed %q, want the snapshot of %s with the plan", out.String(), customer)
			}
		})
	}
}

func receiverAddress(t *testing.T) string {
	t.Helper()
	addr, err := loopback.FreeAddress(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return addr
}
