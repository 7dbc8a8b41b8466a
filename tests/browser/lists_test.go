package browser

import (
	"net/http"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"sundry/tests/harness"
)

func TestAListIsSortedAndKeptByKeyboard(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	for _, code := range []string{"JUNE", "MAY", "APRIL"} {
		s.AsCreator(t, http.MethodPost, "/v1/discounts", harness.JSON{"code": code, "percentOff": 20}).Want(t,
			http.StatusCreated)
	}
	b := s.atDashboard()
	const codes = `[...document.querySelectorAll("tbody tr td:first-child code")].map((c) => c.textContent).join(" ")`
	b.open(s.URL + "/dashboard/discounts?duration=once")
	b.wait(codes + ` === "APRIL MAY JUNE"`)
	b.wait(`!document.querySelector("th[aria-sort]")`) // its newest are first, and it has no column of dates
	follow := func(sel, until string) {
		t.Helper()
		b.wait(`document.readyState === "complete"`)
		b.wait("(document.querySelector(`" + sel + "`).focus(), document.activeElement.matches(`" + sel + "`))")
		b.press(kb.Enter)
		b.wait(until)
	}
	follow("th:first-child .sort", `document.querySelector("th:first-child").ariaSort === "ascending"`)
	b.wait(codes + ` === "APRIL JUNE MAY"`)
	follow("th:first-child .sort", `document.querySelector("th:first-child").ariaSort === "descending"`)
	b.wait(codes + ` === "MAY JUNE APRIL"`)
	b.accessible("a sorted list")

	follow(".saved summary", `document.querySelector(".saved details").open`)
	b.accessible("a filter to save")
	b.fill("#filter-name", "Once, from the end")
	b.press(kb.Enter)
	b.sees("Saved. Only you see it.")
	b.accessible("a list with a saved filter")
	b.open(s.URL + "/dashboard/discounts")
	follow(".saved li a", `location.search === "?duration=once&sort=-code"`)
	b.wait(codes + ` === "MAY JUNE APRIL"`)
	b.wait(`document.querySelector(".saved li a").ariaCurrent === "true" && !document.querySelector(".saved details")`)
	follow(".saved li button", `!document.querySelector(".saved li")`)
	b.sees("Deleted.")

	b.size(360, 800)
	b.wait(codes + ` === "APRIL MAY JUNE"`)
	follow("th:first-child .sort", codes+` === "APRIL JUNE MAY"`)
	b.wait(`document.querySelector("th:first-child .sort").checkVisibility()`)
}
