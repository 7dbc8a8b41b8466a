// Package order holds what the pages of a checkout session and of its receipt show alike: the item, its price and the
// times booked.
package order

import (
	"time"

	"sundry/adapters/web/layout"
	"sundry/core/checkout"
	"sundry/core/identity"
	"sundry/core/listingtype"
	"sundry/core/locale"
	"sundry/core/paymentmethod"
	"sundry/core/plan"
)

// Order is everything the pages of one session show. Amounts are minor units of
// Currency; times are UTC.
type Order struct {
	ID       string // cs_…
	Secret   string // opens the page; part of its address
	State    string // state of the page
	Embedded bool   // shown inside the overlay
	Parents  []string
	Seller   string // the creator's display name
	// Storefront is the rest of what buyers see of the creator.
	Storefront identity.Profile
	Item       Item
	Currency   string
	Subtotal   int64
	Discount   int64
	// DiscountCode is the code behind Discount, and DiscountNote names the payments that it reduces; empty without
	// one.
	DiscountCode, DiscountNote string
	Tax                        int64
	TaxLabel                   string // with its rate and country
	ReverseCharge              bool   // the buyer accounts for the tax
	Total                      int64
	Recurring                  *Recurring // nil for one-time purchases
	Choice                     *Choice    // nil where there is nothing to change
	SavesCard                  bool       // the card is charged again later
	NeedsCard                  bool       // false only when nothing is charged, now or later
	Buyer                      Buyer
	// Agreement holds the texts that paying accepts. Consent holds those accepted; nil for none.
	Agreement   checkout.Agreement
	Consent     *checkout.Consent
	Failure     *Failure // the last refusal, while another try is possible or when it was the last
	CancelURL   string
	AgainURL    string // opens a fresh session in the place of one that is over
	RedirectURL string // success address with its parameters, once paid
	Receipt     *Receipt
	Booking     *Booking // nil for what is not booked
	Changing    bool     // times are chosen in the place of others, which are kept meanwhile
	Reader      locale.Locale
	Now         time.Time // the account's clock
	ExpiresAt   time.Time
}

// Item is the plan or listing bought.
type Item struct {
	Title, Description string
	Type               listingtype.Type
	Plan               string // empty for an implied plan
	// Pictures are ours or of other hosts; the first one represents the item.
	Pictures []plan.Picture
	// Included lists what the buyer gets: features, entitlements and credits, in words.
	Included []string
}

// Picture returns the address of the first picture; "" without one.
func (i Item) Picture() string {
	if len(i.Pictures) == 0 {
		return ""
	}
	return i.Pictures[0].URL
}

// Recurring describes the charges after today.
type Recurring struct {
	Unit          string // day, week, month, year
	Count         int
	Amount        int64 // minor units, per interval
	First         int64 // minor units of the first charge after a trial, which a discount may reduce
	TrialDays     int
	FirstChargeAt time.Time // end of the trial; zero without one
}

// Choice offers the buyer other intervals and quantities of what is bought.
type Choice struct {
	// Intervals are the prices to choose from; none where there is no choice.
	Intervals []IntervalChoice
	// Quantity counts what is bought; 0 where that is fixed.
	Quantity int
}

// IntervalChoice is a price of another interval, or the one chosen.
type IntervalChoice struct {
	Interval, Price string
	// Saving is the share that it is cheaper than the dearest; "" for none.
	Saving string
	Chosen bool
}

// Buyer prefills the form.
type Buyer struct {
	Email, Name, Country, PostalCode, TaxID string
}

// Failure explains to the buyer why the last attempt was refused.
type Failure struct {
	Code, Message string
}

// Receipt sums up a paid session.
type Receipt struct {
	Number      string
	URL         string
	PaidAt      time.Time
	Card        string // "Visa •••• 4242"; empty when nothing was charged
	Refunded    int64  // minor units
	DownloadURL string // empty when the product has none
	// Files lists the files that the buyer can download now.
	Files []FileLink
}

// Returned reports whether all of the payment went back to the buyer.
func (o Order) Returned() bool {
	return o.Receipt != nil && o.Total > 0 && o.Receipt.Refunded == o.Total
}

// Trial reports whether nothing is charged today because a trial starts.
func (o Order) Trial() bool { return o.Recurring != nil && o.Recurring.TrialDays > 0 }

// TrialDiscounted reports whether the first charge after a trial is not what later ones are.
func (o Order) TrialDiscounted() bool { return o.Trial() && o.Recurring.First != o.Recurring.Amount }

