package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// maxWait bounds the wait for a page to show something: a machine that runs every test at once is slow.
const maxWait = 90 * time.Second

// tab is one page in a profile of its own. Whatever it writes to its console fails the
// test at the end, unless the test expects it.
type tab struct {
	t        *testing.T
	ctx      context.Context //nolint:containedctx // chromedp's handle of a tab is a context
	mu       sync.Mutex
	console  []string
	expected []string
}

// newTab opens an empty tab of desktop size in the light scheme.
func newTab(t *testing.T) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(shared.start(t), chromedp.WithNewBrowserContext())
	b := &tab{t: t, ctx: ctx}
	t.Cleanup(cancel)
	messages := chromedp.Console(ctx)
	b.size(1280, 860)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for m, err := range messages {
			if err != nil {
				return
			}
			if refusal := m.Source == "network" && strings.Contains(m.Text, "status of 4"); refusal {
				continue // the browser's own note of a response that the page handles
			}
			b.mu.Lock()
			b.console = append(b.console, fmt.Sprintf("%s %s %s", m.Type, m.Source, m.Text))
			b.mu.Unlock()
		}
	}()
	t.Cleanup(func() { b.checkConsole() })
	return b
}

// expectConsole allows messages that contain the words.
func (b *tab) expectConsole(words string) { b.expected = append(b.expected, words) }

func (b *tab) checkConsole() {
	b.mu.Lock()
	defer b.mu.Unlock()
next:
	for _, message := range b.console {
		for _, words := range b.expected {
			if strings.Contains(message, words) {
				continue next
			}
		}
		b.t.Errorf("the page wrote to its console: %s", message)
	}
}

// missed is the error of a click that came to something else, since the page moved under it.
const missed = "the click missed"

// passing are parts of the errors for a page, or an element of it, that was just replaced or moved, before anything was
// done with it: the browser's own, and missed.
var passing = []string{
	"Could not find node with given id", "No node with given id found", "net::ERR_ABORTED", missed,
}

// do runs steps within the maxWait of a test, again from the first where the page was replaced or moved in between.
func (b *tab) do(what string, steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, maxWait)
	defer cancel()
	err := chromedp.Do(ctx, steps...)
	for err != nil && slices.ContainsFunc(passing, func(part string) bool { return strings.Contains(err.Error(), part) }) {
		err = chromedp.Do(ctx, steps...)
	}
	if err != nil {
		b.t.Fatalf("%s: %v\n%s", what, err, b.describe())
	}
}

// describe returns what the page shows, for a failing test.
func (b *tab) describe() string {
	ctx, cancel := context.WithTimeout(b.ctx, 2*time.Second)
	defer cancel()
	where, _ := chromedp.Run(ctx, chromedp.Location())
	words, _ := chromedp.Run(
		ctx, chromedp.Evaluate[string](`document.body ? document.body.innerText.slice(0, 1500) : ""`),
	)
	return where + "\n" + words
}

func (b *tab) open(url string)   { b.t.Helper(); b.do("open "+url, chromedp.Navigate(url)) }
func (b *tab) click(sel string)  { b.t.Helper(); b.do("click "+sel, chromedp.Click(chromedp.CSS(sel))) }
func (b *tab) size(w, h int64)   { b.t.Helper(); b.do("resize", chromedp.EmulateViewport(w, h)) }
func (b *tab) press(keys string) { b.t.Helper(); b.do("press a key", chromedp.KeyEvent(keys)) }

// fill replaces what a field holds, as pasting does. One test types every key.
func (b *tab) fill(sel, words string) {
	b.t.Helper()
	b.do("fill "+sel, chromedp.Click(chromedp.CSS(sel)),
		chromedp.Evaluate[chromedp.Void](`(() => {
			if (!document.activeElement.matches(`+strconv.Quote(sel)+`)) throw new Error("`+missed+`");
			document.activeElement.select();
		})()`),
		chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
			_, err := cdp.Call(ctx, target, input.InsertText, input.InsertTextParams{Text: words})
			return err
		}))
}

// eval computes an expression in the page.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, maxWait)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v\n%s", expression, err, b.describe())
	}
	return value
}

