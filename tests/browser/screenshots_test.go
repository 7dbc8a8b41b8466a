//go:build screenshots

package browser

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"sundry/tests/harness"
)

// screenshotFolder holds the pictures of the documentation, and largestScreenshot bounds the size of one.
const (
	screenshotFolder  = "../../docs/screenshots"
	largestScreenshot = 200_000
)

// picture writes what the tab shows as a PNG.
func (b *tab) picture(name string) {
	b.t.Helper()
	b.do("stop the cursor", chromedp.Evaluate[chromedp.Void](`(document.activeElement?.blur(), scrollTo(0, 0))`))
	b.wait(
		`document.readyState === "complete" && [...document.images].every((i) => i.complete) && document.fonts.status === "loaded"`,
	)
	// What fades in does so to its end; what turns forever is left to turn.
	b.do("wait for animations", chromedp.Evaluate[chromedp.Void](`(async () => {
		const frame = () => new Promise(requestAnimationFrame);
		await frame();
		const ends = document.getAnimations().filter((a) => a.effect.getComputedTiming().endTime !== Infinity);
		await Promise.allSettled(ends.map((a) => a.finished));
		await frame();
	})()`, chromedp.EvalAwaitPromise))
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Fatal(err)
	}
	if len(png) > largestScreenshot {
		b.t.Errorf("%s weighs %d bytes, at most %d", name, len(png), largestScreenshot)
	}
	if err := os.WriteFile(filepath.Join(screenshotFolder, name+".png"), png,
		0o644); err != nil { //nolint:gosec // it is published
		b.t.Fatal(err)
	}
}

// TestScreenshots makes the pictures of the documentation again: task screenshots.
func TestScreenshots(t *testing.T) {
	if err := os.MkdirAll(screenshotFolder, 0o755); err != nil { //nolint:gosec // it is published
		t.Fatal(err)
	}
	s := newStudio(t)
	s.AsCreator(t, http.MethodPatch, "/v1/creator", harness.JSON{
		"displayName": "Ada's Workshop", "supportEmail": "help@workshop.example",
		"refundPolicy": "Full refund within 14 days.",
	}).Want(t, http.StatusOK)
	for range 6 {
		s.customer = harness.Unique("user")
		s.pay(s.session(s.book, nil), harness.CardSucceeds).Want(t, http.StatusOK)
	}
	s.customer = harness.Unique("user")
	b := tabIn(t, newYork)
	b.size(1280, 800)

	b.open(s.session(s.book, nil)["checkoutUrl"].(string))
	b.ready()
	b.picture("checkout")
	b.size(390, 800)
	b.picture("checkout-phone")
	b.size(1280, 800)

	booking := s.sell(s.single, nil)
	b.open(booking["checkoutUrl"].(string))
	b.shown()
	b.pickDay(s.fullDay()) // of today there may be little left
	b.click("[role=option]:nth-child(3)")
	b.picture("calendar")
	b.size(390, 800)
	b.picture("calendar-phone")
	b.size(1280, 800)
	b.click("#confirm")
	b.ready()
	receipt := s.pay(booking, harness.CardSucceeds).Want(t, http.StatusOK).Map(t)
	b.open(receipt["receiptUrl"].(string))
	b.sees("Receipt")
	b.picture("receipt")
	first := receipt["appointments"].([]any)[0].(map[string]any)["id"].(string)
	b.open(
		s.AsBackend(t, http.MethodGet, "/v1/appointments/"+first, nil).Want(t, http.StatusOK).Map(t)["manageUrl"].(string),
	)
	b.sees("Portfolio review")
	b.picture("appointment")

	d := s.atDashboard()
	d.size(1280, 800)
	for path, name := range map[string]string{"": "dashboard", "/listings": "listings", "/orders": "orders",
		"/bookings/week": "bookings"} {
		d.open(s.URL + "/dashboard" + path)
		d.press(kb.Shift)
		d.picture(name)
	}
	member, customerID := subscriber(t)
	b.open(member.portal(customerID))
	b.sees("Your purchases from")
	b.picture("portal")
	b.size(1160, 640)
	b.open(s.URL + "/docs")
	b.sees("Before you start")
	b.picture("docs")
}
