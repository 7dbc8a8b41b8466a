package web

import (
	"fmt"
	"time"
)

// Checkout is everything the pages of one session show. Amounts are minor units of
// Currency; times are UTC.
type Checkout struct {
	ID          string // cs_…
	Secret      string // opens the page; part of its address
	State       string // page state of the contract
	Embedded    bool   // shown inside the overlay
	Parents     []string
	Seller      string // the creator's display name
	Item        Item
	Currency    string
	Subtotal    int64
	Discount    int64
	Tax         int64
	TaxIncluded bool // the tax is contained in the prices shown
	Total       int64
	Recurring   *Recurring // nil for one-time purchases
	NeedsCard   bool       // false only when nothing is charged, now or later
	Buyer       Buyer
	Failure     *Failure // the last refusal, while another try is possible or when it was the last
	CancelURL   string
	AgainURL    string // opens a fresh session in the place of one that is over
	RedirectURL string // success address with its parameters, once paid
	Receipt     *Receipt
	Booking     *Booking  // nil for what is not booked
	Changing    bool      // times are chosen in the place of others, which are kept meanwhile
	TwelveHours bool      // how the buyer's country tells the time
	Now         time.Time // the account's clock
	ExpiresAt   time.Time
}

// Item is what is bought.
type Item struct {
	Title, Description string
	Type               string // DIGITAL, SERVICE, SUBSCRIPTION, APPOINTMENT
	Plan               string // empty for an implied plan
}

// Recurring says what is charged after today.
type Recurring struct {
	Unit          string // day, week, month, year
	Count         int
	Amount        int64 // minor units, per interval
	TrialDays     int
	FirstChargeAt time.Time // end of the trial; zero without one
}

// Buyer prefills the form.
type Buyer struct {
	Email, Name, Country, PostalCode string
}

// Failure is why the last attempt was refused, in words for the buyer.
type Failure struct {
	Code, Message string
}

// Receipt sums up a paid session.
type Receipt struct {
	Number      string
	URL         string
	PaidAt      time.Time
	Card        string // "Visa •••• 4242"; empty when nothing was charged
	DownloadURL string // empty when the product has none
}

// view is what templates get: the page's own part and the frame around it.
type view struct {
	Title   string
	Nonce   string
	Script  string // module to load; empty for pages without one
	Data    *pageData
	Page    any
	Classes string
}

// pageData is read by the script from a JSON block of the page.
type pageData struct {
	Secret      string            `json:"secret"`
	CheckoutID  string            `json:"checkoutId"`
	State       string            `json:"state"`
	Embedded    bool              `json:"embedded"`
	Parents     []string          `json:"parents"`
	NeedsCard   bool              `json:"needsCard"`
	RedirectURL string            `json:"redirectUrl"`
	Changing    bool              `json:"changing"`
	TwelveHours bool              `json:"twelveHours"`
	Now         int64             `json:"now"`       // milliseconds, the account's clock
	ExpiresAt   int64             `json:"expiresAt"` // 0 unless somebody's time is kept
	Calendar    *calendarData     `json:"calendar"`
	Text        map[string]string `json:"text"`
}

