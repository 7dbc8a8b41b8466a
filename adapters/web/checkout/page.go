package checkout

import (
	"fmt"
	"strings"

	"sundry/adapters/web/layout"
	"sundry/adapters/web/order"
	core "sundry/core/checkout"
)

// page is a session as the templates of the checkout get it.
type page struct {
	order.Order
	// Guess is the country that the reader's language names; "" once the buyer has named theirs.
	Guess string
	// ManageURL is the page on which a plan is managed and canceled; "" for anything else.
	ManageURL string
	// RefusedCode is the discount code that the buyer's link, or their session before, had in vain; "" for none.
	RefusedCode string
	// Preview shows a session that does not exist: nothing on its page does anything.
	Preview bool
}

// Withdrawal lists the codes of the countries whose buyers have a right of withdrawal.
func (page) Withdrawal() string { return strings.Join(core.WithdrawalCountries(), " ") }

// templates names the template of each page state. Details, payment and a declined payment are one page: the buyer
// fills in one form, once.
var templates = map[string]string{
	"choose_mode":      "choose.html",
	"choose_time":      "choose.html",
	"details":          "pay.html",
	"pay":              "pay.html",
	"payment_failed":   "pay.html",
	"loading":          "processing.html",
	"processing":       "processing.html",
	"authenticating":   "authenticate.html",
	"paid":             "paid.html",
	"already_paid":     "paid.html",
	"failed":           "ended.html",
	"expired":          "ended.html",
	"slot_unavailable": "ended.html",
}

// pageData is read by the script from a JSON block of the page.
type pageData struct {
	Secret      string   `json:"secret"`
	CheckoutID  string   `json:"checkoutId"`
	State       string   `json:"state"`
	Embedded    bool     `json:"embedded"`
	Parents     []string `json:"parents"`
	NeedsCard   bool     `json:"needsCard"`
	Agreement   string   `json:"agreement"` // names the texts beside the button
	RedirectURL string   `json:"redirectUrl"`
	Stays       bool     `json:"stays"` // once paid: what was bought is used on this page, or went back
	Changing    bool     `json:"changing"`
	Locale      string   `json:"locale"` // BCP 47, for the scripts' dates
	TwelveHours bool     `json:"twelveHours"`
	// FirstWeekday is the first day of the reader's week, 0 is Sunday.
	FirstWeekday int           `json:"firstWeekday"`
	Now          int64         `json:"now"`       // milliseconds, the account's clock
	ExpiresAt    int64         `json:"expiresAt"` // 0 unless times are reserved
	Calendar     *calendarData `json:"calendar"`
	// CardForm is null where our own form takes the sandbox's test cards.
	CardForm *layout.CardFormData `json:"cardForm"`
	Text     map[string]string    `json:"text"`
	// Declines maps a decline code to its explanation.
	Declines map[string]string `json:"declines,omitempty"`
}

// render makes the page of a session in its state; nonce must be the one of the content policy sent with it.
func (r *Routes) render(p page, nonce string) ([]byte, error) {
	name, known := templates[p.State]
	if !known {
		return nil, fmt.Errorf("checkout %s: no page for state %q", p.ID, p.State)
	}
	if p.Parents == nil {
		p.Parents = []string{}
	}
	classes := "checkout"
	if p.Embedded {
		classes += " embedded"
	}
	title := "title." + p.State
	if p.Returned() {
		title = "receipt.refunded"
	}
	view := layout.View{
		Title: p.Reader.Text(title) + " · " + p.Item.Title, Nonce: nonce, Classes: classes,
		Accent: p.Storefront.AccentColor, Page: p,
	}
	if p.Preview {
		view.Title = p.Reader.Text("preview.heading") + " · " + p.Item.Title
	} else {
		view.Script, view.Data = "checkout.js", r.data(p)
	}
	return r.pages.Render(p.Reader, name, view)
}

// data returns the data of the script of a page.
func (r *Routes) data(p page) *pageData {
	data := &pageData{
		Secret: p.Secret, CheckoutID: p.ID, State: p.State,
		Embedded: p.Embedded, Parents: p.Parents, NeedsCard: p.NeedsCard, Agreement: p.Agreement.Key(),
		RedirectURL: p.RedirectURL,
		Stays: p.Booking != nil || p.Returned() ||
			p.Receipt != nil && (p.Receipt.DownloadURL != "" || len(p.Receipt.Files) > 0),
		Changing: p.Changing, Locale: p.Reader.Tag(), TwelveHours: p.Reader.Hour12,
		FirstWeekday: int(p.Reader.FirstWeekday()), Now: p.Now.UnixMilli(),
		Calendar: newCalendarData(p.Booking), Text: p.Reader.WithPrefix("js."),
	}
	if p.NeedsCard {
		data.Declines = p.Reader.Declines()
		data.CardForm = r.layout.CardForm(p.Reader, layout.Amount(p.Total, p.Currency), p.SavesCard)
	}
	if p.Booking != nil {
		data.ExpiresAt = p.KeptUntil().UnixMilli()
	}
	return data
}
