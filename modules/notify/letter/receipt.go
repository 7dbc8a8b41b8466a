package letter

import (
	"time"

	"sundry/core/checkout"
	"sundry/core/money"
)

// KindReceipt tells a buyer what they bought.
const KindReceipt Kind = "receipt"

// Receipt is what a receipt says. It is frozen when the payment has arrived.
type Receipt struct {
	CheckoutID    string       `json:"checkoutId"`
	Number        string       `json:"number"`
	Seller        string       `json:"seller"`
	Buyer         string       `json:"buyer,omitempty"`
	Item          string       `json:"item"`
	Plan          string       `json:"plan,omitempty"` // empty where it would only repeat the item
	Interval      string       `json:"interval,omitempty"`
	IntervalCount int          `json:"intervalCount,omitempty"`
	TrialDays     int          `json:"trialDays,omitempty"`
	Price         money.Amount `json:"price"` // of each interval
	Subtotal      money.Amount `json:"subtotal"`
	Discount      money.Amount `json:"discount"`
	Tax           money.Amount `json:"tax"`
	Total         money.Amount `json:"total"`
	PaidAt        time.Time    `json:"paidAt"` // account time
	DownloadURL   string       `json:"downloadUrl,omitempty"`
}

// ReceiptOf takes a receipt's words from a payment.
func ReceiptOf(e checkout.Paid, seller string) Receipt {
	r := Receipt{
		CheckoutID: e.CheckoutID, Number: e.ReceiptNumber, Seller: seller, Buyer: e.BuyerName, Item: e.Offer.Title,
		Subtotal: e.Subtotal, Discount: e.Discount, Tax: e.Tax, Total: e.Total, PaidAt: e.At, DownloadURL: e.Offer.DownloadURL,
	}
	if e.Offer.PlanKey != "default" && e.Offer.PlanName != e.Offer.Title {
		r.Plan = e.Offer.PlanName
	}
	if e.Offer.Recurring() {
		r.Interval, r.IntervalCount, r.TrialDays, r.Price = string(e.Offer.Interval), e.Offer.IntervalCount, e.Offer.TrialDays, e.Offer.Price
	}
	return r
}

func receipt(site Site, r Receipt) draft {
	d := draft{
		Subject: words("receipt.subject", r.Seller, r.Number),
		Preview: words("receipt.preview", r.Item, r.Total.Format()),
		Heading: words("receipt.heading"), Figure: r.Total.Format(),
		Lead:   []string{words("receipt.lead_unnamed", oneLine(r.Seller))},
		Rows:   r.rows(),
		After:  r.terms(),
		Footer: words("receipt.footer"),
	}
	if r.Buyer != "" {
		d.Lead[0] = words("receipt.lead", oneLine(r.Buyer), oneLine(r.Seller))
	}
	switch {
	case r.TrialDays > 0:
		d.Heading = words("receipt.heading_trial")
	case r.Total.Minor == 0:
		d.Heading = words("receipt.heading_free")
	}
	if r.DownloadURL != "" {
		d.Links = append(d.Links, link{words("receipt.download"), r.DownloadURL})
	}
	d.Links = append(d.Links, link{words("receipt.view"), site.ReceiptURL(r.CheckoutID)})
	d.After = append(d.After, words("receipt.merchant", oneLine(r.Seller)))
	return d
}

func (r Receipt) rows() []row {
	rows := []row{{Label: words("receipt.item"), Value: r.Item, Note: r.Plan}}
	if r.Discount.Minor != 0 || r.Tax.Minor != 0 {
		rows = append(rows, row{Label: words("receipt.subtotal"), Value: r.Subtotal.Format()})
	}
	if r.Discount.Minor != 0 {
		rows = append(rows, row{Label: words("receipt.discount"), Value: "−" + r.Discount.Format()})
	}
	if r.Tax.Minor != 0 {
		label := words("receipt.tax")
		if r.Subtotal.Minor-r.Discount.Minor == r.Total.Minor {
			label = words("receipt.tax_included")
		}
		rows = append(rows, row{Label: label, Value: r.Tax.Format()})
	}
	return append(rows,
		row{Label: words("receipt.total"), Value: r.Total.Format(), Strong: true},
		row{Label: words("receipt.number"), Value: r.Number},
		row{Label: words("receipt.date"), Value: moment(r.PaidAt)})
}

// terms say what is charged later.
func (r Receipt) terms() []string {
	switch {
	case r.Interval == "" || r.Price.Minor == 0:
		return nil
	case r.TrialDays > 0:
		return []string{words("receipt.after_trial", day(r.PaidAt.AddDate(0, 0, r.TrialDays)), r.Price.Format(), every(r.Interval, r.IntervalCount))}
	}
	return []string{words("receipt.renews", r.Price.Format(), every(r.Interval, r.IntervalCount))}
}
