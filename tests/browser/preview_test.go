package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"sundry/tests/harness"
)

// framed reads the text of the preview's frame.
const framed = `document.querySelector(".part-preview iframe").contentDocument.body.innerText`

func TestTheCheckoutIsPreviewedWhileTyping(t *testing.T) {
	t.Parallel()
	s := sharedFixture(t)
	draft := s.NewListing(t, harness.JSON{"title": "Woodcut primer", "priceInCents": 1900})
	b := s.atDashboard()
	b.size(1280, 860)
	b.open(s.URL + "/dashboard/listings/new?type=DIGITAL")
	b.wait(framed + `.includes("Get for free")`)
	b.do("focus the title", chromedp.Focus(chromedp.CSS("#listing-title")))
	b.press("Monotype notes")
	b.press(kb.Tab) // the description
	b.press(kb.Tab)
	b.press("12.50")
	b.wait(framed + `.includes("Monotype notes")`)
	b.wait(framed + `.includes("Pay €12.50")`)
	b.accessible("a new listing with its preview")

	b.open(s.URL + "/dashboard/listings/" + draft.ID + "/edit")
	b.wait(framed + `.includes("Woodcut primer")`)
	b.fill("#listing-title", "Woodcut manual")
	b.wait(framed + `.includes("Woodcut manual")`)
	b.accessible("an edited listing with its preview")
	b.click("#listing .primary")
	b.sees("Saved.")
	b.wait(framed + `.includes("Woodcut manual")`)
	b.accessible("a listing with its preview")

	b.size(360, 800)
	b.wait(`!document.querySelector(".part-preview iframe").checkVisibility()`)
	b.do("focus the link", chromedp.Focus(chromedp.CSS(".part-preview a")))
	b.press(kb.Enter)
	b.sees("Nothing can be bought here.")
	if !strings.HasPrefix(eval[string](b, "location.pathname"), "/preview/") {
		t.Error("the link leads elsewhere")
	}
	b.accessible("preview")
	b.do("focus the email", chromedp.Focus(chromedp.CSS("#email")))
	b.press("ada@example.com" + kb.Enter)
	if !eval[bool](b, `location.pathname.startsWith("/preview/") && document.getElementById("submit").disabled`) {
		t.Error("Enter does something")
	}
}
