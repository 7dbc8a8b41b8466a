package mailtemplate

import (
	"strings"
	"time"

	"sundry/core/money"
	"sundry/core/tax"
)

// The mails about a customer's plans. Each leads to the portal, whose link is made when the mail is rendered.
var (
	KindPortalLink   = define("portal.link", portalLink)
	KindRenewalDue   = define("subscription.renewal_due", renewalDue)
	KindChargeFailed = define("subscription.charge_failed", chargeFailed)
	KindRenewed      = define("subscription.charge_paid", renewed)
)

// Plan holds the data of those mails. Members that a mail does not use are zero.
type Plan struct {
	CustomerID string       `json:"customerId"`
	Seller     string       `json:"seller"`
	Locale     string       `json:"locale,omitempty"` // the customer's
	ReplyTo    Party        `json:"replyTo,omitzero"` // the seller
	Look       Look         `json:"look,omitzero"`    // theirs
	Item       string       `json:"item,omitempty"`
	Amount     money.Amount `json:"amount,omitzero"`
	// At is the time of the charge, past or next.
	At          time.Time `json:"at,omitzero"`
	GraceEndsAt time.Time `json:"graceEndsAt,omitzero"`
	// PaymentID names the payment whose receipt has this Number; Subtotal, Discount, Credit and Tax lead to its Amount.
	PaymentID string       `json:"paymentId,omitempty"`
	Number    string       `json:"number,omitempty"`
	Subtotal  money.Amount `json:"subtotal,omitzero"`
	Discount  money.Amount `json:"discount,omitzero"`
	Credit    money.Amount `json:"credit,omitzero"`
	Tax       money.Amount `json:"tax,omitzero"`
	// TaxDetails explain the Tax, without evidence.
	TaxDetails tax.Details `json:"taxDetails,omitzero"`
	// Brand and Last4 are the card that failed, DeclineCode is why; empty without a card.
	Brand       string `json:"brand,omitempty"`
	Last4       string `json:"last4,omitempty"`
	DeclineCode string `json:"declineCode,omitempty"`
	// GraceOver means that the failed payment has ended access already.
	GraceOver bool `json:"graceOver,omitempty"`
	// Trial means that the charge is the first one, at the end of a trial.
	Trial bool `json:"trial,omitempty"`
}

func portalLink(site Site, to reader, p Plan) draft {
	return draft{
		Subject: to.words("portal.subject", p.Seller), Heading: to.words("portal.heading"),
		Lead: []string{to.words("portal.lead", oneLine(p.Seller))}, Links: p.links(site, to.words("portal.open")),
		Footer: p.footer(to),
	}
}

func renewalDue(site Site, to reader, p Plan) draft {
	kind := "renewal"
	if p.Trial {
		kind = "trial"
	}
	return draft{
		Subject: to.words(kind+".subject", p.Item, to.Date(p.At)), Heading: to.words(kind + ".heading"),
		Figure: to.Money(p.Amount), Money: true,
		Lead:  []string{to.words(kind+".lead", oneLine(p.Item), to.Date(p.At), to.Money(p.Amount), site.Seller)},
		Links: p.links(site, to.words("portal.manage")), Footer: p.footer(to),
	}
}

func chargeFailed(site Site, to reader, p Plan) draft {
	d := draft{
		Subject: to.words("failed.subject", p.Item), Heading: to.words("failed.heading"), Money: true,
		Rows:  []row{{Label: to.words("receipt.item"), Value: p.Item}},
		Links: p.links(site, to.words("failed.open")), Footer: p.footer(to),
	}
	if p.Amount.Minor > 0 {
		d.Figure = to.Money(p.Amount)
	}
	if p.Last4 == "" {
		d.Heading = to.words("failed.heading_no_card")
	} else {
		d.Lead = []string{to.Decline(p.DeclineCode)}
		d.Rows = append(d.Rows, row{Label: to.words("failed.card"), Value: cardName(p.Brand, p.Last4)})
	}
	d.Lead = append(d.Lead, p.untilPaid(to))
	if !p.At.IsZero() {
		d.After = append(d.After, to.words("failed.again", to.Date(p.At), site.Seller))
	}
	return d
}

// untilPaid explains the effect of a failed payment on the plan.
func (p Plan) untilPaid(to reader) string {
	switch {
	case !p.GraceOver:
		return to.words("failed.lead", oneLine(p.Item), to.Date(p.GraceEndsAt))
	case p.At.IsZero():
		return to.words("failed.ended", oneLine(p.Item))
	default:
		return to.words("failed.paused", oneLine(p.Item))
	}
}

// cardName is a card as its owner knows it: Visa •••• 4242.
func cardName(brand, last4 string) string {
	if brand != "" {
		brand = strings.ToUpper(brand[:1]) + brand[1:] + " "
	}
	return brand + "•••• " + last4
}

func renewed(site Site, to reader, p Plan) draft {
	d := draft{
		Subject: to.words("receipt.subject", p.Seller, p.Number), Heading: to.words("renewed.heading"),
		Figure: to.Money(p.Amount), Money: true,
		Lead:   []string{to.words("renewed.lead", oneLine(p.Item))},
		Rows:   []row{{Label: to.words("receipt.item"), Value: p.Item}},
		After:  []string{to.words("receipt.merchant", site.Seller, oneLine(p.Seller), site.Statement)},
		Footer: p.footer(to),
	}
	paid := price{
		subtotal: p.Subtotal, discount: p.Discount, credit: p.Credit, tax: p.Tax, total: p.Amount, details: p.TaxDetails,
	}
	d.Rows = append(append(d.Rows, priceRows(to, paid)...),
		row{Label: to.words("receipt.number"), Value: p.Number},
		row{Label: to.words("receipt.date"), Value: to.Moment(p.At)})
	if p.PaymentID != "" { // a mail of an earlier version names none
		d.Links = []link{{to.words("receipt.view"), site.PaymentReceiptURL(p.PaymentID)}}
	}
	d.Links = append(d.Links, p.links(site, to.words("portal.manage"))...)
	return d
}

// footer explains why the recipient got the mail and who receives a reply.
func (p Plan) footer(to reader) string { return to.words("plan.footer", oneLine(p.Seller)) }

// links is the way to the portal.
func (p Plan) links(site Site, label string) []link {
	return []link{{label, site.PortalURL(p.CustomerID)}}
}
