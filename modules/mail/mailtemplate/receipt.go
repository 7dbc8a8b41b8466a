package mailtemplate

import (
	"time"

	"sundry/core/checkout"
	"sundry/core/discount"
	"sundry/core/locale"
	"sundry/core/money"
	"sundry/core/tax"
)

// KindReceipt confirms to a buyer what they bought.
var KindReceipt = define("receipt", receipt)

// Receipt holds the data of a receipt, frozen when the payment arrived.
type Receipt struct {
	CheckoutID    string       `json:"checkoutId"`
	CustomerID    string       `json:"customerId,omitempty"`
	Number        string       `json:"number"`
	Seller        string       `json:"seller"`
	Buyer         string       `json:"buyer,omitempty"`
	Item          string       `json:"item"`
	Plan          string       `json:"plan,omitempty"` // empty where it would only repeat the item
	Interval      string       `json:"interval,omitempty"`
	IntervalCount int          `json:"intervalCount,omitempty"`
	TrialDays     int          `json:"trialDays,omitempty"`
	Price         money.Amount `json:"price"` // of each interval
	// FirstPrice is charged at the end of a trial, where a discount makes it another than Price; zero for Price.
	FirstPrice money.Amount `json:"firstPrice,omitzero"`
	Subtotal   money.Amount `json:"subtotal"`
	Discount   money.Amount `json:"discount"`
	// DiscountTerms say which payments of a subscription Discount reduces; nil without one, and for what is sold once.
	DiscountTerms *discount.Terms `json:"discountTerms,omitempty"`
	Tax           money.Amount    `json:"tax"`
	TaxDetails    tax.Details     `json:"taxDetails,omitzero"` // without evidence
	Total         money.Amount    `json:"total"`
	PaidAt        time.Time       `json:"paidAt"` // account time
	DownloadURL   string          `json:"downloadUrl,omitempty"`
	HasFiles      bool            `json:"hasFiles,omitempty"` // they are on the receipt's page
	// FullRefundHours is the number of hours before its start up to which an appointment can be canceled for a full
	// refund; nil if that is not promised.
	FullRefundHours *int `json:"fullRefundHours,omitempty"`
	// Consent records the terms that the buyer accepted, with RefundPolicy as the text of one; nil where they did not pay
	// on a page.
	Consent      *checkout.Consent `json:"consent,omitempty"`
	RefundPolicy string            `json:"refundPolicy,omitempty"`
	ReplyTo      Party             `json:"replyTo,omitzero"` // the seller
	Look         Look              `json:"look,omitzero"`    // theirs
	Locale       string            `json:"locale,omitempty"` // the buyer's
}

// ReceiptOf takes a receipt's words from a payment.
func ReceiptOf(e checkout.Paid, seller string) Receipt {
	r := Receipt{
		CheckoutID: e.CheckoutID, CustomerID: e.CustomerID, Number: e.ReceiptNumber, Seller: seller, Buyer: e.BuyerName,
		Item:     e.Offer.Title,
		Subtotal: e.Subtotal, Discount: e.Discount, Tax: e.Tax, Total: e.Total, PaidAt: e.At,
		Plan: e.Offer.PlanTitle(), DownloadURL: e.Offer.DownloadURL, HasFiles: e.Offer.HasFiles,
		Locale: e.Buyer.Locale, TaxDetails: WithoutEvidence(e.TaxDetails), Consent: e.Consent,
	}
	if e.Total.Minor > 0 {
		r.FullRefundHours = e.Offer.FullRefundHours
	}
	if e.Offer.Recurring() {
		r.Interval, r.IntervalCount, r.TrialDays, r.Price = string(e.Offer.Interval), e.Offer.IntervalCount,
			e.Offer.TrialDays, e.Offer.Price
		r.DiscountTerms = e.DiscountTerms
		if due, err := checkout.Renewal(e.Offer, e.DiscountTerms, e.TaxDetails); err == nil {
			r.Price = due
		}
		due, err := checkout.FirstCharge(e.Offer, e.DiscountTerms, e.TaxDetails)
		if err == nil && r.TrialDays > 0 && due != r.Price {
			r.FirstPrice = due
		}
	}
	return r
}

// WithoutEvidence returns the tax without the evidence of the buyer's country, which no mail shows.
func WithoutEvidence(d tax.Details) tax.Details {
	d.Evidence = tax.Evidence{}
	return d
}