// wait waits until an expression is true, across navigations.
func (b *tab) wait(expression string) {
	b.t.Helper()
	for deadline := time.Now().Add(maxWait); ; time.Sleep(20 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(b.ctx, 2*time.Second)
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("Boolean("+expression+")"))
		cancel()
		if err == nil && ok {
			return
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("never true: %s (%v)\n%s", expression, err, b.describe())
		}
	}
}

// sees waits until the page shows the words, and all that follows them is there.
func (b *tab) sees(words string) {
	b.t.Helper()
	raw, _ := json.Marshal(words) // a string always encodes
	b.wait(`document.readyState !== "loading" && document.body?.innerText.includes(` + string(raw) + ")")
}

// ready waits until the page's script has taken over.
func (b *tab) ready() {
	b.t.Helper()
	b.wait(`document.querySelector("#submit, #approve") && !document.querySelector("#submit, #approve").disabled`)
}

// scheme switches between light and dark.
func (b *tab) scheme(name string) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia,
		emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: name}, {Name: "prefers-reduced-motion", Value: "reduce"},
		}})
	if err != nil {
		b.t.Fatal(err)
	}
}

// reads sets the language that the browser asks pages for.
func (b *tab) reads(language string) {
	b.t.Helper()
	agent := eval[string](b, "navigator.userAgent")
	if _, err := chromedp.Call(
		b.ctx, emulation.SetUserAgentOverride,
		emulation.SetUserAgentOverrideParams{UserAgent: agent, AcceptLanguage: language},
	); err != nil {
		b.t.Fatal(err)
	}
}

// cookies counts what the page's profile holds.
func (b *tab) cookies() int {
	b.t.Helper()
	got, err := chromedp.Call(b.ctx, network.GetCookies, network.GetCookiesParams{})
	if err != nil {
		b.t.Fatal(err)
	}
	return len(got.Cookies)
}

// fits fails when the page or a table of it can be scrolled sideways, hides content beyond its edge or breaks a figure.
func (b *tab) fits(where string) {
	b.t.Helper()
	wide := eval[[]string](b, `(() => {
		const limit = document.documentElement.clientWidth, out = [];
		if (document.documentElement.scrollWidth > limit) out.push("page " + document.documentElement.scrollWidth);
		for (const el of document.querySelectorAll("body *")) {
			const box = el.getBoundingClientRect();
			if (box.width && box.right > limit + 1 && el.checkVisibility() && !el.closest("pre, .unseen")) out.push(el.tagName + "." + el.className + " " + box.right);
		}
		for (const table of document.querySelectorAll(".scroll")) {
			if (table.scrollWidth > table.clientWidth + 1) out.push("table " + table.scrollWidth + " in " + table.clientWidth);
		}
		for (const figure of document.querySelectorAll(".stat strong")) {
			if (figure.offsetHeight > 1.5 * parseFloat(getComputedStyle(figure).lineHeight)) out.push("figure " + figure.textContent);
		}
		return out.slice(0, 5);
	})()`)
	if len(wide) > 0 {
		b.t.Errorf("%s is wider than the screen: %v", where, wide)
	}
}

// faults returns the findings of axe-core, which has been loaded, on the page as it is shown.
func (b *tab) faults() []string {
	b.t.Helper()
	return eval[[]string](b, `axe.run(document, {
		runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
		resultTypes: ["violations"], iframes: false,
	}).then(r => r.violations.map(v => v.id + ": " + v.nodes.map(n => n.html.slice(0, 120) + " " + n.failureSummary).slice(0, 3).join(" | ")))`)
}

// accessible runs axe-core over the page at desktop and at phone size, one in each color scheme: each look costs as
// much as buying something. Which is dark depends on the page, so that all four looks have their share.
func (b *tab) accessible(where string) {
	b.t.Helper()
	b.do("load axe", chromedp.Evaluate[chromedp.Void](shared.axe))
	schemes := []string{"light", "dark"}
	if crc32.ChecksumIEEE([]byte(where))%2 == 1 {
		slices.Reverse(schemes)
	}
	for i, width := range []int64{1280, 360} {
		b.scheme(schemes[i])
		b.size(width, 800)
		b.fits(fmt.Sprintf("%s (%s, %d px)", where, schemes[i], width))
		for _, fault := range b.faults() {
			b.t.Errorf("%s (%s, %d px): %s", where, schemes[i], width, fault)
		}
	}
	b.scheme("light")
	b.size(1280, 860)
}
