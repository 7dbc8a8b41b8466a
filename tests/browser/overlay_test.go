package browser

import (
	"context"
	"errors"
	"html/template"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"sundry/tests/harness"
)

const closeButton = `dialog button[aria-label="Close checkout"]`

// openOverlay opens the shop's page and its overlay over an embedded session.
func openOverlay(t *testing.T, s *fixture, callback string, site string) (*tab, harness.JSON) {
	t.Helper()
	session := s.session(s.book, harness.JSON{"uiMode": "embedded"})
	return overlayOver(t, s, session, callback, site), session
}

// overlayOver does so over a session that there is.
func overlayOver(t *testing.T, s *fixture, session harness.JSON, callback, site string) *tab {
	t.Helper()
	b := newTab(t)
	b.open(site + "/overlay?" + url.Values{
		"script": {s.URL + "/sundry.js"}, "embed": {session["embedUrl"].(string)}, "callback": {callback},
	}.Encode())
	b.click("#buy")
	b.wait(`document.querySelector("dialog[open] iframe")`)
	return b
}

// inside computes an expression in the page that the overlay frames: it is of another
// origin, so only the browser's own tools can. Each state is a document of its own, hence
// the fresh world each time.
func inside(b *tab, expression string) (bool, error) {
	ctx, cancel := context.WithTimeout(b.ctx, 2*time.Second)
	defer cancel()
	tree, err := chromedp.Call(ctx, page.GetFrameTree, cdp.Empty{})
	if err != nil {
		return false, err
	}
	if len(tree.FrameTree.ChildFrames) == 0 {
		return false, errors.New("no frame")
	}
	frame := tree.FrameTree.ChildFrames[0].Frame.ID
	world, err := chromedp.Call(ctx, page.CreateIsolatedWorld, page.CreateIsolatedWorldParams{FrameID: frame})
	if err != nil {
		return false, err
	}
	byValue := true
	response, err := chromedp.Call(ctx, runtime.Evaluate, runtime.EvaluateParams{
		Expression: "Boolean(" + expression + ")", ContextID: world.ExecutionContextID, ReturnByValue: &byValue,
	})
	if err != nil {
		return false, err
	}
	return string(response.Result.Value) == "true", nil
}

// waitInside waits until an expression is true in the framed page.
func (b *tab) waitInside(expression string) {
	b.t.Helper()
	for deadline := time.Now().Add(maxWait); ; time.Sleep(20 * time.Millisecond) {
		ok, err := inside(b, expression)
		if err == nil && ok {
			return
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("never true in the frame: %s (%v)", expression, err)
		}
	}
}

// submitInside fills in the framed form and submits it.
func submitInside(b *tab, card string) {
	b.t.Helper()
	b.waitInside(`document.getElementById("submit") && !document.getElementById("submit").disabled`)
	b.waitInside(`(() => {
		const values = {email: "ada@example.com", cardNumber: "` + card + `", expiry: "12 / 34", cvc: "123", country: "IE"};
		for (const id in values) document.getElementById(id).value = values[id];
		document.getElementById("country").dispatchEvent(new Event("change"));
		const supply = document.getElementById("immediateSupply");
		if (supply && !supply.disabled) supply.click();
		document.getElementById("submit").click();
		return true;
	})()`)
}

func TestTheOverlayTellsTheShopThatItWasPaid(t *testing.T) {
	t.Parallel()
	s := sharedFixture(t)
	b, session := openOverlay(t, s, "1", s.site)
	submitInside(b, harness.CardSucceeds)
	b.wait(`heard[0] === "complete ` + session["id"].(string) + `"`)
	b.waitInside(`document.querySelector("h1")?.textContent === "Payment complete"`) // it stays until it is closed
	b.click(closeButton)
	b.wait(`heard.length === 2 && heard[1] === "close"`)
	if eval[bool](b, `Boolean(document.querySelector("dialog"))`) ||
		eval[string](b, "document.activeElement.id") != "buy" {
		t.Error("the overlay is still there, or the focus did not return to the button")
	}
}

func TestTheOverlayWithoutACallbackGoesToTheSuccessPage(t *testing.T) {
	t.Parallel()
	s := sharedFixture(t)
	b, session := openOverlay(t, s, "0", s.site)
	submitInside(b, harness.CardSucceeds)
	b.sees("Shop page /thanks")
	if where := eval[string](b, "location.href"); !strings.Contains(where, "checkout_id="+session["id"].(string)) {
		t.Errorf("went to %s", where)
	}
}

