// Package browser buys things in a real browser: the whole application in this process,
// Chromium in front of it. Every page is also checked by axe-core, in both color schemes
// and at the width of a small phone, and may write nothing to its console.
package browser

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"sundry/tests/testenv"
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "sundry-browser-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }() // left-overs of a killed browser only cost space
	shared.dir = dir
	code := m.Run()
	shared.stop()
	if err := stopProgram(); err != nil {
		fmt.Fprintln(os.Stderr, "stop the program:", err)
		code = max(code, 1)
	}
	return code
}

// shared is the browser that all tests share: starting it costs more than any test.
var shared chromium

type chromium struct {
	dir    string
	once   sync.Once
	ctx    context.Context //nolint:containedctx // the browser lives as long as the test process
	cancel []context.CancelFunc
	axe    string
	err    error
}

// start returns the context of the running browser. Without one it skips the test.
func (b *chromium) start(t *testing.T) context.Context {
	t.Helper()
	testenv.Need(t, testenv.Chromium)
	b.once.Do(func() { b.err = b.launch() })
	if b.err != nil {
		t.Fatalf("%v\nRun the tests with: go run ./tests/run", b.err)
	}
	return b.ctx
}

func (b *chromium) launch() error {
	path := testenv.Get(testenv.Chromium)
	axe, err := os.ReadFile(testenv.Get(testenv.Axe))
	if err != nil {
		return fmt.Errorf("%s must name axe.min.js of axe-core: %w", testenv.Axe, err)
	}
	b.axe = string(axe)
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path), chromedp.UserDataDir(b.dir), chromedp.Headless, chromedp.DisableGPU,
		chromedp.NoFirstRun,
		chromedp.NoDefaultBrowserCheck,
		chromedp.NoSandbox, // root in a container has no user namespaces; the only pages opened are our own
		chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-background-timer-throttling", true),
		chromedp.Flag("disable-backgrounding-occluded-windows", true),
		chromedp.Flag("disable-renderer-backgrounding", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.Flag("disable-sync", true),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-features", "Translate,OptimizationHints,MediaRouter,AutofillServerCommunication"),
		// As the shell has it: frames of any site are in the page's tree.
		chromedp.Flag("disable-site-isolation-trials", true),
		chromedp.Flag("lang", "en-IE"),
		chromedp.Flag("accept-lang", "en-US,en"), // the headless shell has no language of its own
		chromedp.Flag("password-store", "basic"),
		chromedp.WindowSize(1280, 860),
	}
	alloc, cancelAlloc := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(alloc)
	b.cancel = []context.CancelFunc{cancel, cancelAlloc}
	b.ctx = ctx
	if err := chromedp.Do(ctx); err != nil {
		return fmt.Errorf("start %s: %w", path, err)
	}
	return nil
}

func (b *chromium) stop() {
	if b.ctx != nil {
		_ = chromedp.Cancel(b.ctx) // closes the browser and waits for its process
	}
	for _, cancel := range b.cancel {
		cancel()
	}
}