// CanLeave reports whether going back to the shop still makes sense: not while a payment
// is under way and not after it.
func (o Order) CanLeave() bool {
	return o.CancelURL != "" && !o.Embedded && (o.Choosing() || o.Payable())
}

// Headline says what the buyer is about to do.
func (o Order) Headline() string {
	switch {
	case o.Trial():
		return o.Reader.Text("headline.trial", o.Item.Title)
	case o.Recurring != nil:
		return o.Reader.Text("headline.subscribe", o.Item.Title)
	default:
		return o.Reader.Text("headline.buy", o.Item.Title)
	}
}

// Price returns the large figure: the amount, or the length of the trial.
func (o Order) Price() string {
	if o.Trial() {
		return o.Reader.Text("trial.free", o.Reader.Days(o.Recurring.TrialDays))
	}
	if o.Total == 0 && o.Recurring == nil {
		return o.Reader.Text("price.free")
	}
	return o.money(o.Total)
}

// Cadence is beside the large figure: "per month", "then €29.00 per month".
func (o Order) Cadence() string {
	if o.Recurring == nil {
		return ""
	}
	every := o.Reader.Interval(o.Recurring.Unit, o.Recurring.Count)
	if o.TrialDiscounted() {
		return o.Reader.Text("cadence.then_discounted", o.money(o.Recurring.First), o.money(o.Recurring.Amount), every)
	}
	if o.Trial() || o.Recurring.Amount != o.Total {
		return o.Reader.Text("cadence.then", o.money(o.Recurring.Amount), every)
	}
	return every
}

// LineNote explains the item's line: its plan and how often it is charged.
func (o Order) LineNote() string {
	if o.Booking != nil {
		return o.Booking.Summary()
	}
	if o.Recurring == nil {
		return o.Item.Plan
	}
	note := o.Reader.Billed(o.Recurring.Unit, o.Recurring.Count)
	if o.Item.Plan != "" {
		note = o.Item.Plan + " · " + note
	}
	return note
}

// PayLabel returns the label of the button, which always names the action and its price.
func (o Order) PayLabel() string {
	switch {
	case o.Trial() && o.Total == 0:
		return o.Reader.Text("pay.trial")
	case o.Total == 0 && !o.NeedsCard:
		return o.Reader.Text("pay.free")
	case o.Total == 0:
		return o.Reader.Text("pay.subscribe")
	default:
		return o.Reader.Text("pay.amount", o.money(o.Total))
	}
}

// Mandate returns the text to which the buyer agrees by giving a card that merchant, the seller of record, charges
// again; "" for one that is charged once.
func (o Order) Mandate(merchant string) string {
	if o.Recurring == nil || !o.NeedsCard {
		return ""
	}
	return paymentmethod.MandateText(o.Reader, merchant, o.Seller)
}

// Given returns the sentences that the buyer confirmed when they paid, with the day; none where they confirmed none.
func (o Order) Given() []string {
	if o.Consent == nil {
		return nil
	}
	return locale.ConsentLines(o.Reader, o.Consent.AcceptedAt, o.Consent.Statement, o.Consent.ImmediateSupply)
}

// Terms states, under the button, what the buyer agrees to.
func (o Order) Terms() string {
	switch {
	case o.TrialDiscounted():
		return o.Reader.Text("terms.trial_discounted", o.Reader.Date(o.Recurring.FirstChargeAt),
			o.money(o.Recurring.First), o.money(o.Recurring.Amount),
			o.Reader.Interval(o.Recurring.Unit, o.Recurring.Count))
	case o.Trial():
		return o.Reader.Text("terms.trial", o.Reader.Date(o.Recurring.FirstChargeAt),
			o.money(o.Recurring.Amount),
			o.Reader.Interval(o.Recurring.Unit, o.Recurring.Count))
	case o.Recurring != nil && o.Recurring.Amount > 0:
		return o.Reader.Text("terms.subscription", o.money(o.Recurring.Amount),
			o.Reader.Interval(o.Recurring.Unit, o.Recurring.Count))
	case o.Total == 0:
		return o.Reader.Text("terms.free")
	default:
		return o.Reader.Text("terms.once")
	}
}

// money writes minor units of the order's currency.
func (o Order) money(minor int64) string { return o.Reader.Money(layout.Amount(minor, o.Currency)) }

// Choosing reports whether the buyer has to choose times.
func (o Order) Choosing() bool { return o.State == "choose_mode" || o.State == "choose_time" }

// Payable reports whether the payment form is shown.
func (o Order) Payable() bool {
	return o.State == "details" || o.State == "pay" || o.State == "payment_failed"
}

// Initial returns the seller's monogram.
func (o Order) Initial() string { return layout.Initial(o.Seller) }