// Integrators write an address in any case; browsers write its origin in one.
func TestTheOverlayKnowsItsShopInAnySpelling(t *testing.T) {
	t.Parallel()
	s := sharedFixture(t)
	written := strings.Replace(s.site, "http://127.0.0.1", "HTTP://LocalHost", 1)
	session := s.session(s.book, harness.JSON{
		"uiMode": "embedded", "successUrl": written + "/thanks", "cancelUrl": written,
	})
	b := overlayOver(t, s, session, "0", strings.ToLower(written))
	submitInside(b, harness.CardSucceeds)
	b.sees("Shop page /thanks")
}

func TestTheOverlayClosesByEscapeAndByItsButton(t *testing.T) {
	t.Parallel()
	s := sharedFixture(t)
	b, _ := openOverlay(t, s, "1", s.site)
	b.waitInside(`document.getElementById("submit") && !document.getElementById("submit").disabled`)
	b.press(kb.Escape)
	b.wait(`heard.join() === "close" && !document.querySelector("dialog")`)
	b.click("#buy")
	b.click(closeButton)
	b.wait(`heard.join() === "close,close" && !document.querySelector("dialog")`)
}

func TestAWishToCloseIsHeardEvenBeforeTheTwoHaveMet(t *testing.T) {
	t.Parallel()
	s := sharedFixture(t)
	b, _ := openOverlay(t, s, "1", s.site)
	b.click(closeButton)
	b.wait(`heard.join() === "close"`)
	b.do("keep the shop from greeting the frame", chromedp.Evaluate[chromedp.Void](`
		const listen = EventTarget.prototype.addEventListener;
		EventTarget.prototype.addEventListener = function (type, heard, options) {
			if (type === "load" && this instanceof HTMLIFrameElement) window.greet = heard;
			else listen.call(this, type, heard, options);
		};
	`))
	b.click("#buy")
	b.waitInside(`document.getElementById("submit") && !document.getElementById("submit").disabled`)
	b.press(kb.Escape)
	b.do("greet it", chromedp.Evaluate[chromedp.Void](`greet()`))
	b.wait(`heard.join() === "close,close" && !document.querySelector("dialog")`)
}

func TestTheOverlayBelievesOnlyItsOwnFrame(t *testing.T) {
	t.Parallel()
	s := sharedFixture(t)
	b, _ := openOverlay(t, s, "1", s.site)
	b.do("forge a message", chromedp.Evaluate[chromedp.Void](`
		window.postMessage({type: "sundry.checkout", v: 1, event: "complete", checkoutId: "cs_forged"}, "*");
		window.dispatchEvent(new MessageEvent("message", {origin: `+"`"+s.URL+"`"+`, source: window, data: {type: "sundry.checkout", v: 1, event: "complete", checkoutId: "cs_forged"}}));
	`))
	b.click(closeButton)
	b.wait(`heard.join() === "close"`)
}

func TestAStrangersPageCannotFrameTheCheckout(t *testing.T) {
	t.Parallel()
	s := sharedFixture(t)
	outsider := strings.Replace(s.site, "127.0.0.1", "localhost", 1)
	b, _ := openOverlay(t, s, "1", outsider)
	b.expectConsole("frame-ancestors")
	b.expectConsole("Failed to execute 'postMessage'") // to the error page in the frame
	b.click(closeButton)
	b.wait(`heard.join() === "close"`)
}

func TestTheOverlayCannotBeClosedDuringAPayment(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	b, session := openOverlay(t, s, "1", s.site)
	submitInside(b, harness.CardStaysPending)
	b.waitInside(`document.body.innerText.includes("Confirming your payment")`)
	b.wait(`document.querySelector("dialog button").style.display === "none"`)
	b.press(kb.Escape)
	b.press(kb.Escape)
	b.do("ask to close", chromedp.Evaluate[chromedp.Void](`overlay.close()`))
	if got := eval[string](b, `heard.join() + Boolean(document.querySelector("dialog[open]"))`); got != "true" {
		t.Errorf("closed while paying: %s", got)
	}
	s.later()
	b.wait(`heard[0] === "complete ` + session["id"].(string) + `"`)
}

// The example's page writes the price as its reader does, and fits a phone.
func TestTheExampleShopFitsAPhone(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	shown, err := template.ParseFiles("../../examples/go-overlay/shop.html")
	if err != nil {
		t.Fatal(err)
	}
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		price := map[string]any{"AmountInCents": 1200, "Currency": "eur", "Per": "per month"}
		_ = shown.Execute(w, map[string]any{"Sundry": s.URL, "Title": "Club", "Offer": map[string]any{"Price": price}})
	}))
	t.Cleanup(shop.Close)
	b := newTab(t)
	b.size(360, 740)
	b.open(shop.URL)
	b.sees("€12.00 per month")
	b.fits("the example's shop")
}
