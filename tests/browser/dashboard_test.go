package browser

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"sundry/tests/harness"
)

// atDashboard is a tab in which the shop's owner is signed in.
func (s *fixture) atDashboard() *tab {
	s.t.Helper()
	b := newTab(s.t.(*testing.T))
	s.signIn(b)
	return b
}

// signIn signs the shop's owner in.
func (s *fixture) signIn(b *tab) {
	s.t.Helper()
	b.open(s.URL + "/dashboard")
	b.fill("#sign-in-email", s.Email)
	b.fill("#sign-in-password", harness.Password)
	b.press(kb.Enter)
	b.sees("How Ada's Workshop is doing.")
	b.wait(`document.readyState === "complete"`) // the page's script has run
}

func TestANewUserSellsWithoutCode(t *testing.T) {
	t.Parallel()
	s := sharedFixture(t)
	b := newTab(t)
	b.open(s.URL + "/dashboard/sign-up")
	b.accessible("sign-up")
	b.fill("#sign-up-displayName", "Grace’s Prints")
	b.fill("#sign-up-email", harness.Unique("grace")+"@example.com")
	b.fill("#sign-up-password", "short")
	b.press(kb.Enter)
	b.sees("A password needs at least 10 characters.")
	b.accessible("sign-up refused")
	b.fill("#sign-up-password", harness.Password)
	b.press(kb.Enter)
	b.sees("Four steps to your first sale")
	b.accessible("home of a new user")
	b.click(`a[href="/dashboard/listings/new"]`)
	b.click(`a[href="/dashboard/listings/new?type=DIGITAL"]`)
	b.fill("#listing-title", "Linocut pack")
	b.fill("#listing-price", "12.50")
	b.click("#listing .primary")
	b.sees("Saved as a draft")
	b.do("choose a file", chromedp.SetUploadFiles(chromedp.CSS("#file-file"), []string{largeFile(t)}))
	b.accessible("a listing with a file to upload")
	b.click("#file .primary")
	b.sees("For buyers")
	b.accessible("a listing with a file")
	b.click(`form[action$="/publish"] button`)
	b.sees("Published, and your link is ready to share.")
	b.wait(`document.querySelector("svg.qr path")`)
	b.accessible("payment link")
	link := eval[string](b, `document.getElementById("address").textContent`)

	buyer := newTab(t)
	buyer.open(link)
	buyer.ready()
	buyer.fill("#email", "buyer@example.com")
	fillCard(buyer, harness.CardSucceeds)
	buyer.country("IE")
	buyer.click("#submit")
	buyer.sees("You can close this page")
	buyer.sees("linocut.zip")
	buyer.accessible("paid, with a file")
	const download = `fetch(document.querySelector("#files a").href).then((r) => r.blob()).then((all) => all.size)`
	if got := eval[int](buyer, download); got != 2_500_000 {
		t.Errorf("downloaded %d bytes", got)
	}

	b.open(s.URL + "/dashboard/orders")
	b.sees("Linocut pack")
	b.click("tbody a")
	b.sees("buyer@example.com")
	b.sees("€12.50")
	b.accessible("order")
}

