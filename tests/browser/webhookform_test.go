package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
)

func TestEventsAreChosenByKeyboard(t *testing.T) {
	t.Parallel()
	s := sharedFixture(t)
	b := s.atDashboard()
	b.open(s.URL + "/dashboard/webhooks/new")
	b.do("go to all events", chromedp.Focus(chromedp.CSS(`[name=events][value="*"]`)))
	b.press(" ")
	for range 2 { // past all of the first family, to its first type
		b.press("\t")
	}
	b.press(" ")
	chosen := `[...document.querySelectorAll("[name=events]:checked")].map((box) => box.value).join(" ")`
	if got := eval[string](b, chosen); got != "customer.access_changed" {
		t.Fatalf("chosen: %q", got)
	}
	b.press(" ")
	b.click("#endpoint .primary")
	b.sees("Choose at least one event.")
	b.accessible("an endpoint without an event")
	if got := eval[string](b, chosen); got != "" {
		t.Errorf("chosen after the refusal: %q", got)
	}
}
