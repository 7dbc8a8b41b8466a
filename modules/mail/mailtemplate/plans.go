package mailtemplate

import (
	"time"

	"sundry/core/money"
)

// The mails about a customer's plans. Each leads to the portal, whose link is made when the mail is rendered.
const (
	KindPortalLink   Kind = "portal.link"
	KindRenewalDue   Kind = "subscription.renewal_due"
	KindChargeFailed Kind = "subscription.charge_failed"
	KindRenewed      Kind = "subscription.charge_paid"
)

// Plan is what those mails contain. Members that a mail does not name are zero.
type Plan struct {
	CustomerID string       `json:"customerId"`
	Seller     string       `json:"seller"`
	Locale     string       `json:"locale,omitempty"` // the customer's
	ReplyTo    Party        `json:"replyTo,omitzero"` // the seller
	Look       Look         `json:"look,omitzero"`    // theirs
	Item       string       `json:"item,omitempty"`
	Amount     money.Amount `json:"amount,omitzero"`
	// At is when it will be charged, was charged, or is tried again.
	At          time.Time `json:"at,omitzero"`
	GraceEndsAt time.Time `json:"graceEndsAt,omitzero"`
	Number      string    `json:"number,omitempty"`
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
		Subject: to.words(kind+".subject", p.Item, to.Date(p.At)), Heading: to.words(kind + ".heading"), Figure: to.Money(p.Amount),
		Lead:  []string{to.words(kind+".lead", oneLine(p.Item), to.Date(p.At), to.Money(p.Amount))},
		Links: p.links(site, to.words("portal.manage")), Footer: p.footer(to),
	}
}

func chargeFailed(site Site, to reader, p Plan) draft {
	d := draft{
		Subject: to.words("failed.subject", p.Item), Heading: to.words("failed.heading"),
		Lead:  []string{to.words("failed.lead", oneLine(p.Item), to.Date(p.GraceEndsAt))},
		Links: p.links(site, to.words("failed.open")), Footer: p.footer(to),
	}
	if !p.At.IsZero() {
		d.After = append(d.After, to.words("failed.again", to.Date(p.At)))
	}
	return d
}

func renewed(site Site, to reader, p Plan) draft {
	return draft{
		Subject: to.words("receipt.subject", p.Seller, p.Number), Heading: to.words("renewed.heading"), Figure: to.Money(p.Amount),
		Lead: []string{to.words("renewed.lead", oneLine(p.Item))},
		Rows: []row{
			{Label: to.words("receipt.item"), Value: p.Item},
			{Label: to.words("receipt.total"), Value: to.Money(p.Amount), Strong: true},
			{Label: to.words("receipt.number"), Value: p.Number},
			{Label: to.words("receipt.date"), Value: to.Moment(p.At)},
		},
		Links: p.links(site, to.words("portal.manage")), After: []string{to.words("receipt.merchant", oneLine(p.Seller))},
		Footer: p.footer(to),
	}
}

// footer explains why the mail came and whom a reply reaches.
func (p Plan) footer(to reader) string { return to.words("plan.footer", oneLine(p.Seller)) }

// links is the way to the portal.
func (p Plan) links(site Site, label string) []link {
	return []link{{label, site.PortalURL(p.CustomerID)}}
}
