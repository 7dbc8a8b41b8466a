package browser

import (
	"strings"
	"testing"

	"sundry/tests/harness"
)

func TestTheTaxFollowsTheCountryWhileTheFormStays(t *testing.T) {
	t.Parallel()
	s := sharedFixture(t)
	b := newTab(t)
	b.open(s.session(s.book, nil)["checkoutUrl"].(string))
	b.ready()
	b.fill("#email", "ada@example.com")
	fillCard(b, harness.CardSucceeds)
	b.country("DE")
	b.sees("Tax included, 19% (Germany)")
	german := eval[string](b, `document.querySelector(".lines-wide").textContent`)
	eval[bool](b, `document.getElementById("business").open = true || true`)
	b.fill("#taxId", "DE136695976")
	eval[bool](b, `document.getElementById("taxId").dispatchEvent(new Event("change", {bubbles: true})) || true`)
	b.sees("VAT (reverse charge)")
	b.country("AT")
	b.sees("Enter a VAT ID of the billing country.")
	if eval[string](b, `document.getElementById("cardNumber").value`) != "4242 4242 4242 4242" ||
		!strings.Contains(german, "Tax included") {
		t.Error("the form did not stay as it was")
	}
	b.country("DE")
	b.click("#submit")
	b.sees("Payment complete")
}