func receipt(site Site, to reader, r Receipt) draft {
	d := draft{
		Subject: to.words("receipt.subject", r.Seller, r.Number),
		Preview: to.words("receipt.preview", r.Item, to.Money(r.Total)),
		Heading: to.words("receipt.heading"), Figure: to.Money(r.Total), Money: true,
		Lead:   []string{to.words("receipt.lead_unnamed", oneLine(r.Seller))},
		Rows:   r.rows(to),
		After:  r.terms(to, site.Seller),
		Footer: to.words("receipt.footer", oneLine(r.Seller)),
	}
	if r.Buyer != "" {
		d.Lead[0] = to.words("receipt.lead", oneLine(r.Buyer), oneLine(r.Seller))
	}
	switch {
	case r.TrialDays > 0:
		d.Heading = to.words("receipt.heading_trial")
	case r.Total.Minor == 0:
		d.Heading = to.words("receipt.heading_free")
	}
	if r.DownloadURL != "" {
		d.Links = append(d.Links, link{to.words("receipt.download"), r.DownloadURL})
	}
	if r.HasFiles {
		d.Links = append(d.Links, link{to.words("receipt.download"), site.ReceiptURL(r.CheckoutID) + "#files"})
	}
	d.Links = append(d.Links, link{to.words("receipt.view"), site.ReceiptURL(r.CheckoutID)})
	if r.Interval != "" && r.CustomerID != "" {
		d.Links = append(d.Links, link{to.words("portal.manage"), site.PortalURL(r.CustomerID)})
	}
	if r.FullRefundHours != nil {
		d.After = append(d.After, r.refundPromise(to))
	}
	d.After = append(d.After, r.agreed(to)...)
	d.After = append(d.After, to.words("receipt.merchant", site.Seller, oneLine(r.Seller), site.Statement))
	return d
}

// agreed confirms what the buyer agreed to, with the texts, as article 8(7) of Directive 2011/83/EU asks.
func (r Receipt) agreed(to reader) []string {
	if r.Consent == nil {
		return nil
	}
	lines := locale.ConsentLines(to.Locale, r.Consent.AcceptedAt, r.Consent.Statement, r.Consent.ImmediateSupply)
	if r.Consent.TermsURL != "" {
		lines = append(lines, to.Text("consent.terms_at", r.Consent.TermsURL))
	}
	if r.RefundPolicy != "" {
		lines = append(lines, to.Text("consent.policy", oneLine(r.Seller))+": "+oneLine(r.RefundPolicy))
	}
	return lines
}

// refundPromise describes until when canceling an appointment returns everything, as the checkout page did.
func (r Receipt) refundPromise(to reader) string {
	if *r.FullRefundHours == 0 {
		return to.Text("refund.until_start")
	}
	return to.Text("refund.until", to.Count("hours", *r.FullRefundHours))
}

func (r Receipt) rows(to reader) []row {
	rows := []row{{Label: to.words("receipt.item"), Value: r.Item, Note: r.Plan}}
	paid := price{
		subtotal: r.Subtotal, discount: r.Discount, tax: r.Tax, total: r.Total, details: r.TaxDetails,
	}
	if r.DiscountTerms != nil {
		paid.discountNote = r.DiscountTerms.Note(to.Locale)
	}
	return append(append(rows, priceRows(to, paid)...),
		row{Label: to.words("receipt.number"), Value: r.Number},
		row{Label: to.words("receipt.date"), Value: to.Moment(r.PaidAt)})
}

// price leads to a total: less discount and credit, plus or including tax.
type price struct {
	subtotal, discount, credit, tax, total money.Amount
	discountNote                           string // names the payments that the discount reduces; "" for none
	details                                tax.Details
}

// priceRows lead from the price to the total, with the tax in it or on top, or the reverse charge.
func priceRows(to reader, p price) (rows []row) {
	less := func(label string, off money.Amount, note string) {
		if off.Minor != 0 {
			rows = append(rows, row{Label: label, Value: "−" + to.Money(off), Note: note})
		}
	}
	if p.discount.Minor != 0 || p.credit.Minor != 0 || p.tax.Minor != 0 {
		rows = append(rows, row{Label: to.words("receipt.subtotal"), Value: to.Money(p.subtotal)})
	}
	less(to.words("receipt.discount"), p.discount, p.discountNote)
	less(to.Text("document.credit"), p.credit, "")
	if p.tax.Minor != 0 {
		label := to.TaxLine(p.details, p.subtotal.Minor-p.discount.Minor-p.credit.Minor == p.total.Minor)
		rows = append(rows, row{Label: label, Value: to.Money(p.tax)})
	}
	if p.details.Treatment == tax.ReverseCharge {
		rows = append(rows, row{Label: to.Text("line.reverse_charge"), Value: to.Money(p.tax)})
	}
	return append(rows, row{Label: to.words("receipt.total"), Value: to.Money(p.total), Strong: true})
}

// terms describes later charges, which merchant makes.
func (r Receipt) terms(to reader, merchant string) []string {
	switch {
	case r.Interval == "" || r.Price.Minor == 0:
		return nil
	case r.FirstPrice.Currency != "":
		return []string{
			to.words(
				"receipt.after_trial_discounted", to.Date(r.PaidAt.AddDate(0, 0, r.TrialDays)), to.Money(r.FirstPrice),
				to.Money(r.Price), to.Interval(r.Interval, r.IntervalCount), merchant,
			),
		}
	case r.TrialDays > 0:
		return []string{
			to.words(
				"receipt.after_trial", to.Date(r.PaidAt.AddDate(0, 0, r.TrialDays)), to.Money(r.Price),
				to.Interval(r.Interval, r.IntervalCount), merchant,
			),
		}
	}
	return []string{
		to.words("receipt.renews", to.Money(r.Price), to.Interval(r.Interval, r.IntervalCount), merchant),
	}
}