// checkoutTemplates names the template of each page state. Details, payment and a
// refused payment are one page: the buyer fills in one form, once.
var checkoutTemplates = map[string]string{
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

// CheckoutHTML renders the page of a session in its state; nonce must be the one of the
// content policy sent with it.
func (p *Pages) CheckoutHTML(c Checkout, nonce string) ([]byte, error) {
	name, known := checkoutTemplates[c.State]
	if !known {
		return nil, fmt.Errorf("checkout %s: no page for state %q", c.ID, c.State)
	}
	if c.Parents == nil {
		c.Parents = []string{}
	}
	classes := "checkout"
	if c.Embedded {
		classes += " embedded"
	}
	data := &pageData{
		Secret: c.Secret, CheckoutID: c.ID, State: c.State,
		Embedded: c.Embedded, Parents: c.Parents, NeedsCard: c.NeedsCard, RedirectURL: c.RedirectURL,
		Changing: c.Changing, TwelveHours: c.TwelveHours, Now: c.Now.UnixMilli(), Calendar: c.Booking.data(), Text: scriptTexts(),
	}
	if c.Booking != nil {
		data.ExpiresAt = c.ExpiresAt.UnixMilli()
	}
	return p.render(name, view{
		Title:   text("title."+c.State) + " · " + c.Item.Title,
		Nonce:   nonce,
		Script:  "checkout.js",
		Classes: classes,
		Page:    c,
		Data:    data,
	})
}

// Trial tells whether nothing is charged today because a trial starts.
func (c Checkout) Trial() bool { return c.Recurring != nil && c.Recurring.TrialDays > 0 }

// CanLeave tells whether going back to the shop still makes sense: not while a payment
// is under way and not after it.
func (c Checkout) CanLeave() bool {
	return c.CancelURL != "" && !c.Embedded && (c.Choosing() || checkoutTemplates[c.State] == "pay.html")
}

// Headline says what the buyer is doing.
func (c Checkout) Headline() string {
	switch {
	case c.Trial():
		return text("headline.trial", c.Item.Title)
	case c.Recurring != nil:
		return text("headline.subscribe", c.Item.Title)
	default:
		return text("headline.buy", c.Item.Title)
	}
}

// Price is the large figure: the amount, or the length of the trial.
func (c Checkout) Price() string {
	if c.Trial() {
		return text("trial.free", formatDays(c.Recurring.TrialDays))
	}
	if c.Total == 0 && c.Recurring == nil {
		return text("price.free")
	}
	return formatMoney(c.Total, c.Currency)
}

// Cadence stands beside the large figure: "per month", "then €29.00 per month".
func (c Checkout) Cadence() string {
	if c.Recurring == nil {
		return ""
	}
	every := formatInterval(c.Recurring.Unit, c.Recurring.Count)
	if c.Trial() || c.Recurring.Amount != c.Total {
		return text("cadence.then", formatMoney(c.Recurring.Amount, c.Currency), every)
	}
	return every
}

// LineNote explains the item's line: its plan and how often it is charged.
func (c Checkout) LineNote() string {
	if c.Booking != nil {
		return c.Booking.Summary()
	}
	if c.Recurring == nil {
		return c.Item.Plan
	}
	note := formatBilled(c.Recurring.Unit, c.Recurring.Count)
	if c.Item.Plan != "" {
		note = c.Item.Plan + " · " + note
	}
	return note
}

// PayLabel is the button: it always says what happens and what it costs.
func (c Checkout) PayLabel() string {
	switch {
	case c.Trial() && c.Total == 0:
		return text("pay.trial")
	case c.Total == 0 && !c.NeedsCard:
		return text("pay.free")
	case c.Total == 0:
		return text("pay.subscribe")
	default:
		return text("pay.amount", formatMoney(c.Total, c.Currency))
	}
}

// Terms says, under the button, what the buyer agrees to.
func (c Checkout) Terms() string {
	switch {
	case c.Trial():
		return text("terms.trial", formatDate(c.Recurring.FirstChargeAt),
			formatMoney(c.Recurring.Amount, c.Currency),
			formatInterval(c.Recurring.Unit, c.Recurring.Count))
	case c.Recurring != nil && c.Recurring.Amount > 0:
		return text("terms.subscription", formatMoney(c.Recurring.Amount, c.Currency),
			formatInterval(c.Recurring.Unit, c.Recurring.Count))
	case c.Total == 0:
		return text("terms.free")
	default:
		return text("terms.once")
	}
}

// Icon names the drawing for the kind of thing sold.
func (i Item) Icon() string {
	switch i.Type {
	case "SUBSCRIPTION":
		return "subscription"
	case "SERVICE":
		return "service"
	case "APPOINTMENT":
		return "appointment"
	default:
		return "digital"
	}
}

// Initial is the seller's monogram.
func (c Checkout) Initial() string {
	for _, r := range c.Seller {
		return string(r)
	}
	return "·"
}