// largeFile is a file that does not fit into one request.
func largeFile(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "linocut.zip")
	if err := os.WriteFile(path, make([]byte, 2_500_000), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAnOrderIsRefundedFromTheDashboard(t *testing.T) {
	t.Parallel()
	s := sharedFixture(t)
	session := s.session(s.book, nil)
	receipt := s.pay(session, harness.CardSucceeds).Want(t, http.StatusOK).Map(t)
	b := s.atDashboard()
	b.open(s.URL + "/dashboard/orders/" + receipt["paymentId"].(string))
	b.click(`a[href$="/refund"]`)
	b.fill("#refund-amount", "99.00")
	b.click("#refund .primary")
	b.sees("At most €29.00 of the payment can still be refunded.")
	b.fill("#refund-amount", "10.00")
	b.click("#refund .primary")
	b.sees("This goes back to the buyer")
	b.sees("€10.00")
	b.sees("Tax included")
	b.accessible("refund preview")
	b.click("#confirm .danger")
	b.sees("Refunded €10.00.")
	b.sees("Partly refunded")
	refunded := s.Receipt(t, harness.Session{ID: session["id"].(string)})["refundedInCents"]
	if fmt.Sprint(refunded) != "1000" {
		t.Errorf("refunded %v", refunded)
	}
}

func TestAnOrderIsRefundedByKeyboard(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.pay(s.session(s.book, nil), harness.CardSucceeds).Want(t, http.StatusOK)
	b := s.atDashboard()
	b.follow(`a[href="/dashboard/orders"]`, "Every payment that was tried")
	b.follow("tbody a", "Timeline")
	b.follow(`a[href$="/refund"]`, "The Letterpress Handbook, €29.00")
	b.follow("#refund .primary", "This goes back to the buyer")
	b.follow("#confirm .danger", "Refunded €29.00.")
}

func TestAWebhookSecretIsRotatedFromTheDashboard(t *testing.T) {
	t.Parallel()
	s := sharedFixture(t)
	var made struct{ ID, Secret string }
	s.AsBackend(t, http.MethodPost, "/v1/webhook-endpoints",
		harness.JSON{"url": "https://hooks.example.com/" + harness.Unique("in"), "events": []string{"*"}}).
		Want(t, http.StatusCreated).Into(t, &made)
	b := s.atDashboard()
	b.open(s.URL + "/dashboard/webhooks/" + made.ID)
	b.accessible("webhook endpoint")
	b.click(`form[action$="/secret"] button`)
	b.sees(made.Secret)
	b.open(s.URL + "/dashboard/webhooks/" + made.ID)
	b.click(".aside .ask summary")
	b.click(`form[action$="/rotate"] button`)
	b.sees("This is the new secret.")
	fresh := eval[string](b, `document.getElementById("secret").textContent`)
	if !strings.HasPrefix(fresh, "whsec_") || fresh == made.Secret {
		t.Errorf("the secret is %q after %q", fresh, made.Secret)
	}
	if now := s.AsBackend(t, http.MethodGet, "/v1/webhook-endpoints/"+made.ID+"/secret", nil).Want(t,
		http.StatusOK).Map(t)["secret"]; now != fresh {
		t.Errorf("the API returns %v", now)
	}
}

func TestTheDashboardIsUsableByKeyboardAlone(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	b := s.atDashboard()
	b.press(kb.Tab)
	b.wait(`document.activeElement.textContent === "Skip to content"`)
	b.press(kb.Enter)
	b.wait(`location.hash === "#main"`)
	b.do("focus the clock", chromedp.Evaluate[chromedp.Void](`document.querySelector(".sandbox summary").focus()`))
	b.press(kb.Enter)
	b.wait(`document.querySelector(".sandbox details").open`)
	b.press(kb.Escape)
	b.wait(`!document.querySelector(".sandbox details").open && document.activeElement.tagName === "SUMMARY"`)
	b.press(kb.Enter)
	b.press(kb.Tab)
	b.press(kb.Enter)
	b.sees("The clock is at")
}

func TestDashboardPagesAreAccessibleAndFitEveryScreen(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	session := s.pay(s.session(s.book, nil), harness.CardSucceeds).Want(t, http.StatusOK).Map(t)
	order := "/orders/" + session["paymentId"].(string)
	s.AsCreator(t, http.MethodPost, "/v1/discounts", harness.JSON{"code": "SPRING", "percentOff": 20}).Want(t,
		http.StatusCreated)
	member := s.AsCreator(t, http.MethodPost, "/v1/members", harness.JSON{
		"email": "a-colleague-with-a-long-address@studio.example", "role": "support",
	}).Want(t, http.StatusCreated).Map(t)["id"].(string)
	b := s.atDashboard()
	for _, path := range append([]string{
		"", "/listings", "/listings/new", "/listings/new?type=APPOINTMENT", "/listings/" + s.single.ID,
		"/listings/" + s.single.ID + "/edit", "/listings/" + s.club.ID + "/plans",
		"/listings/" + s.single.ID + "/variants/new", "/links", "/links/new", "/links/new?listing=" + s.book.ID,
		"/discounts", "/discounts/new", "/bookings", "/bookings/week",
		"/bookings/settings", "/orders", order, order + "/refund", "/customers", "/customers/new", "/subscriptions",
		"/invoices", "/disputes", "/balance", "/balance/payout", "/ledger",
		"/keys", "/keys/new", "/webhooks", "/webhooks/new", "/events", "/requests", "/settings", "/security",
		"/security/steps", "/security/log", "/team", "/team/" + member, "/listings/archive?id=" + s.book.ID,
		"/orders/refunds?id=" + session["paymentId"].(string),
	}, s.usagePages()...) {
		b.open(s.URL + "/dashboard" + path)
		b.accessible("/dashboard" + path)
	}
	b.open(s.URL + "/dashboard/customers")
	b.click("tbody a")
	b.sees("Access history")
	b.accessible("customer")
}

// usagePages are the pages of usage, with a subscription that is billed for it.
func (s *studio) usagePages() []string {
	s.t.Helper()
	made := func(path string, body harness.JSON) string {
		return s.AsBackend(s.t, http.MethodPost, path, body).Want(s.t, http.StatusCreated).Map(s.t)["id"].(string)
	}
	s.pay(s.session(s.club, nil), harness.CardSucceeds).Want(s.t, http.StatusOK)
	sub := s.AsBackend(s.t, http.MethodGet, "/v1/subscriptions", nil).Want(s.t,
		http.StatusOK).Map(s.t)["data"].([]any)[0].(map[string]any)["id"].(string)
	meter := made("/v1/usage/meters", harness.JSON{"name": "Pages", "eventName": "pages", "aggregation": "SUM"})
	price := made("/v1/usage/prices", harness.JSON{
		"productId":     made("/v1/usage/products", harness.JSON{"name": "Pages", "type": "SERVICE"}),
		"billingScheme": "usage_based", "currency": "eur",
		"tiers": []harness.JSON{
			{"upTo": 1000, "unitAmountDecimal": "0"}, {"upTo": nil, "unitAmountDecimal": "0.35"},
		},
		"recurring": harness.JSON{"interval": "month"},
	})
	plan := made("/v1/usage/billing-plans", harness.JSON{
		"subscriptionId": sub, "meterId": meter, "priceId": price, "billingInterval": "month",
	})
	s.AsBackend(s.t, http.MethodPost, "/v1/usage/events", harness.JSON{
		"subscriptionId": sub, "meter": "pages", "quantity": 1400, "idempotencyKey": "a-key-of-some-length-2026-11-26/" + strings.Repeat("0123456789", 20),
	}).Want(s.t, http.StatusAccepted)
	return []string{
		"/subscriptions/" + sub, "/usage", "/usage/figures", "/usage/figures?days=7", "/usage/reports", "/usage/reports?meter=pages&subscription=none", "/usage/meters",
		"/usage/meters/new", "/usage/prices", "/usage/prices/new",
		"/usage/prices/" + price, "/usage/products", "/usage/plans/new",
		"/usage/plans/" + plan,
	}
}

func TestAPhotoIsMadeSmallerAndUploaded(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	b := s.atDashboard()
	b.open(s.URL + "/dashboard/listings/" + s.book.ID)
	// A photo of 2,400 pixels, larger than what may be sent, as a person chooses it.
	b.do("choose a photo", chromedp.Evaluate[chromedp.Void](`(async () => {
		const canvas = document.createElement("canvas"), size = 2400;
		canvas.width = canvas.height = size;
		const brush = canvas.getContext("2d"), noise = brush.createImageData(size, size);
		for (let i = 0; i < noise.data.length; i += 4) {
			for (let j = 0; j < 3; j++) noise.data[i + j] = (i / 40) % 200 + Math.random() * 30;
			noise.data[i + 3] = 255;
		}
		brush.putImageData(noise, 0, 0);
		const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
		const files = new DataTransfer(), input = document.getElementById("image-file");
		files.items.add(new File([blob], "photo.png", { type: "image/png" }));
		input.files = files.files;
		input.dispatchEvent(new Event("change"));
	})()`, chromedp.EvalAwaitPromise))
	b.wait(`document.getElementById("image-file").files[0].type === "image/jpeg"`)
	b.fill("#image-alt", "A field of noise")
	b.click("#image .primary")
	b.sees("The image is added.")
	b.wait(`document.querySelector(".images img").naturalWidth === 1600`)
	b.accessible("a listing with an image")
}

func TestSearchIsOneKeyAway(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	s.pay(s.session(s.book, nil), harness.CardSucceeds).Want(t, http.StatusOK)
	b := s.atDashboard()
	b.do("press Ctrl+K", chromedp.KeyEvent("k", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	b.wait(`document.activeElement.id === "find"`)
	b.fill("#find", s.customer)
	b.press(kb.Enter)
	b.sees("Results for “" + s.customer + "”")
	b.accessible("search results")
	b.click(`a[href^="/dashboard/customers/"]`)
	b.sees("Timeline")
	b.accessible("a customer's timeline")
	b.open(s.URL + "/dashboard/orders?from=2000-01-01")
	b.sees("Orders")
	b.accessible("orders with totals")
	b.open(s.URL + "/dashboard/search")
	b.accessible("search without words")
}

func TestFiguresAreReadable(t *testing.T) {
	t.Parallel()
	s, _ := subscriber(t)
	b := s.atDashboard()
	for path, title := range map[string]string{
		"/dashboard?days=90&figure=net": "Net by day", "/dashboard?days=12m": "Gross by month",
		"/dashboard/subscriptions/revenue": "Monthly recurring revenue",
	} {
		b.open(s.URL + path)
		b.sees(title)
		b.click(".as-table summary")
		b.accessible(title)
	}
}

func TestACopyButtonClickedTwiceGetsItsWordsBack(t *testing.T) {
	t.Parallel()
	s := sharedFixture(t)
	b := s.atDashboard()
	b.open(s.URL + "/dashboard/listings/" + s.book.ID)
	b.do("copy nowhere", chromedp.Evaluate[chromedp.Void](`navigator.clipboard.writeText = async () => {}`))
	b.do("click twice", chromedp.Evaluate[chromedp.Void](`(() => {
		window.copier = document.querySelector("[data-copy]");
		for (let i = 0; i < 2; i++) copier.click();
		setTimeout(() => { window.later = true; }, 2500);
	})()`))
	b.wait(`copier.textContent === "Copied"`)
	b.wait(`window.later && copier.textContent !== "Copied"`)
}

func TestTheDaysBelowAChartStandApartOnAPhone(t *testing.T) {
	t.Parallel()
	s := sharedFixture(t)
	b := s.atDashboard()
	b.size(360, 800)
	if over := eval[[]string](b, `(() => {
		const named = [...document.querySelectorAll(".chart-names span")].filter((name) => name.textContent &&
			name.checkVisibility({ visibilityProperty: true }));
		const boxes = named.map((name) => {
			const range = document.createRange();
			range.selectNodeContents(name);
			return range.getBoundingClientRect();
		});
		return named.filter((_, i) => i > 0 && boxes[i].left < boxes[i - 1].right + 4).map((name) => name.textContent);
	})()`); len(over) > 0 {
		t.Errorf("written over the day before: %v", over)
	}
}
